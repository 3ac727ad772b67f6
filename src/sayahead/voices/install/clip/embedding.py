"""Who speaks, as a vector: a speaker embedding (GE2E, Wan et al. 2018) by the network of the
package Resemblyzer."""

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
"""Frames of 10 ms that the network reads at once."""
LEVEL = 10 ** (-30 / 20)
"""Root mean square to which a sound is brought first."""
WIDTH = 256
"""Size of the embedding, and of the network's layers."""
RATES = (16000, 24000, 48000)
"""Samples per second of sounds that are read as they are: their windows have the same bins."""


@functools.cache
def mel_filters() -> Floats:
    """(40, 201) mel filters (Slaney's scale and areas) over bins of 40 Hz up to 8 kHz."""
    bins = np.arange(201) * 40.0
    step = 200.0 / 3
    top = 15.0
    octave = np.log(6.4) / 27.0

    def mel(hertz: float) -> float:
        return hertz / step if hertz < 1000 else top + np.log(hertz / 1000) / octave

    marks = np.linspace(mel(0.0), mel(8000.0), BANDS + 2)
    edges = np.where(marks < top, marks * step, 1000 * np.exp(octave * (marks - top)))
    low, middle, high = (edges[at : at + BANDS, None] for at in range(3))
    weights = np.maximum(
        0, np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
    )
    return np.asarray(weights * 2.0 / (high - low), np.float32)


def mel_frames(samples: Floats, rate: int) -> Floats:
    """(F, 40) powers of mel bands of samples (S,), a frame every 10 ms; ``rate`` is one of
    RATES."""
    size = rate // 40
    hop = rate // 100
    rms = max(float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))), 1e-6)
    padded = np.pad(np.asarray(samples, np.float32) * np.float32(LEVEL / rms), size // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)
    spectra = np.fft.rfft(frames * window, axis=1)[:, :201]
    # Longer windows have more power.
    power = np.square(np.abs(spectra)) * (16000 / rate) ** 2
    return np.asarray(power @ mel_filters().T, np.float32)


def partial_starts(frames: int, step: int) -> list[int]:
    """First frames of the windows that the network reads, ``step`` apart; the last one ends with
    the sound."""
    last = frames - PARTIAL
    return sorted({*range(0, last + 1, step), last})


class Embedder:
    """The network: three LSTM layers over mel bands, whose last state becomes an embedding of
    length 1."""

    LAYERS = 3

    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """``weights`` by PyTorch's names, in any floating type."""
        self._weights = {name: np.asarray(value, np.float32) for name, value in weights.items()}

    def partials(self, mel: Floats, step: int = PARTIAL // 2) -> Floats:
        """(N, 256) embeddings of windows of a sound's frames (F, 40), which are padded where they
        are too few."""
        if len(mel) < PARTIAL:
            mel = np.pad(mel, ((0, PARTIAL - len(mel)), (0, 0)))
        x = np.stack([mel[at : at + PARTIAL] for at in partial_starts(len(mel), step)])
        for layer in range(self.LAYERS):
            x = self._layer(x, layer)
        raw = np.maximum(
            x[:, -1] @ self._weights["linear.weight"].T + self._weights["linear.bias"], 0
        )
        return np.asarray(
            raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-9), np.float32
        )

    def __call__(self, samples: Floats, rate: int) -> Floats:
        """(256,) of a sound (S,): the mean over its windows, of length 1."""
        return unit(self.partials(mel_frames(samples, rate)).mean(0))

    def _layer(self, x: Floats, layer: int) -> Floats:
        """(N, T, 256) of one LSTM layer."""
        own = {
            part: self._weights[f"lstm.{part}_l{layer}"]
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        }
        inputs = x @ own["weight_ih"].T + (own["bias_ih"] + own["bias_hh"])
        recurrent = np.ascontiguousarray(own["weight_hh"].T)
        hidden = np.zeros((len(x), WIDTH), np.float32)
        cell = np.zeros_like(hidden)
        out = np.empty((len(x), x.shape[1], WIDTH), np.float32)
        for frame in range(x.shape[1]):
            gates = inputs[:, frame] + hidden @ recurrent
            enter, forget, new, leave = np.split(gates, 4, axis=1)
            cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(new)
            hidden = sigmoid(leave) * np.tanh(cell)
            out[:, frame] = hidden
        return out


def sigmoid(x: Floats) -> Floats:
    """The logistic function, by the hyperbolic tangent, which does not overflow."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x), np.float32)


def unit(vector: Floats) -> Floats:
    """The vector at length 1."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), np.float32)
