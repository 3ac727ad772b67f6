"""A book in Markdown or plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sayahead.books.book import Book, Chapter, Passage, decoded
from sayahead.books.xhtml import UNSEEN

HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*")
UNDERLINED = re.compile(r"(=+|-{3,})[ \t]*")
CHAPTER = re.compile(
    r"(?:chapter|part|book|kapitel|teil|chapitre|capítulo|capitolo|hoofdstuk)"
    r" (?:\d{1,3}|[IVXLC]{1,7}|[A-Za-z-]{2,12})\b.{0,60}",
    re.IGNORECASE,
)
"""A line of its own that begins a chapter in a text without markup."""
LEVELS = 2
"""Markdown's headings of so many levels begin a chapter; others are within one."""


def read_plain(data: bytes, path: Path) -> Book:
    """The chapters of a text: one from each heading of the first two levels on."""
    text = decoded(data).translate(UNSEEN)
    chapters = list(divided(list(blocks_of(text, markdown=path.suffix.lower() == ".md"))))
    title = next((chapter.title for chapter in chapters if chapter.title), path.stem)
    return Book(title, tuple(chapters))


def blocks_of(text: str, *, markdown: bool) -> Iterator[tuple[int, Passage]]:
    """Blocks, between empty lines, and the level of each heading; 0 of what is none."""
    for part in re.split(r"\n[ \t]*\n\s*", text.replace("\r\n", "\n").strip()):
        lines = part.splitlines()
        while markdown and lines and (heading := HEADING.fullmatch(lines[0])):
            yield len(heading[1]), Passage(heading[2], heading=True)
            del lines[0]
        if markdown and len(lines) == 2 and UNDERLINED.fullmatch(lines[1]):
            yield 1 if lines[1][0] == "=" else 2, Passage(lines[0].strip(), heading=True)
            continue
        if not markdown and len(lines) == 1 and CHAPTER.fullmatch(lines[0].strip()):
            yield 1, Passage(lines[0].strip(), heading=True)
            continue
        if whole := "\n".join(lines).strip():
            yield 0, Passage(whole)


def divided(blocks: list[tuple[int, Passage]]) -> Iterator[Chapter]:
    """The chapters: what stands before the first heading is one without a title."""
    title = ""
    within = list[Passage]()
    for level, block in blocks:
        if 0 < level <= LEVELS:
            if within:
                yield Chapter(title, tuple(within))
            title = block.text
            within = []
        within.append(block)
    if within:
        yield Chapter(title, tuple(within))
