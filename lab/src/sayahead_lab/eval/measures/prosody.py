"""Prosody: pitch and duration of streamed speech against the voice's own full sentence, by the
voice's own figures.

Nothing is aligned: the acoustic model itself gives the times of its words and the pitch of its
frames, and a recorder stores them. Where only traces and sound are left of the speech,
``from_sound`` takes the words' times from the traces and the pitch from an estimator
(``pitch.pitch_hz``).
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sayahead.engine.stages import AcousticModel, Frames, Vocoder, moved
from sayahead.engine.synthesizer import TwoStage
from sayahead.errors import ConfigError
from sayahead.sound.pitch import HOP_S
from sayahead.types import Floats, Rendering, Segment
from sayahead.voice import Voice

from sayahead_lab.eval.measures.intervals import correlation, estimate, moments, quotient, rmse

State = TypeVar("State")
Values = NDArray[np.float64]
CENTS_OF_200_HZ = 1200 * math.log2(200)
VOICED_HZ = 40.0
"""A frame of lower pitch is voiceless."""
PITCH = 128
"""Index of the pitch in Hz among the default voice's features."""


@dataclass(frozen=True, slots=True)
class Recording:
    """An acoustic model's output in one session, all its sentences in a row."""

    pitch: Floats
    """(T,) pitch of each final frame in Hz."""
    words: tuple[tuple[int, int], ...]
    """First and end frame of each word's sounding phonemes, from the start of the session."""
    phonemes: tuple[int, ...]
    """Number of sounding phonemes of each word."""
    sentences: tuple[int, ...]
    """Number of each word's sentence, from 0."""
    frame_s: float
    """Seconds a frame lasts."""


class Silent:
    """A vocoder that spends no time: a constant, as long as the frames are."""

    def __init__(self, vocoder: Vocoder[Any]) -> None:
        self.hop_length = vocoder.hop_length
        self.context = vocoder.context

    def initial(self, frame: int) -> None:
        return None

    def step(
        self, final: Floats, right: Floats, state: None, *, seed: int, ended: bool
    ) -> tuple[Floats, None]:
        return np.full(len(final) * self.hop_length, 0.1, np.float32), None


class AcousticRecorder(Generic[State]):
    """An acoustic model that wraps another, and records its output since the last ``initial()``.

    For ``TwoStage(Recorder(acoustic), vocoder, ...)``; a new session begins a new recording, so use
    one at a time. ``pitch`` is the feature that holds the frames' pitch in Hz."""

    def __init__(
        self, acoustic: AcousticModel[State], *, frame_s: float = 0.0125, pitch: int = PITCH
    ) -> None:
        self._acoustic = acoustic
        self._frame_s = frame_s
        self._feature = pitch
        self._begin()

    def _begin(self) -> None:
        self._pitch: list[Floats] = []
        self._words: list[tuple[int, int]] = []
        self._phonemes: list[int] = []
        self._sentences: list[int] = []
        self._sentence = 0
        self._start = 0
        self._frames = 0

    def initial(self) -> State:
        """The model's initial state; a new recording begins."""
        self._begin()
        return self._acoustic.initial()

    def step(
        self, segment: Segment, state: State, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, State]:
        frames, state = self._acoustic.step(segment, state, rendering, hold_back=hold_back)
        self._pitch.append(frames.final[:, self._feature].copy())
        if frames.drawn:
            places = [(self._start + first, by) for first, by in frames.drawn]
            self._words = list(moved(self._words, places))
        # Words count from the start of their sentence.
        self._words += [(self._start + first, self._start + end) for first, end in frames.words]
        self._phonemes += [end - first for first, end in segment.spans]
        self._sentences += [self._sentence] * len(frames.words)
        self._frames += len(frames.final)
        if frames.ended:
            self._start = self._frames
            self._sentence = self._sentence + 1
        return frames, state

    @property
    def recording(self) -> Recording:
        """The recording of a finished session; ConfigError while a word's frames are still to
        come."""
        if any(end > self._frames for _, end in self._words):
            raise ConfigError("The recorded session is not finished: pull all its chunks first.")
        pitch = np.concatenate([np.zeros(0, np.float32), *self._pitch])
        return Recording(
            pitch,
            tuple(self._words),
            tuple(self._phonemes),
            tuple(self._sentences),
            frame_s=self._frame_s,
        )


def recorded(voice: Voice, *, pitch: int = PITCH) -> tuple[Voice, AcousticRecorder[Any]]:
    """A voice that sounds the same and the recorder inside it; ConfigError for one without an
    acoustic model."""
    if not isinstance(voice.synthesizer, TwoStage):
        raise ConfigError(
            f"The voice {voice.config.name!r} has no acoustic model that can be recorded."
        )
    synthesizer = copy.copy(voice.synthesizer)
    frame_s = voice.config.hop_length / voice.config.sample_rate
    recorder = AcousticRecorder(synthesizer.acoustic, frame_s=frame_s, pitch=pitch)
    synthesizer.acoustic = recorder
    return voice.with_synthesizer(synthesizer), recorder


@dataclass(frozen=True, slots=True)
class Differences:
    """Two recordings of the same words, side by side: the streamed one, and the voice's own full
    sentence."""

    durations_ms: Values
    """(2, N) duration of each word that sounds."""
    phonemes: Values
    """(N,) phonemes of those words in the full sentence, at least 1."""
    pauses_ms: Values
    """(2, M) time between the end of a word and the onset of the next in its sentence."""
    pitch_cents: Values
    """(2, F) pitch of the frames voiced in both, above 1 Hz."""
    frames: int
    """Frames compared: all of the full sentence's words."""
    flipped: int
    """Frames that are voiced in one and not in the other."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far values x lie from the full sentence's values y. All are nan without values."""

    values: int
    """Number of pairs."""
    mean: float
    """``mean(x - y)``: the bias."""
    mean_absolute: float
    """``mean(|x - y|)``."""
    low: float
    """Lower end of its 95 % bootstrap interval over utterances; nan for fewer than two."""
    high: float
    """Upper end."""
    rmse: float
    """``sqrt(mean((x - y)^2))``."""
    correlation: float
    """Pearson's r of x and y; nan for fewer than two pairs or where either is constant."""


@dataclass(frozen=True, slots=True)
class ProsodyComparison:
    """The prosody of streamed speech against that of full sentences."""

    duration_ms: Deviation
    """Of words, in milliseconds: their sounding phonemes, no pauses."""
    phoneme_ms: Deviation
    """The same with each word's duration divided by its number of phonemes in the full sentence."""
    pause_ms: Deviation
    """Of the time between neighbouring words of a sentence, in milliseconds."""
    pitch_cents: Deviation
    """Of frames voiced in both, in cents; the correlation is that of the logarithms of pitch."""
    voicing_error: float
    """Share of the full sentences' frames that are voiced in one and not in the other."""


def differences(streamed: Recording, full: Recording) -> Differences:
    """One recording against another of the same words; ConfigError where their numbers differ.

    Each frame n of N of a word in ``full`` has for its partner the frame that lies at the same
    share of the word in ``streamed``, ``floor((n + 1/2) / N * N')``: linear within a word, and no
    warping beyond words."""
    same_number("recordings", streamed.words, full.words)
    pitch = [np.zeros((2, 0), np.float32)]
    for (first, end), (full_first, full_end) in zip(streamed.words, full.words, strict=True):
        length = end - first
        full_length = full_end - full_first
        if length and full_length:
            partners = first + (2 * np.arange(full_length) + 1) * length // (2 * full_length)
            pitch.append(np.stack([streamed.pitch[partners], full.pitch[full_first:full_end]]))
    lengths = np.stack([durations_ms(streamed), durations_ms(full)])
    # Neighbours in one sentence in both; a pause at a sentence's end is the engine's and not the
    # model's.
    pairs = [*zip(streamed.sentences, full.sentences, strict=True)]
    together = np.array(
        [a == c and b == d for (a, b), (c, d) in itertools.pairwise(pairs)], np.bool_
    )
    pauses = np.stack([pauses_ms(streamed), pauses_ms(full)])[:, together]
    return compared(
        lengths, full.phonemes, np.logical_or(*lengths), pauses, np.concatenate(pitch, axis=1)
    )


@dataclass(frozen=True, slots=True)
class ListenedUtterance:
    """An utterance with only its sound and word times."""

    pitch: Floats
    """(T,) pitch of frames ``pitch.HOP_S`` apart in Hz, 0 without voice."""
    words: tuple[tuple[int, int], ...]
    """First sample and end of each word."""
    rate: int
    """Samples per second."""


def from_sound(
    streamed: ListenedUtterance, full: ListenedUtterance, phonemes: Sequence[int] | None = None
) -> Differences:
    """One utterance against another of the same words; ConfigError where their numbers differ.

    As ``differences``, but durations are to the sample, the partners of a word's frames are the
    frames next to the same share of the word, and there are no pauses, as traces do not say where a
    sentence ends. ``phonemes`` are those of each word; none: 1.
    """
    same_number("utterances", streamed.words, full.words)
    times_s = [
        np.array(one.words, np.float64).reshape(-1, 2) / one.rate for one in (streamed, full)
    ]
    lengths_s = np.stack([time[:, 1] - time[:, 0] for time in times_s])
    sounding = np.logical_and(*(lengths_s > 0))
    pitch = [np.zeros((2, 0), np.float32)]
    for word in np.flatnonzero(sounding):
        count = max(1, round(lengths_s[1, word] / HOP_S))
        share = (np.arange(count) + 0.5) / count
        rows = []
        for one, time, length in zip((streamed, full), times_s, lengths_s, strict=True):
            frames = np.round((time[word, 0] + share * length[word]) / HOP_S).astype(np.int64)
            rows.append(one.pitch[np.minimum(frames, len(one.pitch) - 1)])
        pitch.append(np.stack(rows))
    numbers = [1] * len(full.words) if phonemes is None else phonemes
    return compared(
        1000 * lengths_s, numbers, sounding, np.zeros((2, 0)), np.concatenate(pitch, axis=1)
    )


def same_number(
    what: str, words: Sequence[tuple[int, int]], full: Sequence[tuple[int, int]]
) -> None:
    """ConfigError unless both have the same number of words."""
    if len(words) != len(full):
        raise ConfigError(
            f"The {what} have {len(words)} and {len(full)} words, but must have the same."
        )


def compared(
    lengths_ms: Values,
    phonemes: Sequence[int],
    sounding: NDArray[np.bool_],
    pauses_ms: Values,
    pitch: Floats,
) -> Differences:
    """The differences of words' lengths (2, N) with their phonemes, of pauses and of frames' pitch
    (2, F) in Hz."""
    hertz = pitch.astype(np.float64)
    voiced = hertz > VOICED_HZ
    return Differences(
        durations_ms=lengths_ms[:, sounding],
        phonemes=np.maximum(np.array(phonemes, np.float64), 1)[sounding],
        pauses_ms=pauses_ms,
        pitch_cents=1200 * np.log2(hertz[:, voiced.all(axis=0)]),
        frames=hertz.shape[1],
        flipped=int((voiced[0] != voiced[1]).sum()),
    )


def sums(differences: Differences) -> dict[str, tuple[float, ...]]:
    """The sums for the figures over many utterances: ``moments`` of pitch (cents over 200 Hz),
    words (ms) and words by phoneme (ms), the streamed ones first; of voicing the frames that
    differ, and all."""
    return {
        # Far from 0 the sums of squares would leave few digits for the differences.
        "pitch": moments(*(differences.pitch_cents - CENTS_OF_200_HZ)),
        "word": moments(*differences.durations_ms),
        "phoneme": moments(*(differences.durations_ms / differences.phonemes)),
        "voicing": (float(differences.flipped), float(differences.frames)),
    }


def prosody(utterances: Iterable[Differences], *, seed: int = 0) -> ProsodyComparison:
    """All figures over all words or frames of the utterances together; nan without any."""
    every = list(utterances)
    frames = sum(one.frames for one in every)
    return ProsodyComparison(
        duration_ms=deviation([one.durations_ms for one in every], seed=seed),
        phoneme_ms=deviation([one.durations_ms / one.phonemes for one in every], seed=seed),
        pause_ms=deviation([one.pauses_ms for one in every], seed=seed),
        pitch_cents=deviation([one.pitch_cents - CENTS_OF_200_HZ for one in every], seed=seed),
        voicing_error=sum(one.flipped for one in every) / frames if frames else math.nan,
    )


def deviation(pairs: Sequence[Values], *, seed: int = 0) -> Deviation:
    """How far values lie from the full sentence's, given both (2, N) for each utterance."""
    values = np.concatenate([np.zeros((2, 0)), *pairs], axis=1)
    parts = [(np.abs(one[0] - one[1]).sum(), one.shape[1]) for one in pairs]
    absolute = estimate(np.array(parts, np.float64).reshape(-1, 2), quotient, seed=seed)
    total = np.array(moments(*values))
    return Deviation(
        values=values.shape[1],
        mean=float((values[0] - values[1]).mean()) if values.size else math.nan,
        mean_absolute=absolute.value,
        low=absolute.low,
        high=absolute.high,
        rmse=float(rmse(total)),
        correlation=float(correlation(total)),
    )


def durations_ms(recording: Recording) -> Values:
    """(N,) duration of each word."""
    return np.array(
        [1000 * recording.frame_s * (end - first) for first, end in recording.words], np.float64
    )


def pauses_ms(recording: Recording) -> Values:
    """(N - 1,) time from each word's end to the next one's onset."""
    pairs = itertools.pairwise(recording.words)
    return np.array(
        [1000 * recording.frame_s * (after[0] - before[1]) for before, after in pairs], np.float64
    )
