"""Books: what is in an EPUB, a Markdown file or a plain text, and an audiobook of it."""

from sayahead.books.book import Block, Book, Chapter
from sayahead.books.files import read_book

__all__ = ["Block", "Book", "Chapter", "read_book"]
