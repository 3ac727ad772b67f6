"""Measures how somebody speaks, apart from the timbre of the voice (pace, pitch range, energy
range), and sets a family's speaker to speak so.

The energy range is measured but not set: that of a family's speakers is close to people's."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats
from sayahead.vocoders.formants import MIDDLE_HZ
from sayahead.voices.install.clip.reading import RATE

Flags = NDArray[np.bool_]
HOP = RATE // 100
"""Samples of a frame: 10 ms."""
SMOOTH = 3
"""Frames over which the level is averaged."""
DIP_DB = 2.0
"""Smallest dip of the level between two syllables (de Jong and Wempe 2009)."""
SPEECH_DB = 25.0
"""Frames that are so much quieter than the loudest ones are not speech."""
MAX_CONSONANT = 20
"""Most quiet frames that may be a consonant; more are a pause."""
MAX_OCTAVES = 7 / 12
"""Most that the median pitch of a speaker is moved: seven semitones."""


class Manner(NamedTuple):
    """How somebody speaks."""

    pace: float
    """Syllables per second of speech, without pauses."""
    pitch_range: float
    """From the 10th to the 90th percentile of the pitch, in octaves."""
    energy_range: float
    """Standard deviation of the level of voiced frames, in dB."""


PACE_SHARE = 0.5
RANGE_SHARE = 0.6
"""Exponents on the ratio of a clip's pace and pitch range to the speaker's: how much of the
difference is the person's and not the sentence's. They are about the correlation of 8 s with the
rest of the same recording."""
PACE_LIMIT = 1.3
RANGE_LIMIT = 1.6
"""Largest factors on a speaker's pace and pitch range; the smallest are their reciprocals."""


def manner_of(samples: Floats, hertz: Floats) -> Manner | None:
    """Measure the manner of samples (S,) at 24 kHz, given their pitch every 10 ms (0: unvoiced).

    None if less than a second is voiced, which is too little to measure."""
    frames = samples[: len(samples) // HOP * HOP].reshape(-1, HOP)
    count = min(len(frames), len(hertz))
    power = np.square(frames[:count], dtype=np.float64).mean(1)
    levels = 10 * np.log10(np.convolve(power, np.ones(SMOOTH) / SMOOTH, "same") + 1e-12)
    spoken = levels > np.percentile(levels, 95) - SPEECH_DB if count else np.zeros(0, bool)
    voiced = spoken & (hertz[:count] > 0)
    if voiced.sum() < 100:
        return None
    octaves = np.log2(hertz[:count][voiced])
    low, high = np.percentile(octaves, [10, 90])
    seconds = float(without_pauses(spoken).sum()) / 100
    return Manner(
        pace=count_syllables(levels, voiced) / seconds,
        pitch_range=float(high - low),
        energy_range=float(np.std(levels[voiced])),
    )


def without_pauses(spoken: Flags) -> Flags:
    """Mark as speech the silent frames between spoken ones that are too few to be a pause."""
    joined = spoken.copy()
    for begin, end in itertools.pairwise(np.flatnonzero(spoken)):
        if end - begin <= MAX_CONSONANT:
            joined[begin:end] = True
    return joined


def count_syllables(levels: Floats, voiced: Flags) -> int:
    """Count the peaks of the level (F,) that are voiced, with a dip of ``DIP_DB`` before and after
    each."""
    count = 0
    # The lowest level since the last syllable, and the highest one since the level rose from there.
    dip = np.inf
    peak = -np.inf
    is_peak_voiced = False
    for level, is_voiced in zip(levels, voiced, strict=True):
        if level > peak and level - dip >= DIP_DB:
            peak = level
            is_peak_voiced = is_voiced
        if level <= peak - DIP_DB and np.isfinite(peak):
            count += int(is_peak_voiced)
            peak = -np.inf
            dip = level
        dip = min(dip, level)
    return count


def moved_manner(
    wanted_hz: float, wanted: Manner | None, own_hz: float, own: Manner | None
) -> Floats:
    """Return the settings (3,) of ``vocoders.manner`` that move a speaker's median pitch, pitch
    range and pace towards a person's.

    ``wanted_hz`` and ``wanted`` are the person's, ``own_hz`` and ``own`` those of the speaker
    without settings. If either manner is None, only the pitch is moved."""
    pace = 1.0
    pitch_range = 1.0
    if wanted is not None and own is not None:
        pace = bounded((wanted.pace / own.pace) ** PACE_SHARE, PACE_LIMIT)
        ratio = wanted.pitch_range / max(own.pitch_range, 0.05)
        pitch_range = bounded(ratio**RANGE_SHARE, RANGE_LIMIT)
    octaves = np.clip(np.log2(wanted_hz / own_hz), -MAX_OCTAVES, MAX_OCTAVES)
    # The vocoder widens the range about MIDDLE_HZ, which moves a median that lies elsewhere; that
    # is undone here.
    octaves += (1 - pitch_range) * np.log2(own_hz / MIDDLE_HZ)
    return np.array([octaves, pitch_range, np.log(pace)], np.float32)


def bounded(factor: float, limit: float) -> float:
    """Clip a factor to the range from 1 / ``limit`` to ``limit``."""
    return float(np.clip(factor, 1 / limit, limit))
