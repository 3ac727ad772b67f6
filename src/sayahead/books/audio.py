"""A book spoken chapter by chapter, so that what was stopped goes on."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sayahead.books.book import Book, Chapter
from sayahead.sound.formats import AudioFormat, encoder
from sayahead.types import WordTiming
from sayahead.voice import Voice

STATE = "chapters.json"
KEPT = ".flac"
"""Chapters are kept without loss until the book is whole."""


@dataclass(frozen=True, slots=True)
class SpokenChapter:
    """A chapter's sound, in a file of its own."""

    chapter: Chapter
    path: Path
    samples: int
    words: tuple[WordTiming, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a book is."""

    number: int
    """The chapter that is spoken, from 1."""
    characters: int
    """Of the whole book, those that are there."""
    all_characters: int
    sound_s: float
    """Seconds of sound of this chapter so far."""
    left_s: float | None
    """How long the rest will take, by what this run has spoken; None before it can be told."""


def speak_book(
    book: Book,
    voice: Voice,
    folder: Path,
    *,
    on_progress: Callable[[Progress], object] = lambda progress: None,
    **options: Any,
) -> Iterator[SpokenChapter]:
    """Speak every chapter into a folder, one after another.

    Chapters that an earlier run has finished, of the same text by the same voice with the same
    ``options``, are taken as they are; one that was stopped is spoken again from its beginning."""
    folder.mkdir(parents=True, exist_ok=True)
    watch = Watch(sum(len(chapter.text) for chapter in book.chapters), on_progress)
    for number, chapter in enumerate(book.chapters, start=1):
        path = folder / f"{number:03}{KEPT}"
        digest = digest_of(chapter, voice, options)
        done = kept(path, digest, chapter)
        is_new = done is None
        watch.number = number
        yield done or speak_chapter(chapter, voice, path, digest, watch, options)
        watch.add(len(chapter.text), is_new=is_new)


class Watch:
    """Tells how far a book is, and how long the rest takes."""

    def __init__(self, characters: int, on_progress: Callable[[Progress], object]) -> None:
        self.number = 0
        """The chapter that is spoken."""
        self._on_progress = on_progress
        self._begun = time.monotonic()
        self._all = characters
        # Characters of whole chapters: all that are there, and those of this run.
        self._there = 0
        self._new = 0

    def add(self, characters: int, *, is_new: bool) -> None:
        """A chapter is whole."""
        self._there += characters
        self._new += characters if is_new else 0

    def show(self, characters: int, sound_s: float) -> None:
        """So much of this chapter is there."""
        there = self._there + characters
        spoken = self._new + characters
        spent_s = time.monotonic() - self._begun
        left_s = spent_s / spoken * (self._all - there) if spoken else None
        self._on_progress(Progress(self.number, there, self._all, sound_s, left_s))


def speak_chapter(
    chapter: Chapter, voice: Voice, path: Path, digest: str, watch: Watch, options: dict[str, Any]
) -> SpokenChapter:
    """Speak one into a file, which has its name when it is whole."""
    unfinished = path.with_suffix(".part")
    samples = 0
    with ExitStack() as stack:
        file = stack.enter_context(open(unfinished, "wb"))
        speech = voice.speak(chapter.text, policy="wait-all", **options)
        stack.callback(speech.cancel)
        sound = encoder(AudioFormat("flac"), source_rate=speech.sample_rate, file=file)
        for chunk in speech:
            sound.push(chunk.samples)
            samples += len(chunk.samples)
            if chunk.words:
                watch.show(chunk.words[-1].end, samples / speech.sample_rate)
        sound.finish()
    words = tuple(speech.words)
    record = {"digest": digest, "samples": samples, "words": [asdict(word) for word in words]}
    timings = path.with_suffix(".json")
    timings.write_text(json.dumps(record), encoding="utf-8")
    os.replace(unfinished, path)
    return SpokenChapter(chapter, path, samples, words)


def kept(path: Path, digest: str, chapter: Chapter) -> SpokenChapter | None:
    """A chapter that an earlier run has spoken; None where that was another text or voice, or was
    not finished."""
    try:
        record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        if record["digest"] != digest or not path.is_file():
            return None
        words = tuple(WordTiming(**word) for word in record["words"])
        return SpokenChapter(chapter, path, int(record["samples"]), words)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def digest_of(chapter: Chapter, voice: Voice, options: dict[str, Any]) -> str:
    """What a chapter's sound depends on."""
    said = [chapter.text, voice.config.name, voice.sample_rate, sorted(options.items())]
    return hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()
