"""A book from a file."""

from __future__ import annotations

from pathlib import Path

from sayahead.books.book import Book
from sayahead.books.epub import read_epub
from sayahead.books.plain import read_plain
from sayahead.errors import ConfigError

ENDINGS = (".epub", ".md", ".txt")


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
    is_epub = path.suffix.lower() == ".epub"
    book = read_epub(data, str(path)) if is_epub else read_plain(data, path)
    if not book.chapters:
        raise ConfigError(f"{path} has no text that could be read: are its pages pictures?")
    return book
