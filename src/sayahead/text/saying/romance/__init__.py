"""Phonemes of Romance languages: rules of their spelling, or a tree that was learned, and a list of
what these miss.

What is made are espeak-ng's phonemes, which voices learned from, without espeak-ng. Rules are
written from the orthographies; trees and lists are made by ``lab/benchmarks/romance.py``."""

from __future__ import annotations

import functools
from pathlib import Path

from sayahead.text.saying.romance.french import French
from sayahead.text.saying.romance.italian import Italian
from sayahead.text.saying.romance.portuguese import Portuguese
from sayahead.text.saying.romance.reading import RomanceSounds
from sayahead.text.saying.romance.rules import Orthography
from sayahead.text.saying.romance.spanish import Spanish
from sayahead.text.saying.romance.tree import Tree, read_tree
from sayahead.text.tables import lines_of

WORDS = Path(__file__).parent / "words"
"""Folder of the lists and trees."""
LANGUAGES = {"es": "es", "es-419": "es", "it": "it", "fr": "fr", "pt-br": "pt-br"}
"""Names of the lists, by espeak-ng's names of the voices."""
ROUGH = frozenset({"fr"})
"""Those whose sounds are not good enough to be preferred to espeak-ng's where that is installed."""
LEARNED: dict[str, type[Italian | French | Portuguese]] = {
    "it": Italian,
    "fr": French,
    "pt-br": Portuguese,
}
"""What reads a language by a tree, by the same names."""


def orthography(voice: str, tree: Tree | None = None) -> Orthography:
    """What reads a language, by espeak-ng's name of its voice; ``tree`` instead of the one that is
    there."""
    if voice not in LEARNED:
        return Spanish(lisps=voice == "es")
    return LEARNED[voice](tree or learned(voice))


@functools.cache
def learned(voice: str) -> Tree:
    """The tree of a language, read when it is first wanted."""
    made = LEARNED[voice]
    return read_tree(WORDS / f"{LANGUAGES[voice]}.tree", made.vowels, made.accents)


@functools.cache
def words(name: str) -> dict[str, str]:
    """Words that are not read by their spelling, with their sounds; capitals stand for themselves
    alone."""
    return dict(line.split("\t", 1) for line in lines_of(WORDS / f"{name}.txt"))


def sounds_of(voice: str, stand_in: str) -> RomanceSounds:
    """What makes phonemes of a language's words, by espeak-ng's name of its voice.

    ``stand_in`` is read after the words in sight while a clause goes on.
    """
    return RomanceSounds(orthography(voice), words(LANGUAGES[voice]), stand_in)
