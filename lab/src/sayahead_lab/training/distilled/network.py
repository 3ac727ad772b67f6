"""The student of context: a small network that reads words (Saeki-b)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class StudentConfig:
    """Sizes of the distilled context prediction network (Saeki-b, 4.2: 100, 300, 500 with 200, 600,
    1000)."""

    vectors: int = 300
    """D of word vectors."""
    recurrent: int = 300
    """D of the recurrent layer, in each direction."""
    wide: int = 600
    """D between the two layers after it."""
    embedding: int = 256
    """E, the size of the teacher's embedding."""


class Student(nn.Module):
    """G(v) of Saeki-b, Eq. 7: word vectors of the observed text to the embedding that the teacher
    would make."""

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
        out: Tensor = self.outward(self.inward(ends).relu())
        return out
