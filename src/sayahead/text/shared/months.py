"""Months in short, and dates without their small words: ``4 mar.``, ``5. Jan``, ``5 de oct``, ``feb 2025``."""

from __future__ import annotations

import re
from typing import Literal

from sayahead.text.shared.amounts import number
from sayahead.text.shared.record import Record
from sayahead.text.shared.tokens import Parts, Right
from sayahead.text.shared.words import Left, Said

_DAY = re.compile("[1-9]|[12][0-9]|3[01]")
_YEAR = re.compile("1[0-9]{3}|20[0-9]{2}")
_YEAR_BEGUN = re.compile("(?:1|20?)?|(?:1[0-9]|20)[0-9]{0,2}[^\\w]*")


def reading(parts: Parts, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """The month after a day or before a year, and the year after that, with the words that they lack."""
    core = parts.core
    if left.kind == "month":
        year = left.form == "of" and _YEAR.fullmatch(core)
        return Said(f"{record.date_of} {number(core, record)}", Left(word=core)) if year else False
    name = core.lower()
    month = record.short_months.get(name) or record.months.get(name, 0)
    if not month:
        return False
    of = _day_before(left, record)
    dated = parts.dotted or name not in record.day_months  # "mar" is the sea, too.
    if of is None or not dated:
        if name not in record.short_months or core.isupper() or (parts.mark and not parts.dotted):
            return False
        if not right.done:
            return None if _YEAR_BEGUN.fullmatch(right.text) else False
        if not _YEAR.fullmatch(right.body):
            return False
    elif not of and name not in record.short_months:
        return False
    elif f"{core}." in record.units and left.kind == "number" and parts.dotted:  # "3 sett.": September, or weeks.
        cued = record.cues.get(left.before.lower()) == "day"
        if not (cued or _YEAR.fullmatch(right.body)):
            return None if not (right.done or right.last) and _YEAR_BEGUN.fullmatch(right.text) else False
    over = parts.mark == "." and _over(right)
    if over is None:
        return None
    parts.mark = "" if parts.mark == "." and not over else parts.mark
    return _named(month, of or "", core, left, record)


def _named(month: int, of: str, core: str, left: Left, record: Record) -> Said:
    form = "of" if record.date_of and left.kind == "number" else ""
    return Said(of + record.month_names[month - 1], Left("month", core, before=left.word, form=form))


def _over(right: Right) -> bool | None:
    """Whether the sentence ends there."""
    return True if right.last else right.capital()


def _day_before(left: Left, record: Record) -> str | None:
    """What is lacking between a day and its month; None where no day stands before it."""
    if record.dot_ordinals:
        return "" if left.kind == "day" and left.word[:1].isdecimal() else None
    if left.kind == "number" and _DAY.fullmatch(left.word):
        return f"{record.date_of} " if record.date_of else ""
    return "" if record.date_of and left.word == record.date_of and _DAY.fullmatch(left.before) else None
