"""Fits a speaker of a family of voices to a speaker embedding.

A speaker is a vector of numbers for each of the family's graphs. It starts as the nearest blend of
the family's own speakers; a network (trained by ``sayahead train clip``) adds an offset that brings
it closer to the wanted embedding. The result is synthesized and embedded, and the remaining
difference is added to what the network is asked for: a few such rounds, without gradients, come
nearer than the network alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.errors import VoiceError
from sayahead.types import Floats
from sayahead.voices.install.clip.embedding import Embedder, unit

FILE = "clip.npz"
"""File of a family's folder with the arrays of ``SpeakerMaker``."""
GRAPHS = ("text", "prosody", "decoder")
"""Graphs that take numbers of the speaker, in the order in which the network's vector joins
them."""
SCALE = ".scale"
"""Suffix of the array of scales that belongs to an array of 8-bit integers."""
OCTAVE = 0.2
"""Similarity that an octave of pitch costs when the nearest blends are chosen."""

MIN_GAIN = 0.002
PATIENCE = 2
"""The fit stops after ``PATIENCE`` rounds in a row that gain less than ``MIN_GAIN`` similarity."""

Tables = Mapping[str, Floats]
"""The numbers (V,) of one speaker, by graph."""
Speak = Callable[[Tables], Floats]
"""Synthesizes a few sentences as a speaker and returns samples (S,) at 24 kHz."""
RATE = 24000
Blends = Sequence[int]
"""Numbers of blends in the bank; a speaker starts at their mean."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A speaker that was fitted to an embedding."""

    tables: Tables
    """Its numbers."""
    similarity: float
    """Cosine of the embeddings of its synthesized sentences and of the clip."""


class SpeakerMaker:
    """Makes speakers of one family from speaker embeddings (256,).

    It holds the embedder, a bank of blends of the family's speakers with the embedding and pitch
    that each was measured to have, and the network."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], rows: Mapping[str, Floats]) -> None:
        """``arrays``: those of FILE, by name; ``rows``: the numbers (S, V) of the family's own
        speakers, by graph."""
        arrays = unpacked(arrays)
        weights = {
            name.removeprefix("embedder."): value
            for name, value in arrays.items()
            if name.startswith("emb")
        }
        self.embed = Embedder(weights)
        self._rows = rows
        # The bank: shares (N, S) of the speakers in each blend, its embedding (N, 256), pitch (N,).
        self._shares, self._embeddings, self._pitch_hz = (
            np.asarray(arrays[f"bank.{name}"], np.float32)
            for name in ("shares", "embeddings", "f0")
        )
        self._network = {
            name.removeprefix("network."): np.asarray(value, np.float32)
            for name, value in arrays.items()
            if name.startswith("network.") and value.dtype.kind == "f"
        }
        self._columns = np.asarray(arrays["network.columns"], np.int64)
        self._mean = np.asarray(arrays["person.mean"], np.float32)
        self._gain = np.asarray(arrays["person.gain"], np.float32)

    def person(self, clip: Floats) -> Floats:
        """Estimate the embedding (256,) of a person from that of one clip.

        Directions in which sentences of one person differ are shrunk towards the mean of all
        people (``gain`` is the linear regression for that)."""
        return unit(self._mean + self._gain @ (clip - self._mean))

    def nearest(self, wanted: Floats, f0: float, count: int = 1) -> list[int]:
        """The ``count`` blends with the best ``_score``."""
        return [int(blend) for blend in np.argsort(-self._score(wanted, f0))[:count]]

    def nearest_single(self, wanted: Floats, f0: float) -> list[int]:
        """The blend with the best ``_score`` among those of one speaker alone."""
        is_single = self._shares.max(1) > 0.999
        return [int(np.where(is_single, self._score(wanted, f0), -np.inf).argmax())]

    def _score(self, wanted: Floats, f0: float) -> Floats:
        """Score each blend (N,): cosine with the wanted embedding, less ``OCTAVE`` for each octave
        that its pitch is away from ``f0`` in Hz."""
        octaves_off = np.abs(np.log2(f0 / self._pitch_hz))
        score: Floats = self._embeddings @ wanted - OCTAVE * octaves_off
        return score

    def blended(self, blends: Blends) -> dict[str, Floats]:
        """The numbers of the mean of some blends, by graph."""
        share = self._shares[list(blends)].mean(0)
        return {graph: share @ self._rows[graph] for graph in GRAPHS}

    def made(self, wanted: Floats, f0: float, blends: Blends) -> dict[str, Floats]:
        """Make a speaker's numbers, by graph, for an embedding (256,) and a pitch in Hz.

        The network runs once for each blend; its mean offset is added to the mean blend, in the
        columns that it was trained to change."""
        net = self._network
        inputs = np.stack(
            [
                np.concatenate(
                    [
                        wanted,
                        4 * (wanted - self._embeddings[blend]),
                        [np.log(f0 / self._pitch_hz[blend])],
                    ]
                )
                for blend in blends
            ]
        ).astype(np.float32)
        inner = gelu(inputs @ net["inner.weight"].T + net["inner.bias"])
        offset = net["directions"] @ (inner @ net["outer.weight"].T + net["outer.bias"]).mean(0)
        joined = np.concatenate(list(self.blended(blends).values()))
        joined[self._columns] += offset
        ends = np.cumsum([self._rows[graph].shape[1] for graph in GRAPHS])[:-1]
        return dict(zip(GRAPHS, np.split(joined.astype(np.float32), ends), strict=True))

    def fit(
        self,
        wanted: Floats,
        f0: float,
        blends: Blends,
        speak: Speak,
        *,
        near: float,
        rounds: int,
        step: float,
    ) -> Fitted:
        """Fit a speaker to a wanted embedding (256,) and a median pitch in Hz.

        ``near`` interpolates from the mean of the blends (0) to the fitted speaker (1); ``rounds``
        and ``step`` are those of ``_best_round``."""
        fitted = self._best_round(wanted, f0, blends, speak, rounds, step)
        if near == 1:
            return fitted
        start = self.blended(blends)
        tables = {
            graph: (1 - near) * start[graph] + near * fitted.tables[graph] for graph in GRAPHS
        }
        return Fitted(tables, float(self.embed(speak(tables), RATE) @ wanted))

    def _best_round(
        self, wanted: Floats, f0: float, blends: Blends, speak: Speak, rounds: int, step: float
    ) -> Fitted:
        """Make, synthesize and embed a speaker for at most ``rounds`` rounds; return the most
        similar one.

        Each round aims at a target embedding: at first the wanted one, then moved by ``step`` times
        the difference between the wanted embedding and the one that was reached."""
        target = wanted
        best = Fitted({}, -1.0)
        stalled_rounds = 0
        for _ in range(max(1, rounds)):
            tables = self.made(target, f0, blends)
            reached = self.embed(speak(tables), RATE)
            similarity = float(reached @ wanted)
            stalled_rounds = stalled_rounds + 1 if similarity < best.similarity + MIN_GAIN else 0
            if similarity > best.similarity:
                best = Fitted(tables, similarity)
            if stalled_rounds == PATIENCE:
                break
            target = target + np.float32(step) * (wanted - reached)
        return best


def packed(matrix: Floats) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Quantize a matrix (N, K) to 8 bits; return it with a scale (N, 1) for each row."""
    scale = np.maximum(np.abs(matrix).max(1, keepdims=True) / 127, 1e-6).astype(np.float16)
    return np.round(matrix / scale.astype(np.float32)).astype(np.int8), scale


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Undo ``packed``: multiply each array ``NAME`` by its ``NAME.scale``, if it has one."""
    result = {name: value for name, value in arrays.items() if not name.endswith(SCALE)}
    for name, scale in arrays.items():
        if name.endswith(SCALE):
            scaled = name.removesuffix(SCALE)
            result[scaled] = result[scaled].astype(np.float32) * scale.astype(np.float32)
    return result


def gelu(x: Floats) -> Floats:
    """The Gaussian error linear unit (GELU); the error function is approximated to 2e-7 by formula
    7.1.26 of Abramowitz and Stegun."""
    z = np.abs(x) * np.sqrt(0.5)
    t = 1 / (1 + 0.3275911 * z)
    poly = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    erf = np.sign(x) * (1 - poly * np.exp(-z * z))
    return np.asarray(0.5 * x * (1 + erf), np.float32)


def load_maker(family: Path, rows: Mapping[str, Floats]) -> SpeakerMaker:
    """Load the maker of speakers from a family's folder. ``rows``: as for ``SpeakerMaker``.

    VoiceError if the folder has no FILE, or it cannot be read."""
    path = family / FILE
    if not path.is_file():
        raise VoiceError(f"{family} has no {FILE}, so no speaker can be made of a clip for it.")
    try:
        with np.load(path, allow_pickle=False) as file:
            return SpeakerMaker({name: file[name] for name in file.files}, rows)
    except (OSError, ValueError, KeyError) as error:
        raise VoiceError(f"{path} cannot be read: {error}") from error
