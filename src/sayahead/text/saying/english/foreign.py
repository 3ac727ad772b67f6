"""English words inside text of another language: which ones are, and how they are said."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sayahead.text import Phonemizer
from sayahead.text.tables import lines_of
from sayahead.types import Word

WORDS = Path(__file__).with_name("abroad.txt")
"""English words that texts of other languages have in English; written by
``sayahead_lab.training.lexicons.mixed_words``."""
AFTER = "after"
"""What stands there before languages in which words are English after an English word."""
MAX_KNOWN = 4096
"""Words, and phrases, whose phonemes are remembered."""
_SYMBOLS = {chr(code): code for code in range(0x20, 0x2000)} | {"ᵊ": 0x1D4A, "ᵻ": 0x1D7B}


def languages_abroad() -> tuple[str, ...]:
    """The languages whose English words are known, as their tags begin."""
    return ("de", "es", "fr", "it", "pt")


@dataclass(frozen=True, slots=True)
class WordsAbroad:
    """English words, in small letters, in texts of another language."""

    sure: frozenset[str]
    """English wherever they are: no words of that language."""
    after: frozenset[str]
    """English after an English word."""


@functools.cache
def words_abroad(language: str) -> WordsAbroad:
    """The English words of another language, by how its tag begins."""
    sure = list[str]()
    after = list[str]()
    taken = None
    for line in lines_of(WORDS):
        if line.startswith("["):
            everywhere, _, behind = line[1:-1].partition(AFTER)
            taken = sure if language in everywhere.split() else None
            taken = after if language in behind.split() else taken
        elif taken is not None:
            taken += line.split()
    return WordsAbroad(frozenset(sure), frozenset(after))


def english_phonemes(word: str) -> str:
    """How an English word by itself is said."""
    return english_phrase((word,))[0]


@functools.lru_cache(maxsize=MAX_KNOWN)
def english_phrase(words: Sequence[str]) -> tuple[str, ...]:
    """How each word of an English phrase is said."""
    spoken = [Word(word, 0, 0) for word in words[:-1]] + [Word(words[-1], 0, 0, ends=True)]
    return tuple(
        "".join(chr(symbol) for symbol in one.ids).strip()
        for one in _phonemizer().phonemize(spoken, left=[])
    )


@functools.cache
def _phonemizer() -> Phonemizer:
    from sayahead.text.saying.english.phonemizer import EnglishPhonemizer

    return EnglishPhonemizer(_SYMBOLS, stand_in="")
