"""Distillation of context: the common part of the students' tasks (Saeki-b, 4.1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sayahead.contexts.word_vectors import WordVectors, tokens_of
from sayahead.errors import ConfigError
from sayahead.types import Floats
from torch import Tensor, nn

from sayahead_lab.training.distilled.network import Student, StudentConfig
from sayahead_lab.training.loop.task import M, Task


class HasStudent(nn.Module):
    """A model of which only the student is exported."""

    student: Student
    """What is exported."""


class DistilTask(Task[M]):
    """A task in which a student reads word vectors, and learns the embedding that a teacher makes
    of the future."""

    config: StudentConfig
    """The student's sizes."""
    vectors: WordVectors
    """What it reads of each word."""
    axes: Floats | None = None
    """(K, D) what gives the file's vectors all their dimensions; None where they have them."""
    most: int = 64
    """Tokens at the end of the open sentence that are read."""

    @abstractmethod
    def model(self) -> M:
        """The network with fresh weights; its ``student`` is the one that learns."""

    def check(self, weight: float, channels: int, embedding: int) -> None:
        """ConfigError where lambda is no share, or the student's sizes are not those of the
        files."""
        if not 0 <= weight <= 1:
            raise ConfigError(f"[data] distil_weight is {weight}, but must be from 0 to 1.")
        if (self.config.vectors, self.config.embedding) != (channels, embedding):
            raise ConfigError(
                f"[model] vectors and embedding are {self.config.vectors} and"
                f" {self.config.embedding}, but those of the word vectors and of the teacher are"
                f" {channels} and {embedding}."
            )

    def read(self, texts: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """Vectors (B, N, D) of the words so far, padded, and how many tokens each has (B,), at
        least 1."""
        rows = [self.vectors(tokens_of(list(words))[-self.most :]) for words in texts]
        rows = rows if self.axes is None else [row @ self.axes for row in rows]
        return stacked(rows, self.config.vectors)


def stacked(rows: Sequence[NDArray[np.floating[Any]]], width: int) -> tuple[Tensor, Tensor]:
    """Rows (N, D) of several texts as (B, N, D), padded, and how many each has (B,), at least 1."""
    padded = np.zeros((len(rows), max(1, *map(len, rows)), width), np.float32)
    for at, row in enumerate(rows):
        padded[at, : len(row)] = row
    return torch.from_numpy(padded), torch.tensor([max(1, len(row)) for row in rows])
