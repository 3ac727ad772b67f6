"""WaveRNN: residual and upsampling networks over few mel frames, two GRUs over samples (Mohan et al. 2020, 3).

Mohan et al. make an existing vocoder of this form incremental: its residual and upsampling networks see only a few mel
frames. They do not say which sizes it has. Each sample is one of ``classes`` mu-law values, drawn with probabilities
that depend on all samples before it (Kalchbrenner et al. 2018, without coarse and fine halves).

A small one learns faster in bands: its step is one value in each band of a filter bank, Gaussian, relative to the level
that the mel gives the band; and it hears a pulse train at the pitch, filtered as the mel says, to which its mean is
added. All of this is the small ClariNet's (training/clarinet).

Axes: B batch, T frames, S steps (samples, or rows of all bands), D channels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.clarinet.conditioner import PitchReader, PulseTrain
from sayahead_lab.training.clarinet.signal import Signal
from sayahead_lab.training.layers import Scaled

PARTS = 4
"""Parts of the residual network's output: one for each of the two GRUs and of the two dense layers."""
LEAST_STEPS = 14
"""Fewest steps of a frame in bands: its samples then hear no pulse of later frames than the next one."""


@dataclass(frozen=True, slots=True)
class WaveRNNConfig:
    """Sizes; the defaults are those usual for speech at 22.05 kHz."""

    n_mels: int = 128
    """Mel bands."""
    strides: tuple[int, ...] = (4, 8, 8)
    """Factors by which frames become steps; their product is the number of steps a frame."""
    left: int = 2
    """Frames to the left that the residual network sees."""
    right: int = 2
    """Frames to the right that it sees."""
    blocks: int = 10
    """Residual blocks."""
    channels: int = 128
    """D of the residual blocks."""
    aux: int = 128
    """D of the residual network's output, a multiple of four."""
    rnn: int = 512
    """D of each GRU."""
    dense: int = 512
    """D of each of the two layers after them."""
    bits: int = 9
    """Bits of a sample: it is one of 2 ** bits mu-law values; without bands."""
    bands: int = 1
    """Bands into which the signal is split, each at 1 / bands of its rate; 1: samples."""
    past: int = 1
    """Steps before it that a step hears beside what the GRUs remember; with bands."""
    pitch: int = 96
    """Channels of the network that reads the pitch from the mel; with bands."""

    @property
    def steps(self) -> int:
        """Steps a frame."""
        return math.prod(self.strides)

    @property
    def hop(self) -> int:
        """Samples a frame."""
        return self.steps * self.bands

    @property
    def classes(self) -> int:
        """Values of a sample."""
        return int(2**self.bits)

    @property
    def smoothing(self) -> int:
        """Frames to each side that the upsampling network sees."""
        return math.ceil(sum(1 / math.prod(self.strides[:at]) for at in range(len(self.strides))))


class Residual(nn.Module):
    """Two convolutions of kernel 1, and the input added: (B, D, T) to (B, D, T)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(channels, channels, 1), nn.Conv1d(channels, channels, 1)
        self.norms = nn.ModuleList(nn.BatchNorm1d(channels) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.norms[1](self.second(self.norms[0](self.first(x)).relu()))
        return out


class ConditionsNetwork(Scaled):
    """Log mel to the recurrent layers' inputs: smoothed frames at every sample, and the residual network's output."""

    def __init__(self, config: WaveRNNConfig) -> None:
        super().__init__(config.n_mels)
        if config.aux % PARTS:
            raise ValueError(f"aux is {config.aux}, but must be a multiple of {PARTS}")
        self.config = config
        self.input = nn.Conv1d(config.n_mels, config.channels, config.left + 1 + config.right, bias=False)
        self.norm = nn.BatchNorm1d(config.channels)
        self.blocks = nn.ModuleList(Residual(config.channels) for _ in range(config.blocks))
        self.output = nn.Conv1d(config.channels, config.aux, 1)
        # Each begins as the mean of a place and its ``stride`` neighbours to each side.
        self.kernels = nn.ParameterList(
            nn.Parameter(torch.full((2 * stride + 1,), 1 / (2 * stride + 1))) for stride in config.strides
        )

    def forward(self, mel: Tensor) -> tuple[Tensor, Tensor]:
        """Frames (B, S, n_mels) and the residual network's output (B, T, aux) of log mel (B, T, n_mels)."""
        x = self.normalized(mel).transpose(1, 2)
        c, wide = self.config, self.config.smoothing
        hidden = self.norm(self.input(functional.pad(x, (c.left, c.right)))).relu()
        for block in self.blocks:
            hidden = block(hidden)
        up = self.upsampled(functional.pad(x, (wide, wide)))[..., wide * c.steps : -wide * c.steps]
        return up.transpose(1, 2), self.output(hidden).transpose(1, 2)

    def upsampled(self, x: Tensor) -> Tensor:
        """(B, D, S) of (B, D, T): repeated and smoothed, stride by stride, each band by itself."""
        batch, wide = x.shape[:2]
        x = x.flatten(0, 1)[:, None]
        for stride, kernel in zip(self.config.strides, self.kernels, strict=True):
            x = functional.conv1d(x.repeat_interleave(stride, 2), kernel[None, None], padding=stride)
        return x.view(batch, wide, -1)


class Guide(nn.Module):
    """What a WaveRNN in bands has beside: the signal in bands, a first guess at its voiced part, and the pitch."""

    def __init__(self, config: WaveRNNConfig) -> None:
        super().__init__()
        if config.steps < LEAST_STEPS:
            raise ValueError(f"frames have {config.steps} steps, but bands want at least {LEAST_STEPS}")
        self.signal = Signal(config.n_mels, config.bands, config.steps, relative=True)
        self.voice = PulseTrain(config.n_mels, config.bands)
        self.pitch = PitchReader(config.n_mels, config.pitch)


class WaveRNN(nn.Module):
    """Mel frames and the steps so far to the distribution of the next step."""

    def __init__(self, config: WaveRNNConfig) -> None:
        super().__init__()
        self.config, part = config, config.aux // PARTS
        self.conditions = ConditionsNetwork(config)
        self.guide = Guide(config) if config.bands > 1 else None
        self.heard = (config.past + 1) * config.bands if self.guide else 1
        self.input = nn.Linear(self.heard + config.n_mels + part, config.rnn)
        self.first = nn.GRU(config.rnn, config.rnn, batch_first=True)
        self.second = nn.GRU(config.rnn + part, config.rnn, batch_first=True)
        self.dense = nn.ModuleList(
            [nn.Linear(config.rnn + part, config.dense), nn.Linear(config.dense + part, config.dense)]
        )
        self.output = nn.Linear(config.dense, 2 * config.bands if self.guide else config.classes)

    def forward(self, before: Tensor, mel: Tensor, pulses: Tensor | None = None) -> Any:
        """What is expected of the steps after those in ``before``, under log mel (B, T, n_mels).

        Without bands: logits (B, S, classes) of samples, after samples ``before`` (B, S) from -1 to 1. With bands:
        mean and log deviation, both as ``before`` (B, S, bands), and PitchReader's pitch (B, 2, T); ``pulses`` has
        pulses and their quadrature (B, 2, T * hop).
        """
        frames, parts = self.conditions(mel)
        if self.guide is None:
            return self.layers([before[..., None], frames], parts)
        assert pulses is not None
        normalized = self.conditions.normalized(mel)
        voice = self.guide.voice(normalized, self.guide.signal, pulses).transpose(1, 2)
        past = functional.pad(before, (0, 0, self.config.past - 1, 0)).unfold(1, self.config.past, 1)
        mean, log_deviation = self.layers([past.transpose(2, 3).flatten(2), voice, frames], parts).chunk(2, -1)
        return mean + voice, log_deviation, self.guide.pitch(normalized)

    def layers(self, sounds: list[Tensor], parts: Tensor) -> Tensor:
        """Outputs (B, S, D) of what is heard at each step, (B, S, ...) each, and parts (B, T, aux)."""
        a, b, c, d = parts.repeat_interleave(self.config.steps, 1).chunk(PARTS, -1)
        x = self.input(torch.cat([*sounds, a], -1))
        x = x + self.first(x)[0]
        x = x + self.second(torch.cat([x, b], -1))[0]
        x = self.dense[0](torch.cat([x, c], -1)).relu()
        x = self.dense[1](torch.cat([x, d], -1)).relu()
        out: Tensor = self.output(x)
        return out


def encoded(samples: Tensor, classes: int) -> Tensor:
    """Mu-law classes, int64 from 0 to ``classes`` - 1, of samples from -1 to 1; in any shape."""
    mu = classes - 1
    bent = samples.sign() * torch.log1p(mu * samples.abs()) / math.log1p(mu)
    return ((bent + 1) / 2 * mu + 0.5).long().clamp(0, mu)


def decoded(values: Tensor, classes: int) -> Tensor:
    """Samples from -1 to 1 of mu-law classes, in any shape."""
    mu = classes - 1
    bent = 2 * values.float() / mu - 1
    return bent.sign() * torch.expm1(bent.abs() * math.log1p(mu)) / mu
