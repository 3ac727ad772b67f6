"""Tokens, what they are taken apart into, and the next one as far as it is there."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

GLUED, SPACE, LINE, BLANK = range(4)
"""What follows a token: nothing (it was cut), a space, a line break, a blank line or the end."""
QUOTES = "\"'“”‘’«»„¿¡"
_AFTER = ".,;:!?)]}\"'”’»*_…"

SaidT = TypeVar("SaidT")
"""What a language's reading of a token is: its words, and perhaps what they mean for the next."""


@dataclass(slots=True)
class Parts:
    """A token taken apart."""

    core: str
    """What is left to read."""
    mark: str
    """The one mark after it, in its Latin form, or nothing."""
    before: str = ""
    """An opening parenthesis, or nothing."""
    after: str = ""
    """A closing parenthesis, or nothing."""
    dotted: bool = False
    """Whether a full stop follows directly, the one of an abbreviation or an ordinal perhaps."""


@dataclass(slots=True)
class Token(Generic[SaidT]):
    """Characters between white space, with what is known about them."""

    raw: str
    """The characters, link targets left out."""
    start: int
    """Where it begins in the source text, in characters."""
    end: int
    """Where it ends in the source text (exclusive)."""
    gap: int
    """What follows it: GLUED, SPACE, LINE or BLANK."""
    first: bool = False
    """Whether it begins a line and may be a marker."""
    address: bool = False
    """Whether it goes on with a web address that was cut."""
    parts: Parts | None = None
    """The token taken apart, as soon as that was needed."""
    said: SaidT | None = None
    """Its reading, where that is settled already."""
    begun: str = ""
    """What of its reading has been returned already."""
    quoted: bool = False
    """Whether a quotation is open before it."""

    @property
    def closed(self) -> bool:
        """Whether the next token can change nothing about it."""
        return self.gap in (GLUED, BLANK)


@dataclass(frozen=True, slots=True)
class Joined(Generic[SaidT]):
    """What a token becomes together with the next."""

    core: str
    """What is still to be read, or decides about the end of the sentence and what may still follow."""
    said: SaidT | None = None
    """Its reading, or None where the core is to be read."""
    keeps_parenthesis: bool = True
    """Whether an opening parenthesis before the first token stays."""


@dataclass(frozen=True, slots=True)
class Right:
    """The next token as far as it is there."""

    text: str
    """Its characters so far."""
    done: bool
    """Whether that is all of it."""
    glued: bool = False
    """Whether it was cut."""
    last: bool = False
    """Whether it can change nothing: there is none, or the token before it is closed."""
    beyond: str = ""
    """The token after it as far as it is there; nothing while this one is not done."""
    open: bool = False
    """Whether more of that may come."""
    far: str = ""
    """The token after that one, as far as it is there; nothing while that one is open."""
    far_open: bool = False
    """Whether more of the far one may come."""

    @classmethod
    def of(cls, tokens: Sequence[Token[SaidT]], text: str) -> Right:
        """What follows a token: others that are complete, three of them or all, and the characters of the next one."""
        if not tokens:
            return cls(text, done=False)
        first, second, third = (*(token.raw for token in tokens[:3]), text, "", "")[:3]
        waits = tokens[min(len(tokens), 2) - 1].gap != BLANK
        return cls(
            first,
            done=True,
            glued=tokens[0].gap == GLUED,
            beyond=second,
            open=len(tokens) == 1 and waits,
            far=third,
            far_open=len(tokens) == 2 and waits,
        )

    @property
    def body(self) -> str:
        """The characters without the marks at the end."""
        return self.text.rstrip(_AFTER)

    def initial(self, also: str = "") -> str | None:
        """The first letter, figure, or one of some marks; nothing if there is none, None while it is not there."""
        for char in self.text:
            if char.isalnum() or char in also:
                return char
        return "" if self.done else None

    def capital(self) -> bool | None:
        """Whether it begins like a sentence."""
        initial = self.initial(QUOTES)
        if initial in ("'", "’"):  # A year without its hundreds: "Nov. '23".
            after = self.text.partition(initial)[2][:1]
            return not after.isdigit() if after or self.done else None
        if not initial:
            return None if initial is None else False
        return initial in QUOTES or (initial.isalpha() and not initial.islower())

    def one_of(self, full: Container[str], starts: Container[str]) -> bool | None:
        """Whether it is one of some words, marks after it aside; ``starts`` are all their beginnings."""
        if self.done:
            return not self.glued and (self.text in full or self.body in full)
        return None if not self.text or self.text in starts or self.word(full) in full else False

    def word(self, full: Container[str]) -> str:
        """The form under which ``one_of`` found it."""
        return self.text if self.text in full else self.body
