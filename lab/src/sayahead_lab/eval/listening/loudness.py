"""Sounds at equal loudness: listeners prefer the louder of two, whatever the voice."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sayahead.sound.loudness import loudness
from sayahead.types import Floats

TARGET = -23.0
"""LUFS (EBU R 128)."""


def matched(sounds: Sequence[tuple[Floats, int]]) -> list[Floats]:
    """The sounds, (samples (S,) in [-1, 1], sample rate) each, at one loudness: -23 LUFS, or the
    most without clipping.

    A sound without loudness stays as it is.
    """
    levels = [loudness(samples, rate) for samples, rate in sounds]
    peaks = [float(np.abs(samples).max(initial=0.0)) for samples, _ in sounds]
    loud = [
        (level, peak) for level, peak in zip(levels, peaks, strict=True) if math.isfinite(level)
    ]
    target = min([TARGET, *(level - 20 * math.log10(peak) for level, peak in loud)])
    return [
        samples * np.float32(10 ** ((target - level) / 20) if math.isfinite(level) else 1.0)
        for (samples, _), level in zip(sounds, levels, strict=True)
    ]
