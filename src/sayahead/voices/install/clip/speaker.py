"""A speaker of a family made of an embedding: the nearest blend of its speakers, and what a network
adds to that.

The network was trained to make speakers sound like people (``sayahead train clip``). What it makes
is heard, and what is missing is asked for once more: a few rounds without any gradient bring a
speaker nearer than the network alone."""

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
"""File of a family's folder with all that makes a speaker of a clip."""
GRAPHS = ("text", "prosody", "decoder")
"""Graphs in which a speaker has numbers of their own, in the order in which these are joined."""
SCALE = ".scale"
OCTAVE = 0.2
"""Similarity that an octave of pitch costs, where the nearest blend is looked for."""

GAIN = 0.002
PATIENCE = 2
"""After so many rounds that bring less than so much similarity, the fit is done."""

Tables = Mapping[str, Floats]
"""(V,) by graph: the numbers of one speaker."""
Speak = Callable[[Tables], Floats]
"""Says a few sentences as a speaker; samples (S,) at 24 kHz."""
RATE = 24000


Blends = Sequence[int]
"""Blends of the bank, by number, of which a speaker is the mean."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A speaker that was made of an embedding."""

    tables: Tables
    """Its numbers."""
    similarity: float
    """Cosine of the embeddings of what it says and of the clip."""


class SpeakerMaker:
    """Everything that makes speakers of embeddings for one family."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], rows: Mapping[str, Floats]) -> None:
        """``arrays``: those of FILE; ``rows`` (S, V) by graph: the family's own speakers."""
        arrays = unpacked(arrays)
        weights = {
            name.removeprefix("embedder."): value
            for name, value in arrays.items()
            if name.startswith("emb")
        }
        self.embed = Embedder(weights)
        self._rows = rows
        self._shares, self._heard, self._pitch = (
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
        """(256,) the embedding that somebody's other sentences will have, as far as one of a clip
        says: what differs between one person's sentences is drawn to the mean of people."""
        return unit(self._mean + self._gain @ (clip - self._mean))

    def nearest(self, wanted: Floats, f0: float, count: int = 1) -> list[int]:
        """The blends that are most like an embedding, and not far from a pitch in Hz."""
        return [int(blend) for blend in np.argsort(-self._score(wanted, f0))[:count]]

    def nearest_single(self, wanted: Floats, f0: float) -> list[int]:
        """The most similar of the family's own speakers."""
        alone = self._shares.max(1) > 0.999
        return [int(np.where(alone, self._score(wanted, f0), -np.inf).argmax())]

    def _score(self, wanted: Floats, f0: float) -> Floats:
        """(N,) how near each blend is."""
        score: Floats = self._heard @ wanted - OCTAVE * np.abs(np.log2(f0 / self._pitch))
        return score

    def pitch(self, blends: Blends) -> float:
        """Hz, the median of the blends' own."""
        return float(np.exp(np.mean(np.log(self._pitch[list(blends)]))))

    def blended(self, blends: Blends) -> dict[str, Floats]:
        """The numbers of the mean of blends."""
        share = self._shares[list(blends)].mean(0)
        return {graph: share @ self._rows[graph] for graph in GRAPHS}

    def made(self, wanted: Floats, f0: float, blends: Blends) -> dict[str, Floats]:
        """The numbers of a speaker for an embedding (256,) and a pitch in Hz: the mean of what each
        blend gives."""
        net = self._network
        inputs = np.stack(
            [
                np.concatenate(
                    [wanted, 4 * (wanted - self._heard[one]), [np.log(f0 / self._pitch[one])]]
                )
                for one in blends
            ]
        ).astype(np.float32)
        inner = gelu(inputs @ net["inner.weight"].T + net["inner.bias"])
        moved = net["directions"] @ (inner @ net["outer.weight"].T + net["outer.bias"]).mean(0)
        joined = np.concatenate(list(self.blended(blends).values()))
        joined[self._columns] += moved
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
        """The most similar of the speakers that ``rounds`` rounds make of an embedding and a median
        pitch in Hz.

        ``near``: how much of the way from the blends to it is gone.
        """
        fitted = self._nearest_of(wanted, f0, blends, speak, rounds, step)
        if near == 1:
            return fitted
        start = self.blended(blends)
        tables = {
            graph: (1 - near) * start[graph] + near * fitted.tables[graph] for graph in GRAPHS
        }
        return Fitted(tables, float(self.embed(speak(tables), RATE) @ wanted))

    def _nearest_of(
        self, wanted: Floats, f0: float, blends: Blends, speak: Speak, rounds: int, step: float
    ) -> Fitted:
        """Ask, hear, and ask for what is missing, too."""
        asked = wanted
        best = Fitted({}, -1.0)
        vain = 0
        for _ in range(max(1, rounds)):
            tables = self.made(asked, f0, blends)
            heard = self.embed(speak(tables), RATE)
            similarity = float(heard @ wanted)
            vain = vain + 1 if similarity < best.similarity + GAIN else 0
            if similarity > best.similarity:
                best = Fitted(tables, similarity)
            if vain == PATIENCE:
                break
            asked = asked + np.float32(step) * (wanted - heard)
        return best


def packed(matrix: Floats) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """A matrix in 8 bits, with a scale for each row."""
    scale = np.maximum(np.abs(matrix).max(1, keepdims=True) / 127, 1e-6).astype(np.float16)
    return np.round(matrix / scale.astype(np.float32)).astype(np.int8), scale


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays by name, where those in 8 bits have a scale of the same name."""
    out = {name: value for name, value in arrays.items() if not name.endswith(SCALE)}
    for name, value in arrays.items():
        if name.endswith(SCALE):
            own = name.removesuffix(SCALE)
            out[own] = out[own].astype(np.float32) * value.astype(np.float32)
    return out


def gelu(x: Floats) -> Floats:
    """The Gaussian error linear unit, by the error function's approximation that is right to 2e-7
    (7.1.26 has 1e-7)."""
    z = np.abs(x) * np.sqrt(0.5)
    t = 1 / (1 + 0.3275911 * z)
    poly = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    erf = np.sign(x) * (1 - poly * np.exp(-z * z))
    return np.asarray(0.5 * x * (1 + erf), np.float32)


def load_maker(family: Path, rows: Mapping[str, Floats]) -> SpeakerMaker:
    """What makes speakers for the family in a folder; VoiceError where it has none, or it cannot be
    read."""
    path = family / FILE
    if not path.is_file():
        raise VoiceError(f"{family} has no {FILE}, so no speaker can be made of a clip for it.")
    try:
        with np.load(path, allow_pickle=False) as file:
            return SpeakerMaker({name: file[name] for name in file.files}, rows)
    except (OSError, ValueError, KeyError) as error:
        raise VoiceError(f"{path} cannot be read: {error}") from error
