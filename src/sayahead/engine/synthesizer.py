"""Synthesizers: segments to sound. TwoStage joins an acoustic model and a vocoder, and owns
everything held back."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from sayahead.engine.stages import AcousticModel, Shapeable, Vocoder, moved
from sayahead.errors import ConfigError
from sayahead.sound.pcm import audible_ends
from sayahead.types import NOTHING, Floats, Rendering, Segment, Shape, SynthesizedAudio

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

    def step(self, segment: Segment, state: State) -> tuple[SynthesizedAudio, State]:
        """The sound that is final after this segment, and the next state; ``state`` itself is left
        as it was.

        Where it is said to have ``more``, the segment ``NOTHING`` gives the rest; any other one
        gives it with its own."""
        ...


@dataclass(frozen=True, slots=True)
class Pauses:
    """How the silence around a sentence is bounded, in samples."""

    lead_in: int
    """At most this much silence before a sentence's first audible sample (one above -50 dBFS)."""
    pause: int
    """Exactly this much after its last audible sample."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the sound of one session has come."""

    origin: int = 0
    """Session sample that corresponds to this sentence's first frame, less what was cut."""
    emitted: int = 0
    """Samples emitted over the session."""
    lead: Floats | None = None
    """The last silent samples, not emitted, until something audible comes in this sentence; then
    None."""
    silence: int = 0
    """Silent samples at the end of what was emitted."""
    unheard: tuple[tuple[int, int], ...] = ()
    """First and end frame of the words whose onset has not been emitted."""
    timed: int = 0
    """Session sample where the last word that was emitted was said to end."""


@dataclass(frozen=True, slots=True)
class TwoStageState(Generic[A, V]):
    """The past of one session."""

    rendering: Rendering
    """How this session is rendered."""
    acoustic: A
    """The first stage's state."""
    vocoder: V
    """The second stage's state."""
    progress: Progress
    """How far its sound has come."""
    waiting: tuple[Floats, ...] = ()
    """(T, D) final frames of the last SPEAKs that wait for the second stage (Ma's k2)."""
    frame: int = 0
    """Frames of finished sentences, which number the frames of this one."""
    frames: int = 0
    """Final frames of this sentence that the vocoder has taken."""
    rest: tuple[Floats, Floats, int | None] | None = None
    """What the second stage has not taken of the last step: final and right frames, and the pause
    after them where they end the sentence."""


class TwoStage(Generic[A, V]):
    """Acoustic model, then vocoder: the place of hold-back, Ma's k2 and delta, and of the silence
    around sentences.

    With k2 = 0 the vocoder's right context is what the acoustic model expects to come: held-back
    and lookahead frames. With k2 > 0 a SPEAK's frames wait until those of k2 more are final (Ma,
    Eq. 7 and 10). ``delta`` bounds the context in frames.

    With ``first_frames``, so many of a sentence go through the vocoder first, and then at most
    ``GROWTH`` times as many as have before: its first sound does not wait for all of its first
    step, however long. No piece has more than ``MAX_S`` seconds, with any voice.
    """

    GROWTH = 4
    MAX_S = 12.0

    def __init__(
        self,
        acoustic: AcousticModel[A],
        vocoder: Vocoder[V],
        *,
        sample_rate: int,
        pauses: Pauses,
        first_frames: int = 0,
    ) -> None:
        self.sample_rate = sample_rate
        self._first_frames = first_frames
        self.acoustic = acoustic
        self.vocoder = vocoder
        self.pauses = pauses

    def shaped(self, shape: Shape) -> TwoStage[A, V]:
        if not isinstance(self.vocoder, Shapeable):
            raise ConfigError(
                "This voice has no source and filter, so pitch, pitch_range and formants stay as"
                " they are."
            )
        other = copy.copy(self)
        other.vocoder = self.vocoder.shaped(shape)
        return other

    def initial(self, rendering: Rendering) -> TwoStageState[A, V]:
        progress = Progress(lead=np.zeros(0, np.float32))
        return TwoStageState(rendering, self.acoustic.initial(), self.vocoder.initial(0), progress)

    def step(
        self, segment: Segment, state: TwoStageState[A, V]
    ) -> tuple[SynthesizedAudio, TwoStageState[A, V]]:
        speeches = list[SynthesizedAudio]()
        while state.rest is not None:
            speech, state = self._vocode(
                *state.rest, state, state.acoustic, state.waiting, state.progress.unheard
            )
            if segment is NOTHING:
                return speech, state
            speeches.append(speech)
        speech, state = self._advance(segment, state)
        return joined([*speeches, speech]), state

    def _advance(
        self, segment: Segment, state: TwoStageState[A, V]
    ) -> tuple[SynthesizedAudio, TwoStageState[A, V]]:
        """A step of both stages."""
        rendering = state.rendering
        held_s = state.rendering.hold_back_s
        if rendering.blind_hold_back_s is not None and segment.speak + segment.predicted == len(
            segment.ids
        ):
            held_s = rendering.blind_hold_back_s
        if segment.breath:
            held_s = 0.0
        hold_back = round(held_s * self.sample_rate / self.vocoder.hop_length)
        frames, acoustic = self.acoustic.step(
            segment, state.acoustic, rendering, hold_back=hold_back
        )

        # Reading characters speaks nothing, so it does not count as a SPEAK.
        waiting = [*state.waiting, *([] if segment.steps == 0 else [frames.final])]
        keep = 0 if frames.ended or segment.breath else min(rendering.k2, len(waiting))
        ready = waiting[: len(waiting) - keep]
        waiting = waiting[len(waiting) - keep :]
        final = np.concatenate([frames.final[:0], *ready])
        right = np.concatenate([frames.final[:0], *waiting]) if rendering.k2 else frames.right
        pause = round(self.pauses.pause * segment.pause) if frames.ended else None
        words = moved(state.progress.unheard, frames.drawn) + frames.words
        speech, state = self._vocode(final, right, pause, state, acoustic, tuple(waiting), words)
        return (
            speech
            if frames.observation is None
            else replace(speech, observation=frames.observation)
        ), state

    def _vocode(
        self,
        final: Floats,
        right: Floats,
        pause: int | None,
        state: TwoStageState[A, V],
        acoustic: A,
        waiting: tuple[Floats, ...],
        words: tuple[tuple[int, int], ...],
    ) -> tuple[SynthesizedAudio, TwoStageState[A, V]]:
        """The second stage for final frames, or for the first of them where there are too many for
        one piece.

        ``acoustic`` and ``waiting`` are the first stage's next state; ``words``: frames of those
        not heard."""
        rendering = state.rendering
        most = round(self.MAX_S * self.sample_rate / self.vocoder.hop_length)
        if self._first_frames:
            most = min(most, max(self._first_frames, self.GROWTH * state.frames))
        reach = self.vocoder.context if rendering.delta is None else rendering.delta
        rest = (final[most:], right, pause) if most < len(final) else None
        if rest is not None:
            final = final[:most]
            right = np.concatenate([rest[0], right])
            pause = None
        ended = pause is not None
        samples, vocoder = self.vocoder.step(
            final, right[:reach], state.vocoder, seed=rendering.seed, ended=ended
        )
        speech, progress = self._emit(samples, state.progress, words, pause=pause)
        frames = state.frames + len(final)
        if ended or rest is not None:
            speech = replace(speech, ended=ended, more=rest is not None)
        if ended:
            frame = state.frame + frames
            at = progress.emitted
            progress = Progress(origin=at, emitted=at, lead=np.zeros(0, np.float32))
            return speech, TwoStageState(
                rendering, acoustic, self.vocoder.initial(frame), progress, frame=frame
            )
        return speech, TwoStageState(
            rendering, acoustic, vocoder, progress, waiting, state.frame, frames, rest
        )

    def vocode(self, frames: Floats, *, seed: int = 0) -> Floats:
        """Samples (S,) of a whole sentence's frames (T, D), without bounds on silence."""
        return self.vocoder.step(
            frames, frames[:0], self.vocoder.initial(0), seed=seed, ended=True
        )[0]

    def _emit(
        self,
        samples: Floats,
        progress: Progress,
        timings: tuple[tuple[int, int], ...],
        *,
        pause: int | None,
    ) -> tuple[SynthesizedAudio, Progress]:
        """Bound the silence at both ends of a sentence, and time the words that begin in the rest.

        ``timings``: the frames of the words that were not heard; ``pause``: how many samples of
        silence follow; None: it goes on.
        """
        origin = progress.origin
        lead = progress.lead
        silence = progress.silence
        timed = progress.timed
        loud = audible_ends(samples)
        first, quiet = (len(samples), 0) if loud is None else (loud[0], len(samples) - 1 - loud[1])
        if lead is not None:
            cut = max(0, len(lead) + first - self.pauses.lead_in)
            samples = np.concatenate([lead, samples])[cut:]
            origin = origin - cut
            if loud is None and pause is None:
                return SynthesizedAudio(samples[:0], ()), replace(
                    progress, lead=samples, origin=origin, unheard=timings
                )
        silence = silence + len(samples) if loud is None else quiet
        if pause is not None:
            change = pause - silence
            samples = samples[: max(0, len(samples) + change)]
            samples = np.concatenate([samples, np.zeros(max(0, change), np.float32)])
        emitted = progress.emitted + len(samples)
        hop = self.vocoder.hop_length
        words = []
        unheard = []
        for first_frame, end_frame in timings:
            # What was held back may have become shorter than the end of its word that was told.
            onset = max(origin + first_frame * hop, progress.emitted, timed)
            offset = origin + end_frame * hop
            if pause is not None:
                # A model may count the silence after a sentence as part of its last phoneme.
                onset = min(onset, emitted - 1)
                offset = min(offset, emitted - pause)
            if onset < emitted:
                timed = max(onset, offset)
                words.append((onset, timed))
            else:
                unheard.append((first_frame, end_frame))
        return SynthesizedAudio(samples, tuple(words)), Progress(
            origin, emitted, None, silence, tuple(unheard), timed
        )


def joined(parts: list[SynthesizedAudio]) -> SynthesizedAudio:
    """Several speeches as one; what is true of the last is true of all."""
    if len(parts) == 1:
        return parts[0]
    samples = np.concatenate([part.samples for part in parts])
    words = [word for part in parts for word in part.words]
    return replace(parts[-1], samples=samples, words=tuple(words))


AnySynthesizer = Synthesizer[Any]
