"""Text between tags: a normalizer that hands it to another one, and words at their places in the
source."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field

from sayahead.text import Normalizer
from sayahead.types import Word

_PUNCTUATED = re.compile(r"(?:^|[.,;:!?…—)])\Z")


@dataclass(slots=True)
class Places:
    """Which character of the source each character of the normalizer's text is."""

    text: list[int] = field(default_factory=lambda: [0])
    """Where stretches begin in the normalizer's text."""
    source: list[int] = field(default_factory=lambda: [0])
    """Where they begin in the source."""

    def add(self, text: int, source: int) -> None:
        """From here on the one is the other, character for character."""
        if text == self.text[-1]:
            self.source[-1] = source
        elif source - self.source[-1] != text - self.text[-1]:
            self.text.append(text)
            self.source.append(source)

    def start(self, place: int) -> int:
        """Where a character is in the source."""
        at = bisect.bisect_right(self.text, place) - 1
        return self.source[at] + place - self.text[at]

    def cut(self, place: int) -> None:
        """Drop what holds only from a later place on."""
        at = bisect.bisect_right(self.text, place)
        del self.text[max(1, at) :], self.source[max(1, at) :]

    def forget(self, place: int) -> None:
        """Drop what is only needed before a place."""
        at = bisect.bisect_right(self.text, place) - 1
        if at > 64:
            del self.text[:at], self.source[:at]


class Untagged:
    """A normalizer that hands the text between tags to another one; subclasses know the tags."""

    def __init__(self, inner: Normalizer, start: int) -> None:
        """``start``: the place of the first character in the source."""
        self.skipped: list[tuple[int, int, str]] = []
        self._inner = inner
        self._words: list[Word] = []
        """Final ones that are still to be handed out."""
        self._at = start
        """The place in the source of the next character that is read."""
        self._given = start
        """The place of the next character in the text that the inner normalizer gets, which has no
        tags."""
        self._places = Places([start], [start])
        """Maps the second kind of places to the first."""
        self._apart = False
        """Whether a tag has just parted a word from what follows."""
        self._last = ""
        """The last character that the inner normalizer got."""
        self._open = False
        """Whether a sentence is open."""
        self._is_punctuated = False
        """Whether its last word ends with a punctuation mark."""
        self._done = start
        """The end of the last word in the source."""

    # ---- the normalizer's methods --------------------------------------------------------------

    def push(self, fragment: str) -> list[Word]:
        """The words that became final through this fragment."""
        self._read(fragment)
        return self._handed_out()

    def flush(self) -> list[Word]:
        """The words still pending; what is not closed ends here."""
        self._settle()
        self._take(self._inner.flush())
        self._open = False
        return self._handed_out()

    def breathe(self) -> list[Word]:
        """The words still pending, as they stand."""
        self._settle()
        self._take(self._inner.breathe())
        return self._handed_out()

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        """Take all the text so far for spoken; returns the words that were still waiting."""
        self._settle()
        self._take(self._inner.forget_spoken(begun=begun, over=over))
        self._open = self._open and not over
        return self._handed_out()

    def _handed_out(self) -> list[Word]:
        words = self._words
        self._words = []
        return words

    # ---- what subclasses know ------------------------------------------------------------------

    def _read(self, fragment: str) -> None:
        """Pass on a fragment without its tags."""
        raise NotImplementedError

    def _settle(self) -> None:
        """What may still become a tag is text."""
        raise NotImplementedError

    def _placed(self, word: Word) -> list[Word]:
        """A word of the inner normalizer as those of the source."""
        raise NotImplementedError

    # ---- the inner normalizer's text and words -------------------------------------------------

    def _give(self, text: str, place: int) -> None:
        """Give the inner normalizer text that stands at a place of the source."""
        self._places.add(self._given, place)
        self._given += len(text)
        self._last = text[-1]
        self._take(self._inner.push(text))

    def _pause(self, start: int, seconds: float) -> None:
        """Silence for a tag: a word of its own, with a comma where the words before have no
        mark."""
        self._take(self._inner.breathe())
        if not self._last.isspace():
            self._give(" ", start)
        mark = "," * (self._open and not self._is_punctuated)
        self._words.append(Word(mark, max(start, self._done), self._at, pause_s=seconds))
        self._is_punctuated = True
        self._done = self._at

    def _take(self, words: list[Word]) -> None:
        """Take in words of the inner normalizer, and what it has skipped."""
        for start, end, text in self._inner.skipped:
            self.skipped.append((self._places.start(start), self._places.start(end - 1) + 1, text))
        self._inner.skipped.clear()
        for word in words:
            self._words += self._placed(word)
            self._done = self._words[-1].end
            self._open = not word.ends
            self._is_punctuated = _PUNCTUATED.search(word.text) is not None
        if words:
            self._places.forget(words[-1].end)
