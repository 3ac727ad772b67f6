"""The network that makes a speaker of an embedding: what is to be added to the nearest blend of a
family's speakers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sayahead.types import Floats, Ids
from sayahead.voices.install.clip.embedding import WIDTH
from sayahead.voices.install.clip.speaker import GRAPHS, OCTAVE, SCALE, packed
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class SpeakerNetworkConfig:
    """Sizes."""

    hidden: int = 256
    """Channels of the hidden layer."""
    rank: int = 96
    """Directions in which a speaker can differ from a blend."""


class SpeakerNetwork(nn.Module):
    """Embedding of a clip and of the blend that is nearest to it to offsets of a speaker's
    numbers."""

    deviation: Tensor
    numbers: Tensor

    def __init__(self, config: SpeakerNetworkConfig, codes: Tensor, numbers: Tensor) -> None:
        """``codes`` (S, V): the family's speakers; ``numbers`` (V,): true for those that are the
        sound's."""
        super().__init__()
        self.inner = nn.Linear(2 * WIDTH + 1, config.hidden)
        self.outer = nn.Linear(config.hidden, config.rank)
        self.directions = nn.Linear(config.rank, int(numbers.sum()), bias=False)
        nn.init.normal_(self.inner.weight, std=1.0 / 8)
        nn.init.normal_(self.outer.weight, std=0.02)
        nn.init.zeros_(self.outer.bias)
        nn.init.normal_(self.directions.weight, std=config.rank**-0.5)
        deviation = codes.std(0)[numbers]
        self.register_buffer("deviation", deviation + 0.02 * deviation.mean())
        self.register_buffer("numbers", numbers)

    def forward(self, wanted: Tensor, blend: Tensor, pitch: Tensor) -> Tensor:
        """(B, N) offsets in deviations, of embeddings (B, 256) and the logarithm of the pitch over
        the blend's (B,)."""
        inputs = torch.cat([wanted, 4 * (wanted - blend), pitch[:, None]], -1)
        moved: Tensor = self.directions(self.outer(nn.functional.gelu(self.inner(inputs))))
        return moved

    def added(self, codes: Tensor, moved: Tensor) -> Tensor:
        """Vectors (B, V) with offsets (B, N) added."""
        out = codes.clone()
        out[:, self.numbers] = out[:, self.numbers] + moved * self.deviation
        return out


@dataclass(frozen=True, slots=True)
class Bank:
    """Blends of a family's speakers, each with what it sounds like."""

    shares: Floats
    """(N, S)"""
    embeddings: Floats
    """(N, 256)"""
    f0: Floats
    """(N,) median pitch in Hz."""

    def nearest(self, wanted: Floats, f0: float, count: int = 1) -> Ids:
        """The blends that are most like an embedding, and not far from a pitch in Hz (0: any)."""
        score = self.embeddings @ wanted
        if f0 > 0:
            score = score - OCTAVE * np.abs(np.log2(f0 / self.f0))
        return np.argsort(-score)[:count]


def exported(
    network: SpeakerNetwork,
    bank: Bank,
    order: Mapping[str, Ids],
    embedder: Mapping[str, Any],
    person: tuple[Floats, Floats],
) -> dict[str, Any]:
    """Arrays of a family's ``clip.npz``: what makes speakers without PyTorch.

    ``order``: by graph, which numbers of a vector are the columns of its table
    (``family.columns``); ``person``: what makes a person's embedding of a clip's
    (``people.person_estimate``)."""
    joined = np.concatenate([order[graph] for graph in GRAPHS])
    place = np.empty(len(joined), np.int64)
    place[joined] = np.arange(len(joined))
    numbers = np.flatnonzero(network.numbers.numpy())
    directions = network.directions.weight * network.deviation[:, None]
    arrays: dict[str, Any] = {
        f"embedder.{name}": np.asarray(value, np.float16) for name, value in embedder.items()
    }
    arrays |= {
        f"bank.{name}": np.asarray(getattr(bank, name), np.float16)
        for name in ("shares", "embeddings")
    }
    arrays["bank.f0"] = bank.f0
    for layer in ("inner", "outer"):
        for leaf in ("weight", "bias"):
            arrays[f"network.{layer}.{leaf}"] = (
                getattr(getattr(network, layer), leaf).detach().numpy().astype(np.float16)
            )
    for name in [
        name for name in arrays if name.startswith("embedder.") and arrays[name].ndim == 2
    ]:
        arrays[name], arrays[name + SCALE] = packed(arrays[name].astype(np.float32))
    arrays["network.directions"], arrays["network.directions" + SCALE] = packed(
        directions.detach().numpy()
    )
    arrays["network.columns"] = place[numbers].astype(np.int32)
    arrays["person.mean"], gain = person
    arrays["person.gain"], arrays["person.gain" + SCALE] = packed(gain)
    return arrays
