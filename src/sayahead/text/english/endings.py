"""Whether the punctuation of a token ends its sentence; None while the next token's characters do not tell yet."""

from __future__ import annotations

import re
from collections.abc import Collection

from sayahead.text.english import tables
from sayahead.text.english.left_context import Left
from sayahead.text.english.units import unit
from sayahead.text.english.whole_tokens import is_move
from sayahead.text.shared.punctuation import ENDING
from sayahead.text.shared.tokens import GLUED, Parts, Right, Token

_SPELLED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_LETTERED = frozenset("Bldg bldg Apt apt Ste Rm Sec Fig".split())
_SHORT_MEASURE = re.compile(r"[0-9./]+-?(?:in|ft|lb|oz|yd|mi|min|hr|sec)")
_MAY_END = tables.MAY_END.keys() | tables.ANY_MONTHS.keys()
_RATE = re.compile("[^/]/(?:mo|yr|hr|wk|min|sec|lb|oz|gal|sq)$")
_TIMED = frozenset(("Eastern", "Central", "Mountain", "Pacific", *tables.WEEKDAYS, *tables.WEEKDAYS.values()))
_TIMED_PREFIXES = frozenset(name[:n] for name in _TIMED for n in range(1, len(name)))


def ends(token: Token[str], parts: Parts, reading: str, left: Left, right: Right) -> bool | None:
    """Whether the punctuation of a token ends the sentence."""
    mark, core = parts.mark, parts.core
    if not mark or mark not in ENDING:
        return False
    if mark in "?!" or token.gap == GLUED:
        return mark in "?!"
    if mark == "…":
        return right.capital()
    if not reading:
        return True
    counts = left.kind in ("one", "number", "feet", "hours") and core.isalpha() and len(core) < 5
    measured = counts and (unit(core) or reading.startswith(("newton", "joule")))
    if (
        reading in ("versus", "featuring")
        or (reading == tables.LIMITS.get(core) and reading != core)
        or (core in tables.NEVER_ENDS and not measured)
    ):
        return False
    if _SHORT_MEASURE.fullmatch(core):
        return False if "-" in core else right.capital()  # "a 200-lb. Great Dane"
    if core.isdigit() and len(core) < 4 and is_move(left.word):
        return False
    if len(core) == 1 and core.isupper() and core != "I" and not measured:
        return _initial_ends(left)
    core = re.split("[-–]", core)[-1]
    if core in tables.PLACES or (core == "c" and reading == "century"):
        return right.one_of(tables.STARTERS, tables.STARTER_PREFIXES)
    if core in tables.HALVES:
        return _timed_ends(right)
    if reading in tables.ROADS.values():
        return _named_ends(right, tables.QUARTERS)
    if core == "Co":
        return _named_ends(right, ("Ltd", "Inc", "LLC", "KG"))
    if core in ("Jr", "Sr") and not left.named:
        return False
    unsaid = core in tables.LIMITS or (
        reading == core
        and core.isalpha()
        and not core.isupper()
        and len(core) > 1
        and not re.search("[aeiouyAEIOUY]", core)
    )
    priced = core in tables.PRICED_EACH or _RATE.search(core) or (core == "c" and reading != core)
    measured = measured or (left.kind == "time" and unit(core) is not None)
    cut = reading != core and tables.CUT.of(core) is not None
    if core in ("sq", "cu"):
        return right.capital()
    if core in _LETTERED and re.fullmatch("[B-HJ-Z][0-9]*", right.body):
        return False if right.done else None  # "Bldg. C"
    if measured or unsaid or priced or cut or core in _MAY_END or core in tables.SPELLED_MAY_END:
        return right.capital()
    return reading not in ("Saint", "Doctor") and not _SPELLED.fullmatch(core)


def _timed_ends(right: Right) -> bool | None:
    """Whether a new sentence follows the half of a day, not its zone or its day: "5 p.m. EST", "8 p.m. Eastern"."""
    days = re.split("[-–]", right.text)
    named = days[0] in _TIMED if len(days) > 1 else right.one_of(_TIMED, _TIMED_PREFIXES)
    if named is not False:
        return None if named is None else False
    return _named_ends(right, tables.ZONES)


def _named_ends(right: Right, names: Collection[str]) -> bool | None:
    """Whether a capital follows that is not one of the names in capitals which go on: "5 p.m. EST", "Park Ave. NW"."""
    capital, text = right.capital(), right.text.lstrip("([")
    if not capital or not any(name.startswith(text[:1]) for name in names):
        return capital
    if len(text) < 2 and not right.done:
        return None
    return not any(name.startswith(text[:2]) for name in names if len(name) > 1)


def _initial_ends(left: Left) -> bool:
    """Whether the full stop after a single capital ends the sentence: "Plan B. Then", not "J. K. Rowling"."""
    return left.word.lower() in tables.LETTERED and not (left.named and left.word.lower() == "a")
