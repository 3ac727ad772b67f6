"""A metric of one's own: how far the loudness of a sentence wanders from that of another sound of
it, in decibels.

    sayahead eval score out --metric lab/examples/custom_metric.py:loudness_error --reference full

``full`` is a condition of the experiment; a folder of recordings named like the sentences does as
well. A package brings such a function by an entry point, and it is called by that name then:

    [project.entry-points."sayahead_lab.metrics"]
    loudness_error = "my_package:loudness_error"
"""

from __future__ import annotations

import numpy as np

from sayahead_lab.eval.listening.metrics import SpokenSentence

FRAME_S = 0.05
PARTS = 20


def loudness_error(utterance: SpokenSentence) -> float:
    """Mean absolute difference of the level in each twentieth of both sounds, dB."""
    one, other = (
        levels(sound, utterance.sample_rate)
        for sound in (utterance.samples, utterance.needed_reference())
    )
    return float(np.abs(one - other).mean())


def levels(samples: np.ndarray, rate: int) -> np.ndarray:
    """(PARTS,) level of each part of a sound, dB, of frames of 50 ms."""
    frame = int(FRAME_S * rate)
    padded = np.pad(samples.astype(np.float64), (0, max(0, PARTS * frame - len(samples))))
    power = np.array([(part**2).mean() for part in np.array_split(padded, PARTS)])
    decibels: np.ndarray = 10 * np.log10(np.maximum(power, 1e-8))
    return decibels
