"""What stands for the words around a segment: the contextual embedding network, and the student distilled from it.

Axes: B batch, P phonemes, N tokens, D channels, E embedding.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class ContextEmbeddingConfig:
    """Sizes; the defaults are those of global style tokens (Wang et al. 2018), Saeki-a's by way of Cong et al."""

    filters: tuple[int, ...] = (32, 32, 64, 64, 128, 128)
    """Channels of the 2-D convolutions, each with kernel 3."""
    strides: tuple[int, ...] = (2, 2, 2, 2, 2, 2)
    """Phonemes of each convolution's step; along the states' channels all have 2."""
    recurrent: int = 128
    """D of the recurrent layer, whose last state stands for past or future."""
    tokens: int = 10
    """Style tokens."""
    heads: int = 8
    """Heads of the attention to them."""
    embedding: int = 256
    """E: what comes out."""


@dataclass(frozen=True, slots=True)
class StudentConfig:
    """Sizes of the distilled context prediction network (Saeki-b, 4.2: 100, 300, 500 with 200, 600, 1000)."""

    vectors: int = 300
    """D of word vectors."""
    recurrent: int = 300
    """D of the recurrent layer, in each direction."""
    wide: int = 600
    """D between the two layers behind it."""
    embedding: int = 256
    """E: what comes out, the teacher's."""


class MaskedNorm(nn.Module):
    """Batch normalization of the rows that are there; zeros elsewhere."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x: Tensor, there: Tensor) -> Tensor:
        """(..., C) of (..., C); ``there`` (...) is true where there is a row."""
        if not self.training:
            made: Tensor = self.norm(x.flatten(0, -2)).view(x.shape) * there[..., None]
            return made
        rows = x[there]
        out = torch.zeros_like(x)
        # One row has no variance: there is nothing to learn from it.
        if len(rows) > 1:
            out[there] = self.norm(rows).to(x.dtype)
        return out


class ReferenceEncoder(nn.Module):
    """2-D convolutions over phonemes and channels of the encoder's states, then a recurrent layer's last state."""

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
        for convolution, norm, stride in zip(self.convolutions, self.norms, self.strides, strict=True):
            x = convolution(x).permute(0, 2, 3, 1)
            lengths = -(-lengths // stride)
            there = (torch.arange(x.shape[1], device=x.device) < lengths[:, None])[..., None].expand(x.shape[:3])
            x = norm(x, there).relu().permute(0, 3, 1, 2)
        outputs, _ = self.recurrent(x.permute(0, 2, 3, 1).flatten(2))
        last = (lengths - 1).clamp(min=0)[:, None, None].expand(-1, 1, outputs.shape[2])
        made: Tensor = outputs.gather(1, last)[:, 0] * (lengths > 0)[:, None]
        return made


class TokenAttention(nn.Module):
    """Attention with several heads from one query to learned tokens (Wang et al. 2018)."""

    def __init__(self, config: ContextEmbeddingConfig, query: int) -> None:
        super().__init__()
        self.heads, self.embedding = config.heads, config.embedding
        each = config.embedding // config.heads
        self.tokens = nn.Parameter(torch.randn(config.tokens, each) * 0.5)
        self.query = nn.Linear(query, config.embedding, bias=False)
        self.key = nn.Linear(each, config.embedding, bias=False)
        self.value = nn.Linear(each, config.embedding, bias=False)

    def forward(self, query: Tensor) -> Tensor:
        """(B, E) of queries (B, D)."""
        tokens, each = self.tokens.tanh(), self.embedding // self.heads
        asked = self.query(query).view(-1, self.heads, each)
        keys, values = (layer(tokens).view(-1, self.heads, each) for layer in (self.key, self.value))
        scores = torch.einsum("bhc,nhc->bhn", asked, keys) / math.sqrt(each)
        return torch.einsum("bhn,nhc->bhc", scores.softmax(-1), values).flatten(1)


class ContextEmbedding(nn.Module):
    """E(h_past, h_future) of Saeki-a, Eq. 4: one encoder for both sides, then attention to tokens."""

    def __init__(self, config: ContextEmbeddingConfig, channels: int) -> None:
        super().__init__()
        self.reference = ReferenceEncoder(config, channels)
        self.attention = TokenAttention(config, 2 * config.recurrent)

    def forward(self, past: Tensor, past_lengths: Tensor, future: Tensor, future_lengths: Tensor) -> Tensor:
        """(B, E) of the encoder's states (B, P, D) of past and future."""
        sides = [self.reference(past, past_lengths), self.reference(future, future_lengths)]
        made: Tensor = self.attention(torch.cat(sides, -1))
        return made


class Student(nn.Module):
    """G(v) of Saeki-b, Eq. 7: word vectors of the observed text to the embedding that the teacher would make."""

    def __init__(self, config: StudentConfig) -> None:
        super().__init__()
        self.config = config
        self.ahead = nn.LSTM(config.vectors, config.recurrent, batch_first=True)
        self.back = nn.LSTM(config.vectors, config.recurrent, batch_first=True)
        self.inward = nn.Linear(2 * config.recurrent, config.wide)
        self.outward = nn.Linear(config.wide, config.embedding)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """(B, E) of word vectors (B, N, D), of which ``lengths`` (B,), at least one, count."""
        places = torch.arange(vectors.shape[1], device=vectors.device)
        turned = (lengths[:, None] - 1 - places).clamp(min=0)[..., None].expand_as(vectors)
        last = (lengths - 1)[:, None, None].expand(-1, 1, self.config.recurrent)
        ahead, _ = self.ahead(vectors)
        back, _ = self.back(vectors.gather(1, turned))
        ends = torch.cat([ahead.gather(1, last)[:, 0], back.gather(1, last)[:, 0]], -1)
        made: Tensor = self.outward(self.inward(ends).relu())
        return made
