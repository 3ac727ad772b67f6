"""The signal as WaveNets see it: samples, or bands of them, each relative to the level that the mel
gives it.

ClariNet's networks see samples. Two things make the task easier for a small network: a filter bank
splits the signal into bands, which divides the steps a second by their number; and each band is
divided by the loudness that the mel says it has, so that silence, vowels and hisses are of one
size.

Axes: B batch, T frames, S steps (T times ``steps``), D channels.
"""

from __future__ import annotations

import functools

import numpy as np
import torch
from numpy.typing import NDArray
from sayahead.types import Floats
from torch import Tensor, nn
from torch.nn import functional

TAPS_PER_BAND = 12
"""Length of the filter bank's prototype in samples, over its number of bands."""
MIN_POWER = 1e-9
"""Power of one step of a 16-bit sample, where full scale is 1."""


class Signal(nn.Module):
    """Samples to steps x (B, bands, S) and back; nothing in it is trained.

    ``level`` (n_mels, bands) are the weights that give a band's power from the mel bands'
    (``data.level_weights``), used where x is ``relative`` to that power.
    """

    level: Tensor

    def __init__(self, n_mels: int, bands: int, steps: int, *, relative: bool) -> None:
        super().__init__()
        self.bank = FilterBank(bands)
        self.steps = steps
        self.relative = relative
        self.register_buffer("level", torch.zeros(n_mels, bands))

    def split(self, samples: Tensor, mel: Tensor) -> Tensor:
        """x (B, bands, S) of samples (B, T * hop) with log mel (B, T, n_mels)."""
        x = self.bank.split(samples)
        return x * torch.exp(-self.log_level(mel)) if self.relative else x

    def join(self, x: Tensor, mel: Tensor) -> Tensor:
        """Samples (B, T * hop) of x (B, bands, S) with log mel (B, T, n_mels)."""
        return self.bank.join(x * torch.exp(self.log_level(mel)) if self.relative else x)

    def log_level(self, mel: Tensor) -> Tensor:
        """Log of the root mean square that log mel (B, T, n_mels) gives each band (B, bands, S).

        ``MIN_POWER`` is added to the power, so that silence is not divided by nothing.
        """
        return self.between(
            0.5 * torch.log(torch.exp(2 * mel) @ self.level + MIN_POWER).transpose(1, 2)
        )

    def between(self, frames: Tensor) -> Tensor:
        """(B, D, S) of frames (B, D, T), interpolated: a frame's value holds at its first
        sample."""
        following = torch.cat([frames[..., 1:], frames[..., -1:]], -1)
        share = (torch.arange(self.steps, device=frames.device) + 0.5) / self.steps
        return (frames[..., None] + share * (following - frames)[..., None]).flatten(2)


class FilterBank(nn.Module):
    """A cosine-modulated filter bank: samples to bands at a lower rate and back, nearly without
    loss.

    Nearly orthogonal, so the same filters split and join, and white noise stays white. With one
    band, nothing is done."""

    filters: Tensor

    def __init__(self, bands: int) -> None:
        super().__init__()
        self.bands = bands
        if bands > 1:
            filters = torch.tensor(bank_filters(bands))[:, None]
            self.register_buffer("filters", filters, persistent=False)

    def split(self, samples: Tensor) -> Tensor:
        """(B, bands, S / bands) of samples (B, S)."""
        if self.bands == 1:
            return samples[:, None]
        reach = bank_reach(self.bands)
        padded = functional.pad(samples[:, None], (reach, reach - self.bands + 1))
        return functional.conv1d(padded, self.filters, stride=self.bands)

    def join(self, x: Tensor) -> Tensor:
        """Samples (B, bands * S) of bands (B, bands, S)."""
        if self.bands == 1:
            return x[:, 0]
        reach = bank_reach(self.bands)
        samples = functional.conv_transpose1d(x, self.filters, stride=self.bands)
        return samples[:, 0, reach : reach + x.shape[-1] * self.bands]


def bank_reach(bands: int) -> int:
    """Samples to each side of its own on which a band's value, or a joined sample, depends."""
    return TAPS_PER_BAND * bands // 2 if bands > 1 else 0


@functools.cache
def bank_filters(bands: int) -> Floats:
    """(bands, taps + 1) filters: a low pass under a Kaiser window, moved to each band by a cosine.

    The cosines' phases cancel the aliasing between neighbouring bands; of 2,401 cutoffs, the one is
    taken with which splitting and joining changes a signal least.
    """
    taps = TAPS_PER_BAND * bands
    n = np.arange(taps + 1) - taps / 2
    window = np.kaiser(taps + 1, 9.0)

    def low_pass(cutoff: float) -> NDArray[np.float64]:
        return np.asarray(cutoff * np.sinc(cutoff * n) * window)

    def excess(cutoff: float) -> float:
        # The low pass convolved with itself should be zero at every multiple of 2 * bands samples
        # from its centre.
        both = np.convolve(low_pass(cutoff), low_pass(cutoff))
        return float(np.abs(both[taps + 2 * bands :: 2 * bands]).max())

    cutoffs = np.linspace(0.4, 1.0, 2401) / bands
    k = np.arange(bands)[:, None]
    angle = (2 * k + 1) * np.pi / (2 * bands) * n + (-1.0) ** k * np.pi / 4
    filters = low_pass(min(cutoffs, key=excess)) * np.cos(angle)
    return np.asarray(2 * np.sqrt(bands) * filters, np.float32)
