"""Quantities: a number as it is written, what it counts, and for each of what."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sayahead.text.languages.nouns import Currency, Noun
from sayahead.text.reading.context import Context, Match, meant
from sayahead.text.reading.words import MAX_KNOWN, Words

SIGNS = {"-": "-", "−": "-", "–": "-", "+": "+", "±": "±"}
"""Signs of numbers, each as that which has the name."""
MILLION = 1_000_000
LARGEST = 10**15
"""Whole numbers from here on are read figure by figure."""
_CONTINENTAL = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d{1,2}")
_SWAPPED = str.maketrans(",.", ".,")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
"""Thousands as English writes them."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number: its sign, its whole part, the figures after its decimal mark."""

    language: Words
    sign: str
    whole: int
    decimals: str = ""
    is_attributive: bool = False
    """Whether it belongs to a noun behind its unit, which then has no plural: "a $20 bill"."""

    @property
    def value(self) -> float:
        """What it is worth, without its sign."""
        return float(f"{self.whole}.{self.decimals or 0}")

    @property
    def figures(self) -> str:
        """Its figures without groups, with the decimal mark of the language."""
        return (
            f"{self.whole}{self.language.record.decimal}{self.decimals}"
            if self.decimals
            else str(self.whole)
        )

    @property
    def is_million(self) -> bool:
        """Whether it is whole millions: "d'euros"."""
        return not self.decimals and self.whole >= MILLION and self.whole % MILLION == 0


@functools.lru_cache(maxsize=MAX_KNOWN)
def amount_of(text: str, language: Words, *, is_english: bool = False) -> Amount | None:
    """The number that a text is, as its language writes it or else as English does; None if it is
    none.

    ``is_english``: English's marks count first, as in "$1,250".
    """
    sign = SIGNS.get(text[:1], "")
    figures = text[1:] if sign else text
    record = language.record
    marks = [(record.decimal, record.groups.replace(record.decimal, "") + " "), (".", ",")]
    if is_english and _GROUPED.fullmatch(figures):
        marks.reverse()
    for decimal, groups in marks:
        grouped = record.grouped_figures.format(marks=re.escape(groups))
        pattern = rf"({grouped}|\d+)(?:{re.escape(decimal)}(\d+))?"
        m = re.fullmatch(pattern, figures)
        if m is None:
            continue
        whole = re.sub(r"\D", "", m[1])
        if (len(whole) > 1 and whole[0] == "0") or int(whole) >= LARGEST:
            return None
        return Amount(language, sign, int(whole), m[2] or "")
    is_continental = record.decimal == "." and _CONTINENTAL.fullmatch(figures)
    return amount_of(sign + figures.translate(_SWAPPED), language) if is_continental else None


def amount_in(match: Match, group: str = "n") -> Amount:
    """The number that a slot captured; where it is none, the rule does not mean the token."""
    return meant(amount_of(match[group], match.language))


def worth(text: str, language: Words) -> float:
    """What a number is worth, without its sign; 0 where it is none."""
    amount = amount_of(text, language)
    return amount.value if amount else 0.0


def number(amount: Amount, form: str = "") -> str:
    """A number in words, with its sign."""
    record = amount.language.record
    numbers = amount.language.numbers
    words = numbers.cardinal(amount.whole, "" if amount.decimals else form)
    if amount.decimals:
        words = f"{words} {record.point} {numbers.fraction(amount.decimals)}"
        words = words if record.spaced else words.replace(" ", "")
    return f"{record.sign(amount.sign)} {words}" if amount.sign else words


def noun_of(noun: Noun, amount: Amount) -> str:
    """A noun in the form that a number asks for."""
    if amount.is_attributive:
        return noun.one
    if amount.is_million:
        return amount.language.record.of(noun.many)
    numbers = amount.language.numbers
    return numbers.form_of(noun, amount.figures, is_one=numbers.singular(amount.value))


def counted(amount: Amount, noun: Noun) -> str:
    """A number and what it counts."""
    return f"{number(amount, noun.gender)} {noun_of(noun, amount)}"


def noun_after(noun: Noun, context: Context, language: Words) -> str:
    """A noun after a number that has been said already."""
    record = language.record
    if language.numbers.noun_forms:
        return form_after(noun.forms, context, language)
    if context.is_million:
        return record.of(noun.one if context.is_one else noun.many)
    if context.is_one:
        return noun.one
    is_dative = noun.many.endswith("e") and " " not in noun.many
    return (
        f"{noun.many}n"
        if is_dative and context.before.lower().rstrip(".") in record.table("datives")
        else noun.many
    )


def form_after(forms: Sequence[str], context: Context, language: Words) -> str:
    """The form of a noun after a number that has been said already."""
    amount = amount_of(context.word, language)
    figures = amount.figures if amount else context.word
    return language.numbers.chosen(forms, figures, is_one=context.is_one)


def unit_of(name: str, language: Words, count: float = 0) -> Noun | None:
    """What a unit or a currency is called; some mean another thing by the hundred."""
    record = language.record
    if name in record.many_units and count >= 100:
        return record.many_units[name]
    for table in (record.units, record.currency_words, record.scales):
        one = table.get(name) or table.get(f"{name}.")
        if one is not None:
            return one.main if isinstance(one, Currency) else one
    return None


def unit_in(match: Match, count: float = 0) -> Noun:
    """The unit that the slot ``u`` captured; where it is none, the rule does not mean the token."""
    return meant(unit_of(match["u"], match.language, count))


def named_unit(match: Match, name: str) -> Noun:
    """A unit by its sign; where the language has none, the rule does not mean the token."""
    return meant(match.record.units.get(name))


def per_unit(name: str, language: Words) -> str:
    """What an amount is counted for each of: ``pro Monat``, ``all'ora``; ``name`` is a unit or a
    word."""
    record = language.record
    unit = unit_of(name, language)
    noun = language.meaning("per", name) or (unit.one if unit else name)
    if record.per_feminine and noun[0] not in "aeiou" and _is_feminine(name, unit, language):
        return f"{record.per_feminine} {noun}"
    if record.per_vowel and noun[0] in "aeiou":
        return f"{record.per_vowel}{noun}"
    return f"{record.per} {noun}"


def _is_feminine(name: str, unit: Noun | None, language: Words) -> bool:
    by_form = unit.gender if unit else language.numbers.gender(name, is_one=True)
    return (language.record.table("genders").get(unit.one if unit else name) or by_form) in (
        "f",
        "e",
    )
