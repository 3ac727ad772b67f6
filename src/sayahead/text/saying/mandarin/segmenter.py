"""Where the words of Mandarin end: the likeliest words, as soon as no later character can change
them.

A path through the dictionary's words may go on from here, or from before a word that has only
begun. What all such paths have in common is final, so words do not depend on how the text is cut.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import takewhile

from sayahead.text.saying.mandarin.dictionary import MOST, Dictionary

LONGEST = 16
"""Characters of the longest word."""
PREFERRED = 1
"""What a measure word costs right after figures."""


class Segmenter:
    """Cuts one run of Chinese characters, from its first to its last."""

    def __init__(self, dictionary: Dictionary, measures: Container[str] = ()) -> None:
        """``measures``: words that are preferred at the beginning, because figures stand before
        it."""
        self._dictionary = dictionary
        self._measures = measures
        self._text = ""
        self._base = 0
        self._starts: list[int] = []
        self._costs = [0]
        self._before = [0]

    def push(self, char: str) -> list[int]:
        """Lengths of the words that this character makes final."""
        self._starts.append(len(self._text))
        self._text += char.translate(self._dictionary.simple)
        end = len(self._text)
        known = self._dictionary.costs
        best = (self._costs[end - 1] + MOST, end - 1)
        open_starts: list[int] = []
        for start in self._starts:
            word = self._text[start:end]
            cost = PREFERRED if start == 0 and word in self._measures else known.get(word)
            if cost is not None:
                best = min(best, (self._costs[start] + cost, start))
            if self._dictionary.begins(word):
                open_starts.append(start)
        self._costs.append(best[0])
        self._before.append(best[1])
        self._starts = open_starts
        return self._final([end, *open_starts])

    def finish(self) -> list[int]:
        """Lengths of the words that are left, as nothing follows."""
        return self._final([len(self._text)])

    def _final(self, ends: list[int]) -> list[int]:
        """The words with which the best paths to all these places begin."""
        paths = [self._path(end) for end in ends]
        same = takewhile(lambda cuts: len(set(cuts)) == 1, zip(*paths, strict=False))
        lengths: list[int] = []
        for cuts in same:
            lengths.append(cuts[0] - self._base)
            self._base = cuts[0]
        return lengths

    def _path(self, end: int) -> list[int]:
        """Where the words of the best path to a place end, behind what is final."""
        cuts: list[int] = []
        while end > self._base:
            cuts.append(end)
            end = self._before[end]
        return cuts[::-1]
