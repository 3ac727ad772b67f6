"""What the default voice's networks would have to say to speak an item of any speaker's corpus.

Their durations are whole units of two frames, at least one for every phoneme, also for marks that
an aligner gives no time; their sound is ahead of them by ``teacher.EARLY`` frames, pitch and energy
are not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sayahead.errors import ConfigError
from sayahead.types import Floats, Ids

from sayahead_lab.training.corpus.frontend import FLOOR
from sayahead_lab.training.corpus.store import Array, Item
from sayahead_lab.training.corpus.teacher import EARLY, HOP, UNIT
from sayahead_lab.training.heart.task import LEAD_UNITS

ENERGY = 1.76, 6.96
"""The imported voice's energy is this much times the level of its sound, plus so much: by least
squares over 16 of its sentences (correlation 0.99; ``tests/training/test_own_voice_task.py`` checks
two)."""
FULL_SCALE = np.float32(32767)
SILENT = np.zeros(1, np.float32)


@dataclass(frozen=True, slots=True)
class Spoken:
    """An item on the default voice's clock; U units, T = 2 U frames."""

    units: Ids
    """(P + 2,) durations of pads and phonemes; the first pad's is ``LEAD_UNITS``."""
    f0: Floats
    """(T,) Hz, 0 where there is no voice."""
    energy: Floats
    """(T,) as the imported voice has it."""
    audio: Floats
    """(300 T,) samples in [-1, 1], zeros where the item has ended."""


def spoken(item: Item) -> Spoken:
    """The item with its durations in units; ConfigError for one without sound."""
    if item.audio is None:
        raise ConfigError("The corpus has no sound: make it without --no-audio.")
    edges = np.cumsum(np.asarray(item.durations, np.int64))
    # Frames cut off the front, so that the first phoneme is nominally at the end of the first pad;
    # below 0: added.
    cut = int(edges[0]) + EARLY - LEAD_UNITS * UNIT
    ends = whole_edges(np.asarray((edges + EARLY - cut) / UNIT, np.float32))
    frames = int(ends[-1]) * UNIT
    floor = np.full((1, item.mel.shape[1]), np.log(FLOOR), np.float32)
    return Spoken(
        units=np.diff(ends, prepend=0),
        f0=moved(item.f0, cut, frames, SILENT),
        energy=energy_of(moved(item.mel, cut, frames, floor))
        if item.energy is None
        else told(item.energy, cut, frames),
        audio=moved(item.audio, cut * HOP, frames * HOP, SILENT) / FULL_SCALE,
    )


def told(energy: Array, cut: int, frames: int) -> Floats:
    """(T,) the energy that a teacher told; its last value goes on where the item has ended."""
    return np.asarray(moved(energy, cut, frames, np.asarray(energy[-1:], np.float32)), np.float32)


def whole_edges(edges: Floats) -> Ids:
    """Whole numbers near rising edges (P,), at least 1 apart, the first of them ``LEAD_UNITS``.

    Less their number, edges that are 1 apart need only not fall: of the highest so far and the
    lowest to come, neither of which falls, the mean is taken.
    """
    number = np.arange(len(edges))
    rest = edges - number
    level = (np.maximum.accumulate(rest) + np.minimum.accumulate(rest[::-1])[::-1]) / 2
    whole = np.maximum(np.rint(level).astype(np.int64), LEAD_UNITS) + number
    whole[0] = LEAD_UNITS
    return whole


def energy_of(mel: Floats) -> Floats:
    """(T,) the energy of log mel (T, n_mels): its level is the logarithm of the norm of the
    magnitudes."""
    slope, offset = ENERGY
    level = np.log(np.linalg.norm(np.exp(mel), axis=1))
    return np.asarray(slope * level + offset, np.float32)


def moved(rows: np.ndarray, cut: int, count: int, filler: Floats) -> Floats:
    """``count`` rows from number ``cut`` on, with the filler (1, ...) where there are none."""
    out = np.repeat(filler, count, axis=0)
    first = max(0, cut)
    end = min(len(rows), cut + count)
    if end > first:
        out[first - cut : end - cut] = rows[first:end]
    return out
