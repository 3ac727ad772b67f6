"""Telephone numbers: figure by figure, or in pairs where the language reads them so."""

from __future__ import annotations

import re

from sayahead.text.classes.verbalize import digits
from sayahead.text.reading.context import Match, Reading
from sayahead.text.reading.words import Words

DIALLED = frozenset({"dialled"})
MIN_FIGURES = 6
"""Figures of a telephone number that nothing announces."""

_DATE = re.compile(
    r"(?:\d{1,2}([-./])\d{1,2}\1(?:\d{2}|\d{4})|\d{4}([-./])\d{1,2}\2\d{1,2})(?: \d{1,2})?"
)
"""A date, with or without the hour after it."""

_NO_PAUSE = re.compile(r"^(\+\d+)\D+|\D*\(")
"""The code of a country with what parts it from the number, what opens a bracket."""


def dialled(match: Match) -> Reading:
    """What a cue announced: "Tel. 0171 123456"."""
    return Reading(spoken(match.text, match.language), DIALLED)


def country(match: Match) -> Reading | None:
    """``+49 171 5550``: a number with the code of its country."""
    figures = re.sub(r"\D", "", match.text)
    return dialled(match) if len(figures) >= MIN_FIGURES else None


def shaped(match: Match) -> Reading | None:
    """What nothing announces: groups of figures that are neither a date nor one number."""
    groups = re.findall(r"\d+", match.text)
    if _DATE.fullmatch(match.text):
        return None
    # Without a leading zero, few figures may be anything.
    count = sum(map(len, groups))
    if not MIN_FIGURES <= count <= 15 or (count < 8 and match.text[0] not in "(0"):
        return None
    # "1 234 567" are thousands.
    is_number = all(len(group) == 3 for group in groups[1:]) and len(groups[0]) < 4
    if is_number and match.text[0] not in "(0" and "-" not in match.text:
        return None
    return dialled(match)


def spoken(text: str, language: Words) -> str:
    """The figures of a number, group by group."""
    plus = f"{language.record.sign('+')} " if text.startswith("+") else ""
    parts = re.findall(r"(\d+)(\D*)", _NO_PAUSE.sub(r"\1+", text))
    words = []
    for figures, gap in parts:
        groups = _pairs(figures) if language.record.pairs else [figures]
        pause = language.record.phone_pause if gap.strip("+") else ""
        words.append(" ".join(_group(group, language) for group in groups) + pause)
    return plus + " ".join(words).rstrip(language.record.phone_pause)


def _pairs(group: str) -> list[str]:
    """``0612345678`` in pairs, other groups as they are."""
    return re.findall("..", group) if len(group) == 10 and group[0] == "0" else [group]


def _group(group: str, language: Words) -> str:
    """Figures that stand together: as a table has them, as one number where the language reads
    pairs, or one by one."""
    known = language.meaning("phone_groups", group)
    if known:
        return known
    if language.record.pairs and len(group) in (2, 3) and group[0] != "0":
        return language.numbers.cardinal(int(group))
    return digits(group, language)
