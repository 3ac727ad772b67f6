"""What reads a language by its rules, for those who compare it with the reader of today."""

from __future__ import annotations

from dataclasses import dataclass

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader


@dataclass(frozen=True, slots=True)
class RuleFrontEnd:
    """The first half of a front end: text to words, by the rules of a language's tag."""

    tag: str

    def normalizer(self, start: int = 0) -> TokenReader:
        """A fresh normalizer for text that begins at a place of the source."""
        return TokenReader(language_of(self.tag), start)
