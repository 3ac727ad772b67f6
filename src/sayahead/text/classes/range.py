"""What links two numbers."""

from __future__ import annotations

from sayahead.text.classes.quantity import amount_of, worth
from sayahead.text.classes.verbalize import cardinal, sign
from sayahead.text.reading.context import SILENT, Match, Reading

SMALL = 100
BEST = ("5", "10", "20", "100")
"""The best of marks: "7,5/10"."""


def span(match: Match) -> Reading:
    """A dash between two numbers: from one to another, which grows and has a like size; else a
    pause in a code."""
    text = match.context.word
    low = worth(text, match.language)
    high = worth(match["b"], match.language)
    is_code = amount_of(match["b"], match.language) is None
    if 0 < 10 * low < high and len(match["b"]) - len(text) > 1:
        return Reading("", mark=",")
    return SILENT if is_code else until(match)


def falling(match: Match) -> Reading | None:
    """A dash between two small numbers of which the second is no greater: a result, said without a
    word."""
    low, high = (worth(text, match.language) for text in (match.context.word, match["b"]))
    return SILENT if high <= low < SMALL else None


def series(match: Match) -> Reading:
    """``1-0-1-0``: how many at a time, no range."""
    return Reading(" ".join(cardinal(text, match.language) for text in match.text.split("-")))


def lettered(match: Match) -> Reading | None:
    """``D19-D23``: from one to another of a kind."""
    low = int(match["m"])
    high = int(match["n"])
    if match["x"] != match["y"] or low >= high:
        return None
    words = (f"{match['x']} {cardinal(str(value), match.language)}" for value in (low, high))
    return Reading(f" {match.record.until} ".join(words))


def alphabet(match: Match) -> Reading | None:
    """``D–F``, ``A-Z``."""
    first = match.text[0]
    last = match.text[-1]
    return Reading(f"{first} {match.record.until} {last}") if first < last else None


def until(match: Match) -> Reading:
    """The same whatever the numbers are."""
    until = match.record.until
    return Reading(until, _onward(match), word=until, form=match.context.form)


def onward(match: Match) -> Reading:
    """The word between two dates or times: what follows is one, too."""
    return Reading(match.language.meaning("until_words", match.text) or match.text, _onward(match))


def _onward(match: Match) -> frozenset[str]:
    tags = match.context.tags
    return frozenset({"dates"} if "date" in tags else {"hour"} if "time" in tags else ())


def also(match: Match) -> Reading:
    """``24./25.12.``: one and another."""
    return Reading(match.record.and_word, word=match.record.and_word, form=match.context.form)


def slash(match: Match) -> Reading:
    """``7,5/10``, ``24/7``."""
    record = match.record
    word = match.context.word
    if (word, match["b"]) == ("24", "7"):
        return SILENT
    is_mark = record.decimal in word and match["b"] in BEST
    return Reading(record.out_of if is_mark and record.out_of else sign("/", match.language))
