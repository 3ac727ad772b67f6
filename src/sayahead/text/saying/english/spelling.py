"""English in characters, figures in words."""

from __future__ import annotations

import re

from sayahead.text.reading.stream import normalize
from sayahead.text.saying.letters import LetterSpeller

_INITIALS = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_FIGURES = re.compile(r"[$£€]?\.?[0-9](?:[0-9,.]*[0-9])?(?:(?:st|nd|rd|th|s)(?![a-z]))?", re.I)


class EnglishSpeller(LetterSpeller):
    """English text in characters."""

    def spelled(self, word: str) -> str:
        """Letters, apostrophes and hyphens of a word's spoken form, lower case, figures in
        words."""
        apart = _INITIALS.sub(lambda match: " ".join(match[0].replace(".", "")), word)
        return super().spelled(_FIGURES.sub(lambda match: f" {_read(match[0])} ", apart))


def _read(figures: str) -> str:
    return " ".join(word.text for word in normalize(figures))
