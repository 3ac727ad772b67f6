"""Plays sound on the sound device, or saves it to a file."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from sayahead.config import check_whole, describe
from sayahead.errors import ConfigError
from sayahead.sound.device import Player
from sayahead.sound.files import Sink
from sayahead.sound.formats import writer
from sayahead.types import AudioChunk, Floats

RATES = (1000, 192_000)
"""Lowest and highest sample rate of sound that is played or saved."""


def play(sound: Floats | AudioChunk | Iterable[AudioChunk], sample_rate: int | None = None) -> None:
    """Play samples (S,), or chunks as they come, and wait until the end. Needs the ``play`` extra.

    ``sample_rate`` is only needed for samples; chunks have their own."""
    rate, pieces = rate_and_pieces(sound, sample_rate)
    with Player(rate) as player:
        for samples in pieces:
            player.write(samples)
        player.drain()


def save(
    path: str | Path,
    sound: Floats | AudioChunk | Iterable[AudioChunk],
    sample_rate: int | None = None,
) -> None:
    """Write samples (S,), or chunks as they come, to a file: .wav, .flac, .mp3, .opus, .ogg or
    .aac.

    ``sample_rate`` is only needed for samples; chunks have their own. If the sound turns out to be
    empty, an existing file is left as it is.
    """
    path = path_of(path)
    make = writer(path)
    rate, pieces = rate_and_pieces(sound, sample_rate)
    sink = kept_until_written(path, functools.partial(make, path, sample_rate=rate))
    try:
        for samples in pieces:
            sink.write(samples)
    finally:
        sink.close()


def path_of(path: object) -> Path:
    """Return a path as a Path. ConfigError for anything else, such as an open file."""
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(
            f"save() takes a path, not {type(path).__name__}: for bytes, take"
            " voice.speak(text).encoded('wav')."
        )
    return Path(path)


class LazySink:
    """A sink that is opened when the first samples come."""

    def __init__(self, make: Callable[[], Sink]) -> None:
        self._make = make
        self._sink: Sink | None = None

    def write(self, samples: Floats) -> None:
        """Write (S,) samples; may wait."""
        if self._sink is None and len(samples):
            self._sink = self._make()
        if self._sink is not None:
            self._sink.write(samples)

    def drain(self) -> None:
        """Wait until all that was written has arrived."""
        if self._sink is not None:
            self._sink.drain()

    def close(self) -> None:
        """Close at once."""
        if self._sink is not None:
            self._sink.close()


def kept_until_written(path: Path, make: Callable[[], Sink]) -> Sink:
    """Open a file with ``make``. If it already has content, wait for the first samples, so that an
    empty sound does not erase it."""
    kept = path.is_file() and path.stat().st_size > 0 and os.access(path, os.W_OK)
    return LazySink(make) if kept else make()


def rate_and_pieces(sound: object, sample_rate: int | None) -> tuple[int, Iterator[Floats]]:
    """Return the sample rate of a sound, and an iterator over its samples (S,). ConfigError if one
    of them is invalid."""
    if sample_rate is not None:
        sample_rate = check_whole("sample_rate", sample_rate, *RATES)
    if isinstance(sound, np.ndarray | AudioChunk):
        sound = [sound]
    if not isinstance(sound, Iterable):
        raise ConfigError(
            f"The sound is {describe(sound)}, but must be samples, or chunks of them."
        )
    pieces = iter(sound)
    if sample_rate is None:
        first = list(itertools.islice(pieces, 1))
        pieces = itertools.chain(first, pieces)
        sample_rate = first[0].sample_rate if first and isinstance(first[0], AudioChunk) else None
        if sample_rate is None and first:
            samples_of(first[0])
            raise ConfigError("Samples do not say how many of them are a second: give sample_rate.")
    return sample_rate or RATES[0], map(samples_of, pieces)


def samples_of(sound: object) -> Floats:
    """Return the samples (S,) of a chunk or an array. ConfigError unless they are one-dimensional
    floats."""
    samples = sound.samples if isinstance(sound, AudioChunk) else sound
    if not isinstance(samples, np.ndarray):
        raise ConfigError(
            f"The sound has {describe(sound)}, but must be samples in a NumPy array, or chunks."
        )
    if samples.ndim != 1 or not np.issubdtype(samples.dtype, np.floating):
        description = f"an array of {samples.dtype}, {samples.ndim}-dimensional"
        raise ConfigError(
            f"The sound is {description}, but must be floats from -1 to 1 in one dimension."
        )
    return samples
