"""Numbers: cardinal and decimal, what they agree with, what they mean for what follows."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

from sayahead.text.classes.quantity import amount_in, amount_of, number
from sayahead.text.classes.verbalize import cardinal, sign
from sayahead.text.reading.context import NUMBER, Match, Reading, meant
from sayahead.text.reading.words import Words

OF_MONTH = "monthday"
"""The tag of a number that may be a day of a month."""
SEVERAL_K = ("2", "4", "8", "16")
"""Before K they are a number of pixels."""


def plain(match: Match) -> Reading:
    """A number by itself."""
    return counting(match, match["n"])


def signed(match: Match) -> Reading:
    """A number with its sign."""
    return replace(
        counting(match, match["n"]), text=cardinal(match.text, match.language), tags=NUMBER
    )


def agreeing(match: Match) -> Reading | None:
    """A number that has several forms, in that of the noun that it counts."""
    amount = amount_in(match)
    value = amount.whole
    if amount.decimals or not match.numbers.varies(value):
        return None
    gender = gender_of(match, match["noun"], is_one=value == 1)
    if not gender:
        return None
    reading = counting(match, match["n"], gender)
    if not match["s"]:
        return reading
    words = cardinal(match["s"] + match["n"], match.language, gender)
    return replace(reading, text=words, tags=NUMBER)


def thousands(match: Match) -> Reading | None:
    """``5k``; ``4K`` are pixels."""
    text = match["n"]
    amount_in(match)
    if len(text) > 4 or (match.text[-1] == "K" and text in SEVERAL_K):
        return None
    return counting(match, f"{text}000")


def counting(match: Match, text: str, form: str = "") -> Reading:
    """A number in words, and what it means for a unit or a noun behind it."""
    amount = meant(amount_of(text, match.language))
    numbers = match.numbers
    if text.isdecimal() and 1100 <= amount.whole <= 1999 and numbers.has("year"):
        return Reading(numbers.year(amount.whole), NUMBER)
    tags = set(NUMBER)
    if text.isdecimal() and 1 <= amount.whole <= 31:
        tags.add(OF_MONTH)
    if match.is_attributive or "measure" in match.context.tags:
        tags.add("measured")
    return Reading(
        number(amount, form),
        frozenset(tags),
        is_one=match.is_attributive or numbers.singular(amount.value),
        is_million=amount.is_million,
    )


def gender_of(match: Match, noun: str, *, is_one: bool) -> str:
    """The gender of a noun: from the tables, else by its form."""
    record = match.record
    bare = noun.rstrip(".'")
    one, _, many = match.language.meaning("short", f"{bare}.").partition("+")
    bare = (one if is_one else many) or one or bare
    known = record.table("genders").get(bare.lower())
    if known is not None and f"{bare}." not in record.units:
        return known
    for name in (noun, bare):
        for table in (record.units, record.scales):
            if name in table:
                return table[name].gender
        if name in record.currency_words:
            return record.currency_words[name].main.gender
    if not bare.isalpha() or noun.endswith("'"):
        return ""
    if bare in _genders_of_units(match.language):
        return _genders_of_units(match.language)[bare]
    return match.numbers.gender(bare, is_one=is_one)


def suffixed(match: Match) -> Reading:
    """``90er``, ``5-stellig``, ``10%ig``: a number and what is said right after it."""
    language = match.language
    rest = match["rest"].replace("-", " ")
    percent = sign("%", language).lower() if "%" in match.text else ""
    reading = counting(match, match["n"], "n")
    return replace(reading, text=f"{reading.text}{percent}{match['tail']}{rest}", tags=frozenset())


@functools.cache
def _genders_of_units(language: Words) -> Mapping[str, str]:
    """The genders of units by their names in full: "due ore e mezza"."""
    units = language.record.units.values()
    return {name: unit.gender for unit in units for name in unit.forms if unit.gender}
