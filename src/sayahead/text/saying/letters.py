"""Characters as voices that read letters know them: what is spelled of words, and which ids stand
for it."""

from __future__ import annotations

import unicodedata

import numpy as np

from sayahead.types import Ids

ALPHABET = " '-.?!,abcdefghijklmnopqrstuvwxyz"
"""What every language has. Marks stand at the end of a sentence alone, as in Ma's inputs (5.1)."""
MARKS = "?!.,"
CLOSING = "?!."
PAUSING = ",;:—"
ABROAD = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "th",
        "þ": "th",
        "ħ": "h",
        "ı": "i",
        "ŋ": "ng",
        "ŧ": "t",
        "\u2019": "'",
        "\u2010": "-",
        "\u2011": "-",
        "–": " ",
        "—": " ",
    }
)
"""Letters that are not a base letter with marks, by the letters they are spelled with abroad; other
forms of signs."""


class LetterSpeller:
    """Words in the characters of ``ALPHABET`` and a language's letters with marks, for voices that
    read letters."""

    def __init__(self, letters: str = "") -> None:
        self.alphabet = ALPHABET + letters
        self._numbers = {character: number for number, character in enumerate(self.alphabet)}

    def spelled(self, word: str) -> str:
        """Letters, apostrophes and hyphens of a word's spoken form, lower case.

        Letters outside the alphabet are spelled with base letters: in English é is e, ß is ss.
        Those of other scripts are left out.
        """
        plain = "".join(map(self._plain, unicodedata.normalize("NFC", word.lower())))
        letters = "".join(
            c if c in self._numbers and c not in MARKS else " " * c.isspace() for c in plain
        )
        return " ".join(part for piece in letters.split() if (part := piece.strip("-")))

    def _plain(self, character: str) -> str:
        if character in self._numbers:
            return character
        return unicodedata.normalize("NFKD", character).translate(ABROAD)

    def final_mark(self, word: str) -> str:
        """The mark that ends a sentence whose last word is this: ? or ! or , if it ends in such a
        mark, else a stop."""
        after = word[len(word.rstrip(" ;:,.!?—…\"“”()'«»")) :]
        closing = [c for c in after if c in CLOSING]
        if closing:
            return closing[-1]
        return "," if any(c in PAUSING for c in after) else "."

    def ids(self, characters: str) -> Ids:
        """(P,) ids of characters that are all in the alphabet."""
        return np.array([self._numbers[character] for character in characters], np.int64)
