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
from sayahead.types import Floats

from sayahead_lab.training.aligner.sounds import FRONT_END, GAP, bands

FOLDER = Path(__file__).parent
SHORTEST = 2
"""Least frames (25 ms) of a phoneme."""
LEAST = -2.8
"""Least mean log probability along the path: recordings below do not sound like their text."""
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PhonemeTimes:
    """The times of phonemes in a recording."""

    begin_s: Floats
    """(P,) start of each."""
    end_s: Floats
    """(P,) end of each: before the pause, if one follows."""
    score: float
    """Mean logarithm of the probability of the phoneme in each of its frames."""


class RecordingAligner:
    """Aligns the sound of any speaker with phonemes of the English front end."""

    def __init__(self, graph: OnnxGraph, classes: Mapping[str, int]) -> None:
        self._graph, self._classes = graph, dict(classes)

    def align(self, mel: Floats, words: Sequence[Sequence[str]]) -> PhonemeTimes:
        """Where the sounding phonemes of words lie in log mel (T, n_mels); pauses may be between words alone.

        ConfigError for a phoneme that the aligner does not know, and for a recording that is too short for its text.
        """
        labels, opens = list[int](), list[bool]()
        for word in words:
            for number, symbol in enumerate(word):
                if symbol not in self._classes:
                    raise ConfigError(f"the aligner does not know the phoneme {symbol!r}")
                labels.append(self._classes[symbol])
                opens.append(number == 0)
        log = self._graph(bands=bands(mel))["posteriors"]
        if len(log) < SHORTEST * len(labels) or not labels:
            raise ConfigError(f"{len(log)} frames are too few for {len(labels)} phonemes")
        first, end = way(log, np.array(labels), np.array(opens))
        likelihoods = np.concatenate([log[a:b, label] for a, b, label in zip(first, end, labels, strict=True)])
        frame_s = FRONT_END.hop / FRONT_END.sample_rate
        return PhonemeTimes(first * np.float32(frame_s), end * np.float32(frame_s), float(likelihoods.mean()))


def way(log: Floats, labels: Numbers, opens: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """First and end frames (P,) of phonemes on the likeliest path through log probabilities (T, C).

    States are the phonemes, each of ``SHORTEST`` frames at least, and a pause before each that ``opens`` a word and
    at the end, which may be left out.
    """
    states, skipped = list[int](), list[bool]()
    owner = list[int]()
    for number, (label, open_word) in enumerate(zip(labels.tolist(), opens.tolist(), strict=True)):
        if open_word:
            states, skipped, owner = [*states, GAP], [*skipped, True], [*owner, -1]
        states += [label] * SHORTEST
        skipped += [False] * SHORTEST
        owner += [number] * SHORTEST
    states, skipped, owner = [*states, GAP], [*skipped, True], [*owner, -1]
    optional, owners = np.array(skipped), np.array(owner)
    # Only a phoneme's last state and pauses may repeat.
    stays = np.append(owners[1:] != owners[:-1], True)
    emission = log[:, np.array(states)]
    best = np.full(len(states), -np.inf)
    best[0], best[1] = emission[0, 0], emission[0, 1]
    came = np.zeros((len(log), len(states)), np.int8)
    jumps = np.append([False, False], optional[1:-1])
    for frame in range(1, len(log)):
        options = np.full((3, len(states)), -np.inf)
        options[0, stays] = best[stays]
        options[1, 1:] = best[:-1]
        options[2, 2:][jumps[2:]] = best[:-2][jumps[2:]]
        came[frame] = options.argmax(0)
        best = options.max(0) + emission[frame]
    at = len(states) - 1 if best[-1] >= best[-2] else len(states) - 2
    path = np.empty(len(log), np.int64)
    for frame in range(len(log) - 1, -1, -1):
        path[frame] = at
        at -= int(came[frame, at])
    visited = owners[path]
    frames = [np.flatnonzero(visited == number) for number in range(len(labels))]
    return np.array([one[0] for one in frames]), np.array([one[-1] + 1 for one in frames])


@functools.cache
def load_aligner(folder: Path = FOLDER) -> RecordingAligner:
    """The aligner in a folder, by default the one that comes with the package; ConfigError where there is none."""
    try:
        about = json.loads((folder / "aligner.json").read_text(encoding="utf-8"))
        return RecordingAligner(OnnxGraph(folder / "aligner.onnx"), about["classes"])
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(f"{folder} holds no aligner ({error}): make one with sayahead train aligner.") from error
