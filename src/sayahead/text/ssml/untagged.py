"""Text between tags: a normalizer that hands it to another one, and words at their places in the
source."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sayahead.text import Normalizer, Skipped
from sayahead.types import Word

MAX_KEPT = 256
"""Places at which tags changed something that are kept for revisions."""
MAX_TOUCHING = 40
"""Characters of one token before an element, beyond which a blank keeps it from being cut in
two."""
_PUNCTUATED = re.compile(r"(?:^|[.,;:!?…—)])\Z")
Value = TypeVar("Value")


class Changes(Generic[Value]):
    """What tags have asked for, and from where on in the source; kept for texts that are
    revised."""

    def __init__(self, neutral: Value) -> None:
        self.entries = [(0, neutral)]

    @property
    def last(self) -> Value:
        """What holds for the text to come."""
        return self.entries[-1][1]

    def at(self, place: int) -> Value:
        """What holds at a place of the source."""
        number = bisect.bisect_right(self.entries, place, key=lambda entry: entry[0])
        return self.entries[number - 1][1]

    def add(self, place: int, value: Value) -> None:
        """From this place on a value holds."""
        if value != self.last:
            self.entries.append((place, value))
            if len(self.entries) > 2 * MAX_KEPT:
                del self.entries[1:-MAX_KEPT]

    def forget_after(self, place: int) -> None:
        """Forget what holds from a later place on."""
        self.entries[1:] = [entry for entry in self.entries[1:] if entry[0] <= place]


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
        self.skipped: Skipped = []
        self._inner = inner
        self._words: list[Word] = []
        """Final ones that are still to be handed out."""
        self._held = ""
        """Characters that may still become a tag."""
        self._at = start
        """The place in the source of the next character that is read."""
        self._given = start
        """The place of the next character in the text that the inner normalizer gets, which has no
        tags."""
        self._places = Places([start], [start])
        """Maps the second kind of places to the first."""
        self._apart = False
        """Whether a tag has just parted a word from what follows."""
        self._before = ""
        """The last characters that the inner normalizer got."""
        self._open = False
        """Whether a sentence is open."""
        self._is_punctuated = False
        """Whether its last word ends with a punctuation mark."""
        self._done = start
        """The end of the last word in the source."""

    # ---- the normalizer's methods --------------------------------------------------------------

    def push(self, fragment: str) -> list[Word]:
        """The words that became final through this fragment."""
        self._pass_on(self._held + fragment, over=False)
        return self._handed_out()

    def flush(self) -> list[Word]:
        """The words still pending; what is not closed ends here."""
        self._read_held()
        self._take(self._inner.flush())
        self._open = False
        return self._handed_out()

    def breathe(self) -> list[Word]:
        """The words still pending, as they stand."""
        self._read_held()
        self._take(self._inner.breathe())
        return self._handed_out()

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        """Take all the text so far for spoken; returns the words that were still waiting."""
        self._read_held()
        self._take(self._inner.forget_spoken(begun=begun, over=over))
        self._open = self._open and not over
        return self._handed_out()

    def _handed_out(self) -> list[Word]:
        words = self._words
        self._words = []
        return words

    # ---- what subclasses know ------------------------------------------------------------------

    @property
    def _openers(self) -> re.Pattern[str]:
        """What may begin a tag."""
        raise NotImplementedError

    def _tag(self, rest: str, *, over: bool) -> int | None:
        """Take in the tag that a text begins with: how many characters, 0 where it is text; None
        while more must come, unless the text is ``over``."""
        raise NotImplementedError

    def _placed(self, word: Word) -> list[Word]:
        """A word of the inner normalizer as those of the source."""
        raise NotImplementedError

    def _parts(self, char: str) -> bool:
        """Whether a character that a tag has parted from a word begins another one."""
        return char.isalnum()

    # ---- the inner normalizer's text and words -------------------------------------------------

    def _read_held(self) -> None:
        """Read what is held as text: nothing follows that could make a tag of it."""
        self._pass_on(self._held, over=True)

    def _pass_on(self, text: str, *, over: bool) -> None:
        """Pass on text without its tags; what may become one is held."""
        at = 0
        while at < len(text):
            opener = self._openers.search(text, at)
            end = opener.start() if opener else len(text)
            self._text(text[at:end])
            at = end
            if opener is None:
                break
            size = self._tag(text[at:], over=over)
            if size is None:
                break
            if size == 0:
                size = 1
                self._text(text[at])
            at += size
        self._held = text[at:]

    def _text(self, text: str) -> None:
        """Take in text that begins at the present place of the source."""
        if text:
            self._feed(text)

    def _feed(self, text: str) -> None:
        """Give the inner normalizer text that stands at the present place of the source, parted by
        a space from a word that a tag has ended."""
        if self._apart and self._parts(text[0]):
            self._space()
        self._apart = False
        start = self._at
        self._at += len(text)
        self._give(text, start)

    def _space(self) -> None:
        """A blank that is not in the source."""
        self._give(" ", self._at)

    @property
    def _last(self) -> str:
        """The last character that the inner normalizer got."""
        return self._before[-1:]

    def _give(self, text: str, place: int) -> None:
        """Give the inner normalizer text that stands at a place of the source."""
        self._places.add(self._given, place)
        self._given += len(text)
        self._before = (self._before + text)[-MAX_TOUCHING - 1 :]
        self._take(self._inner.push(text))

    def _pause(self, start: int, seconds: float) -> None:
        """Silence for a tag: a word of its own, with a comma where the words before have no
        mark."""
        if not seconds:
            return
        self._take(self._inner.breathe())
        if not self._last.isspace():
            self._give(" ", start)
        mark = "," if self._open and not self._is_punctuated else ""
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

    def _span(self, word: Word) -> tuple[int, int]:
        """Where a word stands in the source, after those that are out."""
        start = max(self._places.start(word.start), self._done)
        end = self._end_of(word) if word.end > word.start else start
        return start, max(start, end)

    def _end_of(self, word: Word) -> int:
        """Where a word ends in the source."""
        return self._places.start(word.end - 1) + 1
