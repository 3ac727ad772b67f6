"""VITS voices word by word: steps are the whole, durations that were spoken stay, speakers and pace
are options."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toy_voices import changed, toy

from sayahead import ConfigError, Voice
from sayahead.research import LookaheadK, WaitAll
from sayahead.systems.vits import VitsState
from sayahead.types import Floats, Rendering, Segment, WordTiming

TEXT = "Every word of this one is said when the next is there. And then another!"


@pytest.mark.parametrize("name", ["vits", "vits-speakers"])
@pytest.mark.parametrize("words", [1, 3])
def test_with_all_words_in_sight_steps_are_the_whole(name: str, words: int, tmp_path: Path) -> None:
    voice = changed(name, tmp_path / "voice", model={"window": 1000})
    expected = voice.synthesize(TEXT, policy=WaitAll(), seed=3)
    said = voice.synthesize(TEXT, policy=LookaheadK(99, words=words), seed=3)
    assert len(said) == len(expected)
    assert np.abs(said - expected).max() < 1e-5


def spoken(voice: Voice, fragments: list[str], **options: Any) -> tuple[Floats, list[WordTiming]]:
    chunks = list(voice.stream(fragments, **options))
    return np.concatenate([chunk.samples for chunk in chunks]), [
        word for chunk in chunks for word in chunk.words
    ]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"policy": "lookahead:k=0"},
        {"research": {"k2": 1}},
        {"policy": WaitAll()},
        {"research": {"delta": 3}},
    ],
)
def test_any_split_gives_the_same_sound(options: Any) -> None:
    voice = toy("vits")
    (one, words), (two, others) = (
        spoken(voice, parts, **options) for parts in ([TEXT], list(TEXT))
    )
    assert np.array_equal(one, two)
    assert words == others
    assert [word.text for word in words] == TEXT.split()
    for word, after in itertools.pairwise(words):
        assert word.onset_samples <= word.offset_samples <= after.onset_samples


def test_pace_seed_and_speaker_are_options() -> None:
    voice = toy("vits-speakers")
    plain = voice.synthesize(TEXT, seed=1)
    assert np.array_equal(plain, voice.synthesize(TEXT, seed=1, speaker="speaker 0"))
    assert np.array_equal(
        voice.synthesize(TEXT, speaker=2), voice.synthesize(TEXT, speaker="speaker 2")
    )
    assert not np.array_equal(voice.synthesize(TEXT, speaker=2, seed=1), plain)
    assert not np.array_equal(voice.synthesize(TEXT, seed=2), plain)
    assert len(voice.synthesize(TEXT, speed=2.0)) < 0.8 * len(plain)
    for wrong in (3, -1, "speaker 9", "", True):
        with pytest.raises(ConfigError, match="has no speaker"):
            voice.session(speaker=wrong)
    with pytest.raises(ConfigError, match="only one speaker; drop speaker="):
        toy("vits").session(speaker=0)


def test_a_voice_that_reads_phonemes_of_another_language_speaks(tmp_path: Path) -> None:
    voice = changed(
        "vits", tmp_path / "voice", language="de-DE", model={"spelling": "espeak", "espeak": "de"}
    )
    text = "Guten Morgen, Frau Müller. Es ist schön!"
    (one, words), (two, others) = (spoken(voice, parts) for parts in ([text], list(text)))
    assert np.array_equal(one, two)
    assert [word.text for word in words] == [word.text for word in others] == text.split()


def test_a_sentence_begins_with_a_small_piece_and_its_rest_follows() -> None:
    voice = toy("vits")
    chunks = list(voice.stream([TEXT], policy=WaitAll()))
    hop = voice.config.hop_length
    assert len(chunks[0].samples) <= 8 * hop
    assert max(len(chunk.samples) for chunk in chunks[:2]) <= 32 * hop
    session = voice.session(policy=WaitAll())
    session.push(TEXT)
    session.finish()
    assert session.pull() is not None
    assert not session.finished
    session.cancel()
    assert session.finished


def segment(ids: list[int], speak: int, *, ends: bool = False, **more: Any) -> Segment:
    return Segment(np.array(ids, np.int64), speak, ((0, speak),) if speak else (), ends, **more)


SAID = [8, 9, 10, 3, 11, 12, 3, 13, 14, 15, 6]


def acoustic_of(voice: Voice) -> Any:
    synthesizer: Any = voice.synthesizer
    return synthesizer.acoustic


def test_final_tokens_keep_their_durations_and_held_ones_get_new() -> None:
    acoustic = acoustic_of(toy("vits"))
    rendering = Rendering()
    _, state = acoustic.step(segment(SAID, 5), acoustic.initial(), rendering, hold_back=9)
    frames, after = acoustic.step(segment(SAID[5:], 4), state, rendering, hold_back=9)
    assert isinstance(state, VitsState)
    ends = np.cumsum(state.units)
    partly = int(np.searchsorted(ends - state.units, ends[-1] - 9))
    assert np.array_equal(after.units[:partly], state.units[:partly])
    assert after.done == state.done + len(frames.final)
    assert int(after.units.sum()) == after.done + after.held
    # A word that was reported after the held part moves by as much as that part grew.
    assert sum(by for _, by in frames.drawn) == int(
        after.units[: len(state.units)].sum() - state.units.sum()
    )


def test_a_breath_hands_out_what_is_held_and_the_sentence_goes_on() -> None:
    acoustic = acoustic_of(toy("vits"))
    rendering = Rendering()
    _, state = acoustic.step(segment(SAID, 5), acoustic.initial(), rendering, hold_back=9)
    frames, after = acoustic.step(segment([], 0, breath=True), state, rendering, hold_back=0)
    assert len(frames.final) >= 1
    assert not frames.ended
    assert after.held == 0
    nothing, same = acoustic.step(segment([], 0, breath=True), after, rendering, hold_back=0)
    assert len(nothing.final) == 0
    assert same is after


def test_the_window_forgets_tokens_but_none_that_is_held() -> None:
    acoustic = acoustic_of(toy("vits"))
    rendering = Rendering()
    state = acoustic.initial()
    for _ in range(30):
        _, state = acoustic.step(segment(SAID, 5), state, rendering, hold_back=9)
        assert int(state.units.sum()) > state.held
    assert len(state.ids) <= 48 + 12
    assert state.token > 150


def test_a_sentence_of_nothing_that_the_voice_knows_is_silent() -> None:
    voice = toy("vits")
    samples, words = spoken(voice, ["One two. ", "\u0416\u0416. ", "Three."])
    assert [word.text for word in words] in (
        ["One", "two.", "\u0416\u0416.", "Three."],
        ["One", "two.", "Three."],
    )
    frames, state = acoustic_of(voice).step(
        segment([], 0, ends=True), acoustic_of(voice).initial(), Rendering(), hold_back=0
    )
    assert frames.ended
    assert len(frames.final) == 0
    assert not len(state.ids)
    assert len(samples) > 1000


def test_speeds_of_words_are_followed() -> None:
    acoustic = acoustic_of(toy("vits-speakers"))
    rendering = Rendering()
    lengths = []
    for speed in (0.5, 1.0, 2.0):
        said = segment(SAID, len(SAID), ends=True, speeds=np.full(len(SAID), speed, np.float32))
        lengths.append(
            len(acoustic.step(said, acoustic.initial(), rendering, hold_back=0)[0].final)
        )
    assert lengths[0] > lengths[1] > lengths[2]


def test_what_stands_for_the_future_is_long_at_first_and_short_later() -> None:
    acoustic = acoustic_of(toy("vits"))
    fresh = acoustic.initial()
    later = dataclasses.replace(fresh, steps=2)
    first, then = (acoustic._tail(segment(SAID, 5), state) for state in (fresh, later))
    assert len(first) > 4 * len(then) > 0
    # Without a lookahead word there is one long step more, because what was held back is rendered
    # again.
    last = dataclasses.replace(fresh, steps=3)
    blind, after = (acoustic._tail(segment(SAID, len(SAID)), state) for state in (later, last))
    assert np.array_equal(blind, first)
    assert np.array_equal(after, then)
    echo = type(acoustic)(acoustic._text, acoustic._config, (first[:0], first[:0]), right_frames=16)
    assert list(echo._tail(segment(SAID, 5), later)[::2]) == SAID[:5]
    assert list(acoustic._tail(segment(SAID, 5, ends=True), fresh)) == [2]
    assert len(acoustic._tail(segment(SAID, 5, predicted=2), fresh)) == 0


@pytest.mark.slow
def test_half_an_hour_of_text_costs_and_keeps_no_more_than_its_beginning() -> None:
    voice = toy("vits")
    session = voice.session()
    seconds = 0.0
    sizes = []
    session.push("Every word of this one is said when the next is there, and so on. " * 700)
    session.finish()
    for chunk in session.chunks():
        seconds += chunk.duration_s
        state: Any = session._state
        sizes.append((len(state.acoustic.ids), sum(cache.size for cache in state.vocoder.decoder)))
    assert seconds > 1800
    assert max(size for size, _ in sizes) <= 48 + 40
    assert len({size for _, size in sizes}) == 1
