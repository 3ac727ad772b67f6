"""Markup as filters: characters in, characters out, each with its place in the source.

A filter holds back what may still become markup, so its result does not depend on how a text is
cut."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

SENTENCE_END = "\u2029"
"""A character that ends the sentence, whatever stands before it."""
LIST_STOP = "\u2024"
"""What follows the number of a list's item: a pause that ends no sentence."""
Place = tuple[int, int]
"""Where a character stands in the source: start and end (exclusive)."""
Character = tuple[str, int, int]
"""A character, and where it stands in the source: start and end (exclusive)."""


@dataclass(slots=True)
class Text:
    """Characters, each with its place."""

    chars: str = ""
    places: list[Place] = field(default_factory=list)

    @classmethod
    def of(cls, fragment: str, start: int) -> Text:
        """A fragment of the source."""
        return cls(fragment, [(at, at + 1) for at in range(start, start + len(fragment))])

    @classmethod
    def made_of(cls, characters: Iterable[Character]) -> Text:
        """Characters with their places."""
        text = cls()
        for char, start, end in characters:
            text.chars += char
            text.places.append((start, end))
        return text

    def characters(self) -> list[Character]:
        """Its characters, each with its place."""
        pairs = zip(self.chars, self.places, strict=True)
        return [(char, start, end) for char, (start, end) in pairs]

    def __add__(self, other: Text) -> Text:
        return Text(self.chars + other.chars, self.places + other.places)

    def __getitem__(self, part: slice) -> Text:
        return Text(self.chars[part], self.places[part])


class Output:
    """What a filter passes on."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._places: list[Place] = []

    def append(self, chars: str, place: Place) -> None:
        """Add characters that all have one place."""
        self._parts.append(chars)
        self._places += [place] * len(chars)

    def extend(self, text: Text) -> None:
        """Add a text."""
        self._parts.append(text.chars)
        self._places += text.places

    def text(self) -> Text:
        """All of it."""
        return Text("".join(self._parts), self._places)


class Rewriter:
    """A filter that copies text up to what may be markup, and asks what that is."""

    OPENERS: re.Pattern[str]
    """What may begin markup."""

    def __init__(self) -> None:
        self._held = Text()
        self._out = Output()
        self._is_over = False
        """Whether nothing more of the text is awaited."""
        self._last = "\n"
        """The character before the ones that are held."""
        self._lead = -1
        """Where silent markup before the next word begins."""

    def push(self, text: Text) -> Text:
        """The characters that these make certain."""
        if text.chars and self.is_idle and self.OPENERS.search(text.chars) is None:
            self.let(text.chars)
            return text
        self._is_over = False
        return self._pass_on(text)

    @property
    def is_idle(self) -> bool:
        """Whether characters pass as they are up to what may be markup."""
        return not self._held.chars and self._lead < 0

    def let(self, chars: str) -> None:
        """Let characters pass as they are."""
        self._last = chars[-1]

    def flush(self, text: Text) -> Text:
        """The characters that these make certain, and all that wait, as if the text were over."""
        self._is_over = True
        return self._pass_on(text)

    def end_line(self) -> None:
        """What comes next begins a new line."""
        self._last = "\n"

    def _pass_on(self, text: Text) -> Text:
        self._held = self._held + text if self._held.chars else text
        self._out = Output()
        self._held = self._held[self._run(0) :]
        return self._out.text()

    def _rewrite(self, at: int) -> int | None:
        """Take in what begins at a place of what is held: how many characters, 0 for no markup;
        None while more must come."""
        raise NotImplementedError

    def _is_broken_off(self) -> bool:
        """Whether what comes next is looked at in another way."""
        return False

    def _run(self, at: int) -> int:
        """Pass on what is held from a place on; up to where that went."""
        chars = self._held.chars
        while at < len(chars):
            opener = self.OPENERS.search(chars, at)
            end = opener.start() if opener else len(chars)
            self._copy(at, end)
            at = end
            if opener is None:
                break
            size = self._rewrite(at)
            if size is None:
                break
            if size == 0:
                size = 1
                self._copy(at, at + 1)
            self._last = chars[at + size - 1]
            at += size
            if self._is_broken_off():
                break
        return at

    def _copy(self, start: int, end: int) -> None:
        """Pass on what is no markup."""
        if start == end:
            return
        part = self._held[start:end]
        self._last = part.chars[-1]
        if self._lead >= 0:
            part.places[0] = (self._lead, part.places[0][1])
            self._lead = -1
        self._out.extend(part)

    def _silence(self, at: int) -> None:
        """Leave out what begins here; before a word, it belongs to that."""
        if self._lead < 0 and self._last.isspace():
            self._lead = self._held.places[at][0]

    def _put(self, chars: str, at: int, size: int) -> None:
        """Put characters in place of some that are held."""
        self._out.append(chars, (self._held.places[at][0], self._held.places[at + size - 1][1]))
        self._lead = -1
