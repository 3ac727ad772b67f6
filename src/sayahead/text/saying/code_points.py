"""Characters of words as phonemes, for voices that were trained on plain text."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np

from sayahead.types import Ids, Pronunciation, Word

PAUSES = ' ;:,.!?—…"“”«»()'


class LettersPhonemizer:
    """Code points of a word in canonical decomposition, those that the voice knows; a word begins
    with a space.

    A character that a voice does not know is tried without case, in small letters and in capitals.
    """

    def __init__(self, phonemes: Mapping[str, int]) -> None:
        self._ids = dict(phonemes)

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        pronunciations = list[Pronunciation]()
        inside = bool(left)
        for word in words:
            sounding = self.ids(word.text.rstrip(PAUSES))
            whole = self.ids(word.text)
            before = self.ids(" " if inside and len(whole) else "")
            end = len(before) + (len(sounding) or len(whole))
            pronunciations.append(Pronunciation(np.concatenate([before, whole]), len(before), end))
            inside = inside or bool(len(whole))
        return pronunciations

    def phonemes(self, word: Word) -> int:
        return len(self.ids(word.text))

    def ids(self, text: str) -> Ids:
        """(P,) ids of the characters of a text; what the voice has no id for is left out."""
        numbers = []
        for character in unicodedata.normalize("NFD", text):
            for form in (character, character.lower(), character.casefold(), character.upper()):
                if all(symbol in self._ids for symbol in form):
                    numbers += [self._ids[symbol] for symbol in form]
                    break
        return np.array(numbers, np.int64)
