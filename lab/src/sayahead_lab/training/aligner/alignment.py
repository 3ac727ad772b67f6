"""Forced alignment: the likeliest path through a recording for the phonemes of its text."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sayahead.engine.onnx import OnnxGraph
from sayahead.errors import ConfigError
from sayahead.text.saying.english.phonemizer import PAUSES
from sayahead.types import Floats

from sayahead_lab.training.aligner.sounds import FRONT_END, GAP, bands

FOLDER = Path(__file__).parent
SHORTEST = 2
"""Least frames (25 ms) of a phoneme."""
LEAST = -2.2
"""Least mean log probability along the path: recordings below do not sound like their text."""
QUIET = 4.0
"""Nats (35 dB) below the loudest frame from which a frame is silent."""
CLOSED = 12
"""Frames (150 ms) for which no phoneme is silent."""
SURE = 8.0
"""Nats by which phonemes become less likely in longer silence."""
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PhonemeTimes:
    """The times of phonemes in a recording."""

    begin_s: Floats
    """(P,) start of each."""
    end_s: Floats
    """(P,) end of each, where the next one begins."""
    score: float
    """Mean logarithm of the probability of the phoneme in each of its frames."""


class RecordingAligner:
    """Aligns the sound of any speaker with phonemes of the front ends."""

    def __init__(self, graph: OnnxGraph, classes: Mapping[str, int]) -> None:
        self._graph = graph
        self._classes = dict(classes)

    def align(self, mel: Floats, symbols: Sequence[str]) -> PhonemeTimes:
        """Where phonemes lie in log mel (T, n_mels), spaces and marks among them, as a corpus's
        teacher times them.

        Pauses are where these stand; those at the ends last no time. ConfigError for a phoneme that
        the aligner does not know, and for a recording that is too short for its text."""
        unknown = [
            symbol for symbol in symbols if symbol not in PAUSES and symbol not in self._classes
        ]
        if unknown:
            raise ConfigError(f"the aligner does not know the phoneme {unknown[0]!r}")
        labels = np.array(
            [GAP if symbol in PAUSES else self._classes[symbol] for symbol in symbols], np.int64
        )
        sounding = np.flatnonzero(labels)
        if not len(sounding):
            raise ConfigError("there are no phonemes")
        first = int(sounding[0])
        end = int(sounding[-1]) + 1
        log = paused(self._graph(bands=bands(mel))["posteriors"], mel)
        if len(log) < SHORTEST * (end - first):
            raise ConfigError(f"{len(log)} frames are too few for {end - first} phonemes")
        edges, score = way(log, labels[first:end])
        edges = np.concatenate(
            [np.full(first, edges[0]), edges, np.full(len(labels) - end, edges[-1])]
        )
        times_s = (edges * (FRONT_END.hop / FRONT_END.sample_rate)).astype(np.float32)
        return PhonemeTimes(times_s[:-1], times_s[1:], score)


def paused(log: Floats, mel: Floats) -> Floats:
    """Log probabilities (T, C) that say a pause where log mel (T, n_mels) is silent for longer than
    a plosive closes.

    No teacher is silent for as long as a recording may be, so that the network has hardly met such
    frames."""
    level = np.log(np.exp(mel.astype(np.float64)).sum(1))
    silent = np.concatenate([[False], level < level.max() - QUIET, [False]])
    changes = np.flatnonzero(silent[1:] != silent[:-1])
    out: Floats = log.copy()
    for first, end in zip(changes[::2], changes[1::2], strict=True):
        if end - first >= CLOSED:
            inner = slice(first + CLOSED // 3, end - CLOSED // 3)
            out[inner] -= SURE
            out[inner, GAP] = 0
    return out


def way(log: Floats, labels: Numbers) -> tuple[Numbers, float]:
    """The edges (P + 1,) of phonemes on the likeliest path through log probabilities (T, C), and
    their mean there.

    Each has ``SHORTEST`` frames at least. Before the first and after the last there may be a pause.
    Pauses in a row share their time.
    """
    states = np.concatenate([[GAP], np.repeat(labels, SHORTEST), [GAP]])
    # Only a phoneme's last state and the pauses at the ends may repeat.
    stays = np.full(len(states), False)
    stays[SHORTEST::SHORTEST] = True
    stays[[0, -1]] = True
    emission = log[:, states]
    best = np.full(len(states), -np.inf)
    best[:2] = emission[0, :2]
    moved = np.zeros((len(log), len(states)), np.bool_)
    for frame in range(1, len(log)):
        stayed = np.where(stays, best, -np.inf)
        came = np.concatenate([[-np.inf], best[:-1]])
        moved[frame] = came > stayed
        best = np.maximum(stayed, came) + emission[frame]
    at = len(states) - (1 if best[-1] >= best[-2] else 2)
    path = np.empty(len(log), np.int64)
    for frame in range(len(log) - 1, -1, -1):
        path[frame] = at
        at -= int(moved[frame, at])
    edges = np.searchsorted(path, np.arange(1, len(states), SHORTEST))
    sounds = np.repeat(labels, np.diff(edges))
    likelihoods = log[edges[0] : edges[-1]][np.arange(len(sounds)), sounds]
    return shared(edges, labels), float(likelihoods[sounds != GAP].mean())


def shared(edges: Numbers, labels: Numbers) -> Numbers:
    """The edges (P + 1,) with those between pauses in a row evenly apart."""
    inner = np.flatnonzero((labels[1:] == GAP) & (labels[:-1] == GAP)) + 1
    fixed = np.setdiff1d(np.arange(len(edges)), inner)
    return np.rint(np.interp(np.arange(len(edges)), fixed, edges[fixed])).astype(np.int64)


@functools.cache
def load_aligner(folder: Path = FOLDER) -> RecordingAligner:
    """The aligner in a folder, by default the one that comes with the package; ConfigError where
    there is none."""
    try:
        about = json.loads((folder / "aligner.json").read_text(encoding="utf-8"))
        return RecordingAligner(OnnxGraph(folder / "aligner.onnx"), about["classes"])
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(
            f"{folder} holds no aligner ({error}): make one with sayahead train aligner."
        ) from error
