"""The records of a book: chapters, which consist of passages."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

DECLARED = re.compile(rb"""(?:encoding|charset)=["']?([\w.:-]+)""")


@dataclass(frozen=True, slots=True)
class Passage:
    """A heading, a paragraph, a verse, an item of a list or a row of a table."""

    text: str
    """Its lines, without markup."""
    heading: bool = False
    ids: tuple[str, ...] = ()
    """The names by which a link leads here."""


@dataclass(frozen=True, slots=True)
class Chapter:
    title: str
    blocks: tuple[Passage, ...]

    @property
    def text(self) -> str:
        """The whole text, a paragraph for each block."""
        return "\n\n".join(block.text for block in self.blocks)

    def places(self) -> Iterator[tuple[int, Passage]]:
        """Yield each block with its position in ``text``."""
        position = 0
        for block in self.blocks:
            yield position, block
            position += len(block.text) + len("\n\n")


@dataclass(frozen=True, slots=True)
class Book:
    title: str
    chapters: tuple[Chapter, ...]
    author: str = ""
    language: str = ""
    """A BCP 47 tag; empty if the book names none."""
    cover: bytes = field(default=b"", repr=False)
    """A JPEG or PNG file; empty if there is none."""


def decoded(data: bytes) -> str:
    """Decode text as UTF-16 if it has a byte order mark, as its XML or HTML declares, or else as
    UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    declared = DECLARED.search(data[:1024])
    name = declared[1].decode("ascii", "replace") if declared else "utf-8-sig"
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = "utf-8"
    return data.decode("utf-8-sig" if known == "utf-8" else known, "replace")
