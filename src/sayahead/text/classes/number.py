"""Numbers: cardinal and decimal, what they agree with, what they mean for what follows."""

from __future__ import annotations

from sayahead.text.classes.verbalize import cardinal, digits, numbers_of
from sayahead.text.reading.context import Match, Reading
from sayahead.text.shared import amounts

NUMBER = frozenset({"number"})


def plain(match: Match) -> Reading | None:
    """A number by itself."""
    return counting(match, match["n"], "")


def signed(match: Match) -> Reading | None:
    """A number with its sign."""
    text = match["n"]
    name = match.language.record.sign(match["s"].replace("−", "-"))
    reading = counting(match, text, "")
    return Reading(f"{name} {reading.text}", NUMBER, is_one=reading.is_one) if reading else None


def agreeing(match: Match) -> Reading | None:
    """A number that has several forms, in that of the noun that it counts."""
    record = match.language.record
    value = amounts.whole(match["n"], record)
    if value is None or not numbers_of(match.language).varies(value):
        return None
    gender = gender_of(match, match["noun"], is_one=value == 1)
    return counting(match, match["n"], gender) if gender else None


def zeros(match: Match) -> Reading | None:
    """Figures with a leading zero, or more of them than a number has: one by one."""
    return Reading(digits(match["n"], match.language), NUMBER)


def counting(match: Match, text: str, form: str) -> Reading | None:
    """A number in words, and what it means for a unit or a noun behind it."""
    record = match.language.record
    if amounts.parse(text, record) is None:
        return None
    is_one = numbers_of(match.language).singular(amounts.value_of(text, record))
    is_million = amounts.round_million(text, record)
    words = cardinal(text, match.language, form)
    return Reading(words, NUMBER, is_one=is_one, is_million=is_million)


def gender_of(match: Match, noun: str, *, is_one: bool) -> str:
    """The gender of a noun: from the tables, else by its form."""
    record = match.language.record
    if noun in record.units:
        return record.units[noun].gender
    if noun in record.currency_words:
        return record.currency_words[noun].main.gender
    if noun in record.scales:
        return record.scales[noun].gender
    known = record.genders.get(noun.lower())
    if known is not None:
        return known
    rows = (*record.numbers.genders_of_one, *record.numbers.noun_genders) if record.numbers else ()
    return _by_form(rows if is_one else (record.numbers.noun_genders if record.numbers else ()), noun)


def _by_form(rows: tuple[tuple[str, str], ...], noun: str) -> str:
    from sayahead.text.shared.numbers import first

    return first(rows, noun).replace("-", "")
