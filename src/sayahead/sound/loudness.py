"""Loudness of speech as ITU-R BS.1770-4 defines it, in LUFS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

BLOCK_S = 0.4
STEP_S = 0.1
SILENT_LUFS = -70.0
BELOW_MEAN_LU = 10.0
# Frequency in Hz and quality of the shelf and of the high pass, gain in dB of the shelf (BS.1770-4,
# annex 1; given there as coefficients at 48 kHz, here as the filters they come from, for any rate).
SHELF_HZ = 1681.974450955533
SHELF_Q = 0.7071752369554196
SHELF_DB = 3.999843853973347
PASS_HZ = 38.13547087602444
PASS_Q = 0.5003270373238773


def loudness(samples: Floats, sample_rate: int) -> float:
    """Integrated loudness in LUFS of mono samples (S,) at full scale 1; -inf where all is silent or
    shorter than 0.4 s.

    Blocks of 0.4 s, a tenth of a second apart; those below -70 LUFS, then those 10 LU below the
    mean, are left out."""
    block = round(BLOCK_S * sample_rate)
    step = round(STEP_S * sample_rate)
    if len(samples) < block:
        return float("-inf")
    sums = np.concatenate([[0.0], np.cumsum(weighted(samples, sample_rate) ** 2)])
    starts = np.arange(0, len(samples) - block + 1, step)
    power = (sums[starts + block] - sums[starts]) / block
    loud = power[power > power_of(SILENT_LUFS)]
    if not len(loud):
        return float("-inf")
    loud = loud[loud > loud.mean() * 10 ** (-BELOW_MEAN_LU / 10)]
    return float(-0.691 + 10 * np.log10(loud.mean()))


def power_of(lufs: float) -> float:
    """The mean square of weighted samples at a loudness."""
    return float(10 ** ((lufs + 0.691) / 10))


def weighted(samples: Floats, sample_rate: int) -> NDArray[np.float64]:
    """K-weighted samples (S,)."""
    size = len(samples) + sample_rate
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(size))
    k = np.tan(np.pi * SHELF_HZ / sample_rate)
    high = 10 ** (SHELF_DB / 20)
    middle = 10 ** (SHELF_DB / 20 * 0.4996667741545416)
    above = (high + middle * k / SHELF_Q + k * k) + 2 * (k * k - high) * z
    above = above + (high - middle * k / SHELF_Q + k * k) * z * z
    shelf = above / resonance(k, SHELF_Q, z)
    k = np.tan(np.pi * PASS_HZ / sample_rate)
    high_pass = (1 - z) ** 2 / (resonance(k, PASS_Q, z) / (1 + k / PASS_Q + k * k))
    spectrum = np.fft.rfft(samples, size) * shelf * high_pass
    return np.fft.irfft(spectrum, size)[: len(samples)]


def resonance(k: float, q: float, z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """The denominator that both filters share, in powers of a sample's delay."""
    return (1 + k / q + k * k) + 2 * (k * k - 1) * z + (1 - k / q + k * k) * z * z
