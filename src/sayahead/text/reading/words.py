"""The words of a language: the tables of its data file, as vocabularies that rules name."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping

from sayahead.text.languages.data_file import TABLES
from sayahead.text.languages.numbers import Numbers
from sayahead.text.languages.record import Record
from sayahead.text.markup import SENTENCE_END

CUES = tuple(
    "phone code label roman wind hour ordinal day pressure date dates pulse expiry setting".split()
)
"""What a word may announce: the kinds of a data file's [cues]."""
MAX_CONSONANTS = 4
"""Letters of the longest that is one because it has no vowel."""
VOWELS = frozenset("aeiouyæøœı")
MAX_KNOWN = 8192
"""Words of which it is remembered whether they may be abbreviations."""
MAX_SHORT = 6
"""Letters of the longest word that may be an abbreviation where [vocabulary common] does not have
it."""
MAX_CUT = 8
"""Letters of the longest that may be one by its last letters (``short_ending``)."""
OPTIONAL = (
    "before_bracket before_months before_noun before_price before_size ratings before_town "
    "before_weekday common durations electrical elided exchange formula functions "
    "marked_letters menu name_forms or_word programs requiring none short "
    "thousand until_words whole_words".split()
)
"""Tables [vocabulary NAME] that common rules name and a language may lack; ``none`` stays empty."""

_DOTTED = re.compile(r".*\.")
_CURRENCY_CODE = re.compile("[A-Z]{3}")
_CURRENCY_PREFIX = re.compile(r"[A-Z]{3}|[\w-]*[^\w\s]")
"""Codes and signs, that stand before a number, too."""


class Words:
    """What sayers need of a language."""

    def __init__(self, tag: str, record: Record) -> None:
        self.tag = tag
        self.record = record
        """Its tables."""
        fields = {name: getattr(record, name) for name in record.__dataclass_fields__}
        tables = {name: table for name, table in fields.items() if isinstance(table, Mapping)}
        self._tables: Mapping[str, Mapping[str, object]] = {**tables, **record.vocabularies}
        self.vocabularies = vocabularies_of(record)
        """The words of each table, by its name."""
        self.common = frozenset(record.vocabularies.get("common", ()))
        """Short words: a full stop after one of them is no abbreviation's."""
        self._short_ending = re.compile(record.short_ending or "(?!)")
        self.is_short = functools.lru_cache(maxsize=MAX_KNOWN)(self._may_be_short)
        """Whether a full stop after a word may be that of an abbreviation which no table has."""

    @property
    def numbers(self) -> Numbers:
        """Its number words, which a language with rules for figures has."""
        assert self.record.numbers is not None
        return self.record.numbers

    def is_cut(self, word: str) -> bool:
        """Whether letters can only be an abbreviation: no word ends so, or they have no vowel."""
        if self._short_ending.fullmatch(word):
            return True
        return len(word) <= MAX_CONSONANTS and not any(
            unicodedata.normalize("NFD", c)[0] in VOWELS for c in word.lower()
        )

    def _may_be_short(self, word: str) -> bool:
        if not (self.record.spaced or word.isascii()):
            return False
        if len(word) > MAX_SHORT:
            return len(word) <= MAX_CUT and self._short_ending.fullmatch(word) is not None
        return word.lower() not in self.common

    def meaning(self, vocabulary: str, word: str) -> str:
        """What a table says of a word, [vocabulary NAME] or another; nothing if it has none."""
        return str(self._tables.get(vocabulary, {}).get(word, ""))


def vocabularies_of(record: Record) -> Mapping[str, list[str]]:
    """The words of each table of a data file, by the table's name; ``cues.phone`` those of one
    kind."""
    tables: dict[str, list[str]] = {
        name: [] for name in (*OPTIONAL, *TABLES, *(f"cues.{kind}" for kind in CUES))
    }
    for name in record.__dataclass_fields__.keys() - {"grammar", "vocabularies"}:
        value = getattr(record, name)
        if isinstance(value, str):
            tables[name] = [*filter(None, [value])]
        elif isinstance(value, Mapping | frozenset | tuple):
            tables[name] = sorted(value, key=str)
    for word, kind in record.cues.items():
        tables.setdefault(f"cues.{kind}", []).append(word)
    for name, words in record.vocabularies.items():
        tables[name] = sorted(words)
    return tables | {name: sorted(words) for name, words in _parts_of(record).items()}


def _parts_of(record: Record) -> Mapping[str, Iterable[str]]:
    """Parts of tables that rules ask for."""
    return {**_short_forms(record), **_endings(record), **_names_of_amounts(record)}


def _short_forms(record: Record) -> Mapping[str, Iterable[str]]:
    """Of what is written short: months and days, what ends a sentence, what stands before
    figures."""
    units = record.units
    short = record.vocabularies.get("short", ())
    return {
        "month_forms": {*record.months, *record.short_months, *map(str.lower, record.month_names)},
        "short_words": {
            form.rstrip(".")
            for form in short
            if form.rstrip(".").lower() in record.table("whole")
            and form not in record.abbreviations
        },
        "short_months": record.short_months,
        "unstopped": {
            form
            for form in record.table("plain")
            if form.isalpha() and form.istitle() and len(form) < 5
        },
        "weekday_forms": record.days_of_week,
        "abbreviations": record.abbreviations,
        "labels": {form for form in record.table("before_number") if form.rstrip(".") not in units},
        "agreeing": {form for form, words in record.abbreviations.items() if "/" in words},
    }


def _endings(record: Record) -> Mapping[str, Iterable[str]]:
    """What may end a sentence by its own full stop, and what never does."""
    short = {*record.vocabularies.get("short", ())}
    ending = {form for form in record.table("may_end") if form.endswith(".")}
    never = {form.lower() for form in record.table("never_ends")}
    return {
        "ending_forms": ending - record.table("never_ends").keys(),
        "ending_capitals": {form for form in ending if form.lower() not in never},
        "ending_phrases": {
            form
            for form in record.table("phrases")
            if form.replace(" ", "") in record.table("may_end")
        },
        "unending": {form for form in record.table("never_ends") if {form, form.lower()} & short},
    }


def _names_of_amounts(record: Record) -> Mapping[str, Iterable[str]]:
    """Of money and measures."""
    currencies = record.currencies
    units = record.units
    return {
        "currency_words": record.currency_words,
        "currency_names": filter(str.isalpha, record.currency_words),
        "currency_prefixes": filter(_CURRENCY_PREFIX.fullmatch, currencies),
        "currency_codes": filter(_CURRENCY_CODE.fullmatch, currencies),
        "currency_signs": {sign for sign in currencies if not sign.isalnum()},
        "per_words_said": {record.per, record.per_many} - {""},
        "units_in_letters": {unit for unit in units if len(unit) > 1},
        "dotted_units": filter(_DOTTED.fullmatch, units),
        "dotted_scales": filter(_DOTTED.fullmatch, record.scales),
        "rate_units": {unit for unit in units if set(unit) & set("/²³") and len(unit) > 1},
    }


def macros_of(record: Record) -> Mapping[str, str]:
    """Patterns that a language's file decides: how a number is written, which numbers vary."""
    mark = re.escape(record.decimal)
    marks = "".join(f"\\{char}" for char in record.groups if char != record.decimal)
    grouped = record.grouped_figures.format(marks=f"{marks} ")
    english = "" if record.decimal == "." else r"|\d{1,3}(?:,\d{3}){2,}"
    quotes = "[\"'“”„«»¿¡‘’(*_]{0,2}"
    return {
        "starter": f" {quotes}{{starters}}[^\\w]",
        "opening": "{starter}" if record.capital_nouns else f" {quotes}\\u",
        "number": rf"(?:(?:{grouped}|\d+)(?:{mark}\d+)?{english})",
        "whole": rf"(?:{grouped}|\d+)",
        "foreign": r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d{1,2})",
        "over": SENTENCE_END,
        "until": re.escape(record.until) or "-",
        "and": re.escape(record.and_word) or "-",
        "of": rf"(?:{re.escape(record.linked)} |{re.escape(record.linked_vowel)})",
    }
