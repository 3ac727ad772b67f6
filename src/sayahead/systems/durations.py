"""Durations of phonemes in whole units, at the speeds that their words call for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sayahead.engine.deliveries import PLAIN_TONE
from sayahead.types import Floats, Ids, Segment
from sayahead.vocoders.formants import MAX_HZ, MIDDLE_HZ, MIN_HZ, UNVOICED_HZ

MAX_OWED = 2.0
"""Most units that a phoneme may be shorter to make up for those before it."""


def speeds_of(left: Floats, segment: Segment, count: int) -> Floats:
    """Return the speeds (count,) of past phonemes, of a segment's, and of those after them."""
    return filled(np.ones(count, np.float32), left, segment, segment.speeds)


def tones_of(left: Floats | None, segment: Segment, count: int, past: int) -> Floats | None:
    """Return ``Segment.tones`` (count, 5) of ``past`` phonemes (``left``), of a segment's, and of
    those after them; None if all are plain."""
    if segment.tones is None and (left is None or (left == PLAIN_TONE).all()):
        return None
    plain = np.tile(PLAIN_TONE, (count, 1))
    left = plain[:past] if left is None else left
    return filled(plain, left, segment, segment.tones)


def filled(rows: Floats, left: Floats, segment: Segment, values: Floats | None) -> Floats:
    """Write the values of past phonemes (``left``) and of a segment's into ``rows``; return these.

    The last value holds for the phonemes after the segment, too.
    """
    rows[: len(left)] = left
    following = rows[len(left) :]
    if values is not None and len(values):
        following[:] = values[-1]
        following[: len(values)] = values[: len(following)]
    elif not len(segment.ids) and len(left):
        following[:] = left[-1]
    return rows


def shares_of(units: Ids) -> Floats:
    """Return for each unit (T,) how much of its phoneme is over in its middle; ``units`` (N,):
    durations."""
    begins = np.repeat(np.cumsum(units) - units, units)
    shares = (np.arange(len(begins)) - begins + 0.5) / np.repeat(units, units)
    return np.asarray(shares, np.float32)


def toned_pitch(f0: Floats, tones: Floats, shares: Floats) -> Floats:
    """Return the pitch (T,) in Hz with tones (T, 5) applied.

    ``f0`` (T,): the pitch before; ``shares`` (T,): how much of its phoneme is over at each frame.
    """
    octaves = np.log2(np.maximum(f0, 1.0) / MIDDLE_HZ)
    semitones = tones[:, 0] + tones[:, 4] * shares
    pitch = MIDDLE_HZ * 2 ** (octaves * tones[:, 1] + semitones / 12)
    pitch = np.where(f0 > UNVOICED_HZ, np.clip(pitch, MIN_HZ, MAX_HZ), f0)
    return np.where(tones[:, 3] > 0, 0.0, pitch).astype(np.float32)


def edges_of(units: Ids, begin: int) -> Ids:
    """Return the positions (N + 1,) where phonemes of durations ``units`` (N,) begin, the first at
    ``begin``, and where the last one ends."""
    return np.asarray(np.concatenate([[0], np.cumsum(units)]) + begin, np.int64)


def changed_durations(
    before: Ids, after: Ids, edges: Callable[[], Ids]
) -> tuple[tuple[int, int], ...]:
    """Compare the durations of phonemes that are not yet heard before and after a step.

    A step sees more of the text, and may lengthen or shorten what was predicted. Returns a pair for
    each phoneme that changed: the frame at which it ended before, and by how many frames it grew,
    less than 0 if it shrank. The synthesizer moves the times of later words so (``Frames.drawn``).

    ``before`` (N,) and ``after`` (N or more,): durations in frames; ``edges``: returns the frames
    (N + 1,) between the phonemes of ``before``; it is called only if a duration changed.
    """
    grown = after[: len(before)] - before
    changed = np.flatnonzero(grown)
    if not len(changed):
        return ()
    ends = edges()[1:]
    return tuple((int(ends[n]), int(grown[n])) for n in changed)


def beyond_window(units: Ids, held: int, window: int) -> int:
    """Return how many phonemes of durations ``units`` (N,), oldest first, to forget.

    ``window`` of them are kept, and all that sound in the last ``held`` units.
    """
    final = int(np.searchsorted(np.cumsum(units), int(units.sum()) - held - 1, side="right"))
    return max(0, min(len(units) - window, final))


def whole_units(
    lasting: Floats, least: Ids, hurried: NDArray[np.bool_], owed: float
) -> tuple[Ids, NDArray[np.float64]]:
    """Round durations (N,) to whole units, ``least`` (N,) or more; also return the rounding errors
    (N + 1,) before each phoneme and at the end.

    Phonemes that are ``hurried`` (N,), at another speed than the voice's own, make up for the
    errors of those before them; otherwise a speed of 1.3 would shorten three units by a third, and
    two not at all.
    """
    units = np.maximum(np.rint(lasting).astype(np.int64), least)
    errors = np.zeros(len(lasting) + 1)
    if not hurried.any():
        return units, errors
    errors[0] = owed
    for row in np.flatnonzero(hurried):
        exact = float(lasting[row]) + errors[row]
        units[row] = max(round(exact), least[row])
        errors[row + 1] = max(exact - units[row], -MAX_OWED)
    return units, errors
