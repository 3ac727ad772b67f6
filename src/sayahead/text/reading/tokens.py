"""Tokens, and the next one as far as it is there."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from sayahead.text.reading.marks import Parts
from sayahead.text.reading.record import Left

GLUED, SPACE, LINE, BLANK = range(4)
"""What follows a token: nothing (it was cut), a space, a line break, a blank line or the end."""
_QUOTES = "\"'“”‘’«»„¿¡"
_AFTER = ".,;:!?)]}\"'”’»*_…"
_BEFORE = "\"'“„«‹([{*_`¿¡"


@dataclass(frozen=True, slots=True)
class Said:
    """How a token is read, and what that means for the next."""

    text: str
    left: Left = field(default_factory=Left)


@dataclass(slots=True)
class Token:
    """Characters between white space, with what is known about them."""

    raw: str
    """The characters."""
    start: int
    """Where it begins in the source text, in characters."""
    end: int
    """Where it ends in the source text (exclusive)."""
    gap: int
    """What follows it: GLUED, SPACE, LINE or BLANK."""
    first: bool = False
    """Whether it begins a line and may be a marker."""
    parts: Parts | None = None
    """The token taken apart, as soon as that was needed."""
    said: Said | None = None
    """Its reading, where that is settled already."""

    @property
    def closed(self) -> bool:
        """Whether the next token can change nothing about it."""
        return self.gap in (GLUED, BLANK)


@dataclass(frozen=True, slots=True)
class Joined:
    """What a token becomes together with the next."""

    core: str
    """What is still to be read, or decides about the end of the sentence."""
    said: Said | None = None
    """Its reading, or None where the core is to be read."""


@dataclass(frozen=True, slots=True)
class Right:
    """The next token as far as it is there."""

    text: str
    """Its characters so far."""
    done: bool
    """Whether that is all of it."""
    last: bool = False
    """Whether nothing will ever follow: there is no next token."""

    @property
    def body(self) -> str:
        """The characters without quotes, brackets and the punctuation at the end."""
        return self.text.rstrip(_AFTER).lstrip(_BEFORE)

    def initial(self) -> str | None:
        """The first letter or figure; nothing if there is none, None while it is not there."""
        for char in self.text:
            if char.isalnum():
                return char
        return "" if self.done else None

    def capital(self) -> bool | None:
        """Whether it begins like a sentence."""
        if self.text[:1] and self.text[0] in _QUOTES:
            return True
        initial = self.initial()
        return None if initial is None else initial != "" and not initial.islower() and not initial.isdecimal()

    def one_of(self, full: Container[str], starts: Container[str]) -> bool | None:
        """Whether it is one of some words, marks behind it aside; ``starts`` are all their beginnings."""
        if self.done:
            return self.text in full or self.body in full
        return None if not self.text or self.text in starts or self.text.rstrip(_AFTER) in full else False

    def word(self, full: Mapping[str, object]) -> str:
        """The form under which ``one_of`` found it."""
        return self.text if self.text in full else self.body
