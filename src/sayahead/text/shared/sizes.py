"""Numbers and letters with a cross between them: sizes, products, scores, how often: ``3x4``, ``L x A``, ``x 7``."""

from __future__ import annotations

import re
from typing import Literal

from sayahead.text.shared.amounts import number
from sayahead.text.shared.record import Record, prefixes_of
from sayahead.text.shared.tokens import Parts, Right
from sayahead.text.shared.words import Left, Said

_CROSSES = ("x", "X", "×")
_GLUED = re.compile(r"([0-9]{1,3}):([0-9]{1,4})|([1-9][0-9]{0,4}(?:[.,][0-9]+)?)([xX*·×])([0-9.,]+?)(?:\4([0-9.,]+))?")
_NUMBER = re.compile(r"[1-9][0-9]{0,4}(?:[.,][0-9]+)?")
_LETTERS = re.compile("[A-Z](?:[x×][A-Z]){1,2}")
_SCORE = re.compile("([0-9]{1,2})[xX×]([0-9]{1,2})")
_NAMED_SCORE = re.compile("[0-9]{1,2}")
_COUNTED = ("number", "measure", "money", "hours", "ordinal")
_PRESSURE = re.compile("([1-9][0-9]{0,2})[x×/]([1-9][0-9]{0,2})")


def glued(core: str, left: Left, record: Record) -> Said | None:
    """``3x4``, ``160x90x75``, ``3:1``."""
    if (m := _GLUED.fullmatch(core)) is None:
        return None
    values = [part for part in m.group(1, 2, 3, 5, 6) if part]
    if m[3] and not all(map(_NUMBER.fullmatch, values)):
        return None
    words = f" {record.over(m[4] or ':')} ".join(number(value, record) for value in values)
    return Said(words, Left("number", core, before=left.word))


def reading(parts: Parts, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """A cross by what stands on both sides of it, and two numbers that are a pressure, a score or a size."""
    core = parts.core
    if core in _CROSSES:
        return False if parts.mark else _cross(core, left, right, record)
    if not core[0].isdecimal():
        if not (core[0].isupper() and _LETTERS.fullmatch(core)):
            return False
        return Said(f" {record.sized or record.over('x')} ".join(re.split("[x×]", core)), Left(word=core))
    if (m := _PRESSURE.fullmatch(core)) and record.pressure and _told("pressure", left, record):
        return Said(f" {record.pressure} ".join(number(part, record) for part in m.groups()), Left("number", core))
    if (m := _SCORE.fullmatch(core)) and (scored := _scored(parts, left, right, record)) is not False:
        score = f" {record.over(':')} ".join(number(part, record) for part in m.groups())
        return scored and Said(score, Left("number", core))
    if record.sized and re.match("[1-9][0-9]*[xX]", core) and not parts.mark and (size := glued(core, left, record)):
        follows = right.one_of(record.units, prefixes_of(record, "units"))
        return follows and Said(size.text.replace(f" {record.over('x')} ", f" {record.sized} "), size.left)
    return False


def _told(kind: str, left: Left, record: Record) -> bool:
    """Whether one of the two words before is a cue."""
    return kind in (left.kind, record.cues.get(left.word.lower()), record.cues.get(left.before.lower()))


def _cross(core: str, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """``160 x 90 x 75 cm``, ``1 comp. x 7 días``, ``L x A x H``."""
    number_before = left.kind in _COUNTED or any(map(str.isdecimal, left.word))
    letter_before = len(left.word) == 1 and left.word.isupper()
    if not (number_before or letter_before):
        return False
    initial = right.initial()
    if initial is None:
        return None
    if letter_before:
        if not right.done and len(right.text) < 2:
            return None
        if not (len(right.body) == 1 and right.body.isupper()):
            return False
    elif not initial.isdecimal():
        return False
    named = _NAMED_SCORE.fullmatch(left.word) and left.before.istitle()
    if number_before and named and "score" in record.cues.values():
        if not right.done or (right.open and not right.beyond):
            return None
        if _NAMED_SCORE.fullmatch(right.body) and right.beyond[:1].isupper():
            return Said(record.over(":"), Left(word=core, before=left.word))
    said = record.over("x")
    if record.sized and (letter_before or left.kind != "number"):
        said = record.sized
    elif record.sized:
        if not right.done or (right.open and not right.beyond):
            return None
        third = Right(right.beyond, done=not right.open)
        follows = third.one_of({*_CROSSES, *record.units}, prefixes_of(record, "units"))
        if follows is None:
            return None
        said = record.sized if follows else said
    return Said(said, Left(word=core, before=left.word))


def _scored(parts: Parts, left: Left, right: Right, record: Record) -> bool | None:
    """Whether ``3x1`` is a score: after a word that says so, or between two names."""
    if _told("score", left, record):
        return True
    if "score" not in record.cues.values() or parts.mark or not (left.word.istitle() and left.before + left.word):
        return False
    initial = right.initial()
    return None if initial is None else initial.isupper()
