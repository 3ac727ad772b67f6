"""How somebody speaks, apart from the sound of the voice: pace, range of the pitch, range of the
level; and the manner of a family's speaker who speaks so.

The level's range is only measured: that of a family's speakers is like people's anyway."""

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
"""Samples between two levels."""
SMOOTH = 3
"""Levels over which a syllable's loudness is averaged."""
DIP_DB = 2.0
"""Two syllables have at least such a dip between them (de Jong and Wempe 2009)."""
SPOKEN_DB = 25.0
"""Levels so far below the loudest are no speech."""
PAUSE = 20
"""Levels of silence that are a pause, and not a consonant."""


MAX_OCTAVES = 7 / 12
"""Most that the median pitch of a speaker is moved."""


class Manner(NamedTuple):
    """How somebody speaks."""

    pace: float
    """Syllables a second, pauses left out."""
    pitch_range: float
    """From the 10th to the 90th percentile of the pitch, in octaves."""
    energy_range: float
    """Standard deviation of the level of what has a pitch, in dB."""


PACE_SHARE = 0.5
RANGE_SHARE = 0.6
"""How much of a clip's difference is the person's, and not the sentence's: about the correlation of
8 s with the rest of the same recording."""
PACE_LIMIT = 1.3
RANGE_LIMIT = 1.6
"""Largest factors on a speaker's own; and smallest ones, one over these."""


def manner_of(samples: Floats, hertz: Floats) -> Manner | None:
    """How samples (S,) at 24 kHz are spoken, with their pitch every 10 ms; None where there is too
    little speech to tell."""
    whole = samples[: len(samples) // HOP * HOP].reshape(-1, HOP)
    count = min(len(whole), len(hertz))
    power = np.square(whole[:count], dtype=np.float64).mean(1)
    levels = 10 * np.log10(np.convolve(power, np.ones(SMOOTH) / SMOOTH, "same") + 1e-12)
    spoken = levels > np.percentile(levels, 95) - SPOKEN_DB if count else np.zeros(0, bool)
    voiced = spoken & (hertz[:count] > 0)
    if voiced.sum() < 100:
        return None
    octaves = np.log2(hertz[:count][voiced])
    low, high = np.percentile(octaves, [10, 90])
    seconds = float(without_pauses(spoken).sum()) / 100
    return Manner(
        syllables(levels, voiced) / seconds, float(high - low), float(np.std(levels[voiced]))
    )


def without_pauses(spoken: Flags) -> Flags:
    """Where somebody speaks, short silences included."""
    joined = spoken.copy()
    edges = np.flatnonzero(spoken)
    for begin, end in itertools.pairwise(edges):
        if end - begin <= PAUSE:
            joined[begin:end] = True
    return joined


def syllables(levels: Floats, voiced: Flags) -> int:
    """Peaks of the level that have a pitch, with a dip between each two."""
    count, top, bottom = 0, -np.inf, np.inf
    is_voiced = False
    for level, has_pitch in zip(levels, voiced, strict=True):
        if level > top and level - bottom >= DIP_DB:
            top, is_voiced = level, has_pitch
        if level <= top - DIP_DB and np.isfinite(top):
            count += int(is_voiced)
            top, bottom = -np.inf, level
        bottom = min(bottom, level)
    return count


def moved_manner(
    wanted_hz: float, wanted: Manner | None, own_hz: float, own: Manner | None
) -> Floats:
    """(3,) the manner (``vocoders.manner``) that brings a speaker's median pitch and way of
    speaking to another's; without these, the pitch alone."""
    pace = 1.0
    pitch_range = 1.0
    if wanted is not None and own is not None:
        pace = bounded((wanted.pace / own.pace) ** PACE_SHARE, PACE_LIMIT)
        ratio = wanted.pitch_range / max(own.pitch_range, 0.05)
        pitch_range = bounded(ratio**RANGE_SHARE, RANGE_LIMIT)
    octaves = np.clip(np.log2(wanted_hz / own_hz), -MAX_OCTAVES, MAX_OCTAVES)
    # The range is widened about the same pitch for all, which moves everybody else's median.
    octaves += (1 - pitch_range) * np.log2(own_hz / MIDDLE_HZ)
    return np.array([octaves, pitch_range, np.log(pace)], np.float32)


def bounded(factor: float, limit: float) -> float:
    """A factor within a largest one, and one over it."""
    return float(np.clip(factor, 1 / limit, limit))
