"""The signal as WaveNets get it: samples, or bands of them, each relative to the level that the mel gives it.

ClariNet's networks get samples. A small network learns in minutes what takes them days where it is spared two things:
the signal comes in bands of a filter bank, which divides the steps a second by their number; and each band is relative
to the loudness that the mel says it has, so that silence, vowels and hisses are all of one size.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sayahead.types import Floats

TAPS_PER_BAND = 12
"""Length of the filter bank's prototype over its number of bands."""
LEAST_POWER = 1e-9
"""Power of a signal that 16-bit samples can just hold."""


class Signal(nn.Module):
    """Samples to steps x (B, bands, S) and back; nothing in it is trained.

    ``level`` (n_mels, bands) says of which mel bands' power a band's power is made, where x is ``relative`` to that.
    """

    level: Tensor

    def __init__(self, n_mels: int, bands: int, steps: int, *, relative: bool) -> None:
        super().__init__()
        self.bank, self.steps, self.relative = FilterBank(bands), steps, relative
        self.register_buffer("level", torch.zeros(n_mels, bands))

    def split(self, samples: Tensor, mel: Tensor) -> Tensor:
        """x (B, bands, T * steps) of samples (B, T * hop) with log mel (B, T, n_mels)."""
        x = self.bank.split(samples)
        return x * torch.exp(-self.log_level(mel)) if self.relative else x

    def join(self, x: Tensor, mel: Tensor) -> Tensor:
        """Samples (B, T * hop) of x."""
        return self.bank.join(x * torch.exp(self.log_level(mel)) if self.relative else x)

    def log_level(self, mel: Tensor) -> Tensor:
        """Log of each band's expected root of power (B, bands, T * steps).

        What is quieter than a 16-bit sample's step is as loud as that.
        """
        return self.between(0.5 * torch.log(torch.exp(2 * mel) @ self.level + LEAST_POWER).transpose(1, 2))

    def between(self, frames: Tensor) -> Tensor:
        """Frames (B, D, T) at each step (B, D, T * steps): linear between their centres, each one's first sample."""
        following = torch.cat([frames[..., 1:], frames[..., -1:]], -1)
        share = (torch.arange(self.steps, device=frames.device) + 0.5) / self.steps
        return (frames[..., None] + share * (following - frames)[..., None]).flatten(2)


class FilterBank(nn.Module):
    """A cosine-modulated filter bank: samples to bands at a lower rate and back, nearly without loss; 1 band: neither.

    Nearly orthogonal, so the same filters split and join, and white noise stays white.
    """

    filters: Tensor

    def __init__(self, bands: int) -> None:
        super().__init__()
        self.bands = bands
        if bands > 1:
            filters = torch.from_numpy(bank_filters(bands))[:, None]
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
    """Samples to each side that a band's value sees, and that a sample is made of."""
    return TAPS_PER_BAND * bands // 2 if bands > 1 else 0


def bank_filters(bands: int) -> Floats:
    """(bands, taps + 1) filters: a Kaiser-windowed low pass, shifted to each band by a cosine.

    The cosines' phases cancel what neighbouring bands fold into each other; the cutoff is the one with which splitting
    and joining is closest to nothing done.
    """
    taps = TAPS_PER_BAND * bands
    n = np.arange(taps + 1) - taps / 2
    window = np.kaiser(taps + 1, 9.0)

    def low_pass(cutoff: float) -> NDArray[np.float64]:
        return np.asarray(cutoff * np.sinc(cutoff * n) * window)

    def excess(cutoff: float) -> float:
        # Every 2 * bands samples from its centre on, the low pass through itself must be zero.
        both = np.convolve(low_pass(cutoff), low_pass(cutoff))
        return float(np.abs(both[taps + 2 * bands :: 2 * bands]).max())

    cutoffs = np.linspace(0.4, 1.0, 2401) / bands
    k = np.arange(bands)[:, None]
    angle = (2 * k + 1) * np.pi / (2 * bands) * n + (-1.0) ** k * np.pi / 4
    filters = low_pass(min(cutoffs, key=excess)) * np.cos(angle)
    return np.asarray(2 * np.sqrt(bands) * filters, np.float32)
