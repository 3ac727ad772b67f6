"""``sayahead book``: an audiobook from an EPUB, a Markdown file or a text."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sayahead.cli.console import Console
from sayahead.cli.options import add_options, given
from sayahead.errors import ConfigError, VoiceError

if TYPE_CHECKING:
    from sayahead.books import Book
    from sayahead.books.audio import Progress, SpokenChapter
    from sayahead.voice import Voice

EPILOG = """examples:
  sayahead book novel.epub                        novel.m4b, with chapters and cover
  sayahead book novel.epub --list                 the chapters, and how long they will be
  sayahead book novel.epub --chapters 2-5 -o some.m4b
  sayahead book notes.md -o notes/ --format mp3   a folder with a file a chapter
  sayahead book novel.epub --read-along novel.html
"""
FORMATS = ("mp3", "opus", "flac", "wav")
CHARACTERS_PER_S = 15
"""Typical reading speed, for estimates before anything is spoken."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("book", type=Path, metavar="BOOK", help="an .epub, .md or .txt file")
    add(
        "-o",
        "--output",
        type=Path,
        metavar="PLACE",
        help="a file NAME.m4b, or a folder with a file a chapter (default: BOOK.m4b, here)",
    )
    add("--format", choices=FORMATS, default="mp3", help="of files in a folder (default: mp3)")
    add("--chapters", metavar="FROM-TO", help="these alone: 3, 2-5 or 7-")
    add("--list", action="store_true", help="show the chapters, and speak nothing")
    add(
        "--read-along",
        type=Path,
        metavar="PAGE.html",
        help="also write a page that marks each word while it is heard",
    )
    add(
        "--voice", metavar="NAME", help="name or folder (default: the first of the book's language)"
    )
    add_options(add, ("speed", "pitch", "lexicon"))
    add("-q", "--quiet", action="store_true", help="show nothing but errors")


def run(arguments: argparse.Namespace) -> int:
    """Speak the book; return the exit code."""
    from sayahead.books import read_book

    book = chosen(read_book(arguments.book), arguments.chapters)
    if arguments.list:
        print(listing(book))
        return 0
    place = arguments.output or Path(arguments.book.stem + ".m4b")
    as_file = place.suffix.lower() == ".m4b"
    if arguments.read_along and not as_file:
        raise ConfigError("--read-along needs one file for the book: -o NAME.m4b.")
    from sayahead.books.audio import speak_book
    from sayahead.sound.formats import codecs

    codecs()
    voice = voice_of(arguments.voice, book.language)
    console = Console(quiet=arguments.quiet)
    work = place.with_name(place.name + ".chapters") if as_file else place / ".chapters"
    spoken = list["SpokenChapter"]()
    try:
        for chapter in speak_book(
            book,
            voice,
            work,
            on_progress=lambda progress: console.progress(line(progress, book)),
            **given(arguments),
        ):
            spoken.append(chapter)
    except KeyboardInterrupt:
        console.note(
            f"Stopped. The same command goes on with chapter {len(spoken) + 1} of"
            f" {len(book.chapters)}."
        )
        raise
    finish(arguments, book, spoken, place, voice, console)
    with contextlib.suppress(OSError):
        shutil.rmtree(work)
    return 0


def finish(
    arguments: argparse.Namespace,
    book: Book,
    spoken: Sequence[SpokenChapter],
    place: Path,
    voice: Voice,
    console: Console,
) -> None:
    """Write the output files from the chapters' sound."""
    if place.suffix.lower() != ".m4b":
        from sayahead.books.folder import write_folder

        write_folder(place, spoken, ending=arguments.format, sample_rate=voice.sample_rate)
        console.note(f"{place}: {len(spoken)} chapters")
        return
    from sayahead.books.m4b import write_m4b

    write_m4b(place, book, spoken, sample_rate=voice.sample_rate)
    seconds = sum(chapter.samples for chapter in spoken) / voice.sample_rate
    console.note(f"{place}: {len(spoken)} chapters, {clock(seconds)}")
    if arguments.read_along:
        from sayahead.books.read_along import write_page

        page = arguments.read_along
        sound = Path(os.path.relpath(place, page.parent)).as_posix()
        write_page(page, sound, book, spoken, sample_rate=voice.sample_rate)
        console.note(f"{page}")


def chosen(book: Book, part: str | None) -> Book:
    """Return the book with only the chapters that ``part`` selects."""
    if part is None:
        return book
    match = re.fullmatch(r"(\d+)(?:(-)(\d*))?", part)
    first, dash, last = match.groups() if match else ("0", None, None)
    begin = int(first)
    # "3" is one chapter, "2-5" four of them, "7-" all from the seventh on.
    end = int(last or (len(book.chapters) if dash else begin))
    if not 1 <= begin <= end <= len(book.chapters):
        raise ConfigError(
            f"--chapters {part}: the book has chapters 1 to {len(book.chapters)}; 3, 2-5 or 7- name"
            " some."
        )
    return replace(book, chapters=book.chapters[begin - 1 : end])


def voice_of(name: str | None, language: str) -> Voice:
    """Return the named voice, else the first one of a language, else the default one."""
    from sayahead.voice import load_voice

    if name is not None or not language:
        return load_voice(name)
    try:
        return load_voice(language=language)
    except (ConfigError, VoiceError) as error:
        raise VoiceError(f"The book is in {language!r}: {error} Or name one: --voice.") from error


def listing(book: Book) -> str:
    """Return a table of the chapters."""
    rows = [
        f"{number:4}  {clock(len(chapter.text) / CHARACTERS_PER_S):>8}  {chapter.title}"
        for number, chapter in enumerate(book.chapters, start=1)
    ]
    whole = sum(len(chapter.text) for chapter in book.chapters) / CHARACTERS_PER_S
    by = f", {book.author}" if book.author else ""
    return "\n".join([f"{book.title}{by}: about {clock(whole)}", *rows])


def line(progress: Progress, book: Book) -> str:
    """Return a line about the progress."""
    percent = 100 * progress.characters // max(1, progress.all_characters)
    remaining = "" if progress.left_s is None else f", {clock(progress.left_s)} left"
    title = book.chapters[progress.number - 1].title[:40]
    return f"{percent} %{remaining}: chapter {progress.number} of {len(book.chapters)}, {title}"


def clock(seconds: float) -> str:
    """Format a duration as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
