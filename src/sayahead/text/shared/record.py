"""What a language's reading is made of: one record a language."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType


@dataclass(frozen=True, slots=True)
class Noun:
    """What is counted: a unit, a currency."""

    one: str
    many: str
    gender: str = "m"
    """m, f or n: what the number before it agrees with."""


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
    """The word before it in the source, without marks; nothing behind a pause or at the start of the sentence."""
    one: bool = False
    """Whether what was counted is one."""
    big: bool = False
    """Whether it was a round number of millions: "d'euros"."""
    before: str = ""
    """The word before that one."""
    form: str = ""
    """The form in which an ordinal was said."""


@dataclass(frozen=True, slots=True)
class Said:
    """How a token is read, and what that means for the next."""

    text: str
    left: Left = field(default_factory=Left)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Figures in words. A form is ``""`` for counting, or the gender of the noun behind: ``m``, ``f``, ``n``."""

    cardinal: Callable[[int, str], str]
    """A whole number, 0 to 10^15, in a form."""
    ordinal: Callable[[int, str], str]
    """An ordinal, 1 to 9999, in a form."""
    fraction: Callable[[str], str]
    """The figures behind the decimal mark."""
    part: Callable[[int, int], str]
    """A common fraction: numerator, denominator; nothing where it has no name of its own."""
    varies: Callable[[int], bool]
    """Whether a whole number has several forms, so that it must wait for the noun."""
    roman: Callable[[int, Left], str]
    """A Roman numeral behind a name or a century's noun."""
    clock: Callable[[int, int | None, int | None, Left], str]
    """Hours, minutes, seconds; minutes may be unknown."""
    date: Callable[[int, int, int | None, Left], str]
    """Day, month, year."""
    singular: Callable[[float], bool] = field(default=lambda value: value == 1)
    """Whether so many take the singular."""
    year_of: Callable[[int], str] | None = None
    """A number of four figures without a mark, where it is read in another way than as a count."""
    dotted: Callable[[Left, str], str] | None = None
    """The form of an ordinal with a full stop, by what is to its left and right."""
    gender: Callable[[str, Left], str] | None = None
    """The gender of any noun by its form, or nothing where it does not show."""

    @classmethod
    def of(cls, module: ModuleType, **other: Callable[..., str]) -> Numbers:
        """What the functions of these names in a module say, but for some others."""
        return cls(**{name: getattr(module, name) for name in cls.__slots__ if hasattr(module, name)} | other)


@dataclass(frozen=True, kw_only=True)
class Record:
    """A language: tables for everybody, numbers where they are read here. Keys of tables are as they are written.

    A language without numbers leaves figures to espeak-ng.
    """

    tag: str
    stand_in: str
    """A content word that espeak-ng reads behind what is in sight: one that makes nothing of the word before it."""
    scripts: tuple[str, ...] = ("LATIN",)
    """First words of the Unicode names of the letters that it can read."""
    spaced: bool = True
    """Whether words are written with spaces between them."""
    question: str = ""
    """What ends a question, where it is another mark elsewhere: the Greek semicolon."""
    dot_ordinals: bool = False
    """Whether a full stop makes a number an ordinal."""
    numbers: Numbers | None = None
    decimal: str = ","
    groups: str = ".'’"
    """What stands between groups of three figures, beside a space."""
    point: str = ""
    """The decimal mark by name."""
    dot: str = ""
    """A full stop inside an address or a version, by name."""
    until: str = ""
    """Between the ends of a range."""
    per: str = ""
    per_vowel: str = ""
    """The same before a vowel, where it is another: "all'"."""
    of: Callable[[str], str] = field(default=lambda noun: noun)
    """A noun behind a round million: "d'euros"."""
    and_a_half: str = ""
    """A whole number and a half, where they are one word: ``{n}einhalb``."""
    weekdays: Mapping[str, str] = field(default_factory=dict)
    """Their abbreviations, for ``Mo-Fr``."""
    months: Mapping[str, int] = field(default_factory=dict)
    """Names and abbreviations of months, in lower case, without a full stop."""
    month_names: tuple[str, ...] = ()
    """Their names, January first."""
    date_of: str = ""
    """Between a day, its month and its year, where it is said though it may not be written: ``3 mayo 2024``."""
    clubs: frozenset[str] = frozenset()
    """What clubs' names go on with behind an ordinal, where a full stop makes ordinals: ``1. FC Köln``."""
    linking: frozenset[str] = frozenset()
    """Words of five letters and more between what tells of a number's figures and these: ``die PIN lautet 4711``."""
    each_in: str = ""
    """``de 8/8 h``: what is said between a length of time and itself."""
    keys: str = ""
    """What keys of a telephone are called: behind it ``#`` is said."""
    articles: Mapping[str, str] = field(default_factory=dict)
    """Articles by their gender, where Roman figures behind them are ordinals: ``la II Guerra Mundial``."""
    suffixes: Mapping[str, str] = field(default_factory=dict)
    """Ends of words in short, with a full stop: ``Hauptstr.``"""
    every: str = ""
    """``c/8 h``: how often."""
    molar: str = "M"
    """Moles a liter: ``0,1 M NaOH``."""
    units: Mapping[str, Noun] = field(default_factory=dict)
    glued_only: frozenset[str] = frozenset()
    """Units that count as such only right behind the figures ("5m"), or those that are words otherwise."""
    currencies: Mapping[str, Currency] = field(default_factory=dict)
    """By sign and by code."""
    money: str = "{main} {n}"
    """An amount with hundredths: ``main`` as counted, ``n`` of them, or ``cents`` with their noun."""
    scales: Mapping[str, Noun] = field(default_factory=dict)
    """Millions and their abbreviations."""
    signs: Mapping[str, str] = field(default_factory=dict)
    between: Mapping[str, str] = field(default_factory=dict)
    """Signs that are read otherwise between two numbers."""
    address: Mapping[str, str] = field(default_factory=dict)
    """Signs in web and mail addresses."""
    never_ends: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations with their full stop that end no sentence."""
    may_end: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations that may also end one."""
    before_number: Mapping[str, str] = field(default_factory=dict)
    """What is an abbreviation only before a number: ``S. 5``."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """What is read as one though there are spaces in it: ``z. B.``; behind a number one or many, parted by a slash."""
    plain: Mapping[str, str] = field(default_factory=dict)
    """Words without a full stop that are read as others: ``km``-like abbreviations, ``Mr``."""
    starters: frozenset[str] = frozenset()
    """Words that typically open a sentence."""
    openers: frozenset[str] = frozenset()
    """Words, in small letters, before which a phrase may pause."""
    capital_nouns: bool = False
    """Whether a capital says nothing about a sentence's start."""
    genders: Mapping[str, str] = field(default_factory=dict)
    """Nouns of everyday whose gender matters to a number."""
    letters: Mapping[str, str] = field(default_factory=dict)
    """Names of single letters, where espeak-ng has none."""
    cues: Mapping[str, str] = field(default_factory=dict)
    """Words in lower case that say what the figures behind them are: ``phone``, ``code``, ``label``, ``roman``."""
    ordinal_suffixes: Mapping[str, str] = field(default_factory=dict)
    """What makes figures an ordinal when it follows them, and its form."""
    number_suffixes: frozenset[str] = frozenset()
    """Patterns of what is said right behind a number in words, with nothing between: ``90er``, ``5-stellig``."""
    pairs: bool = False
    """Whether figures of telephone numbers are read in pairs."""
    hour_signs: tuple[str, ...] = ()
    """What stands between hours and minutes beside a colon."""
    hour_words: frozenset[str] = frozenset()
    """Words and signs behind a time that its reading has in it already: ``Uhr``."""
    lasting: frozenset[str] = frozenset()
    """Units of time that make a length of time of ``10:30`` before them."""
    half: Mapping[str, str] = field(default_factory=dict)
    """``½`` before a noun, by its gender."""
    centuries: frozenset[str] = frozenset()
    """Nouns that a Roman numeral stands before: ``XX secolo``."""
    names: frozenset[str] = frozenset()
    """First names of monarchs and popes: before a single Roman figure."""

    @functools.cached_property
    def number(self) -> str:
        """A pattern of unsigned numbers."""
        mark = re.escape(self.decimal)
        groups = "".join(map(re.escape, self.groups.replace(self.decimal, "")))
        other = "" if self.decimal == "." else r"|[0-9]{1,3}(?:,[0-9]{3}){2,}"
        return rf"(?:[0-9]{{1,3}}(?:[{groups} ][0-9]{{3}})+(?:{mark}[0-9]+)?(?![0-9]){other}|[0-9]+(?:{mark}[0-9]+)?)"

    @functools.cached_property
    def currency_words(self) -> Mapping[str, Currency]:
        """Currencies by the words, signs and codes that may stand behind a number."""
        words = {name: one for one in self.currencies.values() for name in (one.main.one, one.main.many)}
        return {**words, **self.currencies}

    @functools.cached_property
    def abbreviations(self) -> Mapping[str, str]:
        """All that have a full stop."""
        return {**self.never_ends, **self.may_end}


def prefixes(words: Mapping[str, object] | frozenset[str]) -> frozenset[str]:
    """All beginnings of words but the words themselves, and nothing."""
    return frozenset(word[:size] for word in words for size in range(1, len(word)))
