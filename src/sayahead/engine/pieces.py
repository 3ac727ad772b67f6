"""Limits on one synthesis step: long words are split into pieces, and a step takes only as many
words as fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from sayahead.text.parts import parted
from sayahead.types import Word

MAX_PHONEMES = 300
"""Most phonemes of one step, spoken and lookahead together: some 50 words. More are spoken in
several steps."""
MAX_TOGETHER = 60
"""Most phonemes of words that a policy speaks one by one and that are batched into one step, so
that the step stays short."""
FEW = 6
"""So many words always fit in one step, whatever their length."""
MAX_SYMBOLS = 48
"""A word given as phonemes is split if it has more than this, some four seconds of speech."""
MAX_CHARACTERS = 96
"""A word given as text is split if it has more characters than this."""
PIECE = 48
"""Most characters of a piece of a word given as text; front ends' own portions are shorter."""

_VOWELS = "aeiouyæøœɐɑɒɔəɘɵɚɛɜɝɞɤɨɪʉʊʌʏᵻᵊAIOQWY"
_SYLLABLE = re.compile(f"(?<=[{_VOWELS}ːˑ])(?=[^{_VOWELS}ːˑ\u0300-\u036f\\s])|(?<=\\s)")
"""Places to split phonemes: before a consonant that follows a vowel, and after a space."""
_AFTER_SPACE = re.compile(r"(?<=\s)")
_MARKS = re.compile(r"[.,;:!?…—)]*$")


def in_pieces(word: Word) -> list[Word]:
    """Return a word, or the pieces of it that are spoken one after the other if it is too long for
    one step.

    A word with phonemes is cut between syllables. Its spelling cannot be cut at the same places,
    so every piece is written as the whole word, the last one with the first of its marks. Other
    words are cut as they are written. All pieces have the word's position in the text.
    """
    if len(word.phonemes) <= MAX_SYMBOLS and len(word.text) <= MAX_CHARACTERS:
        return [word]
    if word.phonemes:
        mark = _MARKS.search(word.text)[0]  # type: ignore[index]
        stem = word.text[: len(word.text) - len(mark)][:MAX_CHARACTERS]
        syllables = cut(word.phonemes, MAX_SYMBOLS, _SYLLABLE)
        texts = [*(stem for _ in syllables[1:]), stem + mark[:1]]
    else:
        texts = [text.strip() for text in cut(word.text, PIECE, _AFTER_SPACE)]
        syllables = ["" for _ in texts]
    pieces = parted(word, texts)
    return [
        replace(piece, phonemes=phonemes) for piece, phonemes in zip(pieces, syllables, strict=True)
    ]


def cut(text: str, max_length: int, places: re.Pattern[str]) -> list[str]:
    """Split a text into parts of at most ``max_length`` characters.

    Each part ends at the last match of ``places`` in its second half, or else at ``max_length``
    characters.
    """
    parts = list[str]()
    start = 0
    while len(text) - start > max_length:
        ends = [
            match.start()
            for match in places.finditer(text, start + max_length // 2, start + max_length)
        ]
        end = ends[-1] if ends else start + max_length
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def fitting(words: Sequence[Word], count: Callable[[Word], int], most: int) -> int:
    """Return how many of the words, from the first on, have at most ``most`` phonemes together.

    ``count``: the number of phonemes of a word.
    """
    for number, word in enumerate(words):
        most -= count(word)
        if most < 0:
            return number
    return len(words)
