"""Corpora on disk: their form, and reading without loading. ``making.py`` makes them."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sayahead.config import from_mapping, nearest
from sayahead.errors import ConfigError

from sayahead_lab.training.corpus.frontend import MelFrontEnd

FORMAT = 1
LONG = {"mel": 1, "audio": 0, "features": 1, "energy": 1}
"""Memory-mapped arrays, with their rows per frame; 0: a hop of samples."""
ACCENT = "accent"
"""Key of a source whose phonemes are British; without it, those of a British style are American."""
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Item:
    """A spoken sentence, or a recording; arrays of stored items are views that cannot or should not
    be changed."""

    name: str
    """Its text's name; where the text has several sentences, with ``.1``, ``.2``, ..."""
    text: str
    """Its words, as spoken."""
    ids: Array
    """(P,) int16 phoneme ids without the pads at both ends."""
    words: Array
    """(N, 2) int16: each word's sounding phonemes ``[first, end)`` in ``ids``."""
    durations: Array
    """(P + 2,) int16 frames of the first pad, of each phoneme and of the last pad; their sum is
    T."""
    f0: Array
    """(T,) float16 pitch in Hz, 0 where there is none."""
    mel: Array
    """(T, n_mels) float16 log mel; frame t is centred on sample ``t * hop``."""
    audio: Array | None = None
    """(T * hop,) int16 samples, 32767 is 1.0; none in a corpus without sound."""
    features: Array | None = None
    """(T, 256) float16: input of the teacher's last layer, or none."""
    energy: Array | None = None
    """(T,) float16 energy as the default voice has it, where the teacher told it; none where it is
    measured."""
    speaker: str = ""
    """In a joined corpus, the name of the one that it is from; else empty."""


@dataclass(frozen=True, slots=True)
class About:
    """What its source says of a corpus, before any of it is made."""

    front_end: MelFrontEnd
    """Front end of its frames."""
    phonemes: dict[str, int]
    """Symbol to id."""
    pad: int
    """The id at both ends of each item, which ``Item.ids`` leaves out."""
    source: dict[str, str]
    """Source of speech and durations."""
    punctuation: str
    """Which punctuation is among the phonemes: all, final (the sentence's last alone, Ma 5.1) or
    none."""
    seed: int
    """Seed of the teacher's noise, together with each item's name."""


@dataclass(frozen=True, slots=True)
class CorpusInfo(About):
    """corpus.json: everything of a corpus besides its shards."""

    format: int
    """Version of the folder's format."""
    texts: dict[str, str]
    """SHA-256 of each split's texts."""
    shard_texts: int
    """Texts in a shard."""
    versions: dict[str, str]
    """Versions of the packages that made it."""
    splits: dict[str, tuple[str, ...]]
    """Split to its shards."""
    complete: bool
    """Whether all shards are made; an incomplete corpus can be read, too."""
    mel_mean: tuple[float, ...]
    """(n_mels,) mean over the train split's frames (over all frames, where none of train is
    made)."""
    mel_std: tuple[float, ...]
    """(n_mels,) standard deviation over the same frames."""
    joined: dict[str, str] = field(default_factory=dict)
    """Folders beside corpus.json that are corpora themselves, one a speaker, with the languages
    that were read."""


def language_of(info: About) -> str:
    """The language that was read, as a BCP 47 tag: American English where a corpus tells none.

    British styles were once read as American ones, too.
    """
    return _read(info.source.get("language", "en-US"), info)


def languages_of(info: CorpusInfo) -> dict[str, str]:
    """The languages that were read by the speakers of a joined corpus, by name; none for another
    corpus."""
    return {name: _read(language, info) for name, language in info.joined.items()}


def _read(language: str, info: About) -> str:
    return "en-US" if language == "en-GB" and ACCENT not in info.source else language


def check_mels(info: CorpusInfo, n_mels: int) -> None:
    """ConfigError where a model has another number of mel bands."""
    if info.front_end.n_mels != n_mels:
        raise ConfigError(
            f"The corpus has {info.front_end.n_mels} mel bands, but [model] n_mels is {n_mels}."
        )


def count_ids(info: CorpusInfo, phonemes: int) -> int:
    """Number of phoneme ids, the pad's among them; ConfigError where a model has another, unless
    that is 0."""
    count = 1 + max(info.pad, *info.phonemes.values())
    if phonemes not in (0, count):
        raise ConfigError(
            f"The corpus has ids up to {count - 1}, but [model] phonemes is {phonemes}."
        )
    return count


class Corpus:
    """A corpus, complete or still being made: its description, and its splits as sequences of
    items."""

    def __init__(self, path: Path | str) -> None:
        """Read the description; ConfigError where there is none, or one of another format."""
        self.path = Path(path)
        self.info = read_info(self.path)

    def split(self, name: str) -> Split:
        """A split's items; ConfigError for an unknown one, and for a shard that is missing or
        damaged."""
        if name not in self.info.splits:
            raise ConfigError(
                f"The corpus {self.path} has no split {name!r}{nearest(name, self.info.splits)}."
            )
        if not self.info.joined:
            return Split(
                [Shard(self.path / name / shard, self.info) for shard in self.info.splits[name]]
            )
        shards = list[Shard]()
        for part in self.info.joined:
            info = read_info(self.path / part)
            shards += [
                Shard(self.path / part / name / shard, info, part)
                for shard in info.splits.get(name, ())
            ]
        return Split(shards)

    @property
    def size(self) -> str:
        """Hours of speech to train on, in words."""
        front_end = self.info.front_end
        frames = int(self.split("train").lengths.sum())
        return f"{frames * front_end.hop / front_end.sample_rate / 3600:.1f} h of corpus"


class Split(Sequence[Item]):
    """The items of a split, in the order of its texts."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = shards
        self._ends = np.cumsum([len(shard.names) for shard in shards], dtype=np.int64)
        self.lengths: NDArray[np.int64] = np.concatenate(
            [np.zeros(0, np.int64), *(s.lengths for s in shards)]
        )
        """(I,) frames of each item."""

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        """The item, or those of a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = int(index) + (len(self) if index < 0 else 0)
        if not 0 <= number < len(self):
            raise IndexError(f"There is no item {index} among {len(self)}.")
        shard = int(np.searchsorted(self._ends, number, side="right"))
        return self.shards[shard].item(number - (int(self._ends[shard - 1]) if shard else 0))


class Shard:
    """A shard's folder: arrays of all its items end to end, the long ones memory-mapped at first
    use."""

    def __init__(self, path: Path, info: CorpusInfo, speaker: str = "") -> None:
        self.path = path
        self.speaker = speaker
        self._hop = info.front_end.hop
        if not path.is_dir():
            raise ConfigError(
                f"The shard {path} is missing: make the corpus again, which makes what is not"
                " there."
            )
        listed = self._json("names.json")
        try:
            self.names, self.texts, self.left_out = (
                list(listed[key]) for key in ("names", "texts", "left_out")
            )
        except (KeyError, TypeError) as error:
            raise self._damaged("names.json", "its lists are not all there") from error
        self._at = {name: self._load(f"{name}_at") for name in ("ids", "words", "frames")}
        self._arrays = {name: self._load(name) for name in ("ids", "words", "durations", "f0")}
        self.lengths: NDArray[np.int64] = np.diff(self._at["frames"])
        self._check()

    def item(self, number: int) -> Item:
        """The item of that number in the shard."""
        first, end = self._at["frames"][number : number + 2]
        begin, stop = self._at["ids"][number : number + 2]
        words = slice(*self._at["words"][number : number + 2])
        arrays = self._arrays
        long = self._mapped
        pads = 2 * number
        audio = long.get("audio")
        features = long.get("features")
        energy = long.get("energy")
        return Item(
            name=self.names[number],
            text=self.texts[number],
            ids=arrays["ids"][begin:stop],
            words=arrays["words"][words],
            durations=arrays["durations"][begin + pads : stop + pads + 2],
            f0=arrays["f0"][first:end],
            mel=long["mel"][first:end],
            audio=None if audio is None else audio[first * self._hop : end * self._hop],
            features=None if features is None else features[first:end],
            energy=None if energy is None else energy[first:end],
            speaker=self.speaker,
        )

    @functools.cached_property
    def _mapped(self) -> dict[str, Array]:
        """The long arrays by name, as files in memory."""
        names = [name for name in LONG if name == "mel" or (self.path / f"{name}.npy").is_file()]
        return {name: np.asarray(self._load(name, mapped=True)) for name in names}

    def _check(self) -> None:
        """ConfigError where the arrays of a shard are inconsistent."""
        for name, at in self._at.items():
            if len(at) != len(self.names) + 1 or at[0] != 0 or np.any(np.diff(at) < 0):
                raise self._damaged(f"{name}_at.npy", f"it does not fit {len(self.names)} items")
        phonemes, words, frames = (int(self._at[name][-1]) for name in ("ids", "words", "frames"))
        rows = {
            "ids": phonemes,
            "words": words,
            "durations": phonemes + 2 * len(self.names),
            "f0": frames,
        }
        for name, array in self._arrays.items():
            if len(array) != rows[name]:
                raise self._damaged(
                    f"{name}.npy", f"it has {len(array)} rows where {rows[name]} belong"
                )
        starts = self._at["ids"][:-1] + 2 * np.arange(len(self.names))
        if len(starts) and np.any(
            np.add.reduceat(self._arrays["durations"], starts, dtype=np.int64) != self.lengths
        ):
            raise self._damaged("durations.npy", "its sums are not the items' frames")
        self._check_long(frames)

    def _check_long(self, frames: int) -> None:
        """ConfigError where an array that is read from the disk does not have these frames."""
        for name, factor in LONG.items():
            if name == "mel" or (self.path / f"{name}.npy").exists():
                count = self._rows(name)
                expected = frames * (factor or self._hop)
                if count != expected:
                    reason = f"it has {count} rows where {expected} belong"
                    raise self._damaged(f"{name}.npy", reason)

    def _rows(self, name: str) -> int:
        """Rows of an array's file, by its header and size alone."""
        path = self.path / f"{name}.npy"
        try:
            with path.open("rb") as file:
                np.lib.format.read_magic(file)
                shape, _, kind = np.lib.format.read_array_header_1_0(file)
                expected = file.tell() + math.prod(shape) * kind.itemsize
                size = path.stat().st_size
        except (OSError, ValueError) as error:
            raise self._damaged(path.name, str(error)) from error
        if size != expected:
            raise self._damaged(path.name, f"it has {size} bytes where {expected} belong")
        return int(shape[0])

    def _load(self, name: str, *, mapped: bool = False) -> Array:
        path = self.path / f"{name}.npy"
        try:
            array: Array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise self._damaged(path.name, str(error)) from error
        return array

    def _json(self, name: str) -> Any:
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise self._damaged(name, str(error)) from error

    def _damaged(self, file: str, why: str) -> ConfigError:
        return ConfigError(
            f"{self.path / file} is damaged: {why}. Remove the folder {self.path} and make the"
            " corpus again: only this shard is made anew."
        )


def read_info(path: Path) -> CorpusInfo:
    """The description of the corpus in a folder; ConfigError where there is none that can be
    read."""
    file = path / "corpus.json"
    if not file.is_file():
        raise ConfigError(
            f"{path} is no corpus (there is no {file.name} in it): make one with sayahead train"
            " corpus."
        )
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(
            f"{file} is damaged: {error}. Remove it and make the corpus again: shards stay."
        ) from error
    if isinstance(data, dict) and data.get("format") != FORMAT:
        raise ConfigError(
            f"{file}: format {data.get('format')} is not one this version reads ({FORMAT})."
        )
    return from_mapping(CorpusInfo, data, where=str(file))
