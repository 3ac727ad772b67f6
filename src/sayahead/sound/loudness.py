"""Loudness in LUFS according to ITU-R BS.1770-4."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

BLOCK_S = 0.4
STEP_S = 0.1
GATE_LUFS = -70.0
"""Blocks below this level count as silence."""
BELOW_MEAN_LU = 10.0
"""Blocks this far below the mean of the others do not count."""


def loudness(samples: Floats, sample_rate: int) -> float:
    """Return the integrated loudness of a mono sound (S,) in LUFS; -inf for silence (ITU-R
    BS.1770-4, Annex 1).

    The sound is K-weighted, and mean squares are taken over blocks of 400 ms every 100 ms. The
    result is the mean of the blocks above -70 LUFS that are not more than 10 LU below the mean of
    those, so that pauses do not count. A sound shorter than 400 ms is one block.
    """
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
    """Convert a K-weighted mean square to LUFS (BS.1770, Eq. 2)."""
    return -0.691 + 10 * math.log10(mean_square)


def power(lufs: float) -> float:
    """Convert LUFS to a K-weighted mean square."""
    return float(10 ** ((lufs + 0.691) / 10))


def k_weighted(samples: Floats, sample_rate: int) -> NDArray[np.float64]:
    """Apply BS.1770's two filters to a sound (S,), in the frequency domain."""
    # Padding with zeros leaves room for the filters to ring out.
    size = 1 << (len(samples) + sample_rate // 2).bit_length()
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    spectrum = np.fft.rfft(np.asarray(samples, np.float64), size)
    for b, a in k_filters(sample_rate):
        spectrum *= (b[0] + b[1] * z + b[2] * z**2) / (1 + a[0] * z + a[1] * z**2)
    return np.fft.irfft(spectrum, size)[: len(samples)]


def k_filters(sample_rate: int) -> list[tuple[tuple[float, float, float], tuple[float, float]]]:
    """Return numerator (b0, b1, b2) and denominator (a1, a2) of both filters: a shelf for the head,
    and a high pass.

    BS.1770 gives them for 48 kHz; these come from the same analog filters by the bilinear
    transform.
    """
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
