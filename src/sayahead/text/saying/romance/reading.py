"""Words of a clause to sounds: the list first, then rules; names of letters where no rule can read
a word."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping, Sequence

from sayahead.text.saying.romance.rules import END, PRIMARY, Orthography, plain, prefixed, strong

PIECES = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d")
HUMPS = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-zà-ÿ])")
SHORT = 3
"""Most capitals that are read as letters, though they could be read as a word."""


class RomanceSounds:
    """A language read for voices; any number of threads may share it."""

    def __init__(self, language: Orthography, words: Mapping[str, str], stand_in: str = "") -> None:
        """``words``: those that the rules miss."""
        self._language = language
        self._words = words
        self._stand_in = stand_in
        self._vowels = frozenset(language.vowels)
        self.word = functools.lru_cache(maxsize=8192)(self._word)

    def with_words(self, words: Mapping[str, str]) -> RomanceSounds:
        """The same language with another list."""
        return RomanceSounds(self._language, words, self._stand_in)

    def clause(self, words: Sequence[str], *, closed: bool) -> list[str]:
        """Of each word, as running text."""
        seen = [*words, self._stand_in] if self._stand_in and not closed else list(words)
        before = ["", *(word.lower() for word in seen)]
        found = [self._after(*pair).partition(END) for pair in zip(before, seen, strict=False)]
        said = self._language.running([one for one, _, _ in found], seen)
        if closed and said:
            said[-1] = found[-1][2] or strong(said[-1])
        return said[: len(words)]

    def alone(self, word: str) -> str:
        """Of a word by itself."""
        return self.clause([word], closed=True)[0]

    def _after(self, before: str, word: str) -> str:
        """A word's sounds after another one; "" before it: it begins a clause."""
        return self._words.get(f"{before} {word.lower()}") or self.word(word)

    def _word(self, text: str) -> str:
        """A word from the list; else its pieces, which hyphens, figures or capitals inside part."""
        text = unicodedata.normalize("NFC", text).replace("’", "'")
        if said := self._known(text):
            return said
        said = ""
        for piece in PIECES.findall(text):
            for number, part in enumerate(HUMPS.split(piece)):
                said = prefixed(plain(said) + " " * (number > 0), self._piece(part))
        return said

    def _known(self, text: str) -> str:
        """What the list has for a word; in capitals a short one with a stress of its own is no
        word: "ONU"."""
        said = self._words.get(text, "")
        if (
            not said
            and (small := self._words.get(text.lower()))
            and not (initials(text) and PRIMARY in small)
        ):
            said = small
        return self._language.adapted(said) if said else ""

    def _piece(self, text: str) -> str:
        """What stands before an apostrophe, a word by the rules, or letters: where nobody could
        say it, its first one is named until the rest is a word."""
        if said := self._known(text):
            return said
        small = text.lower()
        head, apostrophe, rest = text.partition("'")
        if apostrophe and (before := self._language.elided.get(head.lower())) is not None:
            return prefixed(before, self._piece(rest))
        if initials(text) or len(small) == 1 or self._vowels.isdisjoint(small):
            return self._language.letters(small)
        if self._language.readable(small):
            return self._language.word(small)
        if len(small) <= SHORT:
            return self._language.letters(small)
        return prefixed(self._language.letters(small[:1]), self._piece(small[1:]))


def initials(text: str) -> bool:
    """Whether a word is capitals that are read as letters; one that leans on others is none."""
    return 1 < len(text) <= SHORT and text.isupper()
