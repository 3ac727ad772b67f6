"""Layouts of published corpora of recordings, and anybody's: a folder in, recordings with texts and
speakers out.

A reader is a function from a folder to ``Recorded``. A package declares one under
``sayahead_lab.readers``; without a package it is ``FILE.py:FUNCTION``:

    sayahead train corpus corpus/p225 --recordings VCTK-Corpus-0.92 --reader vctk --speaker p225
    sayahead train corpus corpus/mine --recordings FOLDER --reader my_readers.py:podcasts
"""

from __future__ import annotations

import csv
import functools
import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible

from sayahead_lab.named import named

LISTED = 12
"""Speakers that an error names."""
TEXTS = ("text", "transcription", "sentence", "normalized_text", "transcript")
"""Columns of Hugging Face's data sets that hold what is said; the first that is there counts."""
SPEAKERS = ("speaker_id", "speaker", "client_id")
"""Those that hold who says it."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording of a corpus."""

    name: str
    """Its name, which no other has."""
    text: str
    """What is said."""
    path: Path
    """Its sound, WAV or FLAC, mono."""
    speaker: str = ""
    """Who says it."""


Reader = Callable[[Path], Iterable[Recorded]]
READERS: Extensible[Reader] = Extensible(
    "sayahead_lab.readers",
    {
        "libritts": "sayahead_lab.training.corpus.readers:read_libritts",
        "vctk": "sayahead_lab.training.corpus.readers:read_vctk",
        "audiofolder": "sayahead_lab.training.corpus.readers:read_audiofolder",
        "datasets": "sayahead_lab.training.corpus.readers:read_datasets",
    },
)
"""The layouts by name, beside LJ Speech's, which needs none."""


def read_libritts(folder: Path) -> Iterator[Recorded]:
    """LibriTTS, one of its parts: SPEAKER/CHAPTER/NAME.wav with NAME.normalized.txt beside it."""
    for text in sorted(folder.glob("*/*/*.normalized.txt")):
        name = text.name.removesuffix(".normalized.txt")
        yield Recorded(
            name,
            text.read_text(encoding="utf-8").strip(),
            text.with_name(f"{name}.wav"),
            text.parts[-3],
        )


def read_vctk(folder: Path) -> Iterator[Recorded]:
    """VCTK: txt/SPEAKER/NAME.txt, with the first microphone's FLAC of version 0.92 or the WAV of
    those before."""
    for text in sorted(folder.glob("txt/*/*.txt")):
        name = text.stem
        speaker = text.parent.name
        newer = folder / "wav48_silence_trimmed" / speaker / f"{name}_mic1.flac"
        path = newer if newer.is_file() else folder / "wav48" / speaker / f"{name}.wav"
        if path.is_file():
            yield Recorded(name, text.read_text(encoding="utf-8").strip(), path, speaker)


def read_audiofolder(folder: Path) -> Iterator[Recorded]:
    """Hugging Face's AudioFolder: metadata.csv or metadata.jsonl, with file_name and a text."""
    lines = folder / "metadata.jsonl"
    rows: Iterable[Mapping[str, Any]]
    if lines.is_file():
        rows = map(json.loads, lines.read_text(encoding="utf-8").splitlines())
    else:
        table = (folder / "metadata.csv").read_text(encoding="utf-8")
        rows = csv.DictReader(table.splitlines())
    for row in rows:
        place = Path(row["file_name"])
        name = "-".join(place.with_suffix("").parts)
        yield Recorded(name, field(row, TEXTS), folder / place, field(row, SPEAKERS))


def read_datasets(folder: Path) -> Iterator[Recorded]:
    """A data set that ``save_to_disk`` of Hugging Face's ``datasets`` wrote, all of its splits.

    Sound that lies in its tables is written to files in ``FOLDER/sound``, once.
    """
    if importlib.util.find_spec("datasets") is None:
        raise ConfigError("The reader 'datasets' needs the package: pip install datasets.")
    import datasets

    loaded = datasets.load_from_disk(str(folder))
    splits = loaded if isinstance(loaded, Mapping) else {"all": loaded}
    for split, rows in splits.items():
        for number, row in enumerate(rows.cast_column("audio", datasets.Audio(decode=False))):
            name = f"{split}-{number:06d}"
            path = Path(row["audio"]["path"] or f"{name}.wav")
            if (held := row["audio"]["bytes"]) is not None:
                path = folder / "sound" / f"{name}{path.suffix}"
                path.parent.mkdir(exist_ok=True)
                if not path.is_file():
                    path.write_bytes(held)
            yield Recorded(name, field(row, TEXTS), path, field(row, SPEAKERS))


def field(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of these columns that a row has; empty where it has none."""
    return next((str(row[name]) for name in names if row.get(name) is not None), "")


@functools.lru_cache(maxsize=4)
def recordings_of(reader: str, folder: Path, speaker: str) -> dict[str, Recorded]:
    """A speaker's recordings in a folder by name; ConfigError where there are none, or of several
    speakers."""
    found = list(named(READERS, reader, "Reader")(folder))
    if not found:
        raise ConfigError(f"The reader {reader!r} finds no recordings in {folder}.")
    speakers = sorted({one.speaker for one in found})
    if speaker and speaker not in speakers:
        raise ConfigError(f"{folder} has no speaker {speaker!r}{nearest(speaker, speakers)}.")
    if not speaker and len(speakers) > 1:
        raise ConfigError(
            f"{folder} has {len(speakers)} speakers ({', '.join(speakers[:LISTED])} ...): name one"
            " with --speaker. Corpora of several become one with --join."
        )
    own = [one for one in found if one.speaker == speaker or not speaker]
    by_name = {one.name: one for one in own}
    if len(by_name) < len(own):
        raise ConfigError(f"The reader {reader!r} gives two recordings in {folder} the same name.")
    return by_name
