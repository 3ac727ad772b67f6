"""Figures with a full stop, and days of months: ordinals, dates, or numbers at the end of their sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from sayahead.text.shared import amounts
from sayahead.text.shared.dates import DAY_AND_MONTH
from sayahead.text.shared.grammar import read
from sayahead.text.shared.record import Record, prefixes_of
from sayahead.text.shared.tokens import Parts, Right
from sayahead.text.shared.words import Left, Said

DAYS = re.compile(r"([0-9]{1,2})(\.?)([-–]|(?<=\.)/)([0-9]{1,2})")
_MONTH_TO = re.compile(r"([^\W\d_]+)\.?[-–]([0-9]{1,2})")


def days(core: str, parts: Parts, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """``3.``, ``5.-7.``, ``3.5.``, ``Dez.-3.``; False if the token is none of these."""
    dotted = parts.dotted and record.dot_ordinals
    if (m := _MONTH_TO.fullmatch(core)) and m[1].lower() in record.months:
        month = record.month_names[record.months[m[1].lower()] - 1]
        after = Left(word=record.until, form=left.form)
        day = amounts.dot_ordinal(m[2], after, right, record) if dotted else read(m[2], Left(), record)
        parts.mark = ""
        of = f"{record.date_of} " if record.date_of and left.word[-1:].isdecimal() else ""
        return replace(day, text=f"{of}{month} {record.until} {day.text}")
    if not dotted:
        return False
    if core.isdecimal():
        return dot_ordinal(core, left, right, record)
    if m := DAYS.fullmatch(core):
        return _dot_ordinals(m, left, right, record)
    if DAY_AND_MONTH.fullmatch(core):
        dated = _is_date(parts, left, right, record)
        return None if dated is None else read(core, left, record, dotted=dated)
    return False


def _is_date(parts: Parts, left: Left, right: Right, record: Record) -> bool | None:
    """Whether ``12.6.`` is a day and a month, or ``2.0.`` a number at the end of its sentence."""
    if parts.mark != "." or record.cues.get(left.word.lower()) in ("ordinal", "day"):
        return True
    initial = right.initial()
    return None if initial is None else initial.islower() or initial.isdecimal()


def _dot_ordinals(days: re.Match[str], left: Left, right: Right, record: Record) -> Said | None:
    """``5.-7.``, ``5./7.``: from one ordinal to another, or two numbers at the end of their sentence."""
    ordinal = _is_ordinal(days[4], left, right, record)
    if ordinal is None:
        return None
    if not ordinal and not (days[2] and not right.last):
        return read(days[0], left, record)
    first, last = (amounts.dot_ordinal(day, left, right, record) for day in (days[1], days[4]))
    link = record.and_word if days[3] == "/" else record.until
    return replace(last, text=f"{first.text} {link} {last.text}")


def dot_ordinal(core: str, left: Left, right: Right, record: Record) -> Said | None:
    """``3.``: an ordinal, or a number at the end of its sentence."""
    ordinal = _is_ordinal(core, left, right, record)
    agrees = record.cues.get(left.word.lower()) == "noun" and not right.done
    if ordinal is None or (ordinal and agrees):
        return None
    return amounts.dot_ordinal(core, left, right, record) if ordinal else read(core, left, record)


def _is_ordinal(core: str, left: Left, right: Right, record: Record) -> bool | None:
    """Whether figures with a full stop are an ordinal: by the word before them, or by what goes on after them."""
    if left.kind in ("label", "code", "phone", "hours") or len(core) > 4:
        return False
    if left.kind == "day" and left.word[:1].isdecimal() and int(core) <= 12:
        return True
    if record.cues.get(left.word.lower()) in ("ordinal", "day", "noun") and len(core) < 4:
        opens = len(core) == 3 and (right.last or starts(right, record))
        return None if opens is None else not opens
    if right.last:
        return False
    month = month_follows(right, record)
    if month is not False:
        return month
    ranked = right.one_of(record.after_ordinal, prefixes_of(record, "after ordinal"))
    if ranked is not False:
        return ranked
    club = right.one_of(record.clubs, prefixes_of(record, "clubs"))
    if club is not False:
        return club
    initial, opens = right.initial(), starts(right, record)
    if initial is None or opens is None:
        return None
    if opens or not initial or core[0] == "0":
        return False
    if initial.isdecimal():
        dated = re.match(r"[0-9]{1,2}(\.|$)", right.text)
        return dated[1] == "." or (None if not right.done else False) if dated else False
    return initial.islower() or int(core) <= 31


def starts(right: Right, record: Record) -> bool | None:
    """Whether the next word typically opens a sentence; any capital, where the language writes few."""
    capital = right.capital()
    if not capital or not record.capital_nouns:
        return capital
    return right.one_of(record.starters, prefixes_of(record, "starters"))


def month_follows(right: Right, record: Record) -> bool | None:
    """Whether a month follows, alone or as in "Dez.-3."."""
    text = right.text.lower()
    month, dash, _ = text.replace("–", "-").partition("-")
    if dash:
        return month.rstrip(".") in record.months
    return Right(text, right.done).one_of(record.months, prefixes_of(record, "months"))
