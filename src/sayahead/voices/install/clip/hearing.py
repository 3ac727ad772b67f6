"""Measures a clip and checks whether a voice can be made of it; if not, an error says why and what
to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sayahead.errors import ConfigError
from sayahead.sound.pitch import pitch_hz
from sayahead.types import Floats
from sayahead.voices.install.clip.embedding import Embedder, mel_frames, unit
from sayahead.voices.install.clip.manner import Manner, manner_of
from sayahead.voices.install.clip.reading import RATE, Clip

FRAME = RATE // 50
"""Samples of a frame whose level is measured: 20 ms."""
SPEECH_DB = 30.0
"""Frames that are so much quieter than the loudest ones are pauses."""
PAUSE_PERCENTILE = 2
"""Percentile of the levels that is taken for the level of pauses; low, as a clip may have few."""


@dataclass(frozen=True, slots=True)
class ClipMeasures:
    """Measurements of a clip."""

    seconds: float
    """Its length."""
    spoken: float
    """Seconds of speech in it."""
    level: float
    """Level of the speech in dBFS."""
    clipped: float
    """Share of samples that are clipped."""
    pause_depth: float
    """dB by which its pauses are quieter than the speech: small if there is noise or music."""
    voiced: float
    """Share of the speech that is voiced."""
    f0: float
    """Median pitch in Hz; 0 if nothing is voiced."""
    similarity: float
    """Cosine of the two most different groups of its windows: low if two people speak."""
    embedding: Floats
    """(256,) the speaker embedding."""
    manner: Manner | None = None
    """How the person speaks; None if there is too little speech to measure it."""


def hear(clip: Clip, embed: Embedder) -> ClipMeasures:
    """Measure a clip."""
    samples = clip.samples
    seconds = len(samples) / RATE
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    if not len(frames) or not np.any(np.abs(samples) > 0):
        return ClipMeasures(seconds, 0, -np.inf, 0, 0, 0, 0, 1, np.zeros(256, np.float32))
    levels = 10 * np.log10(np.square(frames, dtype=np.float64).mean(1) + 1e-12)
    is_speech = levels > np.percentile(levels, 95) - SPEECH_DB
    level = float(10 * np.log10(np.mean(10 ** (levels[is_speech] / 10))))
    hertz = pitch_hz(samples, RATE)
    # Levels are of 20 ms, pitches of 10 ms.
    spoken = np.repeat(is_speech, 2)[: len(hertz)]
    voiced = hertz[: len(spoken)][spoken] > 0
    partials = embed.partials(mel_frames(samples, RATE))
    return ClipMeasures(
        seconds=seconds,
        spoken=float(is_speech.sum()) * FRAME / RATE,
        level=level,
        clipped=clip.clipped,
        pause_depth=level - float(np.percentile(levels, PAUSE_PERCENTILE)),
        voiced=float(voiced.mean()) if len(voiced) else 0.0,
        f0=float(np.median(hertz[hertz > 0])) if (hertz > 0).any() else 0.0,
        similarity=group_similarity(partials),
        embedding=unit(partials.mean(0)),
        manner=manner_of(samples, hertz),
    )


def group_similarity(partials: Floats) -> float:
    """Divide windows (N, 256) into two groups along their first principal component; return the
    cosine of the groups' means, or 1 if a group would have a single window."""
    if len(partials) < 4:
        return 1.0
    centred = partials - partials.mean(0)
    component = np.linalg.svd(centred, full_matrices=False)[2][0]
    upper = centred @ component > 0
    if min(upper.sum(), (~upper).sum()) < 2:
        return 1.0
    return float(unit(partials[upper].mean(0)) @ unit(partials[~upper].mean(0)))


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason why no voice can be made of a clip."""

    applies: Callable[[ClipMeasures], bool]
    sentence: str
    """What was measured and what to do; a format string over the fields of ``ClipMeasures``."""


MIN_SECONDS = 3.0
MIN_SPOKEN = 2.0
TOO_QUIET_DB = -50.0
MAX_CLIPPED = 0.002
MIN_PAUSE_DEPTH_DB = 10.0
MIN_VOICED = 0.25
MIN_SIMILARITY = 0.62
PROBLEMS = (
    Problem(
        lambda heard: heard.level < -90,
        "nothing can be heard in it: check the microphone, and record it again",
    ),
    Problem(
        lambda heard: heard.seconds < MIN_SECONDS,
        "it lasts {seconds:.1f} s, which says too little of a voice: record 5 to 20 s",
    ),
    Problem(
        lambda heard: heard.level < TOO_QUIET_DB,
        "it is too quiet ({level:.0f} dBFS): speak closer to the microphone, or raise its level",
    ),
    Problem(
        lambda heard: heard.clipped > MAX_CLIPPED,
        "it is too loud for its recording, {clipped:.1%} of it is cut off: lower the microphone's"
        " level, and record it again",
    ),
    Problem(
        lambda heard: heard.voiced < MIN_VOICED or not heard.f0,
        "no voice is heard in it (a pitch in {voiced:.0%} of what sounds): record somebody who"
        " speaks",
    ),
    Problem(
        lambda heard: heard.pause_depth < MIN_PAUSE_DEPTH_DB,
        "there is no pause in it that is quiet ({pause_depth:.0f} dB below the speech): music,"
        " noise or others are heard beneath; record one person in a quiet room",
    ),
    Problem(
        lambda heard: heard.spoken < MIN_SPOKEN,
        "only {spoken:.1f} s of it are spoken: record 5 to 20 s of speech",
    ),
    Problem(
        lambda heard: heard.similarity < MIN_SIMILARITY,
        "two people seem to speak in it (its parts are alike by {similarity:.2f}): cut out"
        " 5 to 20 s of one",
    ),
)
"""Checked in this order; the first that applies is reported."""


def check(heard: ClipMeasures, name: str) -> None:
    """Raise ConfigError if no voice can be made of a clip; ``name`` is that of its file."""
    for problem in PROBLEMS:
        if problem.applies(heard):
            fields = {field: getattr(heard, field) for field in ClipMeasures.__slots__}
            sentence = problem.sentence.format(**fields)
            raise ConfigError(f"No voice can be made of {name}: {sentence}.")
