"""Words cut short, by rule: the beginning of one (``antib.``), or its consonants (``gtos.``, ``cpte.``)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable
from typing import NamedTuple

_VOWELS = "aeiou"
_LEAST = 2
"""Fewest letters that are left out; of one letter a form is another word."""
_SHORTEST = 3
"""Fewest letters of a form."""
_LONGEST = 10
"""Most letters of one."""
_KNOWN = 4096
"""How many forms are remembered."""
_FREED = frozenset("ae")
"""First letters of endings before which a last syllable loses its accent."""
_STRESSED = re.compile("(.*)([áéíóú])([ns])")
_CONSONANTS = re.compile("[^aeiouy]{3,5}")
_VOICED = re.compile("(?!.[lr]|s[cptq]|[cpt]h|gn)[^aeiouy]{2,3}[aeiou]s?")
"""Consonants with the last letters of a word, which are no syllable: ``gtos``, ``cpte``."""


class CutShort(NamedTuple):
    """A word that is written short: ``antibiótico+s``, ``alérgico/-a``."""

    one: str
    many: str
    """The plural; the same where it has none."""
    other: str = ""
    """The feminine of an adjective."""


def parsed(entry: str) -> CutShort:
    """An entry: ``+`` stands before the plural's ending, ``/`` before the feminine's.

    A hyphen before an ending takes the last letter away: ``bustina+-e``.
    """
    body, _, plural = entry.partition("+")
    word, slash, feminine = body.partition("/")
    return CutShort(word, _with(word, plural), _with(word, feminine) if slash else "")


def _with(word: str, ending: str) -> str:
    kept = word[:-1] if ending[:1] == "-" else word
    if ending[:1] in _FREED and (stressed := _STRESSED.fullmatch(kept)):  # "habitación", "habitaciones"
        kept = stressed[1] + _bare(stressed[2]) + stressed[3]
    return kept + ending.removeprefix("-")


class CutWords:
    """The words of a language that are written short, in order: of two with one beginning the first is meant."""

    def __init__(self, entries: Iterable[str], whole: Container[str], *, capital_nouns: bool = False) -> None:
        """``whole``: beginnings that are words themselves; ``capital_nouns``: a capital makes another word."""
        self._whole, self._capital_nouns = whole, capital_nouns
        self._by_letter: dict[str, list[CutShort]] = {}
        for cut in map(parsed, entries):
            self._by_letter.setdefault(_bare(cut.one[0]), []).append(cut)
        self._found: dict[tuple[str, bool], CutShort | None] = {}

    def of(self, form: str, *, sure: bool = False) -> CutShort | None:
        """The word that letters before a full stop are short for, if they are.

        In small letters or with a capital; what has a capital by itself, as a German noun, only so. ``sure``: whether
        the full stop ends no sentence, as before a comma: then a form that is a word, too, is one.
        """
        if len(self._found) > _KNOWN:
            self._found.clear()
        if (form, sure) not in self._found:
            self._found[form, sure] = self._match(form, sure=sure)
        return self._found[form, sure]

    def _match(self, form: str, *, sure: bool) -> CutShort | None:
        if not _SHORTEST <= len(form) <= _LONGEST or not form.isalpha() or not form[1:].islower():
            return None
        if form.lower() in self._whole and not sure:
            return None
        if form.islower() or self._capital_nouns:
            return self._listed(form)
        if small := self._listed(form[0].lower() + form[1:]):
            return CutShort(*(word[:1].upper() + word[1:] for word in small))
        name = self._listed(form)
        return name if name and 2 * len(form) >= len(name.one) else None  # "Sant." may be many a place.

    def _listed(self, form: str) -> CutShort | None:
        words = self._by_letter.get(_bare(form[0]), ())
        if _bare(form[-1]) not in _VOWELS:
            for cut in words:
                if _begins(form, cut.one):
                    return cut
            several = form[-1] == "s" and _bare(form[-2]) not in _VOWELS
            for cut in words:
                if several and cut.one != cut.many and _begins(form[:-1], cut.one):
                    return CutShort(cut.many, cut.many)
        if not (_CONSONANTS.fullmatch(form.lower()) or _VOICED.fullmatch(form.lower())):
            return next((cut for cut in words if _ends_like(form, cut.one)), None)
        for cut in words:
            if _contracted(form, cut.one):
                return cut
            if cut.one != cut.many and _contracted(form, cut.many):
                return CutShort(cut.many, cut.many)
        return None


def _begins(form: str, word: str) -> bool:
    """Whether letters are the beginning of a word; an accent may be left out, but none put in."""
    if not _SHORTEST <= len(form) <= len(word) - _LEAST:
        return False
    return word.startswith(form) or (form.isascii() and _bare(word[: len(form)]) == form)


def _ends_like(form: str, word: str) -> bool:
    """Whether letters are a word's beginning and its last one: ``Umleitg``; with another last letter they are words."""
    joint = len(form) > 5 and form[-1] == "g" and form[-2] not in _VOWELS
    return joint and len(form) <= len(word) - _LEAST and word.startswith(form[:-1]) and word[-1] == "g"


def _contracted(form: str, word: str) -> bool:
    """Whether letters are most of a word's consonants, perhaps with its last vowel: ``gtos``, ``Pckg``, ``cpte``."""
    vowel = form.rstrip("s")[-1:]
    end = _bare(word if vowel and vowel in _VOWELS else word.rstrip(_VOWELS))
    if len(form) > len(word) - _LEAST or form[-1] != end[-1]:
        return False
    letters = iter(end)
    if not all(char in letters for char in form):
        return False
    return 5 * sum(char not in _VOWELS for char in form) >= 3 * sum(char not in _VOWELS for char in end)


def _bare(word: str) -> str:
    """A word without its accents; the case stays."""
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
