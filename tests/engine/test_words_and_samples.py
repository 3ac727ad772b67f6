"""Every word has a time, its own, whatever steps give no samples."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.toy import toy_session

from sayahead import Voice
from sayahead.engine.session import Session
from sayahead.types import Segment, SynthesizedAudio, WordTiming

TEXT = "One two ; three. Four ! five: six, - seven? Eight nine . Ten"


class Cut:
    """A synthesizer whose sound of some steps is cut away, as is that of a mark after a long
    pause."""

    def __init__(self, whole: Any, cuts: set[int]) -> None:
        self.sample_rate = whole.sample_rate
        self._whole = whole
        self._cuts = cuts
        self._step = 0
        self._missing = 0

    def initial(self, rendering: Any) -> Any:
        return self._whole.initial(rendering)

    def step(self, segment: Segment, state: Any) -> tuple[SynthesizedAudio, Any]:
        speech, state = self._whole.step(segment, state)
        self._step += 1
        speech = replace(
            speech, words=tuple((a - self._missing, b - self._missing) for a, b in speech.words)
        )
        if self._step in self._cuts:
            self._missing += len(speech.samples)
            speech = replace(speech, samples=np.zeros(0, np.float32))
        return speech, state


def words_of(session: Session) -> list[WordTiming]:
    """All words, which are in their chunks, in order."""
    words = list[WordTiming]()
    position = 0
    for chunk in session.chunks():
        assert len(chunk.samples)
        assert chunk.start_samples == position
        position += len(chunk.samples)
        for word in chunk.words:
            assert chunk.start_samples <= word.onset_samples < position
            assert word.onset_samples <= word.offset_samples
            assert not words or words[-1].onset_samples <= word.onset_samples
            words.append(word)
    assert not session._untimed
    assert not session._unsent_timings
    return words


@pytest.mark.parametrize("seed", range(60))
def test_words_and_samples_of_a_step_cannot_part(seed: int) -> None:
    """The words of a step without samples were dropped with it: all later ones had their
    neighbour's time."""
    dice = random.Random(seed)
    whole = toy_session()
    whole.push(TEXT)
    whole.finish()
    wanted = [(word.text, word.start, word.end) for word in words_of(whole)]
    session = toy_session()
    cuts = {step for step in range(1, 30) if dice.random() < 0.3}
    session._synthesizer = Cut(session._synthesizer, cuts)
    for at in range(0, len(TEXT), 7):
        session.push(TEXT[at : at + 7])
    words = list[WordTiming]()
    if seed % 2:
        session.flush()
        words += [word for chunk in session.chunks() for word in chunk.words]
    session.finish()
    words += [word for chunk in session.chunks() for word in chunk.words]
    assert [(word.text, word.start, word.end) for word in words] == wanted
    assert not session._untimed
    assert not session._unsent_timings


@pytest.mark.parametrize(
    "text",
    ["Hello there;! yes.", 'He said "stop"; ! and left.', "Well ; ! so; ? It is ... ! ; over"],
)
@pytest.mark.parametrize("speed", [0.5, 0.7, 0.9, 1.0])
def test_a_lone_mark_takes_no_time_of_a_word(heart: Voice, text: str, speed: float) -> None:
    session = heart.session(speed=speed)
    usual = heart.session()
    for each in (session, usual):
        each.push(text)
        each.finish()
    assert [(word.text, word.start, word.end) for word in words_of(session)] == [
        (word.text, word.start, word.end) for word in words_of(usual)
    ]
