"""The aligner's network: which phoneme sounds in each frame."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.layers import Block


@dataclass(frozen=True, slots=True)
class AlignerConfig:
    """Sizes."""

    bands: int = 68
    """Mel bands of the input."""
    classes: int = 0
    """Classes: phonemes and the pause; 0: as many as the corpus has."""
    channels: int = 160
    """D of the blocks."""
    hidden: int = 320
    """Width inside of each."""
    kernel: int = 7
    """Frames that each block sees."""
    blocks: int = 4
    """Number of blocks."""


class AlignerNetwork(nn.Module):
    """Normalized bands (B, T, bands) to logits (B, T, classes)."""

    def __init__(self, config: AlignerConfig) -> None:
        super().__init__()
        self.config = config
        self.first = nn.Conv1d(config.bands, config.channels, 5, padding=2)
        size = (config.channels, config.hidden, config.kernel)
        half = config.kernel // 2
        self.blocks = nn.ModuleList(Block(*size, half) for _ in range(config.blocks))
        self.norm = nn.LayerNorm(config.channels)
        self.last = nn.Linear(config.channels, config.classes)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.gelu(self.first(x.transpose(1, 2)).transpose(1, 2))
        for block in self.blocks:
            x = block(x)
        out: Tensor = self.last(self.norm(x))
        return out


@torch.no_grad()
def posteriors(model: AlignerNetwork, x: Tensor) -> Tensor:
    """(T, classes) logarithms of the probabilities in each of the frames (T, bands)."""
    out: Tensor = model(x[None])[0].float().log_softmax(-1)
    return out
