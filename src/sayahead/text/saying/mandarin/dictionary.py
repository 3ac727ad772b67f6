"""The words of Mandarin: how likely each is, and how it is read.

``words.xz`` has five parts with an empty line between them: words, each as how many characters it
shares with the one before and the rest; how likely each is; the characters of each syllable; the
words that are read otherwise than their characters; traditional characters, each before its
simplified form. ``sayahead_lab.training.lexicons.mandarin_words`` makes it. ``readings.txt`` has
readings by hand, which count before those.
"""

from __future__ import annotations

import functools
import lzma
import re
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).with_name("words.xz")
HAND = Path(__file__).with_name("readings.txt")
ZERO = 48
"""The character code of a count of nothing."""
LEVELS = 5
"""Steps of a logarithm of frequency."""
MOST = 90
"""The level of all words together: what a character costs that is no word."""
RARE = 60
"""What a word costs that only ``readings.txt`` has."""

_ENTRY = re.compile("([0-?])([^0-?]+)")


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Words with their costs and readings; immutable, shared by all sessions."""

    costs: Mapping[str, int]
    """How unlikely each word is."""
    words: Sequence[str]
    """All words, sorted."""
    readings: Mapping[str, tuple[str, ...]]
    """Syllables of characters, and of words that are read otherwise than theirs."""
    simple: Mapping[int, str]
    """The simplified form of traditional characters, as ``str.translate`` takes it."""

    def begins(self, text: str) -> bool:
        """Whether a longer word begins with a text."""
        place = bisect_right(self.words, text)
        return place < len(self.words) and self.words[place].startswith(text)

    def syllables(self, word: str) -> tuple[str, ...]:
        """The syllables of a word of Chinese characters, as they are by themselves: ``("zhong1",
        "guo2")``."""
        word = word.translate(self.simple)
        known = self.readings.get(word)
        if known is not None:
            return known
        return tuple(syllable for char in word for syllable in self.readings.get(char, ()))


@functools.cache
def dictionary() -> Dictionary:
    """The dictionary, read when it is first wanted."""
    parts = lzma.decompress(DATA.read_bytes()).decode().split("\n\n")
    words = _words(parts[0])
    costs = {word: MOST + ZERO - ord(level) for word, level in zip(words, parts[1], strict=True)}
    readings: dict[str, tuple[str, ...]] = {
        char: (line.split()[0],) for line in parts[2].splitlines() for char in line.split()[1]
    }
    readings |= _readings(parts[3])
    by_hand = _readings(HAND.read_text(encoding="utf-8"))
    for word in by_hand.keys() - costs.keys():
        costs[word] = RARE
        insort(words, word)
    pairs = parts[4]
    simple = {ord(pairs[at]): pairs[at + 1] for at in range(0, len(pairs), 2)}
    return Dictionary(costs, words, readings | by_hand, simple)


def _readings(text: str) -> dict[str, tuple[str, ...]]:
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("//")]
    return {row[0]: tuple(row[1:]) for row in rows}


def _words(text: str) -> list[str]:
    """Words in order, each stored as how much it shares with the one before, and the rest."""
    words: list[str] = []
    word = ""
    for shared, rest in _ENTRY.findall(text):
        word = word[: ord(shared) - ZERO] + rest
        words.append(word)
    return words
