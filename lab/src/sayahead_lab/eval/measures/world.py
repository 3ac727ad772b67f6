"""Distances to a reference as the field reports them: mel cepstra, pitch and voicing by WORLD
(package pyworld).

Both sounds are analysed every 5 ms (Morise et al. 2016: Harvest, CheapTrick). Frames are paired by
dynamic time warping over the mel cepstra without the energy, so that another pace is no error."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sayahead.errors import ConfigError

from sayahead_lab.eval.listening.metrics import SpokenSentence

PERIOD_MS = 5.0
CEPSTRA = 24
"""Mel cepstra beside the energy, as most papers have it at 22 and 24 kHz."""
DECIBEL = 10 / np.log(10) * np.sqrt(2)
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Analysed:
    """A sound's frames."""

    pitch: Values
    """(T,) Hz, 0 where there is no voice."""
    cepstra: Values
    """(T, CEPSTRA) without the energy."""


def mel_cepstral_distortion(utterance: SpokenSentence) -> float:
    """Mel cepstral distortion to the reference, dB, over frames paired in time."""
    one, other, path = paired(utterance)
    apart = one.cepstra[path[:, 0]] - other.cepstra[path[:, 1]]
    return float(DECIBEL * np.sqrt((apart**2).sum(axis=1)).mean())


def pitch_error(utterance: SpokenSentence) -> float:
    """Root mean square difference of pitch to the reference, cents, where both have voice."""
    one, other, path = paired(utterance)
    first = one.pitch[path[:, 0]]
    second = other.pitch[path[:, 1]]
    voiced = (first > 0) & (second > 0)
    if not voiced.any():
        raise ConfigError(f"No frame of {utterance.text[:60]!r} has voice in both sounds.")
    cents = 1200 * np.log2(first[voiced] / second[voiced])
    return float(np.sqrt((cents**2).mean()))


def voicing_error(utterance: SpokenSentence) -> float:
    """Frames with voice in one sound alone, %."""
    one, other, path = paired(utterance)
    return float(100 * ((one.pitch[path[:, 0]] > 0) != (other.pitch[path[:, 1]] > 0)).mean())


def paired(utterance: SpokenSentence) -> tuple[Analysed, Analysed, NDArray[np.int64]]:
    """Both sounds' frames, and the pairs (N, 2) of them."""
    sounds = utterance.samples, utterance.needed_reference()
    one, other = (
        analysed(np.asarray(samples, np.float64), utterance.sample_rate) for samples in sounds
    )
    return one, other, warped(one.cepstra, other.cepstra)


def analysed(samples: Values, rate: int) -> Analysed:
    """Pitch by Harvest and mel cepstra of CheapTrick's envelope."""
    world = pyworld()
    pitch, times = world.harvest(samples, rate, frame_period=PERIOD_MS)
    envelope = world.cheaptrick(samples, pitch, times, rate)
    coded = world.code_spectral_envelope(envelope, rate, CEPSTRA + 1)
    return Analysed(pitch, coded[:, 1:])


def pyworld() -> Any:
    """The package; ConfigError where it is not installed."""
    try:
        return importlib.import_module("pyworld")
    except ImportError as error:
        raise ConfigError(f"This metric needs WORLD: pip install pyworld ({error}).") from error


def warped(one: Values, other: Values) -> NDArray[np.int64]:
    """Pairs (N, 2) of frames of (T, D) and (U, D) on the cheapest path from begin to end, by
    Euclidean distance."""
    distances = np.sqrt(
        np.maximum(0, (one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T)
    )
    cost = np.full((len(one) + 1, len(other) + 1), np.inf)
    cost[0, 0] = 0
    for row in range(len(one)):
        above = np.minimum(cost[row, :-1], cost[row, 1:])
        left = np.inf
        for column, distance in enumerate(distances[row]):
            left = distance + min(above[column], left)
            cost[row + 1, column + 1] = left
    path = [(len(one) - 1, len(other) - 1)]
    row = len(one)
    column = len(other)
    while (row, column) != (1, 1):
        steps = ((row - 1, column - 1), (row - 1, column), (row, column - 1))
        row, column = min(steps, key=lambda step: cost[step])
        path.append((row - 1, column - 1))
    return np.array(path[::-1], np.int64)
