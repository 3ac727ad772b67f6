"""What a WaveNet hears beside its own past: mel frames, brought to the rate of its steps.

ClariNet's conditioner is two transposed convolutions over time and frequency (Ping et al. 2018,
3.1). A small network also hears a pulse train at the pitch, filtered as the mel says, so that no
layer has to find out where a period begins. The network then predicts only how the sound differs
from this filtered train.

Axes: B batch, T frames, S steps (T times ``steps``), K channels of conditions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.clarinet.signal import Signal, bank_reach
from sayahead_lab.training.layers import Scaled
from sayahead_lab.training.losses import REFERENCE_HZ

VOICE_TAPS = 5
VOICE_CHANNELS = 96
"""Steps of the pulse train that one step of the voice is made of, half of them to come; channels of
its network."""
PITCH_TAPS = 5
PITCH_RIGHT = 1
"""Frames that each of the pitch network's two convolutions sees, and how many of them lie on the
right."""


@dataclass(frozen=True, slots=True)
class ConditionerConfig:
    """How mel frames reach the layers."""

    n_mels: int = 80
    """Mel bands."""
    channels: int = 0
    """Channels into which a convolution of three frames turns the mel bands; 0: the bands as they
    are (ClariNet)."""
    strides: tuple[int, ...] = (15, 20)
    """Factors by which the transposed convolutions raise the rate; their product is the number of
    steps a frame."""
    bands: int = 1
    """Bands of equal width that the signal is split into, each at 1 / bands of its rate; 1: samples
    (ClariNet)."""
    level: bool = False
    """Whether each band is divided by the loudness that the mel gives it; not in ClariNet."""
    pulses: bool = False
    """Whether the network hears a pulse train at the pitch, filtered as the mel says; not in
    ClariNet."""
    pitch: int = 96
    """Channels of the network that reads the pitch from the mel; only with ``pulses``."""

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
        """K, the channels of the conditions."""
        return (self.channels or self.n_mels) + (self.bands if self.pulses else 0)

    @property
    def reach(self) -> tuple[int, int]:
        """Frames to the left and to the right of its own, of mel or of pulses, on which a step's
        conditions depend."""
        mel = 2 if self.channels or self.pulses else 1
        pulses = (
            -(-(VOICE_TAPS // 2 * self.bands + bank_reach(self.bands)) // self.hop)
            if self.pulses
            else 0
        )
        return max(mel, pulses), max(mel, pulses)


class Conditioner(Scaled):
    """Log mel, and perhaps pulses, to the conditions of each step."""

    def __init__(self, config: ConditionerConfig) -> None:
        super().__init__(config.n_mels)
        self.config = config
        self.reduce = (
            nn.Conv1d(config.n_mels, config.channels, 3, padding=1) if config.channels else None
        )
        # Filters twice as long as the stride leave no trace of the stride in the output.
        self.upsample = nn.ModuleList(
            nn.ConvTranspose2d(1, 1, (3, 2 * s), stride=(1, s), padding=(1, s // 2))
            for s in config.strides
        )
        self.signal = Signal(config.n_mels, config.bands, config.steps, relative=config.level)
        self.voice = PulseTrain(config.n_mels, config.bands) if config.pulses else None
        self.pitch = PitchReader(config.n_mels, config.pitch) if config.pulses else None
        self._spread()

    def _spread(self) -> None:
        """Make the transposed convolutions begin as nearly linear interpolation instead of
        noise."""
        with torch.no_grad():
            for layer, stride in zip(self.upsample, self.config.strides, strict=True):
                assert isinstance(layer, nn.ConvTranspose2d)
                assert layer.bias is not None
                layer.weight.mul_(0.1)
                layer.bias.zero_()
                slope = 1 - (torch.arange(2 * stride) + 0.5 - stride).abs() / stride
                layer.weight[0, 0, 1] += slope

    def forward(self, mel: Tensor, pulses: Tensor | None = None) -> Tensor:
        """Conditions (B, K, S) of log mel (B, T, n_mels) and pulses with their quadrature (B, 2, T
        * hop)."""
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
        """(B, bands, S) to which a network's mean is added: the voice, forward's last channels, or
        zeros."""
        bands = self.config.bands
        return (
            conditions[:, -bands:]
            if self.voice is not None
            else torch.zeros_like(conditions[:, :bands])
        )


class PulseTrain(nn.Module):
    """A first guess at the voiced part of x: a pulse train, filtered band by band as the mel says.

    In each band it is a weighted sum of ``VOICE_TAPS`` neighbouring steps of the pulses and of
    their quadrature (every harmonic a quarter of its period later). A convolution makes the weights
    of a frame from the mel; between frames they are interpolated.
    """

    def __init__(self, n_mels: int, bands: int) -> None:
        super().__init__()
        self.bands = bands
        self.first = nn.Conv1d(n_mels, VOICE_CHANNELS, 3, padding=1)
        self.last = nn.Conv1d(VOICE_CHANNELS, 2 * bands * VOICE_TAPS, 1)

    def forward(self, mel: Tensor, signal: Signal, pulses: Tensor) -> Tensor:
        """(B, bands, S) of normalized log mel (B, T, n_mels), and pulses and their quadrature (B,
        2, T * hop)."""
        weights = signal.between(self.last(functional.gelu(self.first(mel.transpose(1, 2)))))
        parts = torch.unflatten(signal.bank.split(pulses.flatten(0, 1)), 0, (-1, 2))
        side = VOICE_TAPS // 2
        near = functional.pad(parts, (side, side)).unfold(-1, VOICE_TAPS, 1)
        weighed = torch.unflatten(weights, 1, (2, self.bands, VOICE_TAPS)) * near.transpose(-1, -2)
        return weighed.sum((1, 3))


class PitchReader(nn.Module):
    """Normalized log mel (B, T, n_mels) to log(pitch / 200 Hz) and the logit of being voiced (B, 2,
    T)."""

    def __init__(self, n_mels: int, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(n_mels, channels, PITCH_TAPS)
        self.second = nn.Conv1d(channels, channels, PITCH_TAPS)
        self.last = nn.Conv1d(channels, 2, 1)

    @property
    def reach(self) -> tuple[int, int]:
        """Frames to the left and to the right of its own from which a frame's pitch is read."""
        return 2 * (PITCH_TAPS - 1 - PITCH_RIGHT), 2 * PITCH_RIGHT

    def forward(self, mel: Tensor) -> Tensor:
        x = mel.transpose(1, 2)
        sides = (PITCH_TAPS - 1 - PITCH_RIGHT, PITCH_RIGHT)
        for layer in (self.first, self.second):
            x = functional.gelu(layer(functional.pad(x, sides)))
        out: Tensor = self.last(x)
        return out

    def hertz(self, mel: Tensor) -> Tensor:
        """Pitch (B, T) in Hz, 0 where unvoiced, of normalized log mel."""
        pitch, voicing = self(mel).unbind(1)
        hertz: Tensor = REFERENCE_HZ * torch.exp(pitch) * (voicing > 0)
        return hertz
