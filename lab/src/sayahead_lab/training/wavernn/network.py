"""WaveRNN: residual and upsampling networks over few mel frames, two GRUs over samples (Mohan et
al. 2020, 3).

Mohan et al. make an existing vocoder of this form incremental: its residual and upsampling networks
see only a few mel frames. They do not say which sizes it has. Each sample is one of ``classes``
mu-law values, drawn with probabilities that depend on all samples before it (Kalchbrenner et al.
2018, without coarse and fine halves).

A small one learns faster in bands: its step is one value in each band of a filter bank, Gaussian,
relative to the level that the mel gives the band; and it hears a pulse train at the pitch, filtered
as the mel says, to which its mean is added. All of this is the small ClariNet's
(training/clarinet).

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
from sayahead_lab.training.mel.discriminators import Discriminators

PARTS = 4
"""Parts of the residual network's output: one for each of the two GRUs and of the two dense
layers."""
MIN_STEPS = 14
"""Fewest steps of a frame in bands: its samples then hear no pulse of later frames than the next
one."""


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
        self.first = nn.Conv1d(channels, channels, 1)
        self.second = nn.Conv1d(channels, channels, 1)
        self.norms = nn.ModuleList(nn.BatchNorm1d(channels) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.norms[1](self.second(self.norms[0](self.first(x)).relu()))
        return out


class ConditionsNetwork(Scaled):
    """Log mel to the recurrent layers' inputs: smoothed frames at every sample, and the residual
    network's output."""

    def __init__(self, config: WaveRNNConfig) -> None:
        super().__init__(config.n_mels)
        if config.aux % PARTS:
            raise ValueError(f"aux is {config.aux}, but must be a multiple of {PARTS}")
        self.config = config
        self.input = nn.Conv1d(
            config.n_mels, config.channels, config.left + 1 + config.right, bias=False
        )
        self.norm = nn.BatchNorm1d(config.channels)
        self.blocks = nn.ModuleList(Residual(config.channels) for _ in range(config.blocks))
        self.output = nn.Conv1d(config.channels, config.aux, 1)
        # Each begins as the mean of a place and its ``stride`` neighbours to each side.
        self.kernels = nn.ParameterList(
            nn.Parameter(torch.full((2 * stride + 1,), 1 / (2 * stride + 1)))
            for stride in config.strides
        )

    def forward(self, mel: Tensor) -> tuple[Tensor, Tensor]:
        """Frames (B, S, n_mels) and the residual network's output (B, T, aux) of log mel (B, T,
        n_mels)."""
        x = self.normalized(mel).transpose(1, 2)
        c = self.config
        wide = self.config.smoothing
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
            x = functional.conv1d(
                x.repeat_interleave(stride, 2), kernel[None, None], padding=stride
            )
        return x.view(batch, wide, -1)


class Guide(nn.Module):
    """What a WaveRNN in bands has beside: the signal in bands, a first guess at its voiced part,
    and the pitch."""

    def __init__(self, config: WaveRNNConfig) -> None:
        super().__init__()
        if config.steps < MIN_STEPS:
            raise ValueError(
                f"frames have {config.steps} steps, but bands want at least {MIN_STEPS}"
            )
        self.signal = Signal(config.n_mels, config.bands, config.steps, relative=True)
        self.voice = PulseTrain(config.n_mels, config.bands)
        self.pitch = PitchReader(config.n_mels, config.pitch)


class WaveRNN(nn.Module):
    """Mel frames and the steps so far to the distribution of the next step."""

    def __init__(self, config: WaveRNNConfig) -> None:
        super().__init__()
        self.config = config
        part = config.aux // PARTS
        self.conditions = ConditionsNetwork(config)
        self.guide = Guide(config) if config.bands > 1 else None
        self.heard = (config.past + 1) * config.bands if self.guide else 1
        self.input = nn.Linear(self.heard + config.n_mels + part, config.rnn)
        self.first = nn.GRU(config.rnn, config.rnn, batch_first=True)
        self.second = nn.GRU(config.rnn + part, config.rnn, batch_first=True)
        self.dense = nn.ModuleList(
            [
                nn.Linear(config.rnn + part, config.dense),
                nn.Linear(config.dense + part, config.dense),
            ]
        )
        self.output = nn.Linear(config.dense, 2 * config.bands if self.guide else config.classes)
        self.discriminators: Discriminators | None = None

    def forward(self, before: Tensor, mel: Tensor, pulses: Tensor | None = None) -> Any:
        """What is expected of the steps after those in ``before``, under log mel (B, T, n_mels).

        Without bands: logits (B, S, classes) of samples, after samples ``before`` (B, S) from -1 to
        1. With bands: mean and log deviation, both as ``before`` (B, S, bands), and PitchReader's
        pitch (B, 2, T); ``pulses`` has pulses and their quadrature (B, 2, T * hop).
        """
        frames, parts = self.conditions(mel)
        if self.guide is None:
            return self.layers([before[..., None], frames], parts)
        assert pulses is not None
        normalized = self.conditions.normalized(mel)
        voice = self.voice(mel, pulses)
        past = functional.pad(before, (0, 0, self.config.past - 1, 0)).unfold(
            1, self.config.past, 1
        )
        mean, log_deviation = self.layers(
            [past.transpose(2, 3).flatten(2), voice, frames], parts
        ).chunk(2, -1)
        return mean + voice, log_deviation, self.guide.pitch(normalized)

    def voice(self, mel: Tensor, pulses: Tensor) -> Tensor:
        """A first guess (B, S, bands) at the voiced part, with bands: pulses as ``forward`` takes
        them, filtered."""
        assert self.guide is not None
        voice: Tensor = self.guide.voice(self.conditions.normalized(mel), self.guide.signal, pulses)
        return voice.transpose(1, 2)

    def drawn(
        self,
        known: Tensor,
        mel: Tensor,
        pulses: Tensor,
        noise: Tensor,
        *,
        voiced: float,
        temperature: float,
        memory: int,
    ) -> Tensor:
        """Steps (B, S, bands) under log mel (B, T, n_mels), with bands: those ``known`` (B, K,
        bands), and then as the runtime draws them, one after the other, each from its own past.

        ``noise`` (B, S, bands) is standard normal; deviations count as BandsModel says (``voiced``,
        ``temperature``). Differentiable, but after each ``memory`` steps the past is taken as
        given; 0: never."""
        c = self.config
        frames, parts = self.conditions(mel)
        voice = self.voice(mel, pulses)
        noise = noise * torch.where((voice != 0).any(-1, keepdim=True), voiced, temperature)
        own = c.past * c.bands
        width = c.rnn
        first = Cell(self.first)
        second = Cell(self.second)
        (dense, dense_bias), (last, last_bias) = (
            (layer.get_parameter("weight"), layer.get_parameter("bias")) for layer in self.dense
        )
        a, b, d, e = parts.repeat_interleave(c.steps, 1).chunk(PARTS, -1)
        beside = (
            functional.linear(
                torch.cat([voice, frames, a], -1), self.input.weight[:, own:], self.input.bias
            ),
            functional.linear(b, second.inner[:, width:], second.inner_bias),
            functional.linear(d, dense[:, width:], dense_bias),
            functional.linear(e, last[:, c.dense :], last_bias),
        )
        heard = self.input.weight[:, :own].t()
        inner = second.inner[:, :width].t()
        deep = dense[:, :width].t()
        deeper = last[:, : c.dense].t()
        one = known.new_zeros(len(known), width)
        other = one
        past = list(known.new_zeros(c.past, len(known), c.bands))
        made = list(known.unbind(1))
        steps = zip(*(of.unbind(1) for of in (*beside, voice, noise)), strict=True)
        for at, (to_first, to_second, to_dense, to_last, guess, draw) in enumerate(steps):
            if memory and at % memory == 0:
                one, other, *past = (x.detach() for x in (one, other, *past))
            x = torch.addmm(to_first, torch.cat(past, -1), heard)
            one = first(torch.addmm(first.inner_bias, x, first.inner.t()), one)
            x = x + one
            other = second(torch.addmm(to_second, x, inner), other)
            if at >= known.shape[1]:
                x = torch.addmm(to_dense, x + other, deep).relu()
                x = torch.addmm(to_last, x, deeper).relu()
                mean, log_deviation = self.output(x).chunk(2, -1)
                made.append(guess + mean + log_deviation.exp() * draw)
            past = [*past[1:], made[at]]
        return torch.stack(made, 1)

    def layers(self, sounds: list[Tensor], parts: Tensor) -> Tensor:
        """Outputs (B, S, D) of what is heard at each step, (B, S, ...) each, and parts (B, T,
        aux)."""
        a, b, c, d = parts.repeat_interleave(self.config.steps, 1).chunk(PARTS, -1)
        x = self.input(torch.cat([*sounds, a], -1))
        x = x + self.first(x)[0]
        x = x + self.second(torch.cat([x, b], -1))[0]
        x = self.dense[0](torch.cat([x, c], -1)).relu()
        x = self.dense[1](torch.cat([x, d], -1)).relu()
        out: Tensor = self.output(x)
        return out


class Cell:
    """One step of a GRU."""

    def __init__(self, layer: nn.GRU) -> None:
        self.inner, self.outer, self.inner_bias, self.outer_bias = layer.all_weights[0]

    def __call__(self, given: Tensor, was: Tensor) -> Tensor:
        """The state (B, D) after ``was``, of what the input gives its gates (B, 3 D)."""
        of_input, of_new = given.tensor_split([2 * was.shape[1]], 1)
        of_state, of_old = torch.addmm(self.outer_bias, was, self.outer.t()).tensor_split(
            [2 * was.shape[1]], 1
        )
        reset, update = (of_input + of_state).sigmoid().chunk(2, 1)
        new = torch.addcmul(of_new, reset, of_old).tanh()
        return torch.lerp(new, was, update)


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
