"""What one step may say: words that are long to say in pieces, and no more words than fit, whoever
made them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from sayahead.text.parts import parted
from sayahead.types import Word

MAX_PHONEMES = 300
"""Phonemes of one step, spoken and seen: some 50 words. A step of more is spoken as several."""
MAX_TOGETHER = 60
"""Phonemes of words that are said in one step though a policy has them one by one: the step stays a
short one."""
FEW = 6
"""So many words are never more."""
MAX_SYMBOLS = 48
"""Phonemes of a word that has its own; of more, it is said in pieces: four seconds and more are no
word."""
MAX_CHARACTERS = 96
PIECE = 48
"""Characters of a word that is read, and of its pieces where it has more: front ends' own portions
have fewer."""

_VOWELS = "aeiouyæøœɐɑɒɔəɘɵɚɛɜɝɞɤɨɪʉʊʌʏᵻᵊAIOQWY"
_SYLLABLE = re.compile(f"(?<=[{_VOWELS}ːˑ])(?=[^{_VOWELS}ːˑ\u0300-\u036f\\s])|(?<=\\s)")
"""Before a consonant after a vowel, and after a blank."""
_BLANK = re.compile(r"(?<=\s)")
_MARKS = re.compile(r"[.,;:!?…—)]*$")


def in_pieces(word: Word) -> list[Word]:
    """A word as what is said of it at a time: itself, unless it is long to say. Pieces share its
    place in the text."""
    if len(word.phonemes) <= MAX_SYMBOLS and len(word.text) <= MAX_CHARACTERS:
        return [word]
    if word.phonemes:
        mark = _MARKS.search(word.text)[0]  # type: ignore[index]
        bare = word.text[: len(word.text) - len(mark)][:MAX_CHARACTERS]
        syllables = cut(word.phonemes, MAX_SYMBOLS, _SYLLABLE)
        texts = [*(bare for _ in syllables[1:]), bare + mark[:1]]
    else:
        texts = [text.strip() for text in cut(word.text, PIECE, _BLANK)]
        syllables = ["" for _ in texts]
    pieces = parted(word, texts)
    return [
        replace(piece, phonemes=phonemes) for piece, phonemes in zip(pieces, syllables, strict=True)
    ]


def cut(text: str, most: int, places: re.Pattern[str]) -> list[str]:
    """A text in parts of at most so many characters, cut at the last of the places that is in time,
    or anywhere."""
    parts = list[str]()
    at = 0
    while len(text) - at > most:
        found = [match.start() for match in places.finditer(text, at + most // 2, at + most)]
        end = found[-1] if found else at + most
        parts.append(text[at:end])
        at = end
    return [*parts, text[at:]]


def fitting(words: Sequence[Word], count: Callable[[Word], int], most: int) -> int:
    """How many of the words have at most so many phonemes."""
    for number, word in enumerate(words):
        most -= count(word)
        if most < 0:
            return number
    return len(words)
