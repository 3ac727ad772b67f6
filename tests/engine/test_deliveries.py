"""Text that is said in another way from a place on."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from support.toy import toy_session

from sayahead import Voice
from sayahead.engine.deliveries import Gain, tones_of
from sayahead.engine.session import Session
from sayahead.types import PLAIN, Delivery, Floats, Pronunciation, Word
from sayahead.voice import load_voice

BEFORE = "Good morning to you. "
TEXT = "I can hear you over there, and it is nice. "
AFTER = "That was all of it."


@pytest.fixture(scope="module")
def heart() -> Voice:
    return load_voice("heart")


def samples_of(session: Session, delivery: Delivery, seed: int | None = None) -> Floats:
    """The sound of a text of which the middle is delivered in another way; ``seed``: in pieces of
    any size."""
    draw = random.Random(seed)
    chunks = []
    for text, way in ((BEFORE, PLAIN), (TEXT, delivery), (AFTER, PLAIN)):
        session.deliver(way)
        while text:
            size = len(text) if seed is None else draw.randint(1, 9)
            session.push(text[:size])
            text = text[size:]
            if seed is not None:
                chunks += [chunk.samples for chunk in session.chunks()]
    session.finish()
    return np.concatenate([*chunks, *(chunk.samples for chunk in session.chunks())])


def pitches(samples: Floats) -> Floats:
    """Hz of the voiced stretches, by autocorrelation."""
    found = []
    for at in range(0, len(samples) - 1200, 480):
        window = samples[at : at + 1200]
        if np.sqrt((window**2).mean()) < 0.01:
            continue
        shifted = np.correlate(window, window, "full")[1199:]
        lag = 60 + int(np.argmax(shifted[60:300]))
        if shifted[lag] > 0.6 * shifted[0]:
            found.append(24000 / lag)
    return np.array(found, np.float32)


ALL = Delivery(speed=1.2, pitch=2.0, pitch_range=1.4, energy=1.5, volume=0.5, whispered=False)


@pytest.mark.parametrize("seed", range(3))
def test_any_split_is_the_same_sound(heart: Voice, seed: int) -> None:
    whole = samples_of(heart.session(), ALL)
    assert np.array_equal(whole, samples_of(heart.session(), ALL, seed))


def test_what_comes_before_stays_as_it_is(heart: Voice) -> None:
    plain, other = (samples_of(heart.session(), way) for way in (PLAIN, ALL))
    same = int(np.argmax(plain[: len(other)] != other[: len(plain)]))
    assert same > 0.9 * len(heart.synthesize(BEFORE))


def test_pitch_and_range_and_effort(heart: Voice) -> None:
    def middle(way: Delivery) -> Floats:
        return samples_of(heart.session(), way)[36000:-36000]

    plain = middle(PLAIN)
    octaves = np.log2(np.median(pitches(middle(Delivery(pitch=4)))) / np.median(pitches(plain)))
    assert 0.2 < octaves < 0.45
    assert pitches(middle(Delivery(pitch_range=0.2))).std() < 0.5 * pitches(plain).std()
    soft, loud = (np.square(middle(Delivery(energy=factor))).mean() for factor in (0.4, 2.5))
    assert soft < np.square(plain).mean() < loud
    assert len(pitches(middle(Delivery(whispered=True)))) < 0.2 * len(pitches(plain))


def ending(voice: Voice, text: str) -> float:
    """The pitch of the last voiced stretch of a text, in octaves above its median."""
    found = pitches(samples_of_text(voice, text))
    return float(np.log2(np.median(found[-3:]) / np.median(found)))


def samples_of_text(voice: Voice, text: str) -> Floats:
    """A text word by word."""
    session = voice.session()
    for word in text.split(" "):
        session.push(f"{word} ")
    session.finish()
    return np.concatenate([chunk.samples for chunk in session.chunks()])


def test_a_question_that_is_answered_with_yes_or_no_rises(heart: Voice) -> None:
    said, asked, alone = (
        ending(heart, f"You are coming home tomorrow{mark}") for mark in (".", "?", " ?")
    )
    assert asked > said + 0.15
    # Where the mark stands by itself, the word before it rises.
    assert alone == pytest.approx(asked, abs=0.1)


def test_a_rise_is_on_the_sounds_of_a_word_and_its_mark_goes_on_with_it() -> None:
    word = Pronunciation(np.arange(7), first=1, end=5)
    tones = tones_of([Word("so?", 0, 3, delivery=Delivery(rise=8))], [word])
    assert tones is not None
    starts, rises = tones[:, 0], tones[:, 4]
    assert starts[0] == rises[0] == 0
    # Each sound begins where the one before ended, and the last ends at the top.
    assert np.allclose(starts[2:5], starts[1:4] + rises[1:4])
    assert starts[4] + rises[4] == starts[5] == 8
    assert (np.diff(rises[1:5]) > 0).all()


def test_a_monotonous_question_does_not_rise() -> None:
    joined = Delivery(pitch_range=0.4, rise=8).joined(Delivery(pitch_range=0.0))
    assert joined.rise == 0


def test_pace_is_that_of_the_text_that_follows(heart: Voice) -> None:
    plain, fast = (len(samples_of(heart.session(), way)) for way in (PLAIN, Delivery(speed=1.5)))
    assert 0.7 < fast / plain < 0.95


def test_a_pace_beyond_what_the_voice_can_do_is_bounded(heart: Voice) -> None:
    most, beyond = (samples_of(heart.session(), Delivery(speed=factor)) for factor in (2.0, 50.0))
    assert np.array_equal(most, beyond)


def test_a_voice_that_cannot_change_leaves_it_alone() -> None:
    plain = samples_of(toy_session(), PLAIN)
    other = samples_of(toy_session(), replace(ALL, volume=1.0, speed=1.0))
    assert np.array_equal(plain, other)


def test_a_revision_keeps_what_was_asked_for_last() -> None:
    session = toy_session()
    session.push("One two three four five. ")
    session.deliver(Delivery(volume=0.5))
    session.push("Six seven eight.")
    session.revise(8, "nine ten.")
    session.finish()
    revised = np.concatenate([chunk.samples for chunk in session.chunks()])
    plain = toy_session()
    plain.push("One two ")
    plain.deliver(Delivery(volume=0.5))
    plain.push("nine ten.")
    plain.finish()
    assert np.array_equal(revised, np.concatenate([chunk.samples for chunk in plain.chunks()]))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_change_of_volume_is_the_same_in_chunks_of_any_size(size: int) -> None:
    samples = np.ones(1000, np.float32)
    gain = Gain(0.5, 8000)
    out = []
    for at in range(0, 1000, size):
        for onset, volume in ((300, 2.0), (320, 0.2), (700, 1.0)):
            if at <= onset < at + size:
                gain.begin(onset, Delivery(volume=volume))
        out.append(gain.applied(samples[at : at + size], at))
    whole = np.concatenate(out)
    assert whole[299] == pytest.approx(0.5, abs=0.01)
    assert whole[600] == pytest.approx(0.1)
    assert whole[999] == pytest.approx(0.5)
    assert np.abs(np.diff(whole)).max() < 0.05
