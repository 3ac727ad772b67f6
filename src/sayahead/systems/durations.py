"""Durations of phonemes in whole units, at the speeds that their words ask for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sayahead.engine.deliveries import PLAIN_TONE
from sayahead.types import Floats, Ids, Segment
from sayahead.vocoders.formants import MAX_HZ, MIDDLE_HZ, MIN_HZ, UNVOICED_HZ

MAX_OWED = 2.0
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


def tones_of(left: Floats, segment: Segment, count: int) -> Floats | None:
    """(count, 5) ``Segment.tones`` of phonemes of the past, of a segment's, and of what follows
    them; None where all are plain."""
    if segment.tones is None and (left == PLAIN_TONE).all():
        return None
    tones = np.tile(PLAIN_TONE, (count, 1))
    tones[: len(left)] = left
    if segment.tones is not None and len(segment.tones):
        tones[len(left) :] = segment.tones[-1]
        tones[len(left) :][: len(segment.tones)] = segment.tones[: count - len(left)]
    elif not len(segment.ids) and len(left):
        tones[len(left) :] = left[-1]
    return tones


def shares_of(units: Ids) -> Floats:
    """(T,) how much of its phoneme is over at each unit, of durations in units (N,)."""
    begins = np.repeat(np.cumsum(units) - units, units)
    shares = (np.arange(len(begins)) - begins + 0.5) / np.repeat(units, units)
    return np.asarray(shares, np.float32)


def toned_pitch(f0: Floats, tones: Floats, shares: Floats) -> Floats:
    """(T,) pitch in Hz of frames (T,) as their tones (T, 5) want it; ``shares`` (T,): how much of
    its phoneme is over at each."""
    octaves = np.log2(np.maximum(f0, 1.0) / MIDDLE_HZ)
    semitones = tones[:, 0] + tones[:, 4] * shares
    pitch = MIDDLE_HZ * 2 ** (octaves * tones[:, 1] + semitones / 12)
    pitch = np.where(f0 > UNVOICED_HZ, np.clip(pitch, MIN_HZ, MAX_HZ), f0)
    return np.where(tones[:, 3] > 0, 0.0, pitch).astype(np.float32)


def edges_of(units: Ids, begin: int) -> Ids:
    """(N + 1,) places at which phonemes of these durations (N,) begin, the first at ``begin``, and
    at which the last one ends."""
    return np.asarray(np.concatenate([[0], np.cumsum(units)]) + begin, np.int64)


def lengthened(before: Ids, after: Ids, edges: Ids) -> tuple[tuple[int, int], ...]:
    """``Frames.drawn``: where each phoneme ended whose duration was changed, and by how much.

    ``edges`` (N + 1,) are those of the durations ``before`` (N,)."""
    grown = after[: len(before)] - before
    return tuple((int(edges[n + 1]), int(grown[n])) for n in np.flatnonzero(grown))


def whole_units(
    lasting: Floats, least: Ids, hurried: NDArray[np.bool_], owed: float
) -> tuple[Ids, NDArray[np.float64]]:
    """(N,) durations (N,) in whole units, ``least`` (N,) or more; (N + 1,) what is owed before each
    and in the end.

    Where a phoneme is ``hurried`` (N,), not at the voice's own speed, what rounding takes or adds
    is made up for by the next ones: by itself, a speed of 1.3 would take a third of three units and
    nothing of two. Others are rounded."""
    units = np.maximum(np.rint(lasting).astype(np.int64), least)
    carried = np.zeros(len(lasting) + 1)
    if not hurried.any():
        return units, carried
    carried[0] = owed
    for row in np.flatnonzero(hurried):
        due = float(lasting[row]) + carried[row]
        units[row] = max(round(due), least[row])
        carried[row + 1] = max(due - units[row], -MAX_OWED)
    return units, carried
