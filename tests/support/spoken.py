"""What is said for a text by the rules of a language."""

from __future__ import annotations

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader

LANGUAGES = ("de", "es", "fr", "it", "nl", "pt", "pt-br")


def spoken(language: str, text: str, *, size: int = 0) -> str:
    """The words of a text that comes in pieces of a size, or at once; a stroke where a sentence
    ends."""
    reader = TokenReader(language_of(language))
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    words = [word for piece in pieces for word in reader.push(piece)] + reader.flush()
    return " ".join(f"{word.text} |" if word.ends else word.text for word in words)
