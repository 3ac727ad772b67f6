"""Words of Japanese to phonemes in their clause: OpenJTalk's readings, Latin words as they are
said."""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path

from sayahead.text.saying.english.foreign import english_phonemes
from sayahead.text.saying.japanese.kana import phonemes
from sayahead.text.saying.japanese.openjtalk import Morpheme, morphemes

LATIN = Path(__file__).with_name("latin.txt")
"""Letters and words in Latin script, in small letters, as speakers of Japanese say them."""
MAX_SPELLED = 4
"""Letters of the longest word in capitals that is said letter by letter."""
_LATIN = re.compile("[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ'’-]*")


class JapaneseSounds:
    """Phonemes of words; any number of threads may share it."""

    def clause(self, words: Sequence[str], *, closed: bool) -> list[str]:
        """Of each word of a clause, as running speech."""
        return [" ".join(map(_said, word)) for word in readings(words)]

    def alone(self, word: str) -> str:
        """Of a word by itself."""
        return self.clause([word], closed=True)[0]


def kana_of(word: str) -> str:
    """How a text is read, in katakana; Latin words that have no kana are left as they are."""
    return "".join(kana for part in readings([word]) for kana in part)


def readings(words: Sequence[str]) -> list[list[str]]:
    """The parts of each word of a clause in katakana, or as they are written where they have
    none.

    A morpheme belongs to the word in which it begins, and what is said of it in the next words to
    those. If the analyzer's morphemes do not add up to the text, each word is read by itself.
    """
    written = [_LATIN.sub(lambda found: latin(found[0]) or found[0], word) for word in words]
    text = "".join(written)
    found = morphemes(text)
    if not found and len(words) > 1:
        return [readings([word])[0] for word in words]
    out: list[list[str]] = [[] for _ in words]
    ends = list(itertools.accumulate(map(len, written)))
    for one in found:
        owner = bisect_right(ends, one.start)
        for kana in _by_word(one, text[one.start : one.end], ends[owner:]):
            is_part = one.goes_on and out[owner]
            if is_part:
                out[owner][-1] += kana
            elif kana:
                out[owner].append(kana)
            owner += 1
    return out


def _by_word(one: Morpheme, text: str, ends: Sequence[int]) -> list[str]:
    """What is said of a morpheme in each word that has a part of it: kana by their characters,
    all else in the first."""
    if _LATIN.fullmatch(text) is not None and not one.is_known:
        return [text]
    if one.end <= ends[0] or len(one.kana) != len(text):
        return [one.kana]
    cuts = [one.start, *(end for end in ends if end < one.end), one.end]
    pairs = itertools.pairwise(cuts)
    return [one.kana[start - one.start : end - one.start] for start, end in pairs]


def latin(word: str) -> str:
    """A Latin word in katakana, as it is said or letter by letter; nothing where neither is
    known."""
    known = spoken().get(word.lower(), "")
    if not known and len(word) <= MAX_SPELLED and (word.isupper() or len(word) == 1):
        known = "".join(spoken().get(letter, "") for letter in word.lower())
    return known


def _said(part: str) -> str:
    return english_phonemes(part) if _LATIN.fullmatch(part) else phonemes(part)


@functools.cache
def spoken() -> Mapping[str, str]:
    """The katakana of letters and of words in Latin script."""
    rows = [line.split() for line in LATIN.read_text(encoding="utf-8").splitlines()]
    return {row[0]: row[1] for row in rows if row and row[0] != "//"}
