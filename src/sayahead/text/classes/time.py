"""Times of day by the patterns of a language's [clocks], lengths of time by their units."""

from __future__ import annotations

from collections.abc import Iterable

from sayahead.text.classes.verbalize import cardinal
from sayahead.text.reading.context import Match, Reading

LONG_HOURS = 6
"""From here on hours and minutes before a word for hours are a time of day."""
LASTING = frozenset({"measure"})


def clock(match: Match) -> Reading | None:
    """``14:30``, ``14h30``, ``14.30 Uhr``."""
    if match.text[-1] == "H" and "label" in match.context.tags:
        return None
    words = clock_of(match, int(match["h"]), given(match, "m"), given(match, "s"))
    return Reading(words)


def zoned(match: Match) -> Reading:
    """``20:00 GMT-3``: a time and its zone."""
    language = match.language
    time = clock_of(match, int(match["h"]), int(match["m"]), given(match, "s"))
    sign = language.record.sign(match["x"].replace("−", "-"))
    return Reading(f"{time} {match['z']} {sign} {cardinal(str(int(match['o'])), language)}")


def given(match: Match, group: str) -> int | None:
    """Minutes or seconds, where there are some."""
    return int(match[group]) if match[group] else None


def between(match: Match) -> Reading:
    """``7.30-16.00 h``: from one time to another."""
    first = clock_of(match, int(match["a"]), int(match["b"]), None)
    last = clock_of(match, int(match["h"]), int(match["m"]), None)
    return Reading(f"{first} {match.record.until} {last}")


def clock_of(match: Match, hour: int, minute: int | None, second: int | None) -> str:
    """A time in words, by the word before it too."""
    return match.numbers.clock(hour, minute, second, match.context.word)


def lasting(match: Match) -> Reading | None:
    """``10:30 Minuten``: a length of time, the unit after its first number."""
    record = match.record
    name = match["u"]
    major = int(match["h"])
    minor = int(match["m"])
    is_cued = "hour" in match.context.tags or match.context.word.lower() in record.hour_from
    if name in record.table("hour_words") and (is_cued or major >= LONG_HOURS):
        return Reading(clock_of(match, major, minor, None)) if major <= 24 else None
    unit = record.units.get(name)
    numbers = match.numbers
    gender = unit.gender if unit else "f"
    noun = numbers.form_of(unit, str(major), is_one=major == 1) if unit else name
    words = [numbers.cardinal(major, gender), noun]
    if minor:
        words.append(numbers.cardinal(minor, gender))
    return Reading(joined(words), LASTING)


def long(match: Match) -> Reading | None:
    """``12h02m00s``, ``2h30min``: hours, minutes and seconds with their nouns."""
    record = match.record
    numbers = match.numbers
    words: list[str] = []
    for group, unit in (("h", "h"), ("m", "min"), ("s", "s")):
        value = int(match[group] or 0)
        noun = record.units.get(unit)
        if value and noun:
            name = numbers.form_of(noun, str(value), is_one=value == 1)
            words += [numbers.cardinal(value, noun.gender), name]
    # "2h30" does not write what the minutes are.
    if match["m"] and not match["unit"] and not match["s"] and int(match["m"]):
        words.pop()
    return Reading(joined(words)) if words else None


def joined(words: Iterable[str]) -> str:
    """Words with a space between them but after an apostrophe: "un'ora"."""
    return " ".join(words).replace("' ", "'")
