"""ClariNet's student: Gaussian inverse autoregressive flows, which turn noise into sound in
parallel.

Flow i computes x_i = x_(i-1) exp(s_i) + m_i, where m_i[t] and s_i[t] come from x_(i-1)[< t] by a
WaveNet. All flows run in the same direction of time. So x[t] given z[< t] is Gaussian with

    mean = sum_i m_i prod_(j > i) exp(s_j),     log deviation = sum_i s_i      (Ping et al. 2018,
    Eq. 6 and 7),

which the closed form of the divergence needs. If time were reversed between two flows, neither this
nor streaming would be possible. The conditioner's voice, if it has one, is added after the last
flow.

Axes: B batch, T frames, S steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from sayahead_lab.training.clarinet.conditioner import Conditioner, ConditionerConfig
from sayahead_lab.training.clarinet.signal import bank_reach
from sayahead_lab.training.clarinet.wavenet import Stack
from sayahead_lab.training.mel.discriminators import Discriminators


@dataclass(frozen=True, slots=True)
class IAFConfig:
    """Sizes of the student."""

    flows: tuple[int, ...] = (10, 10, 10, 30)
    """Layers of each flow's WaveNet."""
    cycle: int = 10
    """Layers after which the dilation, which doubles from layer to layer, is 1 again."""
    kernel: int = 3
    """Taps of a dilated convolution."""
    residual: int = 64
    """Channels handed from layer to layer."""
    skip: int = 64
    """Channels handed from each layer to the flow's output."""
    begin: float = -4.0
    """Log deviation of an untrained student's output, whose mean is 0."""
    conditioner: ConditionerConfig = field(default_factory=ConditionerConfig)
    """How the mel reaches the layers."""


class GaussianIAF(nn.Module):
    """The student: noise and mel to steps of sound, with the mean and deviation of each step."""

    def __init__(self, config: IAFConfig) -> None:
        super().__init__()
        self.config = config
        c = config.conditioner
        self.conditioner = Conditioner(c)
        self.flows = nn.ModuleList(
            Stack(
                layers, config.cycle, config.kernel, config.residual, config.skip, c.width, c.bands
            )
            for layers in config.flows
        )
        with torch.no_grad():
            for flow in self.each:
                assert flow.output.bias is not None
                flow.output.weight.mul_(0.1)
                flow.output.bias[: c.bands] = 0
                flow.output.bias[c.bands :] = config.begin / len(config.flows)
        self.discriminators: Discriminators | None = None
        """Who judge its sound while it learns, if any; not in ClariNet."""

    @property
    def each(self) -> list[Stack]:
        """The flows."""
        return [flow for flow in self.flows if isinstance(flow, Stack)]

    def forward(
        self, z: Tensor, mel: Tensor, pulses: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """x = mean + exp(log deviation) z, its mean and its log deviation, all (B, bands, S) as
        standard normal z.

        ``mel`` is log mel (B, T, n_mels), ``pulses`` a pulse train with its quadrature (B, 2, T *
        hop)."""
        conditions = self.conditioner(mel, pulses)
        x = z
        mean = torch.zeros_like(z)
        log_deviation = torch.zeros_like(z)
        for flow in self.each:
            m, s = flow(x, conditions)
            scale = torch.exp(s)
            x = x * scale + m
            mean = mean * scale + m
            log_deviation = log_deviation + s
        expected = self.conditioner.expected(conditions)
        return x + expected, mean + expected, log_deviation


def iaf_reach(config: IAFConfig) -> tuple[int, int]:
    """Frames of mel and noise to the left and to the right of a frame on which its samples
    depend."""
    c = config.conditioner
    past = sum(
        (config.kernel - 1) * 2 ** (i % config.cycle) for n in config.flows for i in range(n)
    )
    past += len(config.flows)
    left = past * c.bands + bank_reach(c.bands)
    before, after = c.reach
    return -(-left // c.hop) + before, -(-bank_reach(c.bands) // c.hop) + after


class EndToEndClariNet(nn.Module):
    """The student from end to end: log mel (T, n_mels), z (T, hop) and pulses (T, 2 * hop) to
    samples (T, hop)."""

    def __init__(self, model: GaussianIAF) -> None:
        super().__init__()
        self.model = model

    def forward(self, mel: Tensor, z: Tensor, pulses: Tensor | None = None) -> Tensor:
        c = self.model.config.conditioner
        # A row of noise belongs to its frame: each step takes the next values of it, one for each
        # band.
        noise = z.reshape(1, -1, c.bands).transpose(1, 2)
        if pulses is not None:
            pulses = pulses.reshape(-1, 2, c.hop).transpose(0, 1).reshape(1, 2, -1)
        x, _, _ = self.model(noise, mel[None], pulses)
        samples: Tensor = self.model.conditioner.signal.join(x, mel[None]).reshape(-1, c.hop)
        return samples
