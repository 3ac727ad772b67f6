"""Sound from a log mel without a vocoder: only for listening during training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sayahead.types import Floats

from sayahead_lab.training.corpus.frontend import MelFrontEnd, hann, mel_filters

Spectra = NDArray[np.complex64]


def griffin_lim(front_end: MelFrontEnd, mel: Floats, *, iterations: int = 30) -> Floats:
    """Samples (T * hop,) whose log mel is near ``mel`` (T, n_mels): phases by Griffin and Lim
    (1984), with momentum."""
    filters = mel_filters(front_end)
    magnitudes = np.maximum(np.exp(mel) @ np.linalg.pinv(filters), 0).astype(np.float32)
    draw = np.random.default_rng(0)
    phases = np.exp(2j * np.pi * draw.random(magnitudes.shape)).astype(np.complex64)
    before = np.zeros_like(phases)
    for _ in range(iterations):
        again = analysis(front_end, synthesis(front_end, magnitudes * phases), len(mel))
        phases = again - 0.5 * before
        phases /= np.maximum(np.abs(phases), 1e-8)
        before = again
    samples = synthesis(front_end, magnitudes * phases)
    return (samples / max(1.0, float(np.abs(samples).max(initial=0)))).astype(np.float32)


def analysis(front_end: MelFrontEnd, samples: Floats, frames: int) -> Spectra:
    """(T, bins) complex spectra; frame t is centred on sample ``t * hop``."""
    half = front_end.window // 2
    padded = np.pad(samples, (half, front_end.window))
    rows = np.lib.stride_tricks.sliding_window_view(padded, front_end.window)[:: front_end.hop][
        :frames
    ]
    return np.fft.rfft(rows * hann(front_end.window), front_end.n_fft, axis=1).astype(np.complex64)


def synthesis(front_end: MelFrontEnd, spectra: Spectra) -> Floats:
    """(T * hop,) samples closest to the spectra (T, bins)."""
    window = hann(front_end.window)
    hop = front_end.hop
    half = front_end.window // 2
    rows = np.fft.irfft(spectra, front_end.n_fft, axis=1)[:, : front_end.window] * window
    total = np.zeros(len(rows) * hop + 2 * front_end.window)
    weights = np.full(len(total), 1e-8)
    for at, row in enumerate(rows):
        total[at * hop : at * hop + front_end.window] += row
        weights[at * hop : at * hop + front_end.window] += window**2
    # At the ends, where windows are near 0, dividing by their squares would amplify noise.
    samples: Floats = (total / np.maximum(weights, 0.1)).astype(np.float32)
    return samples[half : half + len(rows) * hop]
