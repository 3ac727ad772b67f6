"""What is heard in a clip: whether a voice can be made of it, and where not, why not and what to
do."""

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
"""Samples of a frame of 20 ms, whose level is measured."""
SPOKEN_DB = 30.0
"""Frames so far below the loudest are pauses."""
PAUSES = 2
"""Percentile of the levels that pauses have, in a clip that may have few."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A clip, measured."""

    seconds: float
    """Its length."""
    spoken: float
    """Seconds of it in which somebody speaks."""
    level: float
    """dBFS of what is spoken."""
    clipped: float
    """Share of samples that are cut off at the largest value."""
    quiet: float
    """dB that its pauses lie below what is spoken: little where there is noise or music beneath."""
    voiced: float
    """Share of what is spoken that has a pitch."""
    f0: float
    """Median pitch in Hz; 0 where nothing has one."""
    spread: float
    """Range of the middle half of the pitch, in octaves."""
    apart: float
    """Cosine of the two most different halves of its windows: low where two people speak."""
    embedding: Floats
    """(256,) who speaks."""
    manner: Manner | None = None
    """How they speak; None where too little is spoken to tell."""


def hear(clip: Clip, embed: Embedder) -> Heard:
    """Measure a clip."""
    samples = clip.samples
    seconds = len(samples) / RATE
    whole = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    if not len(whole) or not np.any(np.abs(samples) > 0):
        return Heard(seconds, 0, -np.inf, 0, 0, 0, 0, 0, 1, np.zeros(256, np.float32))
    levels = 10 * np.log10(np.square(whole, dtype=np.float64).mean(1) + 1e-12)
    loud = levels > np.percentile(levels, 95) - SPOKEN_DB
    level = float(10 * np.log10(np.mean(10 ** (levels[loud] / 10))))
    hertz = pitch_hz(samples, RATE)
    spoken = np.repeat(loud, 2)[: len(hertz)]
    voiced = hertz[: len(spoken)][spoken] > 0
    f0 = float(np.median(hertz[hertz > 0])) if (hertz > 0).any() else 0.0
    spread = float(np.subtract(*np.percentile(np.log2(hertz[hertz > 0]), [75, 25]))) if f0 else 0.0
    partials = embed.partials(mel_frames(samples, RATE))
    return Heard(
        seconds=seconds,
        spoken=float(loud.sum()) * FRAME / RATE,
        level=level,
        clipped=clip.clipped,
        quiet=level - float(np.percentile(levels, PAUSES)),
        voiced=float(voiced.mean()) if len(voiced) else 0.0,
        f0=f0,
        spread=spread,
        apart=apart(partials),
        embedding=unit(partials.mean(0)),
        manner=manner_of(samples, hertz),
    )


def apart(partials: Floats) -> float:
    """Cosine of the means of two groups of windows (N, 256), divided where they differ most; 1 for
    too few."""
    if len(partials) < 4:
        return 1.0
    centred = partials - partials.mean(0)
    main = np.linalg.svd(centred, full_matrices=False)[2][0]
    upper = centred @ main > 0
    if min(upper.sum(), (~upper).sum()) < 2:
        return 1.0
    return float(unit(partials[upper].mean(0)) @ unit(partials[~upper].mean(0)))


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a clip may have, and that no voice can be made of."""

    is_there: Callable[[Heard], bool]
    sentence: str
    """What was heard and what to do; the fields of Heard fill it."""


MIN_SECONDS = 3.0
MIN_SPOKEN = 2.0
TOO_QUIET_DB = -50.0
CLIPPED = 0.002
NOISY_DB = 10.0
VOICED = 0.25
APART = 0.62
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
        lambda heard: heard.clipped > CLIPPED,
        "it is too loud for its recording, {clipped:.1%} of it is cut off: lower the microphone's"
        " level, and record it again",
    ),
    Problem(
        lambda heard: heard.voiced < VOICED or not heard.f0,
        "no voice is heard in it (a pitch in {voiced:.0%} of what sounds): record somebody who"
        " speaks",
    ),
    Problem(
        lambda heard: heard.quiet < NOISY_DB,
        "there is no pause in it that is quiet ({quiet:.0f} dB below the speech): music, noise or"
        " others are heard beneath; record one person in a quiet room",
    ),
    Problem(
        lambda heard: heard.spoken < MIN_SPOKEN,
        "only {spoken:.1f} s of it are spoken: record 5 to 20 s of speech",
    ),
    Problem(
        lambda heard: heard.apart < APART,
        "two people seem to speak in it (its parts are alike by {apart:.2f}): cut out 5 to 20 s"
        " of one",
    ),
)
"""In the order in which they are looked for."""


def check(heard: Heard, name: str) -> None:
    """ConfigError for a clip that no voice can be made of, with what was heard and what to do."""
    for problem in PROBLEMS:
        if problem.is_there(heard):
            told = {field: getattr(heard, field) for field in Heard.__slots__}
            raise ConfigError(f"No voice can be made of {name}: {problem.sentence.format(**told)}.")
