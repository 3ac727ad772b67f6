"""Speaker embeddings (GE2E, Wan et al. 2018): the network of the package Resemblyzer, in numpy."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

BANDS = 40
"""Mel bands of a frame."""
PARTIAL = 160
"""Frames of 10 ms in one window of the network."""
LEVEL = 10 ** (-30 / 20)
"""Root mean square (-30 dBFS) to which a sound is scaled first."""
WIDTH = 256
"""Size of the embedding, and of the network's layers."""
RATES = (16000, 24000, 48000)
"""Sample rates that need no resampling: a window of 25 ms has the same bins of 40 Hz at each."""


@functools.cache
def mel_filters() -> Floats:
    """Mel filters (40, 201), triangles of equal area over bins of 40 Hz up to 8 kHz.

    The scale is Slaney's: linear up to 1 kHz, which is 15 mel, and logarithmic above."""
    bins = np.arange(201) * 40.0
    linear_hz = 200.0 / 3
    linear_end = 15.0
    log_step = np.log(6.4) / 27.0

    def mel(hertz: float) -> float:
        return hertz / linear_hz if hertz < 1000 else linear_end + np.log(hertz / 1000) / log_step

    mels = np.linspace(mel(0.0), mel(8000.0), BANDS + 2)
    logarithmic = 1000 * np.exp(log_step * (mels - linear_end))
    edges = np.where(mels < linear_end, mels * linear_hz, logarithmic)
    low, middle, high = (edges[start : start + BANDS, None] for start in range(3))
    weights = np.maximum(
        0, np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
    )
    return np.asarray(weights * 2.0 / (high - low), np.float32)


def mel_frames(samples: Floats, rate: int) -> Floats:
    """Return the power (F, 40) in each mel band of samples (S,), a frame every 10 ms; ``rate`` is
    one of RATES."""
    size = rate // 40
    hop = rate // 100
    rms = max(float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))), 1e-6)
    padded = np.pad(np.asarray(samples, np.float32) * np.float32(LEVEL / rms), size // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)
    spectra = np.fft.rfft(frames * window, axis=1)[:, :201]
    # A window has more samples at a higher rate, so its power is scaled to that at 16 kHz.
    power = np.square(np.abs(spectra)) * (16000 / rate) ** 2
    return np.asarray(power @ mel_filters().T, np.float32)


def partial_starts(frames: int, step: int) -> list[int]:
    """Return the first frame of each window, ``step`` apart; the last window ends with the
    sound."""
    last_start = frames - PARTIAL
    return sorted({*range(0, last_start + 1, step), last_start})


class Embedder:
    """The network: three LSTM layers over mel frames; a linear layer makes an embedding of length 1
    from the last state."""

    LAYERS = 3

    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """``weights``: arrays of any floating type by their names in PyTorch."""
        self._weights = {name: np.asarray(value, np.float32) for name, value in weights.items()}

    def partials(self, mel: Floats, step: int = PARTIAL // 2) -> Floats:
        """Embed each window of a sound's mel frames (F, 40): (N, 256). Fewer frames than one window
        are padded with zeros."""
        if len(mel) < PARTIAL:
            mel = np.pad(mel, ((0, PARTIAL - len(mel)), (0, 0)))
        x = np.stack([mel[start : start + PARTIAL] for start in partial_starts(len(mel), step)])
        for layer in range(self.LAYERS):
            x = self._layer(x, layer)
        raw = np.maximum(
            x[:, -1] @ self._weights["linear.weight"].T + self._weights["linear.bias"], 0
        )
        return np.asarray(
            raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-9), np.float32
        )

    def __call__(self, samples: Floats, rate: int) -> Floats:
        """Embed a sound (S,): the mean (256,) over its windows, scaled to length 1."""
        return unit(self.partials(mel_frames(samples, rate)).mean(0))

    def _layer(self, x: Floats, layer: int) -> Floats:
        """Run one LSTM layer over windows (N, T, D); return its hidden states (N, T, 256)."""
        weights = {
            part: self._weights[f"lstm.{part}_l{layer}"]
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        }
        inputs = x @ weights["weight_ih"].T + (weights["bias_ih"] + weights["bias_hh"])
        recurrent = np.ascontiguousarray(weights["weight_hh"].T)
        hidden = np.zeros((len(x), WIDTH), np.float32)
        cell = np.zeros_like(hidden)
        states = np.empty((len(x), x.shape[1], WIDTH), np.float32)
        for frame in range(x.shape[1]):
            gates = inputs[:, frame] + hidden @ recurrent
            # PyTorch's order of the gates.
            input_gate, forget_gate, candidate, output_gate = np.split(gates, 4, axis=1)
            cell = sigmoid(forget_gate) * cell + sigmoid(input_gate) * np.tanh(candidate)
            hidden = sigmoid(output_gate) * np.tanh(cell)
            states[:, frame] = hidden
        return states


def sigmoid(x: Floats) -> Floats:
    """The logistic function, computed from tanh, which does not overflow."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x), np.float32)


def unit(vector: Floats) -> Floats:
    """Scale a vector to length 1."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), np.float32)
