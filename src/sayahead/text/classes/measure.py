"""Measures: units after a number or right at it, and what they are divided by."""

from __future__ import annotations

from sayahead.text.classes.quantity import amount_of, counted, noun_after, number, numbers_of, per_unit, unit_of
from sayahead.text.reading.context import Match, Reading

NUMBER = frozenset({"number"})
HOURS = frozenset({"hours"})


def before(match: Match) -> Reading | None:
    """A number that has several forms, in that of the unit behind it."""
    amount = amount_of(match["n"], match.language)
    noun = unit_of(match["u"], match.language)
    if amount is None or noun is None or amount.decimals:
        return None
    numbers = numbers_of(match.language)
    if not numbers.varies(amount.whole):
        return None
    is_one = numbers.singular(amount.value)
    words = number(amount, match.language, noun.gender)
    return Reading(words, NUMBER, is_one=is_one, is_million=amount.is_million)


def unit(match: Match) -> Reading | None:
    """What the number before it is of."""
    name = match["u"]
    count = amount_of(match.context.word, match.language)
    noun = unit_of(name, match.language, count.value if count else 0)
    if noun is None:
        return None
    tags = HOURS if name in match.language.record.hours else frozenset[str]()
    return Reading(noun_after(noun, match.context, match.language), tags, noun=noun.many)


def glued(match: Match) -> Reading | None:
    """``5km``, ``3.5GB``, ``10–15kg``: a number, or a range, and its unit."""
    amount = amount_of(match["n"], match.language)
    if amount is None:
        return None
    noun = unit_of(match["u"], match.language, amount.value)
    low = amount_of(match["m"], match.language)
    if noun is None or (match["m"] and (low is None or low.value >= amount.value)):
        return None
    begin = f"{number(low, match.language, noun.gender)} {match.language.record.until} " if low else ""
    tags = HOURS if match["u"] in match.language.record.hours else frozenset[str]()
    return Reading(begin + counted(amount, noun, match.language), tags, noun=noun.many)


def lettered(match: Match) -> Reading | None:
    """``14A``: a seat, a house, a track."""
    amount = amount_of(match["n"], match.language)
    return Reading(f"{number(amount, match.language)} {match['l']}") if amount else None


def per(match: Match) -> Reading | None:
    """What an amount is counted for each of."""
    return Reading(per_unit(match["u"], match.language), word=match["u"])


def per_many(match: Match) -> Reading | None:
    """``/100 km``: several of a unit."""
    amount = amount_of(match["n"], match.language)
    if amount is None:
        return None
    record = match.language.record
    is_one = numbers_of(match.language).singular(amount.value)
    return Reading(f"{record.per_many or record.per} {number(amount, match.language)}", NUMBER, is_one=is_one)


def share(match: Match) -> Reading | None:
    """``24 h/24``: no rate."""
    amount = amount_of(match["n"], match.language)
    return Reading(f"{match.language.record.over('/')} {number(amount, match.language)}", NUMBER) if amount else None
