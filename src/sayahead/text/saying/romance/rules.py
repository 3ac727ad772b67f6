"""Letters to sounds by rules in order, and where the stress of a word falls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

PRIMARY = "ˈ"
SECONDARY = "ˌ"
TIE = "‿"
END = "|"
"""In a list, after a word's sounds: what follows is said before a vowel (nothing: the same), at the
end of a clause."""


class Rules:
    """Rewrites a text from left to right: at each place the first pattern that fits, looking around
    as it likes.

    What no pattern fits is dropped, so the alphabet has to be among them.
    """

    def __init__(self, table: str) -> None:
        """A rule a line: a regular expression, white space, and what is said for it; nothing: it is
        silent."""
        rows = [line.split() for line in table.splitlines() if line.strip()]
        self._said = [row[1] if len(row) > 1 else "" for row in rows]
        self._pattern = re.compile("|".join(f"({row[0]})" for row in rows) + "|(.)", re.DOTALL)

    def __call__(self, text: str) -> str:
        said = self._said
        count = len(self._said)

        def sound(match: re.Match[str]) -> str:
            place = match.lastindex or 0
            return said[place - 1] if place <= count else ""

        return self._pattern.sub(sound, text)


def stressed(
    sounds: str, nuclei: Sequence[int], main: int, *, others: Callable[[int], bool] = lambda _: True
) -> str:
    """Sounds with stress marks before the nuclei at ``main`` and, away from it, at every second one
    before it.

    ``nuclei`` are places in ``sounds``; ``others`` says of a nucleus by its number whether it may
    have such a mark."""
    marks = {nuclei[main]: PRIMARY}
    last = -2
    for number in range(main - 1):
        if number - last > 1 and others(number):
            marks[nuclei[number]] = SECONDARY
            last = number
    return "".join(marks.get(place, "") + symbol for place, symbol in enumerate(sounds))


def named(text: str, names: Mapping[str, str]) -> str:
    """The names of letters, each with its main stress; all but the last one lose that. ``_`` is a
    space."""
    said = [names[letter].replace("_", " ") for letter in text if letter in names]
    return "".join([*(name.replace(PRIMARY, SECONDARY) for name in said[:-1]), *said[-1:]])


ONSET = re.compile(
    "(?:[bcdfghjklmnñpqrstvwxyzç]|[bcdfgkptv][rl]|s[bcdfghklmnpqtvrw][lr]?|[cpstwgr]h[rl]?|ll|ps|gn|kn|pn)?"
    "[aeiouyáéíóúüàèìòùâêîôûãõäëïöœæ]"
)
"""What a word that can be read begins with."""
VOWELS = frozenset("aeiouyɛɔœøɐəɪʊɑæ")
"""Sounds that may be stressed."""

FULL = {"ʊ": "u", "ɪ": "i"}
"""Vowels that are weak where there is no stress."""


def prefixed(before: str, said: str) -> str:
    """What a list has for a word, with these sounds before it."""
    return before + re.sub(f"([{TIE}{END}])(?=[^{TIE}{END}])", lambda mark: mark[1] + before, said)


def fitted(said: str, following: str) -> str:
    """What a list has for a word, before one with these sounds."""
    alone, _, tied = said.partition(TIE)
    return tied if tied and following.lstrip(PRIMARY + SECONDARY)[:1] in VOWELS else alone


def plain(said: str) -> str:
    """What a list has for a word, but for what it is before a vowel and at the end of a clause."""
    return re.split(f"[{TIE}{END}]", said, maxsplit=1)[0]


def strong(said: str) -> str:
    """A word that leans on others, as it sounds where it ends a clause: its last stress is the main
    one."""
    if PRIMARY in said or not said:
        return said
    if SECONDARY in said:
        before, _, after = said.rpartition(SECONDARY)
        return before + PRIMARY + FULL.get(after[:1], after[:1]) + after[1:]
    place = next((place for place, symbol in enumerate(said) if symbol in VOWELS), 0)
    return said[:place] + PRIMARY + FULL.get(said[place], said[place]) + said[place + 1 :]


class Orthography:
    """A language's rules. Sounds of words that lean on others have no main stress (``ˈ``)."""

    vowels: str
    """Its letters for vowels, in small letters."""
    names: Mapping[str, str]
    """Sounds of the letters' names."""
    elided: Mapping[str, str] = MappingProxyType({})
    """Sounds of what may stand before an apostrophe."""

    def word(self, text: str) -> str:
        """How a word in small letters sounds, where nothing beside it has an influence."""
        raise NotImplementedError

    def letters(self, text: str) -> str:
        """The names of letters, the last one with the main stress."""
        return named(text, self.names)

    def readable(self, text: str) -> bool:
        """Whether a word may begin like this one; its first letter is named where not."""
        return ONSET.match(text) is not None

    def adapted(self, said: str) -> str:
        """What the list has for a word, as this kind of the language says it."""
        return said

    def running(self, sounds: Sequence[str], words: Sequence[str]) -> list[str]:
        """How words of a clause, given with their characters, sound together."""
        raise NotImplementedError
