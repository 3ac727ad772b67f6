"""Books: what is in an EPUB (its pages: ``xhtml.py``), a Markdown file or a plain text, and an
audiobook of it."""

from sayahead.books.book import Book, Chapter, Passage
from sayahead.books.files import read_book

__all__ = ["Book", "Chapter", "Passage", "read_book"]
