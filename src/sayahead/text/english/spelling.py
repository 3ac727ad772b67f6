"""Characters as the modified Tacotron 2 reads them: what is spelled of words, and which ids stand for it."""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from sayahead.text.english.grammar import read
from sayahead.types import Ids

ALPHABET = " '-.?!,abcdefghijklmnopqrstuvwxyz"
"""The characters; each one's place is its id. Marks stand at the end of a sentence alone, as in Ma's inputs (5.1)."""


CLOSING, PAUSING = "?!.", ",;:—"


NUMBERS = {character: number for number, character in enumerate(ALPHABET)}


LIGATURES = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "th", "þ": "th", "ħ": "h", "ı": "i", "ŋ": "ng"}
    | {"ŧ": "t", "\u2019": "'", "\u2010": "-", "\u2011": "-", "–": " ", "—": " "}
)
"""Letters that are not a base letter with marks, by the letters they are spelled with abroad; other forms of signs."""
_INITIALS = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_FIGURES = re.compile(r"[$£€]?\.?[0-9](?:[0-9,.]*[0-9])?(?:(?:st|nd|rd|th|s)(?![a-z]))?", re.I)


def spelled(word: str) -> str:
    """Letters, apostrophes and hyphens of a word's spoken form, lower case, figures in words.

    Letters outside the alphabet are spelled with base letters: é is e, ß is ss. Those of other scripts are left out.
    """
    apart = _INITIALS.sub(lambda match: " ".join(match[0].replace(".", "")), word)
    apart = _FIGURES.sub(lambda match: f" {read(match[0])} ", apart)
    plain = unicodedata.normalize("NFKD", apart.lower()).translate(LIGATURES)
    letters = "".join(c if c in NUMBERS and c not in "?!.," else " " * c.isspace() for c in plain)
    return " ".join(part for piece in letters.split() if (part := piece.strip("-")))


def final_mark(word: str) -> str:
    """The mark that ends a sentence whose last word is this: ? or ! or , if it ends in one of the kind, else a stop."""
    after = word[len(word.rstrip(" ;:,.!?—…\"“”()'")) :]
    closing = [c for c in after if c in CLOSING]
    if closing:
        return closing[-1]
    return "," if any(c in PAUSING for c in after) else "."


def ids(text: str) -> Ids:
    """(P,) ids of characters that are all in the alphabet."""
    return np.array([NUMBERS[character] for character in text], np.int64)


class EnglishSpeller:
    """English text in the characters of ``ALPHABET``, for voices that read letters."""

    alphabet = ALPHABET
    spelled = staticmethod(spelled)
    final_mark = staticmethod(final_mark)
    ids = staticmethod(ids)
