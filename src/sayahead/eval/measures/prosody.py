"""Prosody: pitch and duration of streamed speech against the voice's own full sentence, by the voice's own figures.

Nothing is aligned: an acoustic model says where its words lie and which pitch its frames get, and a recorder listens in
on it. Where only traces and sound are left of the speech, ``from_sound`` takes the words' times from the traces and the
pitch from an estimator (``pitch.pitch_hz``).
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

from sayahead.engine.stages import AcousticModel, Frames, moved
from sayahead.engine.synthesizer import TwoStage
from sayahead.errors import ConfigError
from sayahead.eval.measures.intervals import estimate, moments, quotient
from sayahead.eval.measures.pitch import HOP_S
from sayahead.types import Floats, Rendering, Segment
from sayahead.voice import Voice

State = TypeVar("State")
Values = NDArray[np.float64]
VOICED_HZ = 40.0
"""A frame of lower pitch is not voiced."""
PITCH = 128
"""Which of the default voice's features is a frame's pitch in Hz."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What an acoustic model said in one session, all its sentences in a row."""

    pitch: Floats
    """(T,) pitch of each final frame in Hz."""
    words: tuple[tuple[int, int], ...]
    """First and end frame of each word's sounding phonemes, from the start of the session."""
    phonemes: tuple[int, ...]
    """How many sounding phonemes each word has."""
    sentences: tuple[int, ...]
    """Number of each word's sentence, from 0."""
    frame_s: float
    """Seconds a frame lasts."""


class Recorder(Generic[State]):
    """An acoustic model that does what the one inside it does, and keeps what that said since the last ``initial()``.

    For ``TwoStage(Recorder(acoustic), vocoder, ...)``; a new session begins a new recording, so use one at a time.
    ``pitch`` is the feature that holds the frames' pitch in Hz.
    """

    def __init__(self, acoustic: AcousticModel[State], *, frame_s: float = 0.0125, pitch: int = PITCH) -> None:
        self._acoustic, self._frame_s, self._feature = acoustic, frame_s, pitch
        self._begin()

    def _begin(self) -> None:
        self._pitch: list[Floats] = []
        self._words: list[tuple[int, int]] = []
        self._phonemes: list[int] = []
        self._sentences: list[int] = []
        self._sentence = self._start = self._frames = 0

    def initial(self) -> State:
        """See AcousticModel; begins a new recording."""
        self._begin()
        return self._acoustic.initial()

    def step(self, segment: Segment, state: State, rendering: Rendering, *, hold_back: int) -> tuple[Frames, State]:
        """See AcousticModel; what comes back is recorded, and nothing of it changed."""
        frames, state = self._acoustic.step(segment, state, rendering, hold_back=hold_back)
        self._pitch.append(frames.final[:, self._feature].copy())
        if frames.drawn:
            drawn = [(self._start + first, by) for first, by in frames.drawn]
            self._words = list(moved(self._words, drawn))
        # Words count from the start of their sentence.
        self._words += [(self._start + first, self._start + end) for first, end in frames.words]
        self._phonemes += [end - first for first, end in segment.words]
        self._sentences += [self._sentence] * len(frames.words)
        self._frames += len(frames.final)
        if frames.ended:
            self._start, self._sentence = self._frames, self._sentence + 1
        return frames, state

    @property
    def recording(self) -> Recording:
        """What was recorded of a session that is finished; ConfigError while a word's frames are still to come."""
        if any(end > self._frames for _, end in self._words):
            raise ConfigError("The recorded session is not finished: pull all its chunks first.")
        pitch = np.concatenate([np.zeros(0, np.float32), *self._pitch])
        return Recording(
            pitch, tuple(self._words), tuple(self._phonemes), tuple(self._sentences), frame_s=self._frame_s
        )


def recorded(voice: Voice, *, pitch: int = PITCH) -> tuple[Voice, Recorder[Any]]:
    """A voice that sounds the same and the recorder inside it; ConfigError for one without an acoustic model."""
    if not isinstance(voice.synthesizer, TwoStage):
        raise ConfigError(f"The voice {voice.config.name!r} has no acoustic model that can be recorded.")
    synthesizer = copy.copy(voice.synthesizer)
    frame_s = voice.config.hop_length / voice.config.sample_rate
    recorder = Recorder(synthesizer._acoustic, frame_s=frame_s, pitch=pitch)
    synthesizer._acoustic = recorder
    return voice.with_synthesizer(synthesizer), recorder


@dataclass(frozen=True, slots=True)
class Differences:
    """Two recordings of the same words, side by side: what was made, and the voice's own full sentence."""

    durations_ms: Values
    """(2, N) duration of each word that sounds."""
    phonemes: Values
    """(N,) phonemes of those words in the full sentence, at least 1."""
    pauses_ms: Values
    """(2, M) time between the end of a word and the onset of the next in its sentence."""
    pitch_cents: Values
    """(2, F) pitch of the frames voiced in both, above 1 Hz."""
    frames: int
    """Frames that were compared: all of the full sentence's words."""
    flipped: int
    """Those that are voiced in one and not in the other."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far values x lie from the full sentence's values y. All are nan over no values."""

    values: int
    """How many pairs."""
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
class Prosody:
    """How the prosody of streamed speech lies to that of full sentences."""

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


def differences(made: Recording, full: Recording) -> Differences:
    """One recording against another of the same words; ConfigError where their numbers differ.

    Each frame n of N of a word in ``full`` has for its partner the frame that lies at the same share of the word in
    ``made``, ``floor((n + 1/2) / N * N')``: linear within a word, and no warping beyond words.
    """
    if len(made.words) != len(full.words):
        raise ConfigError(f"The recordings have {len(made.words)} and {len(full.words)} words, but must have the same.")
    ours, theirs = [np.zeros(0, np.float32)], [np.zeros(0, np.float32)]
    for (first, end), (own_first, own_end) in zip(made.words, full.words, strict=True):
        length, own_length = end - first, own_end - own_first
        if length and own_length:
            ours.append(made.pitch[first + (2 * np.arange(own_length) + 1) * length // (2 * own_length)])
            theirs.append(full.pitch[own_first:own_end])
    pitch = np.stack([np.concatenate(ours), np.concatenate(theirs)]).astype(np.float64)
    voiced = pitch > VOICED_HZ
    both = voiced.all(axis=0)
    lengths = np.stack([durations_ms(made), durations_ms(full)])
    sounding = lengths.any(axis=0)
    # Neighbours in one sentence in both; a pause at a sentence's end is the engine's and not the model's.
    together = np.array(
        [same_sentence(made, at) and same_sentence(full, at) for at in range(1, len(full.words))], np.bool_
    )
    return Differences(
        durations_ms=lengths[:, sounding],
        phonemes=np.maximum(np.array(full.phonemes, np.float64), 1)[sounding],
        pauses_ms=np.stack([pauses_ms(made), pauses_ms(full)])[:, together],
        pitch_cents=1200 * np.log2(pitch[:, both]),
        frames=pitch.shape[1],
        flipped=int((voiced[0] != voiced[1]).sum()),
    )


@dataclass(frozen=True, slots=True)
class Heard:
    """An utterance of which only sound and word times are left."""

    pitch: Floats
    """(T,) pitch of frames ``pitch.HOP_S`` apart in Hz, 0 without voice."""
    words: tuple[tuple[int, int], ...]
    """First sample and end of each word."""
    rate: int
    """Samples per second."""


def from_sound(made: Heard, full: Heard, phonemes: Sequence[int] | None = None) -> Differences:
    """One utterance against another of the same words; ConfigError where their numbers differ.

    As ``differences``, but durations are to the sample, the partners of a word's frames are the frames next to the same
    share of the word, and there are no pauses, as traces do not say where a sentence ends. ``phonemes`` are those of
    each word; none: 1.
    """
    if len(made.words) != len(full.words):
        raise ConfigError(f"The utterances have {len(made.words)} and {len(full.words)} words, but must have the same.")
    times = [np.array(one.words, np.float64).reshape(-1, 2) / one.rate for one in (made, full)]
    lengths = np.stack([time[:, 1] - time[:, 0] for time in times])
    sounding = (lengths > 0).all(axis=0)
    pitch = [[np.zeros(0)], [np.zeros(0)]]
    for word in np.flatnonzero(sounding):
        count = max(1, round(lengths[1, word] / HOP_S))
        share = (np.arange(count) + 0.5) / count
        for found, one, time, length in zip(pitch, (made, full), times, lengths, strict=True):
            frames = np.round((time[word, 0] + share * length[word]) / HOP_S).astype(np.int64)
            found.append(one.pitch[np.minimum(frames, len(one.pitch) - 1)].astype(np.float64))
    both = np.stack([np.concatenate(found) for found in pitch])
    voiced = both > VOICED_HZ
    numbers = np.ones(len(full.words)) if phonemes is None else np.maximum(np.array(phonemes, np.float64), 1)
    return Differences(
        durations_ms=1000 * lengths[:, sounding],
        phonemes=numbers[sounding],
        pauses_ms=np.zeros((2, 0)),
        pitch_cents=1200 * np.log2(both[:, voiced.all(axis=0)]),
        frames=both.shape[1],
        flipped=int((voiced[0] != voiced[1]).sum()),
    )


def sums(found: Differences) -> dict[str, tuple[float, ...]]:
    """What the figures over many utterances are made of: ``moments`` of pitch (cents over 200 Hz), words (ms) and words
    by phoneme (ms), made first and full second; of voicing the frames that differ, and all.
    """
    return {
        # Far from 0 the sums of squares would leave few digits to what differs.
        "pitch": moments(*(found.pitch_cents - 1200 * math.log2(200))),
        "word": moments(*found.durations_ms),
        "phoneme": moments(*(found.durations_ms / found.phonemes)),
        "voicing": (float(found.flipped), float(found.frames)),
    }


def prosody(compared: Iterable[Differences], *, seed: int = 0) -> Prosody:
    """All figures over all words or frames of the utterances together; nan where there is nothing to take one of."""
    found = list(compared)
    frames = sum(one.frames for one in found)
    return Prosody(
        duration_ms=deviation([one.durations_ms for one in found], seed=seed),
        phoneme_ms=deviation([one.durations_ms / one.phonemes for one in found], seed=seed),
        pause_ms=deviation([one.pauses_ms for one in found], seed=seed),
        pitch_cents=deviation([one.pitch_cents for one in found], seed=seed),
        voicing_error=sum(one.flipped for one in found) / frames if frames else math.nan,
    )


def deviation(pairs: Sequence[Values], *, seed: int = 0) -> Deviation:
    """How far made values lie from the full sentence's, given both (2, N) for each utterance."""
    made, full = np.concatenate([np.zeros((2, 0)), *pairs], axis=1)
    if not len(made):
        return Deviation(0, *[math.nan] * 6)
    apart = made - full
    parts = [(np.abs(one[0] - one[1]).sum(), one.shape[1]) for one in pairs]
    absolute = estimate(np.array(parts, np.float64), quotient, seed=seed)
    return Deviation(
        values=len(made),
        mean=float(apart.mean()),
        mean_absolute=absolute.value,
        low=absolute.low,
        high=absolute.high,
        rmse=float(np.sqrt((apart**2).mean())),
        correlation=correlation(made, full),
    )


def correlation(one: Values, other: Values) -> float:
    """Pearson's r; nan for fewer than two pairs or where either is constant (to rounding)."""
    a, b = one - one.mean(), other - other.mean()
    # Values that are equal have a spread of rounding errors only.
    if len(one) < 2 or np.ptp(one) <= 1e-9 * np.abs(one).max() or np.ptp(other) <= 1e-9 * np.abs(other).max():
        return math.nan
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def durations_ms(made: Recording) -> Values:
    """(N,) how long each word sounds."""
    return np.array([1000 * made.frame_s * (end - first) for first, end in made.words], np.float64)


def pauses_ms(made: Recording) -> Values:
    """(N - 1,) how long it is from each word's end to the next one's onset."""
    pairs = itertools.pairwise(made.words)
    return np.array([1000 * made.frame_s * (after[0] - before[1]) for before, after in pairs], np.float64)


def same_sentence(made: Recording, at: int) -> bool:
    """Whether word ``at`` and the one before it belong to one sentence."""
    return made.sentences[at] == made.sentences[at - 1]
