"""English text to words: in fragments, or a whole text at once."""

from __future__ import annotations

from dataclasses import replace

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.types import Word


class Normalizer(TokenReader):
    """The reader of American English."""

    def __init__(self, start: int = 0) -> None:
        """``start``: the place of the first character in the source text."""
        super().__init__(language_of("en"), start)


def normalize(text: str) -> list[Word]:
    """The words of a whole text, the last one ending its sentence."""
    normalizer = Normalizer()
    words = normalizer.push(text) + normalizer.flush()
    return [replace(word, ends=word.ends or word is words[-1]) for word in words]
