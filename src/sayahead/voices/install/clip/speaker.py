"""A speaker of a family made of an embedding: the nearest blend of its speakers, and what a network adds to that.

The network was trained to make speakers sound like people (``sayahead train clip``). What it makes is heard, and what
is missing is asked for once more: a few rounds without any gradient bring a speaker nearer than the network alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.errors import VoiceError
from sayahead.types import Floats
from sayahead.voices.install.clip.embedding import Embedder

FILE = "clip.npz"
"""File of a family's folder with all that makes a speaker of a clip."""
GRAPHS = ("text", "prosody", "decoder")
"""Graphs in which a speaker has numbers of their own, in the order in which these are joined."""
OCTAVE = 0.2
"""Similarity that an octave of pitch costs, where the nearest blend is looked for."""

Tables = Mapping[str, Floats]
"""(V,) by graph: the numbers of one speaker."""
Speak = Callable[[Tables], Floats]
"""Says a few sentences as a speaker; samples (S,) at 24 kHz."""
RATE = 24000


@dataclass(frozen=True, slots=True)
class Fitted:
    """A speaker that was made of an embedding."""

    tables: Tables
    """Its numbers."""
    blend: int
    """The blend of the bank that it was made from."""
    similarity: float
    """Cosine of the embeddings of what it says and of the clip."""


class SpeakerMaker:
    """Everything that makes speakers of embeddings for one family."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], rows: Mapping[str, Floats]) -> None:
        """``arrays``: those of FILE; ``rows`` (S, V) by graph: the family's own speakers."""
        weights = {name.removeprefix("embedder."): value for name, value in arrays.items() if name.startswith("emb")}
        self.embed = Embedder(weights)
        self._rows = rows
        self._shares, self._heard, self._pitch = (
            np.asarray(arrays[f"bank.{name}"], np.float32) for name in ("shares", "embeddings", "f0")
        )
        self._network = {
            name.removeprefix("network."): np.asarray(value, np.float32)
            for name, value in arrays.items()
            if name.startswith("network.") and value.dtype.kind == "f"
        }
        self._columns = np.asarray(arrays["network.columns"], np.int64)

    def nearest(self, wanted: Floats, f0: float) -> int:
        """The blend that is most like an embedding, and not far from a pitch in Hz (0: any)."""
        score = self._heard @ wanted
        if f0 > 0:
            score = score - OCTAVE * np.abs(np.log2(f0 / self._pitch))
        return int(score.argmax())

    def nearest_single(self, wanted: Floats, f0: float) -> int:
        """The same among the family's own speakers."""
        alone = self._shares.max(1) > 0.999
        score = self._heard @ wanted - OCTAVE * np.abs(np.log2(f0 / self._pitch))
        return int(np.where(alone, score, -np.inf).argmax())

    def pitch(self, blend: int) -> float:
        """Hz, the median of a blend's own."""
        return float(self._pitch[blend])

    def made(self, wanted: Floats, f0: float, blend: int, near: float = 1.0) -> dict[str, Floats]:
        """The numbers of a speaker for an embedding (256,) and a pitch, made from a blend.

        ``near``: how much of what the network adds is added.
        """
        pitch = np.log(f0 / self._pitch[blend]) if f0 > 0 else 0.0
        inputs = np.concatenate([wanted, 4 * (wanted - self._heard[blend]), [pitch]]).astype(np.float32)
        net = self._network
        inner = gelu(net["inner.weight"] @ inputs + net["inner.bias"])
        moved = net["directions"] @ (net["outer.weight"] @ inner + net["outer.bias"])
        joined = np.concatenate([self._shares[blend] @ self._rows[graph] for graph in GRAPHS])
        joined[self._columns] += np.float32(near) * moved
        ends = np.cumsum([self._rows[graph].shape[1] for graph in GRAPHS])[:-1]
        return dict(zip(GRAPHS, np.split(joined.astype(np.float32), ends), strict=True))

    def fit(self, wanted: Floats, f0: float, speak: Speak, *, near: float, rounds: int, step: float) -> Fitted:
        """The most similar of the speakers that ``rounds`` rounds make of an embedding and a median pitch in Hz."""
        blend = self.nearest(wanted, f0)
        asked, best = wanted, Fitted({}, blend, -1.0)
        for _ in range(max(1, rounds)):
            tables = self.made(asked, f0, blend, near)
            heard = self.embed(speak(tables), RATE)
            similarity = float(heard @ wanted)
            if similarity > best.similarity:
                best = Fitted(tables, blend, similarity)
            asked = asked + np.float32(step) * (wanted - heard)
        return best


def gelu(x: Floats) -> Floats:
    """The Gaussian error linear unit, by the error function's approximation that is right to 2e-7 (7.1.26 has 1e-7)."""
    z = np.abs(x) * np.sqrt(0.5)
    t = 1 / (1 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - poly * np.exp(-z * z))
    return np.asarray(0.5 * x * (1 + erf), np.float32)


def load_maker(family: Path, rows: Mapping[str, Floats]) -> SpeakerMaker:
    """What makes speakers for the family in a folder; VoiceError where it has none, or it cannot be read."""
    path = family / FILE
    if not path.is_file():
        raise VoiceError(f"{family} has no {FILE}, so no speaker can be made of a clip for it.")
    try:
        with np.load(path, allow_pickle=False) as file:
            return SpeakerMaker({name: file[name] for name in file.files}, rows)
    except (OSError, ValueError, KeyError) as error:
        raise VoiceError(f"{path} cannot be read: {error}") from error
