"""What a WaveNet hears beside its own past: mel frames brought to the rate of samples, and the bands samples come in.

ClariNet's conditioner is two transposed convolutions over time and frequency. What a small network is given besides, to
learn in minutes what ClariNet learns in days: the signal in bands of a filter bank, which divides the steps a second,
and a pulse train at the pitch, so that no layer need find out where a period begins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sayahead.types import Floats

TAPS_PER_BAND = 12
"""Length of the filter bank's prototype over its number of bands."""
PULSE_TAPS = 33
"""Steps of pulse train that one step sees, half of them to come."""
PITCH_TAPS, PITCH_RIGHT = 5, 1
"""Frames that each of the pitch network's two convolutions sees, and how many of them lie on the right."""
REFERENCE_HZ = 200.0
"""Pitch is learned as its logarithm relative to this."""


@dataclass(frozen=True, slots=True)
class ConditionerConfig:
    """How mel frames reach the layers."""

    n_mels: int = 80
    """Mel bands."""
    channels: int = 0
    """Channels the bands become by a convolution of three frames; 0: the bands as they are (ClariNet)."""
    strides: tuple[int, ...] = (15, 20)
    """Steps in time of the transposed convolutions; their product is the steps a frame."""
    bands: int = 1
    """Bands of equal width that the signal comes in, each at a rate that many times lower; 1: samples (ClariNet)."""
    pulses: int = 0
    """Channels of a pulse train at the pitch beside the mel; 0: none (ClariNet)."""
    pitch: int = 96
    """Channels of the network that reads the pitch from the mel, where there are pulses."""

    @property
    def steps(self) -> int:
        """Steps a frame."""
        return math.prod(self.strides)

    @property
    def hop(self) -> int:
        """Samples a frame."""
        return self.steps * self.bands

    @property
    def width(self) -> int:
        """K, the channels that come out."""
        return (self.channels or self.n_mels) + self.pulses

    @property
    def reach(self) -> tuple[int, int]:
        """Frames of mel, and of pulses, that a frame's steps see on the left and on the right."""
        mel = 1 + bool(self.channels)
        pulses = -(-(PULSE_TAPS // 2 * self.bands + bank_reach(self.bands)) // self.hop) if self.pulses else 0
        return max(mel, pulses), max(mel, pulses)


class Conditioner(nn.Module):
    """Log mel, and pulses, to what the layers get at each step."""

    mean: Tensor
    std: Tensor

    def __init__(self, config: ConditionerConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("mean", torch.zeros(config.n_mels))
        self.register_buffer("std", torch.ones(config.n_mels))
        self.reduce = nn.Conv1d(config.n_mels, config.channels, 3, padding=1) if config.channels else None
        # Filters twice as long as the stride leave no pattern of the stride in what comes out.
        self.upsample = nn.ModuleList(
            nn.ConvTranspose2d(1, 1, (3, 2 * s), stride=(1, s), padding=(1, s // 2)) for s in config.strides
        )
        self.bank = FilterBank(config.bands)
        self.source = (
            nn.Conv1d(config.bands, config.pulses, PULSE_TAPS, padding=PULSE_TAPS // 2) if config.pulses else None
        )
        self.pitch = PitchReader(config.n_mels, config.pitch) if config.pulses else None
        self._spread()

    def _spread(self) -> None:
        """Begin with transposed convolutions that interpolate, instead of random ones."""
        with torch.no_grad():
            for layer, stride in zip(self.upsample, self.config.strides, strict=True):
                assert isinstance(layer, nn.ConvTranspose2d)
                assert layer.bias is not None
                layer.weight.mul_(0.1)
                layer.bias.zero_()
                slope = 1 - (torch.arange(2 * stride) + 0.5 - stride).abs() / stride
                layer.weight[0, 0, 1] += slope

    def normalized(self, mel: Tensor) -> Tensor:
        """Log mel (B, T, n_mels) at mean 0 and deviation 1."""
        return (mel - self.mean) / self.std

    def forward(self, mel: Tensor, pulses: Tensor | None = None) -> Tensor:
        """(B, K, T * steps) of log mel (B, T, n_mels) and a pulse train (B, T * hop)."""
        x = self.normalized(mel).transpose(1, 2)
        if self.reduce is not None:
            x = functional.leaky_relu(self.reduce(x), 0.4)
        x = x[:, None]
        for layer, stride in zip(self.upsample, self.config.strides, strict=True):
            x = functional.leaky_relu(layer(x)[..., : x.shape[-1] * stride], 0.4)
        x = x[:, 0]
        if self.source is None:
            return x
        assert pulses is not None
        return torch.cat([x, self.source(self.bank.split(pulses))], 1)


class PitchReader(nn.Module):
    """Normalized log mel (B, T, n_mels) to log pitch over 200 Hz and voicing logit (B, 2, T)."""

    def __init__(self, n_mels: int, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(n_mels, channels, PITCH_TAPS)
        self.second = nn.Conv1d(channels, channels, PITCH_TAPS)
        self.last = nn.Conv1d(channels, 2, 1)

    @property
    def reach(self) -> tuple[int, int]:
        """Frames on the left and on the right that a frame's pitch is read from."""
        return 2 * (PITCH_TAPS - 1 - PITCH_RIGHT), 2 * PITCH_RIGHT

    def forward(self, mel: Tensor) -> Tensor:
        x, sides = mel.transpose(1, 2), (PITCH_TAPS - 1 - PITCH_RIGHT, PITCH_RIGHT)
        for layer in (self.first, self.second):
            x = functional.gelu(layer(functional.pad(x, sides)))
        out: Tensor = self.last(x)
        return out

    def hertz(self, mel: Tensor) -> Tensor:
        """Pitch (B, T) in Hz, 0 where unvoiced, of normalized log mel."""
        pitch, voicing = self(mel).unbind(1)
        hertz: Tensor = REFERENCE_HZ * torch.exp(pitch) * (voicing > 0)
        return hertz


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
        made = functional.conv_transpose1d(x, self.filters, stride=self.bands)
        return made[:, 0, reach : reach + x.shape[-1] * self.bands]


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
