"""Texts with several speakers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from support.effort import examples
from support.servers import toy_voice

from sayahead import Delivery, SessionError, TextError, Voice, VoiceError, dialogue
from sayahead.engine.cast import Cast, Tags
from sayahead.engine.session import Session
from sayahead.sound.subtitles import timings_srt, timings_vtt
from sayahead.types import Floats, WordTiming

ANN = "Hello there, Ben. How are you today? "
BEN = "I am fine, Ann, thank you. "


class Toys:
    """Sessions of toys, each with its own pace."""

    SPEEDS: ClassVar[dict[str, float]] = {"ann": 1.0, "ben": 1.5, "": 1.0}

    def __init__(self) -> None:
        self.opened = list[str]()

    def __call__(self, name: str) -> Session:
        self.opened.append(name)
        session = toy_voice().session()
        session.deliver(Delivery(speed=self.SPEEDS[name]))
        return session


def cast(**options: Any) -> Cast:
    return Cast(Toys(), lambda name: name in Toys.SPEEDS, sample_rate=8000, **options)


def spoken(session: Session, text: str, seed: int | None = None) -> Floats:
    """All samples of a text, pushed whole or in pieces of any size with pulls between them."""
    draw = random.Random(seed)
    chunks = list[Floats]()
    while text:
        size = len(text) if seed is None else draw.randint(1, 12)
        session.push(text[:size])
        text = text[size:]
        if seed is not None:
            chunks += [chunk.samples for chunk in session.chunks()]
    session.finish()
    return np.concatenate([*chunks, *(chunk.samples for chunk in session.chunks())])


def alone(name: str, text: str) -> Floats:
    return spoken(Toys()(name), text)


def test_each_says_what_is_theirs_as_if_alone() -> None:
    text = f"[voice:ann]{ANN}[voice:ben] {BEN}"
    session = cast()
    samples = spoken(session, text)
    assert np.array_equal(samples, np.concatenate([alone("ann", ANN), alone("ben", BEN)]))
    assert session.finished
    assert session.text == text


def test_two_speakers_and_200_changes_are_the_same_sound_in_any_split() -> None:
    turns = [("ann", ANN), ("ben", BEN)] * 100
    text = "".join(f"[voice:{name}]{words}" for name, words in turns)
    whole = spoken(cast(), text)
    for seed in range(examples(5)):
        assert np.array_equal(whole, spoken(cast(), text, seed))


def test_words_are_where_they_are_heard_and_written() -> None:
    text = f"Well. [voice:ann]{ANN}[voice:ben]{BEN}"
    session = cast(first="ben")
    session.push(text)
    session.finish()
    chunks = list(session.chunks())
    words = list[WordTiming]()
    position = 0
    for chunk in chunks:
        assert chunk.start_samples == position
        position += len(chunk.samples)
        assert all(chunk.start_samples <= word.onset_samples < position for word in chunk.words)
        words += chunk.words
    assert [word.speaker for word in words] == ["ben", *["ann"] * 7, *["ben"] * 6]
    for word in words:
        assert text[word.start : word.end].strip(".,? ").lower() == word.text.strip(".,? ").lower()
    middle = (words[3].onset_samples + words[3].offset_samples) / 2 / 8000
    heard = session.heard(middle + 0.001)
    assert heard.text == text[: words[3].end]
    assert heard.text + heard.unsaid == text


def test_a_name_that_nobody_has_is_silent_and_told() -> None:
    session = cast(first="ann")
    samples = spoken(session, "Hello [voice:eve]there, Ben. How are you today? ")
    assert np.array_equal(samples, alone("ann", ANN))
    assert list(session.skipped) == [(6, 17, "[voice:eve]")]


def test_what_only_looks_like_a_tag_is_text() -> None:
    for text in ("[voiceless] consonants. ", "A [voice: of reason. ", "She said [voi"):
        assert np.array_equal(spoken(cast(first="ann"), text), alone("ann", text))


def test_elements_of_ssml_go_back_to_who_spoke_before() -> None:
    text = f'{ANN}<voice name="ben">{BEN}</voice>{ANN}'
    session = cast(first="ann", tags=Tags(elements=True))
    parts = [alone("ann", ANN), alone("ben", BEN), alone("ann", ANN)]
    assert np.array_equal(spoken(session, text), np.concatenate(parts))


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_lines_of_a_script_begin_with_a_name(seed: int | None) -> None:
    text = f"Ann: {ANN}\nBEN : {BEN}\nben said: {BEN}\n"
    session = cast(tags=Tags(lines=["ann", "ben"]))
    parts = [alone("ann", ANN), alone("ben", f"{BEN}\nben said: {BEN}")]
    assert np.array_equal(spoken(session, text, seed), np.concatenate(parts))


def test_an_end_without_text_is_no_sound() -> None:
    session = cast()
    session.push("[voice:ann]")
    session.finish()
    assert list(session.chunks()) == []
    assert session.finished
    with pytest.raises(SessionError, match="after finish"):
        session.push("more")


@pytest.mark.parametrize("at", [3, 11, 30, 50, 59, 70, 75])
@pytest.mark.parametrize("new", ["Goodbye now. ", "Well. [voice:ann]And that is all. "])
def test_a_revision_changes_what_was_not_spoken(at: int, new: str) -> None:
    text = f"[voice:ann]{ANN}[voice:ben]{BEN}"
    session = cast()
    plain = cast()
    session.push(text)
    assert session.revise(at, new) == at
    revised = text[:at] + new
    assert session.text == revised
    session.finish()
    plain.push(revised)
    plain.finish()
    pairs = zip(session.chunks(), plain.chunks(), strict=True)
    inside = at < 11 or 48 < at < 59
    assert inside or all(np.array_equal(one.samples, other.samples) for one, other in pairs)


def test_what_was_spoken_stays() -> None:
    session = cast()
    session.push(f"[voice:ann]{ANN}[voice:ben]{BEN}")
    while (chunk := session.pull()) is not None and "ben" not in {
        word.speaker for word in chunk.words
    }:
        pass
    at = session.revise(0, "Nothing of that.")
    assert at >= len(f"[voice:ann]{ANN}[voice:ben]")
    assert session.text.startswith(f"[voice:ann]{ANN}[voice:ben]I ")


class TestVoices:
    """With voices as they are installed, or given."""

    def test_pairs_of_who_and_what(self) -> None:
        toys = {"ann": toy_voice(), "ben": toy_voice()}
        speech = dialogue([("ann", ["Hello ", "there. "]), ("ben", "I am fine. ")], cast=toys)
        samples = np.concatenate([chunk.samples for chunk in speech])
        parts = [toys["ann"].synthesize("Hello there. "), toys["ben"].synthesize("I am fine. ")]
        assert np.array_equal(samples, np.concatenate(parts))
        assert [word.speaker for word in speech.words] == ["ann", "ann", "ben", "ben", "ben"]
        assert speech.text == "Hello there. \nI am fine. \n"

    def test_turns_and_tokens_may_come_from_async_iterators(self) -> None:
        async def tokens(text: str) -> AsyncIterator[str]:
            for token in text.split(" "):
                yield token + " "

        async def turns() -> AsyncIterator[Any]:
            yield "ann", tokens("Hello there.")
            yield "ben", "I am fine."

        async def run() -> list[str]:
            speech = dialogue(turns(), cast={"ann": toy_voice(), "ben": toy_voice()})
            async for _ in speech:
                pass
            return [word.speaker for word in speech.words]

        assert asyncio.run(run()) == ["ann", "ann", "ben", "ben", "ben"]

    def test_who_is_not_there_cannot_speak(self) -> None:
        with pytest.raises(VoiceError, match="'eve'"):
            list(dialogue([("eve", "Hello.")], cast={"ann": toy_voice()}))
        with pytest.raises(VoiceError, match="heart"):
            dialogue("Hello.", cast={"ann": "hart"})
        with pytest.raises(TextError, match="pairs"):
            dialogue(5)  # type: ignore[arg-type]

    def test_a_voice_alone_has_no_others(self) -> None:
        with pytest.raises(SessionError, match="dialogue"):
            list(toy_voice().speak([_speaker("ben"), "Hello."]))

    def test_captions_say_who_speaks(self, tmp_path: Path) -> None:
        speech = dialogue(
            [("Ann", "Hello there."), ("Ben", "Fine.")],
            cast={"Ann": toy_voice(), "Ben": toy_voice()},
        )
        list(speech)
        srt = timings_srt(speech.words, sample_rate=8000)
        assert "\nAnn: Hello there.\n" in srt
        assert "\nBen: Fine.\n" in srt
        assert "\n<v Ben>Fine.\n" in timings_vtt(speech.words, sample_rate=8000)

    def test_speakers_of_the_family_and_heart(self) -> None:
        pytest.importorskip("sayahead_voices_family")
        turns = [
            ("heart", "Good morning."),
            ("am_michael", "Good morning to you."),
            ("family:am_puck", "And me."),
        ]
        speech = dialogue(turns)
        samples = np.concatenate([chunk.samples for chunk in speech])
        assert len(samples) > 3 * 12000
        assert [word.speaker for word in speech.words][::2] == [
            "heart",
            "am_michael",
            "am_michael",
            "family:am_puck",
        ]


def _speaker(name: str) -> Any:
    from sayahead.engine.session import Speaker

    return Speaker(name)


def gaps(samples: Floats, rate: int) -> list[float]:
    """Seconds of each silence (below -50 dBFS) of at least 20 ms."""
    loud = np.flatnonzero(np.abs(samples) > 10 ** (-50 / 20))
    return [float(gap) / rate for gap in np.diff(loud) if gap > 0.02 * rate]


def test_no_gap_is_longer_than_30_ms_beyond_the_pause() -> None:
    voice: Voice = toy_voice()
    speech = dialogue([("ann", ANN), ("ben", BEN)] * 20, cast={"ann": voice, "ben": voice})
    samples = np.concatenate([chunk.samples for chunk in speech])
    assert max(gaps(samples, 8000)) <= voice.config.pause_s + 0.03
