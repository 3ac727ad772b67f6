"""What stands for the words around a segment: the contextual embedding network, and the student
distilled from it.

Axes: B batch, P phonemes, N tokens, D channels, E embedding.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

from sayahead_lab.training.layers import ContextEmbeddingConfig, MaskedNorm, TokenAttention


class ReferenceEncoder(nn.Module):
    """2-D convolutions over phonemes and channels of the encoder's states, then a recurrent layer's
    last state."""

    def __init__(self, config: ContextEmbeddingConfig, channels: int) -> None:
        super().__init__()
        widths = (1, *config.filters)
        self.strides = config.strides
        self.convolutions = nn.ModuleList(
            nn.Conv2d(a, b, 3, stride=(stride, 2), padding=1)
            for (a, b), stride in zip(itertools.pairwise(widths), config.strides, strict=True)
        )
        self.norms = nn.ModuleList(MaskedNorm(width) for width in config.filters)
        for _ in config.strides:
            channels = -(-channels // 2)
        self.recurrent = nn.GRU(channels * config.filters[-1], config.recurrent, batch_first=True)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """(B, D) of states (B, P, D), of which ``lengths`` (B,) count; zeros where none does."""
        x = states[:, None]
        for convolution, norm, stride in zip(
            self.convolutions, self.norms, self.strides, strict=True
        ):
            x = convolution(x).permute(0, 2, 3, 1)
            lengths = -(-lengths // stride)
            there = (torch.arange(x.shape[1], device=x.device) < lengths[:, None])[
                ..., None
            ].expand(x.shape[:3])
            x = norm(x, there).relu().permute(0, 3, 1, 2)
        outputs, _ = self.recurrent(x.permute(0, 2, 3, 1).flatten(2))
        last = (lengths - 1).clamp(min=0)[:, None, None].expand(-1, 1, outputs.shape[2])
        out: Tensor = outputs.gather(1, last)[:, 0] * (lengths > 0)[:, None]
        return out


class ContextEmbedding(nn.Module):
    """E(h_past, h_future) of Saeki-a, Eq. 4: one encoder for both sides, then attention to
    tokens."""

    def __init__(self, config: ContextEmbeddingConfig, channels: int) -> None:
        super().__init__()
        self.reference = ReferenceEncoder(config, channels)
        self.attention = TokenAttention(config, 2 * config.recurrent)

    def forward(
        self, past: Tensor, past_lengths: Tensor, future: Tensor, future_lengths: Tensor
    ) -> Tensor:
        """(B, E) of the encoder's states (B, P, D) of past and future."""
        sides = [self.reference(past, past_lengths), self.reference(future, future_lengths)]
        out: Tensor = self.attention(torch.cat(sides, -1))
        return out
