"""Word and character errors: the least-cost alignment of a transcript with its reference."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Errors:
    """A count of errors over a reference, the fewest that turn it into the hypothesis."""

    words: int
    """Words of the reference."""
    substitutions: int
    """Words heard as others."""
    deletions: int
    """Words not heard."""
    insertions: int
    """Words heard that are not there."""

    @property
    def total(self) -> int:
        """All errors."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float:
        """Word error rate ``(S + D + I) / N``; nan for an empty reference."""
        return self.total / self.words if self.words else math.nan


def word_errors(reference: str, hypothesis: str) -> Errors:
    """The errors of the least-cost alignment of words, which white space separates."""
    return errors_of(align(reference.split(), hypothesis.split()), len(reference.split()))


def by_quarter(reference: str, hypothesis: str, *, parts: int = 4) -> list[Errors]:
    """The errors in each quarter of a text's words, first to last: drift shows as a rate that
    grows.

    An error belongs to its reference word's quarter; an inserted word to that of the reference word
    that follows it, or of the last one. Both texts are normalised ones. Over several texts add the
    counts up, quarter by quarter."""
    words = reference.split()
    steps = align(words, hypothesis.split())
    # Reference word i of N is in part i * parts // N.
    part_of = [min(at, len(words) - 1) * parts // max(1, len(words)) for _, at in steps]
    sizes = [
        sum(at * parts // len(words) == part for at in range(len(words))) for part in range(parts)
    ]
    return [
        errors_of(
            [step for step, place in zip(steps, part_of, strict=True) if max(0, place) == part],
            sizes[part],
        )
        for part in range(parts)
    ]


def errors_of(steps: Sequence[tuple[str, int]], words: int) -> Errors:
    """Number of errors of each kind in the alignment."""
    kinds = [kind for kind, _ in steps]
    return Errors(words, kinds.count("substitute"), kinds.count("delete"), kinds.count("insert"))


def align(reference: Sequence[str], hypothesis: Sequence[str]) -> list[tuple[str, int]]:
    """The steps of a least-cost alignment (Levenshtein), in order: equal, substitute, delete or
    insert.

    Beside each the index of the reference's item, for an insertion that of the one it stands
    before. Where alignments cost the same, that is taken which pairs items, and otherwise deletes,
    as late as possible."""
    rows = list(costs(reference, hypothesis))
    i = len(reference)
    j = len(hypothesis)
    steps = []
    while i or j:
        here = rows[i][j]
        if i and j and here == rows[i - 1][j - 1] + (reference[i - 1] != hypothesis[j - 1]):
            i = i - 1
            j = j - 1
            steps.append(("equal" if reference[i] == hypothesis[j] else "substitute", i))
        elif i and here == rows[i - 1][j] + 1:
            i -= 1
            steps.append(("delete", i))
        else:
            j -= 1
            steps.append(("insert", i))
    return steps[::-1]


def distance(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    """The Levenshtein distance: the fewest items to substitute, delete and insert."""
    last = deque(costs(reference, hypothesis), maxlen=1)
    return int(last[0][-1])


def costs(reference: Sequence[str], hypothesis: Sequence[str]) -> Iterable[NDArray[np.int32]]:
    """The rows of the Levenshtein matrix: row i holds the distances of the first i items to all
    beginnings (H + 1,)."""
    numbers = {item: number for number, item in enumerate(dict.fromkeys(hypothesis))}
    items = np.array([numbers[item] for item in hypothesis], np.int32)
    columns = np.arange(len(hypothesis) + 1, dtype=np.int32)
    row = columns
    yield row
    for item in reference:
        paired = row[:-1] + (items != numbers.get(item, -1))
        best = np.minimum(row + 1, np.concatenate([row[:1] + 1, paired]))
        # An insertion costs one more than the place before it: a running minimum once the slope is
        # taken away.
        row = (np.minimum.accumulate(best - columns) + columns).astype(np.int32)
        yield row
