"""Phonemes of Romance languages by rules of their spelling, and a list of the words that these miss.

What is made are espeak-ng's phonemes, which voices learned from, without espeak-ng. Rules are written from the
orthographies; lists are made by ``lab/benchmarks/romance.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from sayahead.text.romance.reading import Orthography, RomanceSounds
from sayahead.text.romance.spanish import Spanish

LANGUAGES: dict[str, tuple[Callable[[], Orthography], str]] = {
    "es": (Spanish, "es"),
    "es-419": (functools.partial(Spanish, lisps=False), "es"),
}
"""By espeak-ng's name of the voice: what reads the language, and the list of its words."""
WORDS = Path(__file__).parent / "words"


@functools.cache
def words(name: str) -> dict[str, str]:
    """Words that the rules miss, with their sounds; capitals stand for themselves alone."""
    rows = (line.partition("\t") for line in (WORDS / f"{name}.txt").read_text(encoding="utf-8").splitlines())
    return {word: said for word, _, said in rows if word[:1] != "#"}


def sounds_of(voice: str, stand_in: str) -> RomanceSounds:
    """What makes phonemes of a language's words, by espeak-ng's name of its voice.

    ``stand_in`` is read after the words in sight while a clause goes on.
    """
    language, name = LANGUAGES[voice]
    return RomanceSounds(language(), words(name), stand_in)
