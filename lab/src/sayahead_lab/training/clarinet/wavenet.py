"""WaveNet with Gaussian outputs: ClariNet's autoregressive teacher, and the stack of layers in its
student's flows.

Each step's mean and deviation are computed from the steps before it and from the conditions (Ping
et al. 2018, 3.1). A step is a sample, or one value in each of several bands (see ``signal``).

Axes: B batch, T frames, S steps, R residual channels, K channels of conditions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from sayahead.types import Floats
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.clarinet.conditioner import Conditioner, ConditionerConfig


@dataclass(frozen=True, slots=True)
class WaveNetConfig:
    """Sizes of the teacher."""

    layers: int = 20
    """Dilated convolutions."""
    cycle: int = 10
    """Layers after which the dilation, which doubles from layer to layer, is 1 again."""
    kernel: int = 2
    """Taps of a dilated convolution."""
    residual: int = 128
    """Channels handed from layer to layer."""
    skip: int = 256
    """Channels handed from each layer to the output."""
    conditioner: ConditionerConfig = field(default_factory=ConditionerConfig)
    """How the mel reaches the layers."""


class WaveNetLayer(nn.Module):
    """One gated dilated convolution."""

    def __init__(
        self, residual: int, skip: int, conditions: int, kernel: int, dilation: int, *, last: bool
    ) -> None:
        super().__init__()
        self.past = dilation * (kernel - 1)
        self.residual = 0 if last else residual
        self.conv = nn.Conv1d(residual, 2 * residual, kernel, dilation=dilation)
        self.condition = nn.Conv1d(conditions, 2 * residual, 1)
        # Residual and skip projection in one; the last layer has no next one.
        self.out = nn.Conv1d(residual, self.residual + skip, 1)

    def forward(self, x: Tensor, conditions: Tensor) -> tuple[Tensor, Tensor]:
        """The next layer's input (B, R, S) and the share of the output (B, skip, S) of x and
        conditions (B, K, S)."""
        mixed = self.conv(functional.pad(x, (self.past, 0))) + self.condition(conditions)
        signal, gate = mixed.chunk(2, 1)
        out = self.out(torch.tanh(signal) * torch.sigmoid(gate))
        # The sum of two equal powers, halved: so the power stays the same through any number of
        # layers.
        return (x + out[:, : self.residual]) * 0.5**0.5 if self.residual else x, out[
            :, self.residual :
        ]


class Stack(nn.Module):
    """A WaveNet without its conditioner: each step's mean and log deviation from the steps before
    it."""

    def __init__(
        self,
        layers: int,
        cycle: int,
        kernel: int,
        residual: int,
        skip: int,
        conditions: int,
        bands: int,
    ) -> None:
        super().__init__()
        self.input = nn.Conv1d(bands, residual, 1)
        self.layers = nn.ModuleList(
            WaveNetLayer(residual, skip, conditions, kernel, 2 ** (i % cycle), last=i == layers - 1)
            for i in range(layers)
        )
        self.hidden = nn.Conv1d(skip, skip, 1)
        self.output = nn.Conv1d(skip, 2 * bands, 1)

    @property
    def each(self) -> list[WaveNetLayer]:
        """The layers."""
        return [layer for layer in self.layers if isinstance(layer, WaveNetLayer)]

    @property
    def past(self) -> int:
        """Steps before it that a step sees."""
        return 1 + sum(layer.past for layer in self.each)

    def forward(self, x: Tensor, conditions: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log deviation, both as x (B, bands, S), under conditions (B, K, S)."""
        h = self.input(functional.pad(x, (1, 0))[..., :-1])
        total: Tensor | None = None
        for layer in self.each:
            h, skip = layer(h, conditions)
            total = skip if total is None else total + skip
        assert total is not None
        out = functional.relu(self.hidden(functional.relu(total * len(self.layers) ** -0.5)))
        # bfloat16 is too coarse for the means.
        with torch.autocast(out.device.type, enabled=False):
            mean, log_deviation = self.output(out.float()).chunk(2, 1)
        return mean, log_deviation


class WaveNet(nn.Module):
    """The teacher: p(x[t] | x[< t], mel), Gaussian."""

    def __init__(self, config: WaveNetConfig) -> None:
        super().__init__()
        self.config = config
        c = config.conditioner
        self.conditioner = Conditioner(c)
        self.stack = Stack(
            config.layers,
            config.cycle,
            config.kernel,
            config.residual,
            config.skip,
            c.width,
            c.bands,
        )

    def forward(
        self, x: Tensor, mel: Tensor, pulses: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Mean and log deviation, both as x (B, bands, S), and the conditioner's pitch (B, 2, T),
        if it reads any.

        ``mel`` is log mel (B, T, n_mels), ``pulses`` (B, 2, T * hop); the pitch is PitchReader's.
        """
        conditions = self.conditioner(mel, pulses)
        mean, log_deviation = self.stack(x, conditions)
        reader = self.conditioner.pitch
        pitch = None if reader is None else reader(self.conditioner.normalized(mel))
        return mean + self.conditioner.expected(conditions), log_deviation, pitch


def log_likelihood(x: Tensor, mean: Tensor, log_deviation: Tensor, *, floor: float) -> Tensor:
    """Log density of x in nats, elementwise; log deviations below ``floor`` count as that
    (ClariNet: -9).

    Silence is predicted so well that without a floor a few samples of it would outweigh all speech.
    """
    log_deviation = log_deviation.clamp(min=floor)
    apart = (x - mean) * torch.exp(-log_deviation)
    return -0.5 * math.log(2 * math.pi) - log_deviation - 0.5 * apart**2


@dataclass(frozen=True, slots=True)
class SamplerState:
    """The past of a signal that is being drawn step by step."""

    step: int
    """Steps drawn so far."""
    last: Floats
    """(bands,) the last of them."""
    rings: tuple[Floats, ...]
    """Each layer's last inputs (rows, R); that of step t is in row t modulo their number."""


class Sampler:
    """Draws sound from a trained teacher in numpy, step by step."""

    def __init__(self, model: WaveNet, *, floor: float) -> None:
        def arrays(layer: nn.Module) -> tuple[Floats, Floats]:
            weight = layer.get_parameter("weight").detach().cpu()
            bias = layer.get_parameter("bias").detach().cpu()
            # (taps, in, out), so that a tap is a plain product.
            return np.ascontiguousarray(weight.numpy().transpose(2, 1, 0)), bias.numpy()

        stack = model.stack
        self.floor = floor
        self.config = model.config
        self.input = arrays(stack.input)
        self.hidden = arrays(stack.hidden)
        self.output = arrays(stack.output)
        self.layers = [
            (
                arrays(layer.conv),
                arrays(layer.condition),
                arrays(layer.out),
                layer.past // (self.config.kernel - 1),
            )
            for layer in stack.each
        ]

    def initial(self) -> SamplerState:
        """The state before the first step: silence."""
        sizes = [max(1, dilation * (self.config.kernel - 1)) for *_, dilation in self.layers]
        rings = (np.zeros((size, self.config.residual), np.float32) for size in sizes)
        return SamplerState(0, np.zeros(self.config.conditioner.bands, np.float32), tuple(rings))

    def step(
        self, conditions: Floats, noise: Floats, state: SamplerState
    ) -> tuple[Floats, SamplerState]:
        """Steps (S, bands) drawn with standard normal noise (S, bands) under conditions (S, K), and
        the next state."""
        rings = [ring.copy() for ring in state.rings]
        bands = noise.shape[1]
        begin = conditions[:, -bands:] if self.config.conditioner.pulses else np.zeros_like(noise)
        parts = [
            conditions @ weight[0] + bias + conv[1] for conv, (weight, bias), *_ in self.layers
        ]
        out = np.empty_like(noise)
        last = state.last
        for i in range(len(noise)):
            mean, log_deviation = np.split(
                self._step(last, [g[i] for g in parts], rings, state.step + i), 2
            )
            last = begin[i] + mean + np.exp(np.maximum(log_deviation, self.floor)) * noise[i]
            out[i] = last
        return out, SamplerState(state.step + len(noise), last, tuple(rings))

    def _step(self, last: Floats, parts: list[Floats], rings: list[Floats], step: int) -> Floats:
        """Mean and log deviation, side by side, of the step after ``last``; the layers' inputs go
        into their rings."""
        h = last @ self.input[0][0] + self.input[1]
        residual = self.config.residual
        taps = self.config.kernel
        total = np.zeros(self.config.skip, np.float32)
        for (conv, _, (out, out_bias), dilation), ring, mixed in zip(
            self.layers, rings, parts, strict=True
        ):
            weight = conv[0]
            mixed = mixed + h @ weight[-1]
            for tap in range(taps - 1):
                mixed += ring[(step - (taps - 1 - tap) * dilation) % len(ring)] @ weight[tap]
            ring[step % len(ring)] = h
            gated = np.tanh(mixed[:residual]) * (0.5 + 0.5 * np.tanh(0.5 * mixed[residual:]))
            outputs = gated @ out[0] + out_bias
            total += outputs[-self.config.skip :]
            if len(outputs) > len(total):
                h = (h + outputs[:residual]) * np.float32(0.5**0.5)
        hidden = (
            np.maximum(total * np.float32(len(self.layers) ** -0.5), 0) @ self.hidden[0][0]
            + self.hidden[1]
        )
        return np.asarray(np.maximum(hidden, 0) @ self.output[0][0] + self.output[1], np.float32)
