"""What a WaveNet hears beside its own past: mel frames, brought to the rate of its steps.

ClariNet's conditioner is two transposed convolutions over time and frequency. A small network hears besides what a
pulse train at the pitch becomes under a filter that follows the mel, so that no layer need find out where a period
begins; it is also where the mean begins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead.training.clarinet.signal import Signal, bank_reach
from sayahead.training.layers import Scaled

VOICE_TAPS, VOICE_CHANNELS = 5, 96
"""Steps of the pulse train that one step of the voice is made of, half of them to come; channels of its network."""
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
    level: bool = False
    """Whether the signal is relative to the loudness that the mel gives it; no: samples (ClariNet)."""
    pulses: bool = False
    """Whether there is a pulse train at the pitch, filtered to each band's part of the voice; no: ClariNet."""
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
        return (self.channels or self.n_mels) + (self.bands if self.pulses else 0)

    @property
    def reach(self) -> tuple[int, int]:
        """Frames of mel, and of pulses, that a frame's steps see on the left and on the right."""
        mel = 2 if self.channels or self.pulses else 1
        pulses = -(-(VOICE_TAPS // 2 * self.bands + bank_reach(self.bands)) // self.hop) if self.pulses else 0
        return max(mel, pulses), max(mel, pulses)


class Conditioner(Scaled):
    """Log mel, and pulses, to what the layers get at each step."""

    def __init__(self, config: ConditionerConfig) -> None:
        super().__init__(config.n_mels)
        self.config = config
        self.reduce = nn.Conv1d(config.n_mels, config.channels, 3, padding=1) if config.channels else None
        # Filters twice as long as the stride leave no pattern of the stride in what comes out.
        self.upsample = nn.ModuleList(
            nn.ConvTranspose2d(1, 1, (3, 2 * s), stride=(1, s), padding=(1, s // 2)) for s in config.strides
        )
        self.signal = Signal(config.n_mels, config.bands, config.steps, relative=config.level)
        self.voice = Voice(config.n_mels, config.bands) if config.pulses else None
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

    def forward(self, mel: Tensor, pulses: Tensor | None = None) -> Tensor:
        """(B, K, T * steps) of log mel (B, T, n_mels) and a pulse train (B, 2, T * hop); see ``expected``."""
        normalized = self.normalized(mel)
        x = normalized.transpose(1, 2)
        if self.reduce is not None:
            x = functional.leaky_relu(self.reduce(x), 0.4)
        x = x[:, None]
        for layer, stride in zip(self.upsample, self.config.strides, strict=True):
            x = functional.leaky_relu(layer(x)[..., : x.shape[-1] * stride], 0.4)
        x = x[:, 0]
        if self.voice is None:
            return x
        assert pulses is not None
        return torch.cat([x, self.voice(normalized, self.signal, pulses)], 1)

    def expected(self, conditions: Tensor) -> Tensor:
        """Where the mean (B, bands, S) begins: the voice, which is the last of what forward returned, or nothing."""
        bands = self.config.bands
        return conditions[:, -bands:] if self.voice is not None else torch.zeros_like(conditions[:, :bands])


class Voice(nn.Module):
    """A pulse train's bands through a filter that follows the mel: what the voiced part of x is, to begin with.

    Of each band a few steps of the pulses and of their quadrature (a quarter of a period later, harmonic by harmonic)
    are weighed and summed. The weights come from the mel, frame by frame, and are linear between frames.
    """

    def __init__(self, n_mels: int, bands: int) -> None:
        super().__init__()
        self.bands = bands
        self.first = nn.Conv1d(n_mels, VOICE_CHANNELS, 3, padding=1)
        self.last = nn.Conv1d(VOICE_CHANNELS, 2 * bands * VOICE_TAPS, 1)

    def forward(self, mel: Tensor, signal: Signal, pulses: Tensor) -> Tensor:
        """(B, bands, S) of normalized log mel (B, T, n_mels), and pulses and their quadrature (B, 2, T * hop)."""
        weights = signal.between(self.last(functional.gelu(self.first(mel.transpose(1, 2)))))
        parts = torch.unflatten(signal.bank.split(pulses.flatten(0, 1)), 0, (-1, 2))
        side = VOICE_TAPS // 2
        near = functional.pad(parts, (side, side)).unfold(-1, VOICE_TAPS, 1)
        weighed = torch.unflatten(weights, 1, (2, self.bands, VOICE_TAPS)) * near.transpose(-1, -2)
        return weighed.sum((1, 3))


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
