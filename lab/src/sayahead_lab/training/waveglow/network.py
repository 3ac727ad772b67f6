"""WaveGlow (Prenger et al. 2018), Saeki et al.'s vocoder: invertible steps turn noise into sound,
given the mel.

A row of what they turn is a group of neighbouring samples. In a network small enough for a
processor core it is one step of all bands of the signal, relative to their level, less the voice
that ClariNet's small conditioner makes of a pulse train; its couplings hear that conditioner, at
the rate of rows.

Axes: B batch, T frames, S samples, G channels of a row (samples of a group, or bands), U = S / G
rows, D channels, K channels of conditions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from sayahead.errors import ConfigError
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from sayahead_lab.training.clarinet.conditioner import Conditioner, ConditionerConfig
from sayahead_lab.training.clarinet.signal import bank_reach
from sayahead_lab.training.layers import Scaled
from sayahead_lab.training.mel.discriminators import Discriminators


@dataclass(frozen=True, slots=True)
class WaveGlowConfig:
    """Sizes; the defaults are those of its authors' release, but for hop and window (theirs: 256
    and 1,024 samples)."""

    n_mels: int = 80
    """Mel bands."""
    hop: int = 300
    """Samples a frame."""
    window: int = 1200
    """Samples over which a frame spreads when the mel is brought to the rate of samples."""
    flows: int = 12
    """Steps, each a mixing of channels and a coupling."""
    group: int = 8
    """G: samples that are channels of one row, or bands."""
    early_every: int = 4
    """Number of steps after which some channels leave: they are taken for noise, and not changed
    any more (2.3)."""
    early_size: int = 2
    """How many."""
    layers: int = 8
    """Dilated convolutions of a coupling, the dilation doubling from one to the next."""
    channels: int = 256
    """D of a coupling."""
    kernel: int = 3
    """Rows that each convolution sees."""
    conditioner: ConditionerConfig | None = None
    """How mel and pulses reach the couplings where rows are bands; None: rows are groups of samples
    (WaveGlow)."""

    def __post_init__(self) -> None:
        leaving = self.early_size * ((self.flows - 1) // self.early_every)
        if self.group % 2 or self.early_size % 2 or self.group <= leaving:
            raise ConfigError(
                f"A group of {self.group} is odd, or not more than the {leaving} channels that"
                f" leave it early ({self.early_size} at a time)."
            )
        c = self.conditioner
        if c is not None and (c.n_mels, c.hop, c.bands) != (self.n_mels, self.hop, self.group):
            raise ConfigError(
                f"The conditioner has {c.n_mels} mel bands, a hop of {c.hop} and {c.bands} bands,"
                f" but the network {self.n_mels}, {self.hop} and a group of {self.group}: they must"
                " be the same."
            )

    @property
    def reach(self) -> tuple[int, int]:
        """Frames to the left and to the right of a frame on which its samples depend."""
        samples = self.flows * (self.kernel // 2) * (2**self.layers - 1) * self.group
        c = self.conditioner
        if c is None:
            frames = -(-samples // self.hop)
            # A mel frame spreads over a window of samples, from its own first one on.
            return frames + -(-self.window // self.hop), frames
        frames = -(-(samples + bank_reach(c.bands)) // self.hop)
        before, after = c.reach
        return frames + before, frames + after


class Latent(NamedTuple):
    """The noise that the network makes of sound, the terms of its likelihood, and what else
    training asks for."""

    z: Tensor
    """(B, G, U) Gaussian noise, if the sound is speech with this mel."""
    log_scales: Tensor
    """() sum of the logarithms of all couplings' scales."""
    log_determinants: Tensor
    """() sum of those of the mixings' determinants, over rows and batch."""
    pitch: Tensor | None = None
    """(B, 2, T) the conditioner's, where it reads any (see PitchReader)."""
    rendered: Tensor | None = None
    """(B, S) samples that the inverse makes of other noise, where there was some."""


def bare(channels: int, out: int, kernel: int = 1, dilation: int = 1) -> nn.Module:
    """A convolution of (B, channels, U) to (B, out, U), with weight normalization."""
    margin = dilation * (kernel - 1) // 2
    layer: nn.Module = weight_norm(
        nn.Conv1d(channels, out, kernel, dilation=dilation, padding=margin)
    )
    return layer


class Coupling(nn.Module):
    """A WaveNet, not causal, that reads one half of the channels and gives the other's shift and
    log scale (2.1)."""

    def __init__(self, half: int, conditions: int, config: WaveGlowConfig) -> None:
        super().__init__()
        wide = config.channels
        self.layers = config.layers
        self.start = bare(half, wide)
        self.condition = bare(conditions, 2 * wide * config.layers)
        self.inner = nn.ModuleList(
            bare(wide, 2 * wide, config.kernel, 2**at) for at in range(config.layers)
        )
        self.outer = nn.ModuleList(
            bare(wide, 2 * wide if at < config.layers - 1 else wide) for at in range(config.layers)
        )
        self.end = nn.Conv1d(wide, 2 * half, 1)
        # Zero at first: each coupling begins by changing nothing.
        nn.init.zeros_(self.end.weight)
        assert self.end.bias is not None
        nn.init.zeros_(self.end.bias)

    def forward(self, x: Tensor, conditions: Tensor) -> tuple[Tensor, Tensor]:
        """Shift and log scale (B, half, U) of x (B, half, U) and conditions (B, K, U)."""
        x = self.start(x)
        parts = self.condition(conditions).chunk(self.layers, 1)
        total: Tensor | None = None
        for at, (inner, outer) in enumerate(zip(self.inner, self.outer, strict=True)):
            value, gate = (inner(x) + parts[at]).chunk(2, 1)
            x_out = outer(value.tanh() * gate.sigmoid())
            if at < self.layers - 1:
                residual, x_out = x_out.chunk(2, 1)
                x = x + residual
            total = x_out if total is None else total + x_out
        shift, log_scale = self.end(total).chunk(2, 1)
        return shift, log_scale


class Flows(nn.Module):
    """Mixings and couplings: rows to noise and back."""

    def __init__(self, config: WaveGlowConfig, width: int) -> None:
        super().__init__()
        self.config = config
        channels = config.group
        mixings = []
        couplings = []
        for flow in range(config.flows):
            channels -= config.early_size if self.leaves(flow) else 0
            rotation = torch.linalg.qr(torch.randn(channels, channels))[0]
            # A rotation, of determinant 1, not a reflection.
            rotation[:, 0] *= torch.linalg.det(rotation).sign()
            mixings.append(nn.Parameter(rotation))
            couplings.append(Coupling(channels // 2, width, config))
        self.remaining = channels
        self.mixings = nn.ParameterList(mixings)
        self.couplings = nn.ModuleList(couplings)

    def leaves(self, flow: int) -> bool:
        """Whether channels leave before a step."""
        return flow > 0 and flow % self.config.early_every == 0

    def forward(self, x: Tensor, conditions: Tensor) -> Latent:
        """The noise of rows (B, G, U) under conditions (B, K, U)."""
        early = []
        scales = x.new_zeros(())
        determinants = x.new_zeros(())
        for flow, (mixing, coupling) in enumerate(zip(self.mixings, self.couplings, strict=True)):
            if self.leaves(flow):
                early.append(x[:, : self.config.early_size])
                x = x[:, self.config.early_size :]
            x = torch.einsum("ij,bju->biu", mixing, x)
            determinants = (
                determinants + len(x) * x.shape[2] * torch.linalg.slogdet(mixing.float())[1]
            )
            fixed, changed = x.chunk(2, 1)
            shift, log_scale = coupling(fixed, conditions)
            x = torch.cat([fixed, log_scale.exp() * changed + shift], 1)
            scales = scales + log_scale.sum()
        return Latent(torch.cat([*early, x], 1), scales, determinants)

    def inverse(self, z: Tensor, conditions: Tensor) -> Tensor:
        """Rows (B, G, U) of noise (B, G, U) under conditions (B, K, U)."""
        size = self.config.early_size
        at = z.shape[1] - self.remaining
        x = z[:, at:]
        early = z[:, :at]
        for flow in reversed(range(self.config.flows)):
            coupling = self.couplings[flow]
            mixing = self.mixings[flow]
            fixed, changed = x.chunk(2, 1)
            shift, log_scale = coupling(fixed, conditions)
            x = torch.cat([fixed, (changed - shift) * (-log_scale).exp()], 1)
            x = torch.einsum("ij,bju->biu", torch.linalg.inv(mixing.float()).to(x.dtype), x)
            if self.leaves(flow):
                x = torch.cat([early[:, -size:], x], 1)
                early = early[:, :-size]
        return x


class Groups(Scaled):
    """WaveGlow's rows: neighbouring samples, under mel brought to their rate by one transposed
    convolution."""

    def __init__(self, config: WaveGlowConfig) -> None:
        super().__init__(config.n_mels)
        self.config = config
        self.width = config.n_mels * config.group
        self.upsample = nn.ConvTranspose1d(
            config.n_mels, config.n_mels, config.window, stride=config.hop
        )

    def conditions(self, mel: Tensor, pulses: Tensor | None = None) -> Tensor:
        """What couplings are given of log mel (B, T, n_mels): (B, n_mels * G, U); T * hop must be a
        multiple of G."""
        grouped = self.normalized(mel).transpose(1, 2)
        samples = self.upsample(grouped)[..., : mel.shape[1] * self.config.hop]
        rows: Tensor = samples.reshape(*samples.shape[:2], -1, self.config.group)
        return rows.permute(0, 1, 3, 2).flatten(1, 2)

    def split(self, audio: Tensor, mel: Tensor, conditions: Tensor) -> Tensor:
        """Rows (B, G, U) of samples (B, S)."""
        return audio.reshape(len(audio), -1, self.config.group).transpose(1, 2)

    def join(self, x: Tensor, mel: Tensor, conditions: Tensor) -> Tensor:
        """Samples (B, S) of rows (B, G, U)."""
        return x.transpose(1, 2).flatten(1)


class Bands(nn.Module):
    """Rows of all bands at one step, relative to their level and less the conditioner's voice; not
    in WaveGlow."""

    def __init__(self, config: ConditionerConfig) -> None:
        super().__init__()
        self.conditioner = Conditioner(config)
        self.width = config.width

    def conditions(self, mel: Tensor, pulses: Tensor | None = None) -> Tensor:
        """What couplings are given of log mel (B, T, n_mels) and pulses (B, 2, S): (B, K, U)."""
        out: Tensor = self.conditioner(mel, pulses)
        return out

    def split(self, audio: Tensor, mel: Tensor, conditions: Tensor) -> Tensor:
        """Rows (B, G, U) of samples (B, S) with log mel (B, T, n_mels)."""
        return self.conditioner.signal.split(audio, mel) - self.conditioner.expected(conditions)

    def join(self, x: Tensor, mel: Tensor, conditions: Tensor) -> Tensor:
        """Samples (B, S) of rows (B, G, U)."""
        return self.conditioner.signal.join(x + self.conditioner.expected(conditions), mel)

    def pitch(self, mel: Tensor) -> Tensor | None:
        """The conditioner's pitch (B, 2, T), where it reads any."""
        reader = self.conditioner.pitch
        return None if reader is None else reader(self.conditioner.normalized(mel))


class WaveGlow(nn.Module):
    """Sound to noise and back."""

    def __init__(self, config: WaveGlowConfig) -> None:
        super().__init__()
        self.config = config
        self.rows = Groups(config) if config.conditioner is None else Bands(config.conditioner)
        self.flows = Flows(config, self.rows.width)
        self.discriminators: Discriminators | None = None
        """Who judge its sound while it learns, if any; not in WaveGlow."""

    def forward(
        self, audio: Tensor, mel: Tensor, pulses: Tensor | None = None, z: Tensor | None = None
    ) -> Latent:
        """The noise of samples (B, S) with log mel (B, T, n_mels), S = T * hop a multiple of G.

        ``pulses`` (B, 2, S) where the conditioner hears any; ``z`` (B, G, U) is noise to render
        samples of as well."""
        conditions = self.rows.conditions(mel, pulses)
        latent: Latent = self.flows(self.rows.split(audio, mel, conditions), conditions)
        pitch = self.rows.pitch(mel) if isinstance(self.rows, Bands) else None
        rendered = (
            None
            if z is None
            else self.rows.join(self.flows.inverse(z, conditions), mel, conditions)
        )
        return latent._replace(pitch=pitch, rendered=rendered)

    @torch.no_grad()
    def infer(self, mel: Tensor, z: Tensor, pulses: Tensor | None = None) -> Tensor:
        """The inverse of forward: samples (B, S) from noise (B, G, U) and log mel (B, T,
        n_mels)."""
        conditions = self.rows.conditions(mel, pulses)
        return self.rows.join(self.flows.inverse(z, conditions), mel, conditions)


def negative_log_likelihood(latent: Latent, deviation: float) -> Tensor:
    """Nats a sample, up to a constant, where the noise has that standard deviation (Prenger et al.
    2018, Eq. 12)."""
    size = latent.z.numel()
    squares = latent.z.float().square().sum() / (2 * deviation**2)
    return (squares - latent.log_scales.float() - latent.log_determinants) / size


DEVIATION = math.sqrt(0.5)
"""Standard deviation of the noise in training, as in the paper."""
SOFTER = 0.6
"""Standard deviation of the noise in synthesis, as in the paper."""
