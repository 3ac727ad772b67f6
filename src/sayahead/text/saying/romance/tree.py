"""Where a word's stress is by its end, and what each letter sounds like by those around it: trees
that were learned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sayahead.errors import VoiceError
from sayahead.text.saying.romance.rules import Orthography
from sayahead.text.tables import lines_of

ORDER = (1, -1, 2, 3, -2, 4, 5, -3, 6, -4, 7)
"""Places around a letter in the order in which they are asked."""
EDGE = "#"
"""Stands for what is no letter: before a word and after it."""


def surroundings(word: str, place: int) -> str:
    """A letter of a word, and those around it in the order of ``ORDER``."""
    count = len(word)
    near = (word[place + off] if 0 <= place + off < count else EDGE for off in ORDER)
    return word[place] + "".join(near)


class Tree:
    """Sounds of words; any number of threads may share it."""

    def __init__(self, leaves: Mapping[str, str], vowels: str, accents: str = "") -> None:
        """``leaves``: by the beginning of surroundings what a letter makes, a capital standing for
        the stressed one; by the end of a word, backwards and after ``<``, how many letters from its
        end that one is. The longest beginning that is known holds. ``vowels`` are letters that can
        be stressed, ``accents`` those that always are."""
        self._leaves = leaves
        self._vowels = frozenset(vowels)
        self._accents = frozenset(accents)

    def __call__(self, word: str) -> str:
        """The sounds of a word in small letters, with one main stress where it has a vowel."""
        place = next((i for i, letter in enumerate(word) if letter in self._accents), -1)
        if place < 0:
            back = self._leaf("<" + word[::-1] + EDGE)
            place = self._near(word, len(word) - int(back or 1))
        marked = (
            word[:place] + word[place : place + 1].upper() + word[place + 1 :]
            if place >= 0
            else word
        )
        return "".join(self._leaf(surroundings(marked, i)) for i in range(len(marked)))

    def _near(self, word: str, place: int) -> int:
        """The vowel at a place, or the next one to the left, or to the right; -1 where there is
        none."""
        left = (i for i in range(min(place, len(word) - 1), -1, -1) if word[i] in self._vowels)
        right = (i for i in range(max(0, place), len(word)) if word[i] in self._vowels)
        return next(left, next(right, -1))

    def _leaf(self, around: str) -> str:
        for size in range(len(around), 0, -1):
            if (made := self._leaves.get(around[:size])) is not None:
                return made
        return ""


def read_tree(file: Path, vowels: str, accents: str = "") -> Tree:
    """From its file: lines of surroundings and sounds, each with the count of letters that it
    shares with the last.

    ``vowels`` and ``accents`` are the tree's. VoiceError for a file that is damaged or missing.
    """
    leaves = dict[str, str]()
    last = ""
    try:
        for line in lines_of(file):
            around, _, made = line[1:].partition("\t")
            last = last[: int(line[0], 36)] + around
            leaves[last] = made
    except (OSError, ValueError) as error:
        raise VoiceError(f"{file} cannot be read: {error}") from error
    return Tree(leaves, vowels, accents)


class LearnedOrthography(Orthography):
    """Words of a language whose spelling a tree has learned; subclasses say what happens where
    words meet."""

    accents: str = ""
    """Letters that are always stressed."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def word(self, text: str) -> str:
        return self._tree(text)
