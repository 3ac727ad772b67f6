"""Pitch, pitch range and formants of voices of source and filter, changed between the network and
the synthesis.

The network that makes the spectra is given the pitch that it was taught, so it sees nothing new;
what is changed is the pulse train and the envelope that filters it. All of it is done frame by
frame: a sentence in steps is the whole one."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats, Shape

MIDDLE_HZ = 189.0
"""The usual pitch of the speaker whom all voices of this kind have, about which the range is
widened."""
UNVOICED_HZ = 40.0
MIN_HZ = 45.0
MAX_HZ = 1200.0
PARTS = 5
BINS = 601
BIN_HZ = 20.0


def shaped_pitch(f0: Floats, shape: Shape) -> Floats:
    """(T,) pitch in Hz of frames (T,); unvoiced ones (below 40 Hz) stay as they are."""
    octaves = np.log2(np.maximum(f0, 1.0) / MIDDLE_HZ)
    pitch = MIDDLE_HZ * 2 ** (octaves * shape.pitch_range + shape.pitch / 12)
    return np.where(f0 > UNVOICED_HZ, np.clip(pitch, MIN_HZ, MAX_HZ), f0).astype(np.float32)


def shaped_spectrum(spectrum: Floats, before: Floats, after: Floats, shape: Shape) -> Floats:
    """(T, 3005) spectral parts with formants moved, as loud with the pitch ``after`` (T,) as with
    ``before`` (T,).

    Both pitches may be of fewer frames, or of more; frames without are taken for unvoiced. A pulse
    train has as much power as it has harmonics, so half the pitch is twice as loud. What is no
    pulse (hiss, breath, bursts) stays as it is: its phases belong to its frequencies.
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
    """(T, 2, 601) magnitude and phase of the filter, read where the harmonics of ``f0`` (T,) were
    and moved.

    Elsewhere the network was never heard, so what it says there means nothing: below the first
    harmonic above all."""
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
    """(601,) where in the old spectrum each bin of the new one lies."""
    return np.clip(np.arange(BINS) / formants, 0, BINS - 1)
