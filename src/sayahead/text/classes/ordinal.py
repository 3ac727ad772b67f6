"""Ordinals: figures with what makes an ordinal of them, in the form that the words beside them ask
for."""

from __future__ import annotations

import re
from dataclasses import replace

from sayahead.text.classes.quantity import named_unit
from sayahead.text.classes.roman import value_in, value_of
from sayahead.text.classes.verbalize import cardinal
from sayahead.text.languages.nouns import Noun
from sayahead.text.languages.numbers import first
from sayahead.text.reading.context import Match, Reading

MEASURE = frozenset({"measure"})
GREATEST = 60
"""From here on figures with what is a unit, too, are no ordinal: 180°, 250nd; degrees with no noun
behind them."""
COLD = 13
"""Up to here they are one, whatever is beside them: "Vive al 5°"."""


def suffixed(match: Match) -> Reading | None:
    """``3ª``, ``2ème``."""
    value = int(re.sub(r"\D", "", match["n"]))
    is_unit = match["s"].isascii() and match["s"] in match.record.units and value >= GREATEST
    return _ordinal(match, value, match["s"]) if value and not is_unit else None


def degrees(match: Match) -> Reading | None:
    """``21°``, where it is no ordinal: by the words beside it and its size."""
    unit = named_unit(match, match["s"])
    value = int(match["n"])
    is_alone = not (match["noun"] or match["place"])
    is_warm = value >= COLD and _is_degrees(match, is_alone)
    is_great = value >= GREATEST and is_alone
    return _several(unit, match) if is_warm or is_great else None


def degrees_to(match: Match) -> Reading | None:
    """``de 5° a -10 °C``; ``del 1º al 8`` are days."""
    return None if match.text == "1º" else _several(named_unit(match, match["s"]), match)


def _several(unit: Noun, match: Match) -> Reading:
    noun = match.numbers.form_of(unit, match["n"], is_one=False)
    return Reading(f"{cardinal(match['n'], match.language, unit.gender)} {noun}", MEASURE)


def _is_degrees(match: Match, is_alone: bool) -> bool:
    """Whether the words beside figures with a degree sign tell of a temperature."""
    if "degrees" in match.context.tags:
        return True
    is_free = match.context.word.lower() not in match.record.table("articles")
    return is_free and (match["place"] != "" or (is_alone and match["s"] == "°"))


def roman(match: Match) -> Reading | None:
    """``XXe``."""
    numeral = match["r"]
    value = value_in(match, "r")
    if len(numeral) == 1 and (
        numeral not in "IVX" or match["s"] not in match.record.table("letter_suffixes")
    ):
        return None
    return _ordinal(match, value, match["s"])


def roman_span(match: Match) -> Reading:
    """``XVIIIe-XIXe``."""
    forms = match.record.table("ordinal_suffixes")
    low = match.numbers.ordinal(value_in(match, "a"), forms[match["s"]])
    high = match.numbers.ordinal(value_in(match, "b"), forms[match["t"]])
    return Reading(f"{low} {match.record.until} {high}")


def _ordinal(match: Match, value: int, suffix: str) -> Reading:
    form = match.record.table("ordinal_suffixes")[suffix]
    tags = frozenset({"monthday"} if value == 1 else ())
    rest = match["rest"].replace("-", " ")
    return Reading(match.numbers.ordinal(value, form) + rest, tags)


# ---- full stops ----------------------------------------------------------------------------------


def dotted(match: Match) -> Reading | None:
    """``3.``, where the words to its left say that it is an ordinal."""
    noun = match["noun"]
    if noun not in match.record.table("starters"):
        return _dotted(match, noun)
    # The full stop ends the sentence as well, unless so many figures are a number or a year.
    reading = _dotted(match, "")
    is_great = len(match["n"]) > 2
    return None if is_great or reading is None else replace(reading, mark=".", ends=True)


def dotted_before(match: Match) -> Reading | None:
    """``3.`` before a noun: no ordinal where the noun begins a sentence."""
    noun = match["noun"].rstrip("'")
    context = match.context
    record = match.record
    # A numeral after a name is the name's, whose rules read it: "Ludwig XIV.".
    if match["r"] and context.before and context.word[:1].isupper():
        return None
    is_named = noun in record.table("clubs") or any(
        form in record.table("after_ordinal") for form in (noun, f"{noun}.")
    )
    # More than a month has days are a number or a year that ends its sentence.
    is_great = match["n"] != "" and int(match["n"]) > 31
    if (
        (noun in record.table("starters") or is_great)
        and noun.lower() not in record.months
        and not is_named
    ):
        return None
    return _dotted(match, noun)


def _dotted(match: Match, noun: str) -> Reading | None:
    """An ordinal in the form that a noun asks for, which may be a month or an abbreviation."""
    figures = match["n"] or str(value_of(match["r"]))
    record = match.record
    if figures[0] == "0" and figures.strip("0") == "":
        return None
    named = (
        record.table("after_ordinal").get(noun)
        or record.table("after_ordinal").get(f"{noun}.")
        or noun
    )
    month = record.months.get(noun.lower())
    said = (
        "" if noun in record.table("clubs") else record.month_names[month - 1] if month else named
    )
    form = form_of(match, said)
    tags = frozenset({"monthday"} if int(figures) <= 31 else ())
    return Reading(match.numbers.ordinal(int(figures), form), tags, form=form)


def form_of(match: Match, noun: str = "") -> str:
    """The form of an ordinal with a full stop by the words to its left and the noun: "am
    dritten"."""
    context = match.context
    numbers = match.numbers
    gender = numbers.gender(noun, is_one=False) or "-"
    before = context.before if context.word else ""
    place = (
        f"{before.rpartition(' ')[2].lower()} {context.word.lower().rstrip('.')} {gender} {noun}"
    )
    rows = (
        numbers.endings
        if context.form
        else tuple(row for row in numbers.endings if row[1] != "same")
    )
    form = first(rows, place)
    return context.form if form == "same" else form
