"""A book as a folder: a sound file and subtitles for each chapter, and a playlist."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from sayahead.books.audio import SpokenChapter
from sayahead.sound.files import fail
from sayahead.sound.formats import codecs
from sayahead.sound.out import save
from sayahead.sound.subtitles import write_timings
from sayahead.types import AudioChunk

NAME = 60
"""Characters of a title in a file's name."""


def write_folder(
    folder: Path, spoken: Sequence[SpokenChapter], *, ending: str, sample_rate: int
) -> None:
    """Write the chapters. ``ending``: mp3, opus, flac or wav. OutputError if one cannot be."""
    playlist = ["#EXTM3U"]
    folder.mkdir(parents=True, exist_ok=True)
    for number, chapter in enumerate(spoken, start=1):
        title = chapter.chapter.title
        name = re.sub(r"[^\w' -]+", "", title).strip()[:NAME].strip() or "chapter"
        path = folder / f"{number:02} {name}.{ending}"
        unfinished = path.with_name(f".{path.stem}.part.{ending}")
        save(unfinished, sound_of(chapter.path, sample_rate))
        os.replace(unfinished, path)
        write_timings(path.with_suffix(".vtt"), chapter.words, sample_rate=sample_rate)
        seconds = round(chapter.samples / sample_rate)
        playlist += [f"#EXTINF:{seconds},{title or name}", path.name]
    try:
        text = "\n".join(playlist) + "\n"
        (folder / "playlist.m3u").write_text(text, encoding="utf-8")
    except OSError as error:
        fail(str(folder), error)


def sound_of(path: Path, sample_rate: int) -> Iterator[AudioChunk]:
    """The sound of a file, piece by piece."""
    at = 0
    with codecs().open(str(path)) as source:
        for frame in source.decode(audio=0):
            samples = frame.to_ndarray()[0].astype(np.float32) / np.float32(32768)
            yield AudioChunk(samples, at, sample_rate, ())
            at += len(samples)
