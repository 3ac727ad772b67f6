"""What a reading is made of: nouns that are counted, and what a word means for the next."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Noun:
    """What is counted: a unit, a currency."""

    one: str
    many: str
    gender: str = "m"
    """m, f or n: what the number before it agrees with."""
    further: tuple[str, ...] = ()
    """Its other forms, where numbers ask for more than these two."""

    @property
    def forms(self) -> tuple[str, ...]:
        """All forms in the order of the data file."""
        return (self.one, self.many, *self.further)


@dataclass(frozen=True, slots=True)
class Currency:
    """Money: the noun and what a hundredth of it is called."""

    main: Noun
    cent: Noun | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """What the words before a token mean for it."""

    kind: str = ""
    """``number``, ``hours``, ``money``, ``phone``, ``code``, ``day``, ``month``, ``dash``, ``start``, or nothing."""
    word: str = ""
    """The word before it in the source, without marks; nothing after a pause or at the start of the sentence."""
    one: bool = False
    """Whether what was counted is one."""
    big: bool = False
    """Whether it was a round number of millions: "d'euros"."""
    before: str = ""
    """The word before that one."""
    form: str = ""
    """The form in which an ordinal was said."""
    noun: str = ""
    """The noun in full, where the word is one in short or agrees with it: "temp. mín. y máx."."""


@dataclass(frozen=True, slots=True)
class Said:
    """How a token is read, and what that means for the next."""

    text: str
    left: Left = field(default_factory=Left)
