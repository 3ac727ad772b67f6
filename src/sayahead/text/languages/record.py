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
    prefixes: Mapping[str, str] = field(default_factory=dict)
    """What makes other units of metric ones: ``k = kilo``."""
    metric: tuple[str, ...] = ()
    """The units that take prefixes."""
    weekdays: Mapping[str, str] = field(default_factory=dict)
    """Their abbreviations, for ``Mo-Fr``."""
    months: Mapping[str, int] = field(default_factory=dict)
    """Names and abbreviations of months, in lower case, without a full stop."""
    month_names: tuple[str, ...] = ()
    """Their names, January first."""
    date_of: str = ""
    """Between a day, its month and its year, where it is said though it may not be written: ``3
    mayo 2024``."""
    clubs: frozenset[str] = frozenset()
    """What clubs' names go on with after an ordinal, where a full stop makes ordinals: ``1. FC
    Köln``."""
    linking: frozenset[str] = frozenset()
    """Words of five letters and more between what tells of a number's figures and these: ``die PIN
    lautet 4711``."""
    asks: frozenset[str] = frozenset()
    """Words with which a question begins that is not answered with yes or no, so that the voice
    falls; without any, no question rises."""
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
    articles: Mapping[str, str] = field(default_factory=dict)
    """Articles by their gender, where Roman figures after them are ordinals: ``la II Guerra
    Mundial``."""
    suffixes: Mapping[str, str] = field(default_factory=dict)
    """Ends of words in short, with a full stop: ``Hauptstr.``"""
    and_word: str = ""
    """Between two things, and between a whole number and its fraction."""
    hashtag: str = "hashtag"
    """What is said for ``#`` before a word."""
    between_words: frozenset[str] = frozenset()
    """Words after which a range is linked by ``and_word``: "between"."""
    firms: frozenset[str] = frozenset()
    """Words after which ``3M`` is the company."""
    multiplied: str = ""
    """``2x`` before what is not counted by it, where the sign between two numbers is another word:
    "veces"."""
    times: frozenset[str] = frozenset()
    """How often, as in ``3 times/day``."""
    each_from: str = ""
    """The word before a length of time that is given twice: ``de 8/8 h``."""
    each_units: frozenset[str] = frozenset()
    """The units of such a length of time."""
    wars: frozenset[str] = frozenset()
    """Nouns before which a single ``I`` is an ordinal."""
    day_months: Mapping[str, int] = field(default_factory=dict)
    """What is a month's name in short only between a day and a full stop: ``4 mar.``"""
    hours: frozenset[str] = frozenset({"h"})
    """Units after whose number another of two figures is one of minutes."""
    tail: str = ""
    """Words that may follow any: what a Piper voice sees after those that are there."""
    compass: Mapping[str, str] = field(default_factory=dict)
    """Which way a place on the globe lies: ``N = Nord``."""
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
    never_ends: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations with their full stop that end no sentence."""
    may_end: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations that may also end one."""
    before_number: Mapping[str, str] = field(default_factory=dict)
    """What is an abbreviation only before a number: ``S. 5``; after a slash the plural: ``los km 3
    y 5``."""
    before_small: Mapping[str, str] = field(default_factory=dict)
    """What is one only before a small letter: ``c/ desayuno``."""
    after_ordinal: Mapping[str, str] = field(default_factory=dict)
    """What is one only after an ordinal: ``3. OG``, ``6.ª pl.``."""
    many_units: Mapping[str, Noun] = field(default_factory=dict)
    """What units in short count from a hundred on, where it is something else: ``3 hab.``, ``12.500
    hab.``."""
    per_words: frozenset[str] = frozenset()
    """What a thing is counted for each of: ``Einträge/Seite``."""
    datives: frozenset[str] = frozenset()
    """Words before a number after which plurals that end in -e take an -n: ``seit 2 Tg.``"""
    places: frozenset[str] = frozenset()
    """Prepositions of places: before them ``21°`` is no ordinal."""
    hotels: frozenset[str] = frozenset()
    """Words in small letters beside which ``4*`` are stars."""
    short_ending: str = ""
    """A pattern of words that are abbreviations by their last letters: they end no sentence before
    a small letter."""
    hour_from: tuple[str, ...] = ()
    """Words after which ``15 h`` is a time of day."""
    per_feminine: str = ""
    """``per`` before a feminine noun, where it is another word."""
    sized: str = ""
    """Between the numbers of a size, where an x between two numbers is another word."""
    dated_at: frozenset[str] = frozenset()
    """Words before a time of day, after which two numbers with a slash are a day and a month: "9/12
    às 10h15"."""
    verbs: frozenset[str] = frozenset()
    """Units that are verbs, too, after a name with a number and before figures: "il Frecciarossa
    9571 ha ritardo"."""
    plurals: frozenset[str] = frozenset()
    """Articles of several things, in small letters."""
    plural_s: bool = False
    """Whether what agrees with a noun in -s has an -s, too."""
    roads: frozenset[str] = frozenset()
    """Letters of roads that are counted in Roman figures: ``N-II``."""
    whole: frozenset[str] = frozenset()
    """Their beginnings that are words themselves, in small letters."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """What is read as one though there are spaces in it: ``z. B.``; after a number one or many,
    parted by a slash."""
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
    """Words in lower case that say what comes after them: ``phone``, ``code``, ``label``,
    ``roman``, ``wind``."""
    ordinal_suffixes: Mapping[str, str] = field(default_factory=dict)
    """What makes figures an ordinal when it follows them, and its form."""
    letter_suffixes: frozenset[str] = frozenset()
    """Those of them that also follow a single Roman letter: ``Ier``, ``Ve``. In other languages
    "Ve" is a word."""
    pairs: bool = False
    """Whether figures of telephone numbers are read in pairs."""
    hour_signs: tuple[str, ...] = ()
    """What stands between hours and minutes beside a colon."""
    hour_words: frozenset[str] = frozenset()
    """Words and signs after a time that its reading has in it already: ``Uhr``."""
    lasting: frozenset[str] = frozenset()
    """Units of time that make a length of time of ``10:30`` before them."""
    half: Mapping[str, str] = field(default_factory=dict)
    """``½`` before a noun, by its gender."""
    half_more: Mapping[str, str] = field(default_factory=dict)
    """What is said after a number for a half more, by its noun's gender: ``2 1/2 tazas``."""
    centuries: frozenset[str] = frozenset()
    """Nouns that a Roman numeral stands before: ``XX secolo``."""
    names: frozenset[str] = frozenset()
    """First names of monarchs and popes: before a single Roman figure."""

    vocabularies: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Words that rules name, and what is said for each or what it is: the tables [vocabulary
    NAME]."""
    grammar: tuple[tuple[str, int, str], ...] = ()
    """The rules that it alone has: file, line and text of each."""

    @property
    def grouped_figures(self) -> str:
        """A pattern of figures in groups, with ``{marks}`` for what may stand between them."""
        wider = r"|\d{{1,2}}(?:,\d{{2}})+,\d{{3}}" if self.groups_of_two else ""
        return r"\d{{1,3}}(?:[{marks}]\d{{3}})+" + wider

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
        is_known = self.month_of(bare) > 0 or bare in self.clubs
        return self.dot_ordinals and is_known

    def month_of(self, name: str) -> int:
        """The number of a month by its name, in full or in short; 0 if it is none."""
        return self.months.get(name.lower()) or self.short_months.get(name.lower(), 0)

    @functools.cached_property
    def days_of_week(self) -> frozenset[str]:
        """Weekdays in small letters, in full and in short."""
        return frozenset(name.lower() for pair in self.weekdays.items() for name in pair)

    @functools.cached_property
    def abbreviations(self) -> Mapping[str, str]:
        """All that have a full stop."""
        return {**self.never_ends, **self.may_end}
