"""Loudness of speech as ITU-R BS.1770-4 defines it, in LUFS."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

BLOCK_S = 0.4
STEP_S = 0.1
GATE_LUFS = -70.0
"""A block below this counts as silence."""
BELOW_MEAN_LU = 10.0
"""Blocks so far below the mean of the others do not count."""


def loudness(samples: Floats, sample_rate: int) -> float:
    """Integrated loudness of a mono sound (S,) in LUFS, -inf where there is none (ITU-R BS.1770-4,
    Annex 1).

    K-weighting, mean squares over blocks of 400 ms every 100 ms; the mean over blocks above -70
    LUFS and not more than 10 LU below those blocks' own mean: pauses do not count. A sound below
    400 ms is one block."""
    weighted = k_weighted(samples, sample_rate)
    size = min(len(weighted), round(BLOCK_S * sample_rate))
    step = round(STEP_S * sample_rate)
    if not size:
        return -math.inf
    squares = np.concatenate([[0.0], np.cumsum(weighted**2)])
    starts = np.arange(0, len(weighted) - size + 1, step)
    blocks = np.maximum(squares[starts + size] - squares[starts], 0) / size
    loud = blocks[blocks > power(GATE_LUFS)]
    if not len(loud):
        return -math.inf
    return level(float(loud[loud > loud.mean() * 10 ** (-BELOW_MEAN_LU / 10)].mean()))


def level(mean_square: float) -> float:
    """LUFS of a K-weighted mean square (BS.1770, Eq. 2)."""
    return -0.691 + 10 * math.log10(mean_square)


def power(lufs: float) -> float:
    """The K-weighted mean square of a level."""
    return float(10 ** ((lufs + 0.691) / 10))


def k_weighted(samples: Floats, sample_rate: int) -> NDArray[np.float64]:
    """The sound (S,) through BS.1770's two filters, by their frequency response."""
    # Zeros after the sound leave room for the filters to ring out.
    size = 1 << (len(samples) + sample_rate // 2).bit_length()
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    spectrum = np.fft.rfft(np.asarray(samples, np.float64), size)
    for b, a in k_filters(sample_rate):
        spectrum *= (b[0] + b[1] * z + b[2] * z**2) / (1 + a[0] * z + a[1] * z**2)
    return np.fft.irfft(spectrum, size)[: len(samples)]


def k_filters(sample_rate: int) -> list[tuple[tuple[float, float, float], tuple[float, float]]]:
    """Numerator b0, b1, b2 and denominator a1, a2 of both filters: a shelf for the head, a high
    pass.

    BS.1770 gives them for 48 kHz; these are the analog filters that they come from, by the bilinear
    transform."""
    k = math.tan(math.pi * 1681.974450955533 / sample_rate)
    q = 0.7071752369554196
    gain = 10 ** (3.999843853973347 / 20)
    middle = gain**0.4996667741545416
    a0 = 1 + k / q + k * k
    shelf = (
        (
            (gain + middle * k / q + k * k) / a0,
            2 * (k * k - gain) / a0,
            (gain - middle * k / q + k * k) / a0,
        ),
        (2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0),
    )
    k = math.tan(math.pi * 38.13547087602444 / sample_rate)
    q = 0.5003270373238773
    a0 = 1 + k / q + k * k
    return [shelf, ((1.0, -2.0, 1.0), (2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0))]
