"""What rules and sayers hand each other: a match, its reading, and what that means for the next
token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sayahead.text.languages.numbers import Numbers
from sayahead.text.languages.record import Record
from sayahead.text.reading.grammar import Rule
from sayahead.text.reading.words import Words

START = "start"
NUMBER = frozenset({"number"})
"""The tags of what counts something, whatever its class is."""


@dataclass(frozen=True, slots=True)
class Context:
    """What stands to the left of a token."""

    tags: frozenset[str] = frozenset({START})
    """What rules may ask for in angle brackets: the class of the token before (``number``), what
    its reading adds (``hours``), what its word announces (``phone``), ``start`` at a sentence's
    start; ``glued`` where nothing stands between a word or number and this one."""
    word: str = ""
    """The token before, as it is written, without marks; nothing after a pause, but before a
    weekday the word that says of what kind its date is: "am Mittwoch, 3. Mai"."""
    before: str = ""
    """The token before that one."""
    is_one: bool = False
    """Whether a number to the left counts one thing."""
    is_million: bool = False
    """Whether it is a round number of millions: "un millón de euros"."""
    form: str = ""
    """The form in which the token before was said, or the ordinal before a word: "der 1. und
    3."."""
    noun: str = ""
    """The noun in full, where the word is an abbreviation of one."""

    @property
    def named(self) -> str:
        """The word to the left, in full."""
        return self.noun or self.word


@dataclass(frozen=True, slots=True)
class Reading:
    """What is said for a token, and what that means for the next."""

    text: str
    """The words; empty for what is silent."""
    tags: frozenset[str] = frozenset()
    """What it is for the rules of the next token, beside its class."""
    mark: str = ""
    """For punctuation: the mark that its word carries, ``","`` or ``"."``, or a bracket. With a
    text: the mark after it that belongs to the token (``12.6.`` before a sentence's first word)."""
    shown: str = ""
    """The mark as its script writes it, where that is another."""
    ends: bool = False
    """Whether a sentence ends with it."""
    word: str = ""
    """What the next token takes it for, where that is not as it is written."""
    is_one: bool = False
    is_million: bool = False
    form: str = ""
    noun: str = ""


SILENT = Reading("")
UNHEARD = "unheard"
"""The tag of what is silent for want of a word, which whoever sent it is told."""


class RefusedError(Exception):
    """A rule does not mean the token: the next candidate is asked."""


Value = TypeVar("Value")


def meant(value: Value | None) -> Value:
    """A value; where there is none, the rule does not mean the token."""
    if not value:
        raise RefusedError
    return value


ATTRIBUTIVE = "after:attributive"
"""The tag of a word after which a quantity belongs to a noun: "a 5 km run"."""


@dataclass(frozen=True, slots=True)
class Match:
    """A token and the rule that took it."""

    rule: Rule
    language: Words
    context: Context
    text: str
    """The token as it is written."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """What the rule's slots captured, in the token and to its right."""

    @property
    def record(self) -> Record:
        """The tables of its language."""
        return self.language.record

    @property
    def numbers(self) -> Numbers:
        """The number words of its language."""
        return self.language.numbers

    @property
    def is_attributive(self) -> bool:
        """Whether the quantity belongs to a noun behind it: by the word before it, or by the rule's
        slot ``each``."""
        return ATTRIBUTIVE in self.context.tags or bool(self["each"])

    def __getitem__(self, group: str) -> str:
        """What a slot captured, or nothing."""
        return self.groups.get(group) or ""
