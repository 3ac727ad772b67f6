"""Log-mel spectrograms: the one front end that corpora, losses and pictures share."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sayahead.types import Floats

FLOOR = 1e-5
"""Smallest magnitude: its logarithm stands for silence."""
BLOCK = 1024
"""Frames computed at a time, so that memory does not grow with the sound."""


@dataclass(frozen=True, slots=True)
class MelFrontEnd:
    """From sound to frames: magnitudes of a Hann-windowed STFT, mel bands, natural logarithm.

    Mel filters are Slaney's (linear below 1 kHz, each of area 1) over plain magnitudes. HTK's scale
    would give Ma's 80 bands over 12 kHz a spacing of 25 Hz at the bottom, hardly more than a bin;
    Slaney's gives 42 Hz and leaves no band empty in any of the presets. They begin at 0 Hz: the
    lowest filter is centred on 42 Hz and has no weight at 0, so that a low voice's first harmonic
    is in and a constant offset is not."""

    sample_rate: int = 24000
    """Samples per second."""
    n_fft: int = 1200
    """Samples of the Fourier transform; the window is centred in it, with zeros around."""
    window: int = 1200
    """Samples of the Hann window."""
    hop: int = 300
    """Samples between the centres of two frames."""
    n_mels: int = 80
    """Mel bands."""
    f_min: float = 0.0
    """Lower end of the lowest filter, in Hz."""
    f_max: float = 12000.0
    """Upper end of the highest filter, in Hz."""

    def frames(self, samples: int) -> int:
        """T for S samples: S / hop, rounded up."""
        return -(-samples // self.hop)

    def log_mel(self, samples: Floats) -> Floats:
        """(T, n_mels) natural logarithm of the mel magnitudes of samples (S,) in [-1, 1], at least
        ln 1e-5.

        Frame t is centred on sample ``t * hop`` and sees half a window to each side; zeros lie
        around the sound."""
        count = self.frames(len(samples))
        half = self.window // 2
        mel = np.empty((count, self.n_mels), np.float32)
        if not count:
            return mel
        after = max(0, (count - 1) * self.hop + self.window - half - len(samples))
        padded = np.pad(np.asarray(samples, np.float32), (half, after))
        rows = np.lib.stride_tricks.sliding_window_view(padded, self.window)[:: self.hop]
        window = hann(self.window)
        filters = mel_filters(self)
        for at in range(0, count, BLOCK):
            block = rows[at : min(at + BLOCK, count)]
            magnitudes = np.abs(np.fft.rfft(block * window, self.n_fft, axis=1)).astype(np.float32)
            mel[at : at + len(block)] = np.log(np.maximum(magnitudes @ filters, FLOOR))
        return mel


PRESETS = {
    "ma": MelFrontEnd(),
    "saeki": MelFrontEnd(22050, 1024, 1024, 256, 80, 0.0, 11025.0),
    "mohan": MelFrontEnd(22050, 1024, 1024, 256, 128, 0.0, 11025.0),
    "nvidia": MelFrontEnd(22050, 1024, 1024, 256, 80, 0.0, 8000.0),
}
"""The front ends of the papers: Ma et al. 5.1, Saeki et al. III, and its neighbour with 128 bands;
and that of the published Tacotron 2 and WaveGlow, whose bands end at 8 kHz."""


@functools.lru_cache(maxsize=8)
def hann(size: int) -> Floats:
    """(size,) periodic Hann window."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)


@functools.lru_cache(maxsize=8)
def mel_filters(front_end: MelFrontEnd) -> Floats:
    """(n_fft / 2 + 1, n_mels) weights of each bin in each band: triangles of area 1 over
    frequency."""
    bins = np.arange(front_end.n_fft // 2 + 1) * front_end.sample_rate / front_end.n_fft
    low, high = to_mel(np.array([front_end.f_min, front_end.f_max]))
    edges = to_hertz(np.linspace(low, high, front_end.n_mels + 2))
    left = edges[:-2]
    centre = edges[1:-1]
    right = edges[2:]
    rising = (bins[:, None] - left) / (centre - left)
    falling = (right - bins[:, None]) / (right - centre)
    return (np.maximum(0, np.minimum(rising, falling)) * 2 / (right - left)).astype(np.float32)


def to_mel(hertz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slaney's mel scale: 3 mels in 200 Hz up to 1 kHz, 27 in each factor of 6.4 above."""
    above = 15 + 27 * np.log(np.maximum(hertz, 1000) / 1000) / np.log(6.4)
    return np.where(hertz < 1000, hertz * 3 / 200, above)


def to_hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverse of ``to_mel``."""
    return np.where(mels < 15, mels * 200 / 3, 1000 * 6.4 ** ((np.maximum(mels, 15) - 15) / 27))
