"""Speaks a book chapter by chapter into files, so that a run that was stopped can be resumed."""

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
    """A chapter with its sound file."""

    chapter: Chapter
    path: Path
    samples: int
    words: tuple[WordTiming, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a book has been spoken."""

    number: int
    """The chapter that is being spoken, from 1."""
    characters: int
    """Characters of the book that have been spoken, by earlier runs as well."""
    all_characters: int
    """Characters of the whole book."""
    sound_s: float
    """Seconds of sound of this chapter so far."""
    left_s: float | None
    """Estimated time for the rest, at this run's speed; None until it has spoken something."""


def speak_book(
    book: Book,
    voice: Voice,
    folder: Path,
    *,
    on_progress: Callable[[Progress], object] = lambda progress: None,
    **options: Any,
) -> Iterator[SpokenChapter]:
    """Speak each chapter into a file of a folder, and yield it.

    A chapter that an earlier run has finished is reused if its text, the voice and the ``options``
    are the same. A chapter in which a run was stopped is spoken again from its beginning."""
    folder.mkdir(parents=True, exist_ok=True)
    watch = Watch(sum(len(chapter.text) for chapter in book.chapters), on_progress)
    for number, chapter in enumerate(book.chapters, start=1):
        path = folder / f"{number:03}{KEPT}"
        digest = digest_of(chapter, voice, options)
        finished = finished_chapter(path, digest, chapter)
        is_new = finished is None
        watch.number = number
        yield finished or speak_chapter(chapter, voice, path, digest, watch, options)
        watch.add(len(chapter.text), is_new=is_new)


class Watch:
    """Counts the spoken characters of a book, and reports progress with an estimate of the time
    left."""

    def __init__(self, characters: int, on_progress: Callable[[Progress], object]) -> None:
        """``characters``: those of the whole book."""
        self.number = 0
        """The chapter that is being spoken."""
        self._on_progress = on_progress
        self._start = time.monotonic()
        self._all_characters = characters
        # Characters of finished chapters: of all runs, and of this one.
        self._finished_characters = 0
        self._new_characters = 0

    def add(self, characters: int, *, is_new: bool) -> None:
        """Count a finished chapter; ``is_new``: whether this run has spoken it."""
        self._finished_characters += characters
        self._new_characters += characters if is_new else 0

    def show(self, characters: int, sound_s: float) -> None:
        """Report progress: so many characters and seconds of the current chapter are spoken."""
        finished = self._finished_characters + characters
        new = self._new_characters + characters
        spent_s = time.monotonic() - self._start
        left_s = spent_s / new * (self._all_characters - finished) if new else None
        self._on_progress(Progress(self.number, finished, self._all_characters, sound_s, left_s))


def speak_chapter(
    chapter: Chapter, voice: Voice, path: Path, digest: str, watch: Watch, options: dict[str, Any]
) -> SpokenChapter:
    """Speak a chapter into ``path``, with its words beside it in JSON.

    The sound is written under another name and renamed at the end, so that ``path`` exists only if
    it is complete."""
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


def finished_chapter(path: Path, digest: str, chapter: Chapter) -> SpokenChapter | None:
    """Return a chapter that an earlier run has finished. None if there is none, or its digest
    differs: it had another text, voice or options."""
    try:
        record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        if record["digest"] != digest or not path.is_file():
            return None
        words = tuple(WordTiming(**word) for word in record["words"])
        return SpokenChapter(chapter, path, int(record["samples"]), words)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def digest_of(chapter: Chapter, voice: Voice, options: dict[str, Any]) -> str:
    """Return a digest of all that a chapter's sound depends on."""
    causes = [chapter.text, voice.config.name, voice.sample_rate, sorted(options.items())]
    return hashlib.sha256(json.dumps(causes, default=str).encode()).hexdigest()
