"""A voice of a few lines of numpy, for tests of all that is not a network: a tone per letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sayahead.engine.context import ContextPredictor, NoContext
from sayahead.engine.keep_up import KeepUp
from sayahead.engine.letters import Letters
from sayahead.engine.policy import Policy
from sayahead.engine.sentence import Sentence, Words
from sayahead.engine.session import Session
from sayahead.engine.stages import AcousticModel, Frames
from sayahead.engine.synthesizer import Pauses, TwoStage
from sayahead.policies.fixed import LookaheadK
from sayahead.text import front_end
from sayahead.text.reading.stream import new_reader
from sayahead.text.saying.english.spelling import EnglishSpeller
from sayahead.types import Floats, Ids, Pronunciation, Rendering, Segment, Word

RATE = 8000
HOP = 40


class ToyPhonemizer:
    """Ids are the characters' codes; the space before a word is id 32."""

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        inside = [bool(left)] + [True] * len(words)
        return [
            Pronunciation(
                np.array([ord(c) for c in " " * at + word.text], np.int64),
                int(at),
                at + len(word.text),
            )
            for at, word in zip(inside, words, strict=False)
        ]

    def phonemes(self, word: Word) -> int:
        return len(word.text)

    def ids(self, phonemes: str) -> Ids:
        return np.array([ord(c) for c in phonemes], np.int64)


@dataclass(frozen=True, slots=True)
class ToyState:
    ids: Ids
    units: Ids
    final: int


class ToyAcoustic:
    """Two to four frames an id, by the id that follows; a frame's pitch is a mean over one id to
    each side."""

    def initial(self) -> ToyState:
        return ToyState(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)

    def step(
        self, segment: Segment, state: ToyState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, ToyState]:
        ended = segment.closes
        ids = np.concatenate([state.ids, segment.ids, [0] * segment.ends]).astype(np.int64)
        following = np.concatenate([ids[1:], [7]])[: len(ids)]
        units = 2 + (ids + following) % 3
        if segment.speeds is not None:
            speeds = np.concatenate(
                [np.ones(len(state.ids)), segment.speeds, np.ones(int(segment.ends))]
            )
            units = np.maximum(np.rint(units / speeds), 1).astype(np.int64)
        units[: len(state.units)] = state.units
        end = len(ids) if ended else len(state.ids) + segment.speak
        pitch = (
            200.0 + np.convolve(np.concatenate([[0], ids % 97, [0]]), np.ones(3) / 3, "valid") * 10
        )
        frames = np.repeat(pitch, units).astype(np.float32)[:, None]
        total = int(units[:end].sum())
        cut = total if ended else max(state.final, total - hold_back)
        ends = np.concatenate([[0], np.cumsum(units)])
        first = len(state.ids)
        words = tuple((int(ends[first + a]), int(ends[first + b])) for a, b in segment.spans)
        made = Frames(frames[state.final : cut], frames[cut:], words, ended)
        return made, self.initial() if ended else ToyState(ids[:end], units[:end], cut)


@dataclass(frozen=True, slots=True)
class ToyReaderState:
    ids: tuple[int, ...] = ()
    words: tuple[tuple[int, int], ...] = ()
    steps: int = 0
    held: int = 0
    told: int = 0


class ToyReader:
    """Reads characters: two steps of two frames for each; a step's pitch is its character's, or the
    last there."""

    def initial(self) -> ToyReaderState:
        return ToyReaderState()

    def step(
        self, segment: Segment, state: ToyReaderState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, ToyReaderState]:
        ids = state.ids + tuple(int(i) for i in segment.ids)
        words = state.words + segment.spans
        steps = segment.steps or 0
        places = range(state.steps, state.steps + steps)
        made = [200.0 + ids[min(at // 2, len(ids) - 1)] * 10 for at in places]
        total = 2 * (state.steps + steps)
        ended = segment.ends and bool(steps) and total >= 4 * len(ids)
        held = 0 if ended else min(hold_back, state.held + 2 * steps)
        pitch = np.repeat(made, 2).astype(np.float32)
        frames = np.concatenate([np.full(state.held, 300, np.float32), pitch])[:, None]
        new = [word for word in words[state.told :] if ended or 4 * word[0] < total - held]
        spans = tuple((min(4 * a, total), min(4 * b, total) if ended else 4 * b) for a, b in new)
        observation = np.array([len(ids), total], np.float32)
        cut = len(frames) - held
        done = Frames(frames[:cut], frames[cut:], spans, ended, observation=observation)
        if ended:
            return done, self.initial()
        return done, ToyReaderState(ids, words, state.steps + steps, held, state.told + len(new))


@dataclass(frozen=True, slots=True)
class ToyVocoderState:
    phase: float


class ToyVocoder:
    """A sine at the frames' pitch; a frame's last sample is that of the frame that follows."""

    hop_length = HOP
    context = 1

    def initial(self, frame: int) -> ToyVocoderState:
        return ToyVocoderState(frame % 7 / 7)

    def step(
        self, final: Floats, right: Floats, state: ToyVocoderState, *, seed: int, ended: bool
    ) -> tuple[Floats, ToyVocoderState]:
        if not len(final):
            return np.zeros(0, np.float32), state
        hertz = np.repeat(final[:, 0].astype(np.float64), HOP)
        hertz[HOP - 1 :: HOP] = np.concatenate(
            [final[1:, 0], right[:1, 0] if len(right) else final[-1:, 0]]
        )
        turns = state.phase + np.cumsum(hertz) / RATE
        return (0.5 * np.sin(2 * np.pi * turns)).astype(np.float32), ToyVocoderState(
            float(turns[-1])
        )


def toy_session(
    policy: Policy | None = None,
    context: ContextPredictor | None = None,
    hold_back_s: float = 0.02,
    k2: int = 0,
    keep_up: KeepUp | None = None,
) -> Session:
    """A session of the toy voice, which reads what the policy decides on."""
    decider: Any = LookaheadK(1) if policy is None else policy
    characters = decider.unit == "characters"
    acoustic: AcousticModel[Any] = ToyReader() if characters else ToyAcoustic()
    synthesizer = TwoStage(
        acoustic, ToyVocoder(), sample_rate=RATE, pauses=Pauses(lead_in=10, pause=800)
    )
    sentence: Sentence = Words(
        decider, ToyPhonemizer(), context or NoContext(), openers=front_end("en-US").openers
    )
    if characters:
        sentence = Letters(decider, EnglishSpeller())
    rendering = Rendering(hold_back_s=hold_back_s, k2=k2)
    return Session(synthesizer, new_reader, sentence, rendering=rendering, keep_up=keep_up)
