"""Tokens that are put together of others: time zones, powers, rates, names with their sign."""

from __future__ import annotations

import re
from collections.abc import Callable

from sayahead.text.shared import amounts
from sayahead.text.shared.amounts import number
from sayahead.text.shared.angles import angle
from sayahead.text.shared.record import Record
from sayahead.text.shared.words import Left, Said

Read = Callable[[str, Left, Record], Said]
_ZONE = re.compile(r"(UTC|GMT)([+−-])([0-9]{1,2})(?::([0-9]{2}))?", re.IGNORECASE)
_LASTS = re.compile(r"([0-9]{1,3})h([0-9]{1,2})(?:m|min)?([0-9]{1,2})s|([0-9]{1,3})h([0-9]{1,2})(?:m|min)")
_ADDED = re.compile("([0-9]{1,3})(′?)[+]([0-9]{1,2})(′?)")
_OIL = re.compile("([0-9]{1,2})W-?([0-9]{2})")
_RATED = re.compile(r"([^/]*[^\W_]|%)/([^\W\d_][^/]*|[0-9]{1,4} ?[^\W\d]+)")
_HANDLE = re.compile(r"@(\w[\w.-]*)")
_POWER = re.compile(r"(.*[^⁰¹²³⁴-⁹⁺⁻])([⁺⁻]?[⁰¹²³⁴-⁹]+|[⁰¹²³⁴-⁹]*[⁺⁻])")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def composed(core: str, left: Left, record: Record, read: Read) -> Said | None:
    """A zone, a rate, a name on a network or an oil (``5W-30``); ``read`` reads their parts."""
    if m := _OIL.fullmatch(core):
        return Said(f"{number(m[1], record)} W {number(m[2], record)}", Left(word=core, before=left.word))
    zone, lasts = _zone(core, left, record), _lasts(core, left, record) or _added(core, left, record)
    return zone or lasts or angle(core, record) or _rated(core, left, record, read) or _handle(core, left, record)


def _lasts(core: str, left: Left, record: Record) -> Said | None:
    """``12h02m00s``, ``2h30min``: hours, minutes and seconds with their nouns."""
    if not (m := _LASTS.fullmatch(core)) or not {"h", "min", "s"} <= record.units.keys():
        return None
    times = zip(m.group(1, 2, 3) if m[1] else m.group(4, 5), ("h", "min", "s"), strict=False)
    words = [amounts.counted(str(int(time)), record.units[unit], record) for time, unit in times if int(time)]
    return Said(" ".join(words), Left("measure", core, before=left.word)) if words else None


def _added(core: str, left: Left, record: Record) -> Said | None:
    """``45+2``, ``90+4′``: a minute of play and how many were added, named after one."""
    if (m := _ADDED.fullmatch(core)) is None:
        return None
    first, second = number(m[1], record), number(m[3], record)
    named = "" if left.word.lower().startswith("min") or not {"′"} <= record.units.keys() else record.units["′"].many
    words = [first, named if m[2] else "", record.sign("+"), second, named if m[4] and not m[2] else ""]
    return Said(" ".join(filter(None, words)), Left("number", core, before=left.word))


def _zone(core: str, left: Left, record: Record) -> Said | None:
    """``UTC-5``, ``GMT+5:30``."""
    if not (m := _ZONE.fullmatch(core)):
        return None
    minutes = f" {number(m[4], record)}" if m[4] and m[4] != "00" else ""
    hours = number(str(int(m[3])), record)
    return Said(
        f"{m[1].upper()} {record.sign(m[2].replace('−', '-'))} {hours}{minutes}", Left(word=core, before=left.word)
    )


def _rated(core: str, left: Left, record: Record, read: Read) -> Said | None:
    """``76/min``, ``Einwohner/km²``, ``4 g/24 h``: an amount for each of a unit."""
    if not (m := _RATED.fullmatch(core)):
        return None
    above, below = m.groups()
    size = re.fullmatch("([0-9]+) ?(.+)", below)
    unit = record.units.get(size[2] if size else below)
    if unit is None or (len(below) == 1 and below.isupper()):
        return None
    if above.isalpha() and len(above) < 3 and above not in record.units:
        return None
    if not (above[-1].isalpha() or re.fullmatch(record.number, above)):
        return None
    said = read(above, left, record).text
    if size:
        return Said(f"{said} {record.per_many or record.per} {amounts.counted(size[1], unit, record)}", Left(word=core))
    each = amounts.per(below, record)
    return Said(f"{said} {each}", Left(word=core, before=left.word)) if each else None


def _handle(core: str, left: Left, record: Record) -> Said | None:
    """``@jensen.me``: a name on a network, with its dots."""
    if not (m := _HANDLE.fullmatch(core)) or not any(map(str.isalpha, core)):
        return None
    pieces = re.findall(r"[0-9]+|[^\W\d_]+|\S", m[1])
    words = [record.address.get(piece) or (number(piece, record) if piece.isdecimal() else piece) for piece in pieces]
    return Said(" ".join([record.sign("@"), *words]), Left(word=core, before=left.word))


def powered(core: str, left: Left, record: Record, read: Read) -> Said | None:
    """``x²``, ``10⁻⁶``, ``Ca²⁺``, ``CO₂``; the number of a footnote after a word is silent."""
    raised = any(char in "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻" for char in core)
    if not raised and any("₀" <= char <= "₉" for char in core):
        parts = re.findall("[₀-₉]+|[^₀-₉]+", core)
        words = [
            number(part.translate(_LOWERED), record)
            if "₀" <= part[0] <= "₉"
            else " ".join(re.findall("[A-Z][a-z]?|[^A-Z]+", part))
            for part in parts
        ]
        return Said(" ".join(words), Left(word=core, before=left.word))
    m = _POWER.fullmatch(core) if raised else None
    if m is None or core in record.units or not re.search(r"[\w)\]]$", m[1]):
        return None
    unit = re.sub(r"^[0-9.,  +-]+/?", "", core)
    if unit in record.units or (unit != core and amounts.measure(core, left, record)):
        return None
    if re.fullmatch(r"[^\W\d_]{4,}", m[1]):
        return Said(m[1], Left(word=m[1], before=left.word))
    base = m[1] if len(m[1]) == 1 and m[1].isalpha() else read(m[1], left, record).text
    power = m[2].translate(_RAISED)
    if m[2] in ("²", "³"):
        words = [record.sign(m[2])]
    elif power[-1] in "+-":
        words = [*([number(power[:-1], record)] if power[:-1] else []), record.sign(power[-1])]
    else:
        words = [record.sign("^"), amounts.signed(power, record)]
    kind = "number" if m[1].isalpha() else ""
    return Said(" ".join([base, *words]), Left(kind, core, before=left.word))
