"""Roman numerals, where words beside them say that they are some."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from sayahead.text.reading.context import Match, Reading, meant

_ROMAN = re.compile(r"(?=[IVXLCDM])(M{0,3})(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
GREATEST = 40
"""No monarch has a greater number: "Paul MIX"."""
CUES = frozenset({"roman", "label"})
TEN = 10
"""Centuries up to here are ordinals before their noun."""
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def value_of(numeral: str) -> int:
    """The value of a Roman numeral in capitals, or 0."""
    if not _ROMAN.fullmatch(numeral):
        return 0
    values = [_VALUES[char] for char in numeral]
    return sum(
        -one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True)
    )


def value_in(match: Match, group: str) -> int:
    """The value of the numeral in a slot; where it is none, the rule does not mean the token."""
    return meant(value_of(match[group]))


def labelled(match: Match) -> Reading | None:
    """A numeral after a word that announces one: "Kapitel IV", "siglo XXI"."""
    return spoken(match, [match["r"].upper()], "label", match.context.tags & CUES)


def named(match: Match) -> Reading | None:
    """A numeral after the name of a monarch or a pope."""
    if value_of(match["r"]) > GREATEST:
        return None
    numbers = match.numbers
    is_feminine = re.fullmatch(numbers.feminine_names, match.context.word) is not None
    reading = spoken(match, [match["r"]], "f" if is_feminine else "")
    return replace(reading, mark=".", ends=True) if reading and match["next"] else reading


def titled(match: Match) -> Reading | None:
    """A numeral after a name of several words: "Vittorio Emanuele II"."""
    context = match.context
    name = context.word.rpartition("-")[2]
    is_name = (
        context.word[:1].isupper() and context.before and context.word not in match.record.months
    )
    is_small = len(match["r"]) > 1 and set(match["r"]) <= set("IVX")
    return named(match) if name in match.record.table("names") or (is_name and is_small) else None


def century(match: Match) -> Reading:
    """``XX secolo``: an ordinal before its noun."""
    values = [value_in(match, group) for group in "ab" if match[group]]
    return Reading(f" {match.record.until} ".join(before_noun(match, one, "m") for one in values))


def span(match: Match) -> Reading | None:
    """``XVIII-XIX`` after a word that announces a numeral."""
    return spoken(match, [match["a"], match["b"]], "", ["roman"])


def before_noun(match: Match, value: int, gender: str) -> str:
    """An ordinal in the form that stands before a noun: "tercer milenio"."""
    numbers = match.numbers
    return numbers.ordinal(value, "s" if gender == "m" and numbers.has("ordinal s") else gender)


def after_article(match: Match) -> Reading | None:
    """``la II Guerra Mundial``: an ordinal before its noun; ``el XVIII``: a century, by the
    language's [roman].

    Where ordinals have a full stop, as in German, it is none without one. A single letter is one
    only before a noun, and ``I``, which may be the letter there as well, only before a war.
    """
    record = match.record
    numeral = match["r"]
    noun = match["noun"]
    value = value_in(match, "r")
    gender = record.table("articles")[match.context.word.lower()]
    if record.dot_ordinals:
        return None
    if len(numeral) == 1 and (not noun or (value == 1 and noun not in record.table("wars"))):
        return None
    # Beyond ten, [roman] is a cardinal in Spanish and Portuguese: "el XII congreso".
    if noun and (gender == "f" or value <= TEN or noun[0].isupper()):
        return Reading(before_noun(match, value, gender))
    return spoken(match, [numeral], "", ["roman"])


def going_on(match: Match) -> Reading:
    """The word between two numerals: "siglos XVI y XX"."""
    return Reading(match.text, match.context.tags & CUES)


def road(match: Match) -> Reading:
    """``N-II``."""
    return Reading(f"{match['road']} {match.numbers.cardinal(value_in(match, 'r'))}")


def spoken(
    match: Match, numerals: Iterable[str], form: str, tags: Iterable[str] = ()
) -> Reading | None:
    """Numerals in words, from one to another; None where one is none."""
    numbers = match.numbers
    values = [value_of(numeral) for numeral in numerals]
    name = "roman" if numbers.has("roman") else "cardinal"
    words = [numbers.in_words(name, value, form) for value in values]
    return Reading(f" {match.record.until} ".join(words), frozenset(tags)) if all(values) else None
