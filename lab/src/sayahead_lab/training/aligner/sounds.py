"""The aligner's inputs and classes: normalized mel bands, and a class for each symbol but pauses,
which share one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from sayahead.text.saying.english.phonemizer import PAUSES
from sayahead.types import Floats

from sayahead_lab.training.corpus.frontend import MelFrontEnd

Numbers = NDArray[np.int64]
FRONT_END = MelFrontEnd()
"""The front end of its frames: 24 kHz, hop 300."""
BANDS = 68
"""The lowest mel bands, up to 7.5 kHz: recordings at 16 kHz have them too."""
RANGE = 9.0
"""Nats below the loudest value of a recording at which everything counts as silence."""
GAP = 0
IGNORED = -100
"""The class of pads, spaces and marks of punctuation, and of frames from which nothing is
learned."""


def class_table(phonemes: Mapping[str, int]) -> dict[int, int]:
    """Phoneme id to class; all but pauses, marks of stress too, count from 1 in the order of the
    ids."""
    own = sorted(number for symbol, number in phonemes.items() if symbol not in PAUSES)
    return {number: at for at, number in enumerate(own, GAP + 1)}


def bands(mel: Floats) -> Floats:
    """(T, BANDS) of log mel (T, n_mels): bounded below, each band at mean 0 and deviation 1 over
    the recording."""
    x = np.maximum(mel[:, :BANDS].astype(np.float32), mel.max(initial=-20.0) - RANGE)
    out: Floats = ((x - x.mean(0)) / (x.std(0) + 0.1)).astype(np.float32)
    return out


def targets(ids: Numbers, durations: Numbers, classes: Mapping[int, int]) -> Numbers:
    """(T,) the class of each frame of an item's padded ids (P,) that last ``durations`` (P,)
    frames."""
    return np.repeat(
        np.array([classes.get(int(number), GAP) for number in ids], np.int64), durations
    )
