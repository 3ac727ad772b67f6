"""The order of a split's items in an epoch: random by a seed, grouped by length, shared over
processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from sayahead.types import Floats
from torch import Tensor

from sayahead_lab.training.corpus.store import CorpusInfo

Numbers = NDArray[np.int64]
Group = TypeVar("Group", Numbers, list[Any])
POOL = 20
"""Batches that are sorted by length together."""


class Share(NamedTuple):
    """A process's share of each batch."""

    size: int
    """Items of this process."""
    rank: int
    """Number of this process."""
    ranks: int
    """Number of processes."""


def shuffled(count: int, draw: np.random.Generator, share: Share) -> Iterator[tuple[int, Numbers]]:
    """Where each batch of all ranks begins in a drawn order of ``count`` items, and the items of
    this rank.

    A last, incomplete batch is left out.
    """
    order = draw.permutation(count)
    batch = share.size * share.ranks
    for first in range(0, count - batch + 1, batch):
        yield first, order[first + share.rank * share.size : first + (share.rank + 1) * share.size]


def by_length(
    lengths: Numbers,
    draw: np.random.Generator,
    share: Share,
    *,
    longest: int = 0,
    filled: bool = False,
) -> Iterator[tuple[int, Numbers]]:
    """Number and items of each batch of this rank: items of like length together, none over
    ``longest`` (0: no bound).

    Each item comes once, except those left over by equal shares; ``filled``: batches that are not
    full are left out."""
    order = draw.permutation(np.flatnonzero(lengths <= longest) if longest else len(lengths))
    size = share.size * share.ranks
    pools = [order[at : at + size * POOL] for at in range(0, len(order), size * POOL)]
    # Stable, so that equal lengths stay in the random order.
    pools = [pool[np.argsort(lengths[pool], kind="stable")] for pool in pools]
    groups = [pool[at : at + size] for pool in pools for at in range(0, len(pool), size)]
    yield from dealt([group for group in groups if not filled or len(group) == size], draw, share)


def dealt(
    groups: list[Group], draw: np.random.Generator, share: Share
) -> Iterator[tuple[int, Group]]:
    """Number and this rank's share of each group, in a drawn order; all ranks' shares are equal."""
    for number in draw.permutation(len(groups)):
        group = groups[number]
        yield (
            int(number),
            group[: len(group) // share.ranks * share.ranks][share.rank :: share.ranks],
        )


class DecoderSteps(NamedTuple):
    """Frames of B sentences by decoder step, r frames each: F = r * n_mels."""

    frames: Floats
    """(B, S, F) normalized; what follows an end goes on as it ends."""
    counts: Floats
    """(B, S * r) 1 for real frames."""
    learned: Floats
    """(B, S) 1 for steps with a real frame."""


def decoder_steps(mels: Sequence[NDArray[Any]], info: CorpusInfo, reduction: int) -> DecoderSteps:
    """The steps of log mels (T, n_mels)."""
    steps = [-(-len(mel) // reduction) for mel in mels]
    frames = np.zeros((len(mels), max(steps) * reduction, info.front_end.n_mels), np.float32)
    counts = np.zeros(frames.shape[:2], np.float32)
    learned = np.zeros((len(mels), max(steps)), np.float32)
    for row, mel in enumerate(mels):
        frames[row, : len(mel)] = (mel.astype(np.float32) - info.mel_mean) / info.mel_std
        frames[row, len(mel) :] = frames[row, len(mel) - 1]
        counts[row, : len(mel)] = 1
        learned[row, : steps[row]] = 1
    return DecoderSteps(frames.reshape(*learned.shape, -1), counts, learned)


def tensors(**arrays: Any) -> dict[str, Tensor]:
    """Arrays, or lists of numbers, as a batch's tensors."""
    return {name: torch.from_numpy(np.asarray(array)) for name, array in arrays.items()}


def padded(rows: Sequence[NDArray[Any]]) -> tuple[Numbers, Numbers]:
    """(B, P) rows of numbers filled up with zeros, at least one column, and their lengths (B,)."""
    lengths = np.array([len(row) for row in rows], np.int64)
    filled = np.zeros((len(rows), max(1, int(lengths.max(initial=1)))), np.int64)
    for row, values in zip(filled, rows, strict=True):
        row[: len(values)] = values
    return filled, lengths
