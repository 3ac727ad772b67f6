"""Days, months and years in figures: ``3.5.2024``, ``2024-05-03``, ``15/fev.``, ``01.–15.08.2026``."""

from __future__ import annotations

import re
from dataclasses import replace

from sayahead.text.shared.amounts import number, numbers_of
from sayahead.text.shared.record import Record
from sayahead.text.shared.words import Left, Said

_DATE = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})?")
_ISO = re.compile(r"((?:1[5-9]|20)[0-9]{2})([-/.])([0-9]{1,2})\2([0-9]{1,2})")
_NAMED_MONTH = re.compile(r"([0-9]{1,2})[/.-]([^\W\d_]{3,})\.?(?:[/.-]([0-9]{4}|[0-9]{2}))?")
"""``15/fev.``, ``15-Feb-2025``."""
_DAYS = re.compile("([0-9]{1,2})/([0-9]{1,2}) ([0-9]{1,2})/([0-9]{1,2})")
DAY_AND_MONTH = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}")
"""``3.5.`` without its last full stop."""


def dated(core: str, left: Left, record: Record) -> Said | None:
    """``3.5.2024``, ``03/05/2024``, ``2024-05-03``; ``3.5.`` and ``3/5`` after a word that says so."""
    if m := _ISO.fullmatch(core):
        year, month, day = (int(part) for part in m.group(1, 3, 4))
    elif m := _DATE.fullmatch(core if record.dot_ordinals else core.rstrip(".")):
        day, month = int(m[1]), int(m[3])
        if m[4] is None and not record.dot_ordinals:
            return None
        year = int(m[4]) if m[4] else 0
        if m[4] and len(m[4]) == 2:
            year += 2000 if year < 50 else 1900
        if year and m[2] == "/" and day <= 12 < month <= 31:
            day, month = month, day
    elif (m := re.fullmatch(r"([0-9]{1,2})/([0-9]{1,2})", core)) and (
        m[2][0] == "0" or record.cues.get(left.word.lower()) == "day" or left.kind == "dates"
    ):
        day, month, year = int(m[1]), int(m[2]), 0
    elif (m := _NAMED_MONTH.fullmatch(core)) and (named := record.month_of(m[2])):
        day, month, year = int(m[1]), named, int(m[3] or 0) + (2000 if m[3] and len(m[3]) == 2 else 0)
    else:
        return None
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return None
    return Said(numbers_of(record).dated(day, month, year or None, left), Left("date", core, before=left.word))


def period(first: str, last: str, left: Left, record: Record, *, both: bool = False) -> Said | None:
    """``01.–15.08.2026``, ``3-9/08``: from one day to a date; ``24./25.12.``: ``both``."""
    link = record.and_word if both else record.until
    if record.dot_ordinals and re.fullmatch(r"[0-9]{1,2}\.[0-9]{1,2}\.", first):
        begins, ends = dated(first, left, record), dated(last, left, record) or dated(f"{last}.", left, record)
        return begins and ends and replace(ends, text=f"{begins.text} {link} {ends.text}")
    if (days := _DAYS.fullmatch(f"{first} {last}")) and (days[2][0] == "0" or max(int(days[1]), int(days[3])) > 12):
        cued = replace(left, word=next((word for word, kind in record.cues.items() if kind == "day"), ""))
        begins, ends = dated(first, cued, record), dated(last, cued, record)
        return begins and ends and replace(ends, text=f"{begins.text} {link} {ends.text}")
    if not re.fullmatch(r"(?:0?[1-9]|[12][0-9]|3[01])\.?", first) or (last.isdecimal() and not first.endswith(".")):
        return None
    date = dated(last, left, record) or (dated(f"{last}.", left, record) if record.dot_ordinals else None)
    if date is None:
        return None
    numbers = numbers_of(record)
    day = int(first.rstrip("."))
    words = numbers.ordinal(day, numbers.dotted(left, "")) if record.dot_ordinals else number(str(day), record)
    return replace(date, text=f"{words} {link} {date.text}")


def week(core: str, record: Record) -> str:
    """``Mo-Fr``, ``lun.-ven.``, ``Jan.–März`` in words."""
    two = re.split("[-–]", core.replace(".", "")) if len(core) < 20 else []
    if len(two) != 2:
        return ""
    names = [record.weekdays.get(day, "") for day in two]
    if not all(names) and all(months := [record.month_of(month) for month in two]):
        names = [record.month_names[month - 1] for month in months]
    return f" {record.until} ".join(names) if all(names) else ""
