"""Synthesizers: segments to sound. TwoStage joins an acoustic model and a vocoder, and owns everything held back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from sayahead.engine.stages import AcousticModel, Vocoder, moved
from sayahead.sound.pcm import audible
from sayahead.types import Floats, Rendering, Segment, Speech

A = TypeVar("A")
V = TypeVar("V")
State = TypeVar("State")


class Synthesizer(Protocol[State]):
    """Segment in, sound out; stateless itself, the state belongs to one session."""

    sample_rate: int
    """Samples per second of the speech it makes."""

    def initial(self, rendering: Rendering) -> State:
        """The state before the first word of a session."""
        ...

    def step(self, segment: Segment, state: State) -> tuple[Speech, State]:
        """The sound that is final after this segment, and the next state; ``state`` itself is left as it was."""
        ...


@dataclass(frozen=True, slots=True)
class Pauses:
    """How the silence around a sentence is bounded, in samples."""

    lead_in: int
    """At most this much silence before a sentence's first audible sample (one above -50 dBFS)."""
    pause: int
    """Exactly this much after its last audible sample."""


@dataclass(frozen=True, slots=True)
class TwoStageState(Generic[A, V]):
    """The past of one session."""

    rendering: Rendering
    """How this session is rendered."""
    acoustic: A
    """The first stage's state."""
    vocoder: V
    """The second stage's state."""
    waiting: tuple[Floats, ...] = ()
    """(T, D) final frames of the last SPEAKs that wait for the second stage (Ma's k2)."""
    frame: int = 0
    """Frames of finished sentences, which number the frames of this one."""
    frames: int = 0
    """Final frames of this sentence that the vocoder has taken."""
    origin: int = 0
    """Session sample that corresponds to this sentence's first frame, less what was cut."""
    emitted: int = 0
    """Samples handed out over the session."""
    lead: Floats | None = None
    """The last silent samples, not handed out, until something audible comes in this sentence; then None."""
    silence: int = 0
    """Silent samples at the end of what was handed out."""
    unheard: tuple[tuple[int, int], ...] = ()
    """First and end frame of the words whose onset has not been handed out."""


class TwoStage(Generic[A, V]):
    """Acoustic model, then vocoder: the place of hold-back, Ma's k2 and delta, and of the silence around sentences.

    With k2 = 0 the vocoder's right context is what the acoustic model expects to come: held-back and lookahead frames.
    With k2 > 0 a SPEAK's frames wait until those of k2 more are final (Ma, Eq. 7 and 10). ``delta`` bounds the context
    in frames.
    """

    def __init__(self, acoustic: AcousticModel[A], vocoder: Vocoder[V], *, sample_rate: int, pauses: Pauses) -> None:
        self.sample_rate = sample_rate
        self._acoustic, self._vocoder, self._pauses = acoustic, vocoder, pauses

    def initial(self, rendering: Rendering) -> TwoStageState[A, V]:
        """The state before the first word of a session."""
        silence = np.zeros(0, np.float32)
        return TwoStageState(rendering, self._acoustic.initial(), self._vocoder.initial(0), lead=silence)

    def step(self, segment: Segment, state: TwoStageState[A, V]) -> tuple[Speech, TwoStageState[A, V]]:
        """See Synthesizer."""
        rendering, held_s = state.rendering, state.rendering.hold_back_s
        if rendering.blind_hold_back_s is not None and segment.speak + segment.predicted == len(segment.ids):
            held_s = rendering.blind_hold_back_s
        if segment.breath:
            held_s = 0.0
        hold_back = round(held_s * self.sample_rate / self._vocoder.hop_length)
        frames, acoustic = self._acoustic.step(segment, state.acoustic, rendering, hold_back=hold_back)

        # Reading characters speaks nothing, so it does not count as a SPEAK.
        waiting = [*state.waiting, *([] if segment.steps == 0 else [frames.final])]
        keep = 0 if frames.ended or segment.breath else min(rendering.k2, len(waiting))
        ready, waiting = waiting[: len(waiting) - keep], waiting[len(waiting) - keep :]
        final = np.concatenate([frames.final[:0], *ready])
        right = np.concatenate([frames.final[:0], *waiting]) if rendering.k2 else frames.right
        reach = self._vocoder.context if rendering.delta is None else rendering.delta
        samples, vocoder = self._vocoder.step(
            final, right[:reach], state.vocoder, seed=rendering.seed, ended=frames.ended
        )
        unheard = moved(state.unheard, frames.drawn) + frames.words
        state = replace(state, acoustic=acoustic, vocoder=vocoder, waiting=tuple(waiting), unheard=unheard)
        state = replace(state, frames=state.frames + len(final))
        pause = round(self._pauses.pause * segment.pause) if frames.ended else None
        speech, state = self._hand_out(samples, state, pause=pause)
        speech = replace(speech, observation=frames.observation, ended=frames.ended)
        if frames.ended:
            frame, at, lead = state.frame + state.frames, state.emitted, np.zeros(0, np.float32)
            vocoder = self._vocoder.initial(frame)
            state = TwoStageState(rendering, acoustic, vocoder, frame=frame, origin=at, emitted=at, lead=lead)
        return speech, state

    def vocode(self, frames: Floats, *, seed: int = 0) -> Floats:
        """Samples (S,) of a whole sentence's frames (T, D), without bounds on silence."""
        return self._vocoder.step(frames, frames[:0], self._vocoder.initial(0), seed=seed, ended=True)[0]

    def _hand_out(
        self, samples: Floats, state: TwoStageState[A, V], *, pause: int | None
    ) -> tuple[Speech, TwoStageState[A, V]]:
        """Bound the silence at both ends of a sentence, and time the words that begin in the rest.

        ``pause`` is how many samples of silence follow it; None: it goes on.
        """
        origin, lead, silence = state.origin, state.lead, state.silence
        loud = audible(samples)
        if lead is not None:
            samples = np.concatenate([lead, samples])
            first = int(loud[0]) + len(lead) if len(loud) else len(samples)
            cut = max(0, first - self._pauses.lead_in)
            samples, origin = samples[cut:], origin - cut
            if not len(loud) and pause is None:
                return Speech(samples[:0], ()), replace(state, lead=samples, origin=origin)
            loud = audible(samples)
        silence = len(samples) - 1 - int(loud[-1]) if len(loud) else silence + len(samples)
        if pause is not None:
            change = pause - silence
            samples = samples[: max(0, len(samples) + change)]
            samples = np.concatenate([samples, np.zeros(max(0, change), np.float32)])
        emitted = state.emitted + len(samples)
        hop = self._vocoder.hop_length
        words, unheard = [], []
        for first_frame, end_frame in state.unheard:
            onset = max(origin + first_frame * hop, state.emitted)
            offset = origin + end_frame * hop
            if pause is not None:
                # A model may count the silence after a sentence as part of its last phoneme.
                onset, offset = min(onset, emitted - 1), min(offset, emitted - pause)
            if onset < emitted:
                words.append((onset, max(onset, offset)))
            else:
                unheard.append((first_frame, end_frame))
        state = replace(state, origin=origin, lead=None, silence=silence, emitted=emitted, unheard=tuple(unheard))
        return Speech(samples, tuple(words)), state


AnySynthesizer = Synthesizer[Any]
