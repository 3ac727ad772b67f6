"""What a book is: chapters of blocks."""

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
        """All of it: each block is a paragraph."""
        return "\n\n".join(block.text for block in self.blocks)

    def places(self) -> Iterator[tuple[int, Passage]]:
        """Where in ``text`` each block begins."""
        at = 0
        for block in self.blocks:
            yield at, block
            at += len(block.text) + 2


@dataclass(frozen=True, slots=True)
class Book:
    title: str
    chapters: tuple[Chapter, ...]
    author: str = ""
    language: str = ""
    """A BCP 47 tag; empty if it says none."""
    cover: bytes = field(default=b"", repr=False)
    """A picture, JPEG or PNG, or nothing."""


def decoded(data: bytes) -> str:
    """Text in the encoding that its first bytes tell: UTF-16 by its mark, what its XML or HTML
    declares, and otherwise UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    declared = DECLARED.search(data[:1024])
    name = declared[1].decode("ascii", "replace") if declared else "utf-8-sig"
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = "utf-8"
    return data.decode("utf-8-sig" if known == "utf-8" else known, "replace")
