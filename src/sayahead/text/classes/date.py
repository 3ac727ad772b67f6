"""Dates: a day, a month and a year in the order and with the small words of the language."""

from __future__ import annotations

from dataclasses import replace

from sayahead.text.classes.ordinal import form_of
from sayahead.text.classes.time import clock_of, given
from sayahead.text.classes.verbalize import month as month_name
from sayahead.text.classes.verbalize import short_year
from sayahead.text.classes.verbalize import year as full_year
from sayahead.text.reading.context import Match, Reading
from sayahead.text.reading.words import Words


def numeric(match: Match) -> Reading | None:
    """``24.12.1985``, ``24/12/85``, ``2024-05-03``; a month beyond twelve is the day of an American
    date."""
    day = int(match["d"])
    month = int(match["m"])
    if match["a"] != match["b"]:
        return None
    if match["a"] == "/" and day <= 12 < month:
        day, month = month, day
    return dated(match, day, month, match["y"])


def stamp(match: Match) -> Reading | None:
    """``2024-05-03T14:30``: a date and a time."""
    date = numeric(match)
    time = clock_of(match, int(match["h"]), int(match["min"]), given(match, "s"))
    return date and replace(date, text=f"{date.text} {time}")


def day_month(match: Match) -> Reading | None:
    """``3/5``, where the word before says that it is a day."""
    return dated(match, int(match["d"]), int(match["m"]), "")


def named(match: Match) -> Reading | None:
    """``15/fev.``, ``15-Feb-2025``."""
    return dated(match, int(match["d"]), match.record.month_of(match["name"]), match["y"])


def dated(match: Match, day: int, month: int, year: str) -> Reading | None:
    """A whole date in words."""
    if not 1 <= month <= 12:
        return None
    form = form_of(match) if match.numbers.endings else ""
    words = spoken(match, day, month, year, form)
    mark = "." if match["next"] else ""
    return Reading(words, mark=mark, ends=bool(mark), form=form)


def spoken(match: Match, day: int, month: int, year: str, form: str) -> str:
    """Day, month and perhaps the year, as the language says them."""
    numbers = match.numbers
    words = {
        "day": said_day(match.language, day, form or _elided(match)),
        "month": numbers.months[month - 1],
    }
    if form:
        words["number"] = numbers.ordinal(month, form).capitalize()
    if not year:
        return numbers.date.format(**words)
    read = full_year if len(year) > 2 else short_year
    return numbers.date_year.format(**words, year=read(year, match.language))


def _elided(match: Match) -> str:
    """The form of a day behind an apostrophe: "l'8 marzo"."""
    return "elided" if match.context.word[-1:] in ("'", "’") else ""


def card(match: Match) -> Reading:
    """``05/27`` of a card that expires: a month and a year."""
    numbers = match.numbers
    link = numbers.date_year.partition("{month}")[2].removesuffix("{year}").strip()
    month = numbers.months[int(match["m"]) - 1]
    words = [month, link, numbers.year(2000 + int(match["y"]))]
    return Reading(" ".join(word for word in words if word and word[0] != "{"))


def days_of_month(match: Match) -> Reading | None:
    """``01.–15.08.2026``, ``24./25.12.``."""
    date = numeric(match)
    if date is None:
        return None
    record = match.record
    first = said_day(match.language, int(match["first"]), form_of(match))
    link = record.and_word if match["link"] == "/" else record.until
    return replace(date, text=f"{first} {link} {date.text}")


def said_day(language: Words, day: int, form: str = "") -> str:
    """A day of a month."""
    numbers = language.numbers
    if numbers.endings:
        return numbers.ordinal(day, form)
    return numbers.in_words("day", day, form) if numbers.has("day") else numbers.cardinal(day)


def first(match: Match) -> Reading | None:
    """The first of a month, where a language has a word of its own for it."""
    if match.numbers.endings:
        return None
    return Reading(said_day(match.language, 1, _elided(match)), frozenset({"number", "monthday"}))


def month(match: Match) -> Reading | None:
    """A month after its day, with the word between them that is not written: "3 mayo"."""
    language = match.language
    name = match["name"].lower()
    is_dotted = match.text.endswith(".")
    if name in language.record.day_months and not is_dotted:
        return None
    if is_dotted and f"{name}." in language.record.units and not (match["y"] or _is_cued(match)):
        return None
    is_full = name == month_name(name, language).lower()
    is_linked = "of_day" in match.context.tags or not language.record.date_of
    of = "" if is_linked else f"{language.record.date_of} "
    mark = "." if is_dotted and (match["next"] or is_full) else ""
    tags = frozenset({"month", "of_year"} if of else {"month"})
    text = of + month_name(name, language)
    return Reading(text, tags, mark=mark, ends=bool(mark), form=match.context.form)


def month_before_year(match: Match) -> Reading | None:
    """A month in short before a year."""
    name = match["name"].lower().rstrip(".")
    if name not in match.record.short_months:
        return None
    return Reading(month_name(name, match.language), frozenset({"month"}))


def year(match: Match) -> Reading:
    """A year after its month, with the word between them that is not written."""
    words = f"{match.record.date_of} {match.numbers.year(int(match['y']))}"
    return Reading(words.strip())


def season(match: Match) -> Reading | None:
    """``2024/25``."""
    after = str(int(match["a"]) + 1)
    if match["b"] not in (after, after[2:]):
        return None
    numbers = match.numbers
    return Reading(f"{numbers.year(int(match['a']))} {numbers.cardinal(int(match['b']))}")


def many_days(match: Match) -> Reading:
    """``17/18 juin``."""
    *some, last = [said_day(match.language, int(match[group])) for group in "def" if match[group]]
    return Reading(f"{', '.join(some)} {match.record.and_word} {last}", frozenset({"monthday"}))


def _is_cued(match: Match) -> bool:
    """Whether the word before the day says that it is one: "il 3 sett."."""
    return match.record.cues.get(match.context.before.lower()) == "day"
