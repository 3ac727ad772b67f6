"""Durations of phonemes in whole units, at the speeds that their words ask for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats, Ids, Segment

MOST_OWED = 2.0
"""Units that a phoneme may be shorter because those before it could not be."""


def speeds_of(left: Floats, segment: Segment, count: int) -> Floats:
    """(count,) the speeds of phonemes of the past, of a segment's, and of what follows them."""
    speeds = np.ones(count, np.float32)
    speeds[: len(left)] = left
    if segment.speeds is not None and len(segment.speeds):
        speeds[len(left) :] = segment.speeds[-1]
        speeds[len(left) :][: len(segment.speeds)] = segment.speeds[: count - len(left)]
    elif not len(segment.ids) and len(left):
        speeds[len(left) :] = left[-1]
    return speeds


def whole_units(
    lasting: Floats, least: Ids, hurried: NDArray[np.bool_], owed: float
) -> tuple[Ids, NDArray[np.float64]]:
    """(N,) durations (N,) in whole units, ``least`` (N,) or more; (N + 1,) what is owed before each and in the end.

    Where a phoneme is ``hurried`` (N,), not at the voice's own speed, what rounding takes or adds is made up for by the
    next ones: by itself, a speed of 1.3 would take a third of three units and nothing of two. Others are rounded.
    """
    units, carried = np.maximum(np.rint(lasting).astype(np.int64), least), np.zeros(len(lasting) + 1)
    if not hurried.any():
        return units, carried
    carried[0] = owed
    for row in np.flatnonzero(hurried):
        due = float(lasting[row]) + carried[row]
        units[row] = max(round(due), least[row])
        carried[row + 1] = max(due - units[row], -MOST_OWED)
    return units, carried
