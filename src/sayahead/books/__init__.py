"""Books: what is in an EPUB, a Markdown file or a plain text, and an audiobook of it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sayahead.errors import ConfigError

ENDINGS = (".epub", ".md", ".txt")
DECLARED = re.compile(rb"""(?:encoding|charset)=["']?([\w.:-]+)""")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph, a verse, an item of a list or a row of a table."""

    text: str
    """Its lines, without markup."""
    heading: bool = False
    ids: tuple[str, ...] = ()
    """The names by which a link leads here."""


@dataclass(frozen=True, slots=True)
class Chapter:
    title: str
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """All of it: each block is a paragraph."""
        return "\n\n".join(block.text for block in self.blocks)

    def places(self) -> Iterator[tuple[int, Block]]:
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


def read_book(path: str | Path) -> Book:
    """The book in a file that ends with ``.epub``, ``.md`` or ``.txt``.

    ConfigError if there is none, or none that can be read: the message says why."""
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise ConfigError(f"{path}: a book ends with {', '.join(ENDINGS)}.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    if path.suffix.lower() == ".epub":
        from sayahead.books.epub import read_epub

        book = read_epub(data, str(path))
    else:
        from sayahead.books.plain import read_plain

        book = read_plain(data, path)
    if not book.chapters:
        raise ConfigError(f"{path} has no text that could be read: are its pages pictures?")
    return book
