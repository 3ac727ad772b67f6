"""Several speakers in the default voice's networks: every norm has a scale and an offset of each
speaker's own.

Conditional layer normalization (Chen et al. 2021, AdaSpeech, 2.3), without a bottleneck: all other
weights are shared, so a speaker costs some eleven thousand numbers, and a blend of speakers is the
mean of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.mel.discriminators import JUDGES

RATE = 4.0
"""Times as fast as shared weights, speakers' own learn: each is met in a part of the batches
alone."""
ENDS = "heart.dur_out", "heart.prosody.pro_out"
"""Last layers, of durations and of pitch and energy: their biases are a speaker's own."""
OWN = ".own"


class SpeakerNorm(nn.LayerNorm):
    """Layer normalization of rows (B, T, D), whose scale and offset are those of all plus each
    speaker's own."""

    def __init__(self, channels: int, speakers: int) -> None:
        super().__init__(channels)
        self.own = nn.Parameter(torch.zeros(speakers, 2, channels))
        self.speaker = torch.zeros(1, dtype=torch.long)

    def affine(self, speaker: Tensor) -> Tensor:
        """(B, 2, D) scale and offset of speakers (B,)."""
        return torch.stack([self.weight, self.bias]) + RATE * self.own[speaker]

    def forward(self, x: Tensor) -> Tensor:
        scale, offset = self.affine(self.speaker).to(x.dtype)[:, :, None].unbind(1)
        return functional.layer_norm(x, self.normalized_shape, eps=self.eps) * scale + offset


class SpeakerLinear(nn.Linear):
    """A linear layer whose bias is that of all plus each speaker's own."""

    def __init__(self, inputs: int, outputs: int, speakers: int) -> None:
        super().__init__(inputs, outputs)
        self.own = nn.Parameter(torch.zeros(speakers, outputs))
        self.speaker = torch.zeros(1, dtype=torch.long)

    def affine(self, speaker: Tensor) -> Tensor:
        """(B, D) the biases of speakers (B,)."""
        return self.bias + RATE * self.own[speaker]

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight) + self.affine(self.speaker).to(x.dtype)[:, None]


def own_layers(model: nn.Module) -> Iterator[tuple[str, SpeakerNorm | SpeakerLinear]]:
    """The layers that know speakers, by name."""
    for name, module in model.named_modules():
        if isinstance(module, SpeakerNorm | SpeakerLinear):
            yield name, module


def make_several(model: nn.Module, speakers: int) -> None:
    """Give a ``HeartVoice`` so many speakers, all of whom speak as it does now."""
    for name, layer in list(model.named_modules()):
        if isinstance(layer, nn.LayerNorm):
            other: SpeakerNorm | SpeakerLinear = SpeakerNorm(layer.normalized_shape[0], speakers)
        elif name in ENDS and isinstance(layer, nn.Linear):
            other = SpeakerLinear(layer.in_features, layer.out_features, speakers)
        else:
            continue
        other.load_state_dict(layer.state_dict(), strict=False)
        for weight in other.parameters():
            weight.requires_grad_(next(layer.parameters()).requires_grad)
        parent, _, leaf = name.rpartition(".")
        setattr(model.get_submodule(parent), leaf, other)


def tell(model: nn.Module, sentences: Tensor, views: Tensor) -> None:
    """Say who speaks: speakers of the sentences (B,), which text encoders read, and of their views
    (V,)."""
    for name, layer in own_layers(model):
        layer.speaker = views if name.startswith(("decoder", "heart.prosody")) else sentences


def folded(state: Mapping[str, Tensor], number: int) -> dict[str, Tensor]:
    """The weights of one speaker's own model, by the names of a plain ``HeartVoice`` without
    discriminators."""
    shared = (name for name in state if not name.endswith(OWN) and not name.startswith(JUDGES))
    plain = {name: state[name].clone() for name in shared}
    for name, own in state.items():
        if not name.endswith(OWN):
            continue
        layer = name.removesuffix(OWN)
        rows = RATE * own[number]
        if rows.dim() == 2:
            plain[f"{layer}.weight"] += rows[0]
            plain[f"{layer}.bias"] += rows[1]
        else:
            plain[f"{layer}.bias"] += rows
    return plain


def regrouped(
    state: Mapping[str, Tensor], before: Sequence[str], now: Sequence[str]
) -> dict[str, Tensor]:
    """Weights of the speakers ``before`` as those of ``now``: who is new speaks as the mean of
    all."""
    rows = [before.index(name) if name in before else -1 for name in now]
    out = dict(state)
    for name, own in state.items():
        if name.endswith(OWN):
            out[name] = torch.stack([own[row] if row >= 0 else own.mean(0) for row in rows])
    return out
