"""Synthesizers: segments to sound. ``TwoStage`` joins an acoustic model and a vocoder, and is the
only place that holds sound back."""

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
    """Turns segments into sound. It is stateless: the state belongs to one session."""

    sample_rate: int
    """Samples per second of its sound."""

    def initial(self, rendering: Rendering) -> State:
        """Return the state before the first word of a session."""
        ...

    def step(self, segment: Segment, state: State) -> tuple[SynthesizedAudio, State]:
        """Return the sound that is final after this segment, and the next state; ``state`` is not
        changed.

        If the sound has ``more``, the segment ``NOTHING`` gives the rest of it; any other segment
        gives the rest together with its own sound.
        """
        ...


@dataclass(frozen=True, slots=True)
class Pauses:
    """Bounds on the silence around a sentence, in samples."""

    lead_in: int
    """Most silence before a sentence's first audible sample (one above -50 dBFS)."""
    pause: int
    """Exact silence after a sentence's last audible sample."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Position in the sound of one session."""

    origin: int = 0
    """Session sample of this sentence's first frame, had no leading silence been cut."""
    emitted: int = 0
    """Samples emitted in the session."""
    lead: Floats | None = None
    """The last silent samples, kept until the sentence's first audible one; then None."""
    silence: int = 0
    """Silent samples at the end of the emitted sound."""
    unheard: tuple[tuple[int, int], ...] = ()
    """First and end frame of each word whose onset has not been emitted."""
    timed: int = 0
    """Session sample where the last timed word ended."""


@dataclass(frozen=True, slots=True)
class VocoderInput:
    """Frames for the second stage."""

    final: Floats
    """(T, D) frames to turn into samples."""
    right: Floats
    """(R, D) frames expected after them."""
    pause: int | None
    """Samples of silence after them if they end the sentence, else None."""


@dataclass(frozen=True, slots=True)
class TwoStageState(Generic[A, V]):
    """State of one session between steps."""

    rendering: Rendering
    """How this session is rendered."""
    acoustic: A
    """The first stage's state."""
    vocoder: V
    """The second stage's state."""
    progress: Progress
    """How far its sound has come."""
    waiting: tuple[Floats, ...] = ()
    """(T, D) final frames of each of the last SPEAKs that wait for the vocoder (Ma's k2)."""
    frame: int = 0
    """Frames of finished sentences: the number of this sentence's first frame."""
    frames: int = 0
    """Final frames of this sentence that the vocoder has received."""
    rest: VocoderInput | None = None
    """What the vocoder has not processed of the last step."""


class TwoStage(Generic[A, V]):
    """An acoustic model followed by a vocoder, with hold-back, Ma's k2 and delta, and bounded
    silence around sentences.

    With k2 = 0, the vocoder's right context is what the acoustic model expects to follow: held-back
    and lookahead frames. With k2 > 0, the frames of a SPEAK wait until those of k2 more are final
    (Ma, Eq. 7 and 10). ``delta`` bounds the right context in frames.

    Long steps reach the vocoder in pieces, so that the first sound need not wait for a whole step:
    with ``first_frames``, a sentence's first piece has that many frames, and each further one at
    most ``GROWTH`` times as many as all before it. No piece is longer than ``MAX_S`` seconds.
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
        """Return the same with another pitch and formants. ConfigError if the voice has no such."""
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
        """Give the rest of the last segment first; then run both stages on this one."""
        speeches = list[SynthesizedAudio]()
        while state.rest is not None:
            speech, state = self._vocode(state.rest, state)
            if segment is NOTHING:
                return speech, state
            speeches.append(speech)
        speech, state = self._advance(segment, state)
        return joined([*speeches, speech]), state

    def _advance(
        self, segment: Segment, state: TwoStageState[A, V]
    ) -> tuple[SynthesizedAudio, TwoStageState[A, V]]:
        """Run the acoustic model on a segment, and the vocoder on the frames that do not wait."""
        rendering = state.rendering
        hold_back = self._hold_back(segment, rendering)
        frames, acoustic = self.acoustic.step(
            segment, state.acoustic, rendering, hold_back=hold_back
        )
        waiting = list(state.waiting)
        # A step that only reads characters is no SPEAK, so k2 does not count it.
        if segment.steps != 0:
            waiting.append(frames.final)
        waiting_count = 0 if frames.ended or segment.breath else rendering.k2
        ready_count = max(0, len(waiting) - waiting_count)
        ready = waiting[:ready_count]
        waiting = waiting[ready_count:]
        no_frames = frames.final[:0]
        final = np.concatenate([no_frames, *ready])
        right = np.concatenate([no_frames, *waiting]) if rendering.k2 else frames.right
        pause = round(self.pauses.pause * segment.pause) if frames.ended else None
        unheard = moved(state.progress.unheard, frames.drawn) + frames.words
        state = replace(
            state,
            acoustic=acoustic,
            waiting=tuple(waiting),
            progress=replace(state.progress, unheard=unheard),
        )
        speech, state = self._vocode(VocoderInput(final, right, pause), state)
        if frames.observation is not None:
            speech = replace(speech, observation=frames.observation)
        return speech, state

    def _hold_back(self, segment: Segment, rendering: Rendering) -> int:
        """Return how many frames at the end of a segment are held back."""
        hold_back_s = rendering.hold_back_s
        sees_real_word = segment.speak + segment.predicted != len(segment.ids)
        if rendering.blind_hold_back_s is not None and not sees_real_word:
            hold_back_s = rendering.blind_hold_back_s
        if segment.breath:
            hold_back_s = 0.0
        return round(hold_back_s * self.sample_rate / self.vocoder.hop_length)

    def _vocode(
        self, frames: VocoderInput, state: TwoStageState[A, V]
    ) -> tuple[SynthesizedAudio, TwoStageState[A, V]]:
        """Run the vocoder on one piece of the frames; what is left becomes ``rest`` of the next
        state.

        ``state`` is that after the acoustic model. If the piece ends the sentence, the next state
        is that before the next one.
        """
        frames, rest = self._first_piece(frames, state.frames)
        delta = state.rendering.delta
        context = self.vocoder.context if delta is None else delta
        ended = frames.pause is not None
        samples, vocoder = self.vocoder.step(
            frames.final,
            frames.right[:context],
            state.vocoder,
            seed=state.rendering.seed,
            ended=ended,
        )
        speech, progress = self._emit(samples, state.progress, pause=frames.pause)
        if ended or rest is not None:
            speech = replace(speech, ended=ended, more=rest is not None)
        frame_count = state.frames + len(frames.final)
        if not ended:
            return speech, replace(
                state, vocoder=vocoder, progress=progress, frames=frame_count, rest=rest
            )
        frame = state.frame + frame_count
        origin = progress.emitted
        progress = Progress(origin=origin, emitted=origin, lead=np.zeros(0, np.float32))
        return speech, TwoStageState(
            state.rendering, state.acoustic, self.vocoder.initial(frame), progress, frame=frame
        )

    def _first_piece(
        self, frames: VocoderInput, done: int
    ) -> tuple[VocoderInput, VocoderInput | None]:
        """Split frames if they are too many for one piece; the rest is None if they are not.

        ``done``: frames of the sentence that came before.
        """
        max_frames = round(self.MAX_S * self.sample_rate / self.vocoder.hop_length)
        if self._first_frames:
            max_frames = min(max_frames, max(self._first_frames, self.GROWTH * done))
        if len(frames.final) <= max_frames:
            return frames, None
        rest = replace(frames, final=frames.final[max_frames:])
        right = np.concatenate([rest.final, frames.right])
        return VocoderInput(frames.final[:max_frames], right, None), rest

    def vocode(self, frames: Floats, *, seed: int = 0) -> Floats:
        """Return the samples (S,) of a whole sentence's frames (T, D), with its silence as it
        is."""
        return self.vocoder.step(
            frames, frames[:0], self.vocoder.initial(0), seed=seed, ended=True
        )[0]

    def _emit(
        self, samples: Floats, progress: Progress, *, pause: int | None
    ) -> tuple[SynthesizedAudio, Progress]:
        """Emit the vocoder's next samples, with bounded silence around the sentence.

        ``pause``: silent samples that must follow the sentence's last audible one if these samples
        end it; None if it goes on.
        """
        if progress.lead is not None:
            samples, progress = self._cut_lead(samples, progress)
            if progress.lead is not None and pause is None:
                return SynthesizedAudio(samples[:0], ()), progress
        audible = audible_ends(samples)
        silence = (
            progress.silence + len(samples) if audible is None else len(samples) - 1 - audible[1]
        )
        if pause is not None:
            # What earlier steps emitted stays, so that no more than all of these can be cut.
            samples = samples[: max(0, len(samples) + pause - silence)]
            samples = np.concatenate([samples, np.zeros(max(0, pause - silence), np.float32)])
        return self._time(samples, replace(progress, lead=None, silence=silence), pause=pause)

    def _cut_lead(self, samples: Floats, progress: Progress) -> tuple[Floats, Progress]:
        """Return all samples of a sentence so far, with at most ``lead_in`` silent ones first.

        ``progress.lead``: the silence kept of earlier steps. If nothing is audible yet, the samples
        returned are the next ``lead``; else ``lead`` is None from now on.
        """
        samples = np.concatenate([progress.lead, samples])
        audible = audible_ends(samples)
        first = len(samples) if audible is None else audible[0]
        cut = max(0, first - self.pauses.lead_in)
        samples = samples[cut:]
        lead = samples if audible is None else None
        return samples, replace(progress, origin=progress.origin - cut, lead=lead)

    def _time(
        self, samples: Floats, progress: Progress, *, pause: int | None
    ) -> tuple[SynthesizedAudio, Progress]:
        """Emit samples with the onset and end, in session samples, of each word that begins in
        them.

        The words that begin later stay in ``progress.unheard``. ``pause``: as for ``_emit``.
        """
        emitted_end = progress.emitted + len(samples)
        hop = self.vocoder.hop_length
        last_end = progress.timed
        words = []
        unheard = []
        for first_frame, end_frame in progress.unheard:
            # No word begins before the last one has ended: a word may have become shorter since it
            # was held back.
            onset = max(progress.origin + first_frame * hop, progress.emitted, last_end)
            end = progress.origin + end_frame * hop
            if pause is not None:
                # A model may count the silence after a sentence as part of its last phoneme.
                onset = min(onset, emitted_end - 1)
                end = min(end, emitted_end - pause)
            if onset >= emitted_end:
                unheard.append((first_frame, end_frame))
                continue
            last_end = max(onset, end)
            words.append((onset, last_end))
        return SynthesizedAudio(samples, tuple(words)), replace(
            progress, emitted=emitted_end, unheard=tuple(unheard), timed=last_end
        )


def joined(parts: list[SynthesizedAudio]) -> SynthesizedAudio:
    """Return consecutive speeches as one; flags and observation are those of the last."""
    if len(parts) == 1:
        return parts[0]
    samples = np.concatenate([part.samples for part in parts])
    words = [word for part in parts for word in part.words]
    return replace(parts[-1], samples=samples, words=tuple(words))


AnySynthesizer = Synthesizer[Any]
