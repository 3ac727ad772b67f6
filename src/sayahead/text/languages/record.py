"""What a language's reading is made of: one record a language."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from sayahead.text.languages.nouns import Currency, Noun
from sayahead.text.languages.numbers import Numbers
from sayahead.text.languages.signs import name_of


@dataclass(frozen=True, kw_only=True)
class Record:
    """A language: tables for everybody, numbers where they are read here. Keys of tables are as
    they are written.

    A language without numbers leaves figures to espeak-ng.
    """

    tag: str
    stand_in: str
    """A content word that espeak-ng reads after what is in sight: one that makes nothing of the
    word before it."""
    scripts: tuple[str, ...] = ("LATIN",)
    """First words of the Unicode names of the letters that it can read."""
    spaced: bool = True
    """Whether words are written with spaces between them."""
    segmenter: str = ""
    """What parts words that have none: a key of ``reading.unspaced.SEGMENTERS``; without it, where
    scripts change."""
    question: str = ""
    """What ends a question, where it is another mark elsewhere: the Greek semicolon."""
    dot_ordinals: bool = False
    """Whether a full stop makes a number an ordinal."""
    numbers: Numbers | None = None
    decimal: str = ","
    groups: str = ".'’"
    """What stands between groups of three figures, beside a space."""
    groups_of_two: bool = False
    """Whether groups before the last one may have two figures: ``1,25,000``."""
    point: str = ""
    """The decimal mark by name."""
    dot: str = ""
    """A full stop inside an address or a version, by name."""
    version_mark: str = ""
    """The same in a version, where it is called otherwise there."""
    until: str = ""
    """Between the ends of a range."""
    per: str = ""
    per_vowel: str = ""
    """The same before a vowel, where it is another: "all'"."""
    per_many: str = ""
    """Before several of a unit, where it is another word: ``5 l/100 km``."""
    linked: str = ""
    """What links a round million to its noun: ``de``."""
    linked_vowel: str = ""
    """The same before a vowel, where it is another: ``d'``."""
    vowels: str = "aeiou"
    """The letters before which that stands."""
    counted: str = "(?!)"
    """A pattern of words that a number of millions counts: after ``3M`` it is no company then."""
    and_a_half: str = ""
    """A whole number and a half, where they are one word: ``{n}einhalb``."""
    accented: str = ""
    """Letters with marks, in small letters, for voices that read letters; their order is that of
    the ids."""
    greek: tuple[str, ...] = ()
    """Names of the Greek letters, alpha first, with ``_`` for a space; none where they are letters
    of its own."""
    metric: tuple[str, ...] = ()
    """The units that take prefixes."""
    months: Mapping[str, int] = field(default_factory=dict)
    """Names and abbreviations of months, in lower case, without a full stop."""
    month_names: tuple[str, ...] = ()
    """Their names, January first."""
    date_of: str = ""
    """Between a day, its month and its year, where it is said though it may not be written: ``3
    mayo 2024``."""
    many_days: tuple[str, ...] = ()
    """Words before several days of one month: ``les 17/18 juin``."""
    pressure: str = ""
    """Between the two numbers of a blood pressure: ``120/80 mmHg``, ``TA 14/8``."""
    each_in: str = ""
    """``de 8/8 h``: what is said between a length of time and itself."""
    phone_pause: str = ""
    """The mark between groups of a telephone number that more than a space parts."""
    keys: str = ""
    """What keys of a telephone are called: after it ``#`` is said."""
    and_word: str = ""
    """Between two things, and between a whole number and its fraction."""
    hashtag: str = "hashtag"
    """What is said for ``#`` before a word."""
    multiplied: str = ""
    """``2x`` before what is not counted by it: "veces"; without it, as between two numbers."""
    each_from: str = ""
    """The word before a length of time that is given twice: ``de 8/8 h``."""
    day_months: Mapping[str, int] = field(default_factory=dict)
    """What is a month's name in short only between a day and a full stop: ``4 mar.``"""
    tail: str = ""
    """Words that may follow any: what a Piper voice sees after those that are there."""
    every: str = ""
    """``c/8 h``: how often."""
    molar: str = "M"
    """Moles a liter: ``0,1 M NaOH``."""
    units: Mapping[str, Noun] = field(default_factory=dict)
    currencies: Mapping[str, Currency] = field(default_factory=dict)
    """By sign and by code."""
    money: str = "{main} {n}"
    """An amount with hundredths: ``main`` as counted, ``n`` of them, or ``cents`` with their
    noun."""
    out_of: str = ""
    """Between a mark and the best one: "7,5/10"."""
    single_units: bool = False
    """Whether a unit within a compound is in the singular: "a ten-mile walk"."""
    plural_parts: bool = False
    """Whether a unit is in the plural after a whole number and its parts: "two and a half
    miles"."""
    dotted_letters: bool = False
    """Whether letters are spelled only where nobody could say them as a word, and a full stop tells
    an A from "a"."""
    few_cents: bool = False
    """Whether less than ten hundredths have their noun: "un euro e cinque centesimi"."""
    scales: Mapping[str, Noun] = field(default_factory=dict)
    """Millions and their abbreviations."""
    signs: Mapping[str, str] = field(default_factory=dict)
    between: Mapping[str, str] = field(default_factory=dict)
    """Signs that are read otherwise between two numbers."""
    address: Mapping[str, str] = field(default_factory=dict)
    """Signs in web and mail addresses."""
    many_units: Mapping[str, Noun] = field(default_factory=dict)
    """What units in short count from a hundred on, where it is something else: ``3 hab.``, ``12.500
    hab.``."""
    short_ending: str = ""
    """A pattern of words that are abbreviations by their last letters: they end no sentence before
    a small letter."""
    hour_from: tuple[str, ...] = ()
    """Words after which ``15 h`` is a time of day."""
    per_feminine: str = ""
    """``per`` before a feminine noun, where it is another word."""
    sized: str = ""
    """Between the numbers of a size, where an x between two numbers is another word."""
    plural_s: bool = False
    """Whether what agrees with a noun in -s has an -s, too."""
    capital_nouns: bool = False
    """Whether a capital says nothing about a sentence's start."""
    cues: Mapping[str, str] = field(default_factory=dict)
    """Words in lower case that say what comes after them: ``phone``, ``code``, ``label``,
    ``roman``, ``wind``."""
    pairs: bool = False
    """Whether figures of telephone numbers are read in pairs."""
    hour_signs: tuple[str, ...] = ()
    """What stands between hours and minutes beside a colon."""

    vocabularies: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Words that rules name, and what is said for each or what it is: the tables of ``tables.txt``
    and [vocabulary NAME]."""
    grammar: tuple[tuple[str, int, str], ...] = ()
    """The rules that it alone has: file, line and text of each."""

    @property
    def grouped_figures(self) -> str:
        """A pattern of figures in groups, with ``{marks}`` for what may stand between them."""
        wider = r"|\d{{1,2}}(?:,\d{{2}})+,\d{{3}}" if self.groups_of_two else ""
        return r"\d{{1,3}}(?:[{marks}]\d{{3}})+" + wider

    def table(self, name: str) -> Mapping[str, str]:
        """A table of words or texts (``tables.txt``); empty where the language has none."""
        return self.vocabularies.get(name, {})

    def of(self, noun: str) -> str:
        """A noun after a round million: "d'euros"."""
        if self.linked_vowel and noun[:1] in self.vowels:
            return f"{self.linked_vowel}{noun}"
        return f"{self.linked} {noun}" if self.linked else noun

    def sign(self, name: str) -> str:
        """What a sign is called, in its own words or CLDR's."""
        if own := self.signs.get(name):
            return own
        return (
            name if name.isascii() or not self.signs else name_of(name, self.tag.partition("-")[0])
        )

    def over(self, name: str) -> str:
        """What a sign between two numbers is called."""
        return self.between.get(name) or self.sign(name)

    @functools.cached_property
    def currency_words(self) -> Mapping[str, Currency]:
        """Currencies by the words, signs and codes that may stand after a number."""
        words = {name: one for one in self.currencies.values() for name in one.main.forms}
        return {**words, **self.currencies}

    @functools.cached_property
    def short_months(self) -> Mapping[str, int]:
        """Months in short by their forms in small letters, without a full stop."""
        names = {name.lower() for name in self.month_names}
        short = {
            form.rstrip("."): month for form, month in self.months.items() if form not in names
        }
        return {**short, **self.day_months}

    def is_dated(self, word: str) -> bool:
        """Whether a number with a full stop before a word is no item's: "3. Mai", "1. FC"."""
        bare = word.rstrip(".,;:!?")
        is_known = self.month_of(bare) > 0 or bare in self.table("clubs")
        return self.dot_ordinals and is_known

    def month_of(self, name: str) -> int:
        """The number of a month by its name, in full or in short; 0 if it is none."""
        return self.months.get(name.lower()) or self.short_months.get(name.lower(), 0)

    @functools.cached_property
    def days_of_week(self) -> frozenset[str]:
        """Weekdays in small letters, in full and in short."""
        return frozenset(name.lower() for pair in self.table("weekdays").items() for name in pair)

    @functools.cached_property
    def abbreviations(self) -> Mapping[str, str]:
        """All that have a full stop."""
        return {**self.table("never_ends"), **self.table("may_end")}
