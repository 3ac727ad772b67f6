"""Layers that several architectures share; axes (B, T, D), convolutions as one matrix product over
their window."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.parametrizations import weight_norm

from sayahead_lab.training.corpus.store import CorpusInfo

HALF = math.sqrt(0.5)
"""Keeps the variance of a sum of two."""


class Scaled(nn.Module):
    """A network of log mel with the mean and the deviation of each band in its corpus."""

    mean: Tensor
    """(n_mels,) of the log mel."""
    std: Tensor
    """(n_mels,) its standard deviation."""

    def __init__(self, n_mels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n_mels))
        self.register_buffer("std", torch.ones(n_mels))

    def scaled(self, info: CorpusInfo) -> Self:
        """Itself, with a corpus's mean and deviation."""
        self.mean.copy_(torch.as_tensor(info.mel_mean))
        self.std.copy_(torch.as_tensor(info.mel_std))
        return self

    def normalized(self, mel: Tensor) -> Tensor:
        """Log mel (B, T, n_mels) at mean 0 and deviation 1."""
        return (mel - self.mean) / self.std


class Dense(nn.Linear):
    """A linear layer initialized for inputs of unit variance that lose ``dropout`` of their
    values."""

    def __init__(
        self, inputs: int, outputs: int, *, gain: float = 1.0, dropout: float = 0.0
    ) -> None:
        super().__init__(inputs, outputs)
        nn.init.normal_(self.weight, std=math.sqrt(gain * (1 - dropout) / inputs))
        nn.init.zeros_(self.bias)


class Conv(nn.Module):
    """Convolution (B, T, D) to (B, T, E) with zeros at both ends; it sees ``left`` rows back and
    the rest ahead."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        *,
        left: int,
        gain: float,
        dropout: float,
        normed: bool,
    ) -> None:
        super().__init__()
        self.kernel = kernel
        self.left = left
        dense = Dense(kernel * inputs, outputs, gain=gain, dropout=dropout)
        self.dense: nn.Module = weight_norm(dense) if normed else dense

    def forward(self, x: Tensor) -> Tensor:
        rows = x.shape[1]
        padded = functional.pad(x, (0, 0, self.left, self.kernel - 1 - self.left))
        out: Tensor = self.dense(
            torch.cat([padded[:, at : at + rows] for at in range(self.kernel)], -1)
        )
        return out

    def window(self, x: Tensor) -> Tensor:
        """The one row (B, E) that sees exactly the rows (B, kernel, D)."""
        out: Tensor = self.dense(x.flatten(-2))
        return out


class GatedBlock(nn.Module):
    """Deep Voice 3's convolution block: dropout, convolution, gated linear unit, residual, times
    sqrt(0.5)."""

    def __init__(
        self, channels: int, kernel: int, *, causal: bool, dropout: float, normed: bool
    ) -> None:
        super().__init__()
        self.dropout = dropout
        left = kernel - 1 if causal else kernel // 2
        # The gate loses half or more of the variance: a factor of 3 keeps it constant.
        self.conv = Conv(
            channels, 2 * channels, kernel, left=left, gain=3.0, dropout=dropout, normed=normed
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        mixed = functional.glu(self.conv(functional.dropout(x, self.dropout, self.training)), -1)
        return (x + mixed) * HALF

    def step(self, x: Tensor, cache: Tensor) -> tuple[Tensor, Tensor]:
        """The next row (B, D) of a causal block and its next cache, after the ``kernel - 1`` rows
        in the cache."""
        window = torch.cat([cache, x[:, None]], 1)
        return (x + functional.glu(self.conv.window(window), -1)) * HALF, window[:, 1:]


def position_code(positions: Tensor, channels: int) -> Tensor:
    """(..., D) sines and cosines of positions (...), in wave lengths from 2 pi to 20,000 pi.

    Deep Voice 3's positional encoding; the position rate is in the positions.
    """
    exponents = (
        torch.arange(0, channels, 2, device=positions.device, dtype=torch.float32) / channels
    )
    angles = positions.float()[..., None] * torch.pow(10_000.0, -exponents)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)[..., :channels]


class PositionedAttention(nn.Module):
    """Deep Voice 3's attention block: dot products of projected queries and keys, positions added
    to both.

    The projections of queries and keys begin equal, so that attention begins where the positions
    agree."""

    def __init__(self, channels: int, hidden: int, *, dropout: float) -> None:
        super().__init__()
        self.hidden = hidden
        self.dropout = dropout
        self.query = Dense(channels, hidden)
        self.key = Dense(channels, hidden)
        self.key.load_state_dict(self.query.state_dict())
        self.value = Dense(channels, hidden)
        self.out = Dense(hidden, channels)

    def forward(
        self, x: Tensor, keys: Tensor, values: Tensor, codes: tuple[Tensor, Tensor], hidden: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Rows (B, S, D) with what they attend to, and the logarithms of the weights (B, S, P).

        ``codes`` are those of queries (B, S, D) and keys (B, P, D); ``hidden`` (B, S, P) is true
        where a row must not look.
        """
        query = self.query(x + codes[0])
        key = self.key(keys + codes[1])
        scores = (query @ key.transpose(1, 2)).float() / math.sqrt(self.hidden)
        weights = torch.log_softmax(scores.masked_fill(hidden, -1e9), -1)
        dropped = functional.dropout(weights.exp(), self.dropout, self.training)
        return (x + self.out(dropped.to(key.dtype) @ self.value(values))) * HALF, weights


BINS = 601
"""Bins of each of the five spectral parts."""


class Block(nn.Module):
    """Depthwise convolution, norm, two linear layers, scale; (B, T, D) to (B, T, D), zeros beyond
    both ends."""

    def __init__(
        self, channels: int, hidden: int, kernel: int, right: int, dilation: int = 1
    ) -> None:
        super().__init__()
        self.left = dilation * (kernel - 1) - right
        self.right = right
        self.dw = nn.Conv1d(channels, channels, kernel, groups=channels, dilation=dilation)
        self.norm = nn.LayerNorm(channels)
        self.pw1 = nn.Linear(channels, hidden)
        self.pw2 = nn.Linear(hidden, channels)
        self.gamma = nn.Parameter(torch.full((channels,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        return self.mixed(
            x, self.dw(functional.pad(x.transpose(1, 2), (self.left, self.right))).transpose(1, 2)
        )

    def beside(self, x: Tensor, neighbours: Tensor) -> Tensor:
        """The same where the rows (B, T, K) that each row sees are named; T stands for a row of
        zeros."""
        mixed = torch.einsum("btkd,dk->btd", beside(x, neighbours), self.dw.weight[:, 0])
        return self.mixed(x, mixed if self.dw.bias is None else mixed + self.dw.bias)

    def mixed(self, x: Tensor, mixed: Tensor) -> Tensor:
        """The layers after the convolution."""
        out: Tensor = x + self.gamma * self.pw2(functional.gelu(self.pw1(self.norm(mixed))))
        return out


def beside(x: Tensor, rows: Tensor) -> Tensor:
    """(B, N, K, D) the rows (B, N, K) of x (B, T, D); T stands for a row of zeros."""
    padded = functional.pad(x, (0, 0, 0, 1))
    index = rows.flatten(1)[..., None].expand(-1, -1, x.shape[-1])
    return padded.gather(1, index).view(*rows.shape, x.shape[-1])


class MaskedNorm(nn.Module):
    """Batch normalization of the real rows; zeros elsewhere."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x: Tensor, there: Tensor) -> Tensor:
        """(..., C) of (..., C); ``there`` (...) is true where there is a row."""
        if not self.training:
            out: Tensor = self.norm(x.flatten(0, -2)).view(x.shape) * there[..., None]
            return out
        rows = x[there]
        out = torch.zeros_like(x)
        # A single row has no variance to learn from.
        if len(rows) > 1:
            out[there] = self.norm(rows).to(x.dtype)
        return out


@dataclass(frozen=True, slots=True)
class ContextEmbeddingConfig:
    """Sizes; the defaults are those of global style tokens (Wang et al. 2018), Saeki-a's by way of
    Cong et al."""

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
    """E, the size of the output."""


class TokenAttention(nn.Module):
    """Attention with several heads from one query to learned tokens (Wang et al. 2018)."""

    def __init__(self, config: ContextEmbeddingConfig, query: int) -> None:
        super().__init__()
        self.heads = config.heads
        self.embedding = config.embedding
        each = config.embedding // config.heads
        self.tokens = nn.Parameter(torch.randn(config.tokens, each) * 0.5)
        self.query = nn.Linear(query, config.embedding, bias=False)
        self.key = nn.Linear(each, config.embedding, bias=False)
        self.value = nn.Linear(each, config.embedding, bias=False)

    def forward(self, query: Tensor) -> Tensor:
        """(B, E) of queries (B, D)."""
        tokens = self.tokens.tanh()
        each = self.embedding // self.heads
        queries = self.query(query).view(-1, self.heads, each)
        keys, values = (
            layer(tokens).view(-1, self.heads, each) for layer in (self.key, self.value)
        )
        scores = torch.einsum("bhc,nhc->bhn", queries, keys) / math.sqrt(each)
        return torch.einsum("bhn,nhc->bhc", scores.softmax(-1), values).flatten(1)
