"""What is said for a text by the rules of a language."""

from __future__ import annotations

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.types import Word

LANGUAGES = ("de", "es", "fr", "it", "nl", "pt", "pt-br")


def spoken(language: str, text: str, *, size: int = 0) -> str:
    """The words of a text that comes in pieces of a size, or at once; a stroke where a sentence
    ends."""
    reader = TokenReader(language_of(language))
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    words = [word for piece in pieces for word in reader.push(piece)] + reader.flush()
    return " ".join(f"{word.text} |" if word.ends else word.text for word in words)


def words_of(language: str, text: str) -> list[Word]:
    """The words of a text that comes at once."""
    reader = TokenReader(language_of(language))
    return [*reader.push(text), *reader.flush()]


def read_as(language: str, text: str) -> str:
    """What is said for a text, without a sign of where sentences end."""
    return " ".join(word.text for word in words_of(language, text))


def ends(language: str, text: str) -> int:
    """How many sentences a text has."""
    return sum(word.ends for word in words_of(language, text))
