"""Samples in [-1, 1]: conversion to and from 16-bit PCM, and audibility."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

AUDIBLE = 10 ** (-50 / 20)
"""Amplitude above which a sample counts as audible: -50 dBFS."""


def audible(samples: Floats) -> NDArray[np.intp]:
    """Return the indices of the samples (S,) above -50 dBFS."""
    return np.flatnonzero(np.abs(samples) > AUDIBLE)


def audible_ends(samples: Floats) -> tuple[int, int] | None:
    """Return the indices of the first and last sample (S,) above -50 dBFS; None if there is
    none."""
    loud = np.abs(samples) > AUDIBLE
    if not loud.any():
        return None
    return int(loud.argmax()), len(loud) - 1 - int(loud[::-1].argmax())


def to_pcm16(samples: Floats) -> NDArray[np.int16]:
    """Convert samples (S,) to little-endian 16-bit integers, clipped to [-1, 1]; NaN becomes
    silence."""
    clean = np.nan_to_num(np.clip(samples, -1.0, 1.0), nan=0.0)
    pcm: NDArray[np.int16] = np.rint(clean * 32767.0).astype("<i2")
    return pcm


def from_pcm16(data: bytes) -> Floats:
    """Convert little-endian 16-bit PCM to samples (S,) in [-1, 1); an odd last byte is ignored."""
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32) / np.float32(32768)
