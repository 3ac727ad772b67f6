"""Voices with several speakers: numbers, blends, languages, and each speaker's network
parameters."""

from __future__ import annotations

import functools
import threading
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from sayahead.config import nearest
from sayahead.engine.onnx import OnnxGraph
from sayahead.errors import ConfigError, VoiceError
from sayahead.systems.loading import Loaded
from sayahead.types import Floats
from sayahead.vocoders.manner import MANNER, PLAIN

SPEAKERS = "speakers.npz"
"""File with the parameters of each speaker in a voice's graphs."""
SPEAKER = "speaker"
"""The graphs' input for them."""


class Blends:
    """Numbers of speakers: those of the voice first, then blends in the order of their first
    use."""

    CAPACITY = 10_000
    """Most blends that a loaded voice can number."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._blends = list[tuple[tuple[int, float], ...]]()
        self._lock = threading.Lock()

    def first(self, number: int) -> int:
        """Return the speaker with the largest share of a blend."""
        return max(self._parts(number), key=lambda part: part[1])[0]

    def blend(self, shares: Mapping[int, float]) -> int:
        """Return the number of a blend; its shares need not sum to one. ConfigError for too many
        blends."""
        total = sum(shares.values())
        parts = tuple(
            (number, round(share / total, 3)) for number, share in sorted(shares.items()) if share
        )
        if len(parts) == 1:
            return parts[0][0]
        with self._lock:
            if parts not in self._blends:
                if len(self._blends) >= self.CAPACITY:
                    raise ConfigError(
                        f"{self.CAPACITY} blends are in use, and no more can be: name one of them."
                    )
                self._blends.append(parts)
            return self.count + self._blends.index(parts)

    def parts(self, number: int) -> tuple[list[int], Floats]:
        """Return the speakers of a blend and their shares (N,)."""
        parts = self._parts(number)
        return [one for one, _ in parts], np.array([share for _, share in parts], np.float32)

    def _parts(self, number: int) -> tuple[tuple[int, float], ...]:
        return ((number, 1.0),) if number < self.count else self._blends[number - self.count]


def shares(text: str, speakers: Mapping[str, int]) -> dict[int, float]:
    """Parse a blend such as ``af_heart:0.7+am_michael:0.3`` into shares by speaker. ConfigError if
    it is invalid."""
    parts = dict[int, float]()
    for part in text.split("+"):
        name, _, share = part.strip().partition(":")
        if name not in speakers:
            raise ConfigError(f"There is no speaker {name!r} to blend{nearest(name, speakers)}.")
        try:
            value = float(share or 1)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1000:
            raise ConfigError(
                f"The share of {name} is {share!r}, but must be a number from 0 up: {name}:0.5."
            )
        parts[speakers[name]] = parts.get(speakers[name], 0.0) + value
    if not sum(parts.values()) > 0:
        raise ConfigError(f"The shares of {text!r} are all 0: give one of the speakers a share.")
    return parts


class Speakers(Blends):
    """The parameters of each speaker, and of blends: scales and offsets in the voice's networks."""

    def __init__(self, tables: Mapping[str, Floats]) -> None:
        """``tables``: (S, V) for each graph, a row per speaker."""
        super().__init__(len(next(iter(tables.values()))))
        self._tables = tables
        self._made = functools.lru_cache(maxsize=64)(self._make)

    def __getitem__(self, number: int) -> Mapping[str, Floats]:
        """Return the parameters (V,) for each graph."""
        return self._made(number)

    def _make(self, number: int) -> dict[str, Floats]:
        numbers, mix = self.parts(number)
        return {
            name: np.asarray(mix @ table[numbers], np.float32)
            for name, table in self._tables.items()
        }


def speaker_tables(path: Path, graphs: Mapping[str, OnnxGraph], count: int) -> dict[str, Floats]:
    """Read the parameters (S, V) for each graph, and the manner, from a speakers.npz. VoiceError if
    it is damaged or does not match the graphs."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            tables = {name: np.asarray(file[name], np.float32) for name in graphs}
            manner = np.asarray(file[MANNER] if MANNER in file else PLAIN[None], np.float32)
            tables[MANNER] = np.broadcast_to(manner, (count, len(PLAIN)))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise VoiceError(f"{path} cannot be read: {error}") from error
    for name, graph in graphs.items():
        if tables[name].shape != (count, *graph.shapes[SPEAKER]):
            raise VoiceError(
                f"{path} does not belong to {name}.onnx beside it, or to {count} speakers."
            )
    return tables


def of_speakers(
    loaded: Loaded,
    blends: Blends,
    speakers: Mapping[str, int],
    languages: Mapping[int, str],
    reading: Callable[[str], Loaded],
) -> Loaded:
    """Return a voice whose speakers can be blended, and can read the languages that some of them
    have."""

    def other(speaker: int) -> tuple[str, Callable[[], Loaded]] | None:
        language = languages.get(blends.first(speaker))
        return None if language is None else (language, functools.partial(reading, language))

    def blend(text: str) -> int:
        return blends.blend(shares(text, speakers))

    return replace(loaded, blend=blend, other=other if languages else None)
