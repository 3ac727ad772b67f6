"""Words of Mandarin to phonemes in their clause: syllables, tones that change beside others, Latin
words as they are said."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sayahead.text.saying.english.foreign import english_phonemes
from sayahead.text.saying.mandarin.dictionary import dictionary
from sayahead.text.saying.mandarin.segments import is_han
from sayahead.text.saying.mandarin.syllables import phonemes

LATIN = Path(__file__).with_name("latin.txt")
"""Letters and words in Latin script, in small letters, as speakers of Mandarin say them."""
MAX_SPELLED = 4
"""Letters of the longest word in capitals that is said letter by letter."""
MAX_KNOWN = 16384
"""Words whose syllables are remembered."""
MAX_FOOT = 3
"""Syllables of two words whose third tones lean on each other."""
NUMERALS = frozenset("零〇一二三四五六七八九十百千万亿幺点")
_RUN = re.compile("[㐀-鿿〇々豈-龎]+|[A-Za-zÀ-ɏ'’-]+")


@dataclass(slots=True)
class Syllable:
    """A syllable, with the character that it reads."""

    char: str
    sound: str
    tone: str
    word: int
    """Which word of the clause it belongs to."""


class MandarinSounds:
    """Phonemes of words; any number of threads may share it."""

    def clause(self, words: Sequence[str], *, closed: bool) -> list[str]:
        """Of each word of a clause, as running speech."""
        syllables: list[Syllable] = []
        for place, text in enumerate(words):
            syllables += (Syllable(*one, place) for one in _syllables(text))
        _settle(syllables)
        out = [""] * len(words)
        for one in syllables:
            out[one.word] += phonemes(one.sound + one.tone) if one.tone else one.sound
        return out

    def alone(self, word: str) -> str:
        """Of a word by itself."""
        return self.clause([word], closed=True)[0]


def syllables_of(word: str) -> list[str]:
    """The syllables of a word by itself, each with the figure of its tone."""
    return [sound + tone for _, sound, tone in _syllables(word)]


@functools.lru_cache(maxsize=MAX_KNOWN)
def _syllables(text: str) -> tuple[tuple[str, str, str], ...]:
    """Character, sound and tone of each syllable of a word; what is not Mandarin is one without a
    tone."""
    out: list[tuple[str, str, str]] = []
    for run in _RUN.findall(text):
        if is_han(run[0]):
            syllables = dictionary().syllables(run)
            chars = run if len(run) == len(syllables) else " " * len(syllables)
            out += [(char, one[:-1], one[-1]) for char, one in zip(chars, syllables, strict=True)]
        else:
            out += latin(run)
    return tuple(out)


def latin(word: str) -> list[tuple[str, str, str]]:
    """A word in Latin letters: as it is said in Mandarin where that is known, letter by letter, or
    as in English."""
    known = spoken().get(word.lower().rstrip("-"))
    if known is None and len(word) <= MAX_SPELLED and (word.isupper() or len(word) == 1):
        known = tuple(syllable for letter in word.lower() for syllable in spoken().get(letter, ()))
    if known:
        return [(" ", one[:-1], one[-1]) for one in known]
    return [(" ", english_phonemes(word), "")]


@functools.cache
def spoken() -> Mapping[str, tuple[str, ...]]:
    """The syllables of letters and of words in Latin script."""
    rows = [line.split() for line in LATIN.read_text(encoding="utf-8").splitlines()]
    return {row[0]: tuple(row[1:]) for row in rows if row and row[0] != "//"}


def _settle(syllables: list[Syllable]) -> None:
    """Tones as they are beside their neighbours."""
    for place in range(len(syllables)):
        _settle_character(syllables, place)
    pairs = list(pairwise(syllables))
    sizes = Counter(syllable.word for syllable in syllables)
    inside = [pair for pair in pairs if pair[0].word == pair[1].word]
    across = [pair for pair in pairs if sizes[pair[0].word] + sizes[pair[1].word] <= MAX_FOOT]
    # A word's own third tones first: whether it leans on the next word is that word's to say.
    _lean(inside)
    _lean([pair for pair in across if pair[0].word != pair[1].word])


def _settle_character(syllables: list[Syllable], place: int) -> None:
    """The tone of 不 and of 一, which depends on the next."""
    syllable = syllables[place]
    after = syllables[place + 1].tone if place + 1 < len(syllables) else ""
    if syllable.char == "不" and syllable.tone != "5":
        syllable.tone = "2" if after == "4" else "4"
    elif syllable.char == "一" and after and _is_article(syllables, place):
        syllable.tone = "2" if after in "45" else "4"
    elif syllable.char == "一":
        syllable.tone = "1"


def _lean(pairs: Iterable[tuple[Syllable, Syllable]]) -> None:
    """A third tone before another gives way to it."""
    for first, _ in [pair for pair in pairs if pair[0].tone == pair[1].tone == "3"]:
        first.tone = "2"


def _is_article(syllables: list[Syllable], place: int) -> bool:
    """Whether a 一 counts something, and is no figure of a number: 一个, but 第一 and 十一."""
    before = syllables[place - 1].char if place else ""
    after = syllables[place + 1].char
    return before not in NUMERALS | {"第"} and after not in NUMERALS | {"月", "号", "日", " "}
