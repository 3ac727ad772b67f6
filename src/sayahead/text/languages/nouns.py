"""What numbers count: nouns and currencies."""

from __future__ import annotations

from dataclasses import dataclass


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
