"""Changes pitch, pitch range and formants of source-filter voices, between the network and the
synthesis.

The network still gets the pitch that it was trained with; only the pulse train and the spectral
envelope change. Everything is computed per frame, so steps give the same as a whole sentence.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats, Shape

MIDDLE_HZ = 189.0
"""Usual pitch of the speaker of all voices of this kind, around which the range is widened."""
UNVOICED_HZ = 40.0
MIN_HZ = 45.0
MAX_HZ = 1200.0
PARTS = 5
BINS = 601
BIN_HZ = 20.0


def shaped_pitch(f0: Floats, shape: Shape) -> Floats:
    """Return the changed pitch (T,) in Hz; unvoiced frames (below 40 Hz) stay."""
    octaves = np.log2(np.maximum(f0, 1.0) / MIDDLE_HZ)
    pitch = MIDDLE_HZ * 2 ** (octaves * shape.pitch_range + shape.pitch / 12)
    return np.where(f0 > UNVOICED_HZ, np.clip(pitch, MIN_HZ, MAX_HZ), f0).astype(np.float32)


def shaped_spectrum(spectrum: Floats, before: Floats, after: Floats, shape: Shape) -> Floats:
    """Return the spectral parts (T, 3005) with formants moved, and as loud at the pitch ``after``
    (T,) as they were at ``before`` (T,).

    Pitches may have fewer or more frames; missing ones count as unvoiced. The power of a pulse
    train grows with its number of harmonics, so half the pitch would be twice as loud. Hiss, breath
    and bursts stay as they are, because their phases belong to their frequencies.
    """
    frames = len(spectrum)
    parts = spectrum.reshape(frames, PARTS, BINS).copy()
    old, new = (np.pad(f0[:frames], (0, max(0, frames - len(f0)))) for f0 in (before, after))
    voiced = old > UNVOICED_HZ
    response = at_harmonics(parts[voiced, :2], old[voiced], shape.formants)
    response[:, 0] += 0.5 * np.log(new[voiced] / old[voiced])[:, None]
    parts[voiced, :2] = response
    return parts.reshape(frames, PARTS * BINS)


def at_harmonics(response: Floats, f0: Floats, formants: float) -> Floats:
    """Return magnitude and phase (T, 2, 601) of the filter, read at the harmonics of ``f0`` (T,)
    and moved.

    Between harmonics, and below the first one, the network's output was never heard in training and
    means nothing.
    """
    harmonic = np.maximum(places(formants) * BIN_HZ / f0[:, None], 1.0)
    low = np.floor(harmonic)
    weight = (harmonic - low).astype(np.float32)
    bins = [
        np.minimum(np.rint((low + k) * f0[:, None] / BIN_HZ), BINS - 1).astype(np.int64)
        for k in (0, 1)
    ]
    below, above = (np.take_along_axis(response, at[:, None], axis=2) for at in bins)
    moved = below * (1 - weight[:, None]) + above * weight[:, None]
    moved[:, 1] = np.where(weight < 0.5, below[:, 1], above[:, 1])
    return moved.astype(np.float32)


@functools.lru_cache(maxsize=32)
def places(formants: float) -> NDArray[np.float64]:
    """Return for each bin (601,) of the new spectrum its position in the old one."""
    return np.clip(np.arange(BINS) / formants, 0, BINS - 1)
