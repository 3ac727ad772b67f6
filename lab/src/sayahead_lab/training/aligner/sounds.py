"""The aligner's inputs and classes: normalized mel bands, and a class for each symbol that sounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from sayahead.text.english.phonemizer import PAUSES
from sayahead.types import Floats

from sayahead_lab.training.corpus.frontend import MelFrontEnd

Numbers = NDArray[np.int64]
FRONT_END = MelFrontEnd()
"""The front end of its frames: 24 kHz, hop 300."""
BANDS = 68
"""The lowest mel bands, up to 7.5 kHz: recordings at 16 kHz have them too."""
RANGE = 9.0
"""Nats below the loudest value of a recording at which everything counts as silence."""
QUIET = 4.0
"""Nats (35 dB) below the loudest frame from which a pause is silent."""
UNSOUNDED = "ˈˌː̃ʰʲ↓→↗↘"
"""Stress and tone marks: they last no time of their own."""
GAP, IGNORED = 0, -100
"""The class of pauses, and of frames from which nothing is learned."""


def class_table(phonemes: Mapping[str, int]) -> dict[int, int]:
    """Phoneme id to class, for the symbols that sound; the classes count from 1 in the order of the ids."""
    sounding = sorted(number for symbol, number in phonemes.items() if symbol not in PAUSES and symbol not in UNSOUNDED)
    return {number: at for at, number in enumerate(sounding, GAP + 1)}


def bands(mel: Floats) -> Floats:
    """(T, BANDS) of log mel (T, n_mels): bounded below, each band at mean 0 and deviation 1 over the recording."""
    x = np.maximum(mel[:, :BANDS].astype(np.float32), mel.max(initial=-20.0) - RANGE)
    out: Floats = ((x - x.mean(0)) / (x.std(0) + 0.1)).astype(np.float32)
    return out


def targets(
    ids: Numbers, durations: Numbers, mel: Floats, classes: Mapping[int, int], unsounded: frozenset[int]
) -> Numbers:
    """(T,) the class of each frame of an item's padded ids (P,) that last ``durations`` (P,) frames.

    A mark's frames are those of the phoneme it stands before. What a pause covers that is not silent is ignored: a
    teacher's space has a length even where words run together.
    """
    labels, following = np.full(len(ids), GAP, np.int64), GAP
    for at in range(len(ids) - 1, -1, -1):
        number = int(ids[at])
        if number not in unsounded:
            following = classes.get(number, GAP)
        labels[at] = following
    frames = np.repeat(labels, durations)
    level = np.log(np.exp(mel.astype(np.float64)).sum(1))
    loud = level > level.max(initial=-20.0) - QUIET
    frames[(frames == GAP) & loud] = IGNORED
    return frames
