"""A reader of words for tests of the learned policy."""

from __future__ import annotations

from collections.abc import Sequence


class ToyTagger:
    """Tags by the word's first letter."""

    def tags(self, words: Sequence[str]) -> list[str]:
        return [{"t": "DT", "o": "IN", "p": "NNS"}.get(word[0].lower(), "XX") for word in words]

    def varies(self, word: str) -> bool:
        return word == "read"
