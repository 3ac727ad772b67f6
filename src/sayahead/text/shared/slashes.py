"""Slashes between words, years and amounts, and the stars of German genders."""

from __future__ import annotations

import re

from sayahead.text.shared import amounts
from sayahead.text.shared.record import Record
from sayahead.text.shared.tokens import Parts, Right
from sayahead.text.shared.words import Left, Said

_EITHER = re.compile(r"{0}(?:(?:-?/-?|[*_]){0})+".format(r"[^\W\d_]+(?:['’-][^\W\d_]+)*"))
_GENDERED = re.compile(r"(?<=[^\W\d_]{3})[*_](?=(?:in|innen.*|[emnrs])\b)")
_RATE = re.compile(r"(?:([0-9]{1,3})[x×]|([^\W\d_]+))/([^\W\d_]+[²³]?)")


def either(core: str, record: Record) -> str:
    """``und/oder``, ``Ein-/Ausgang``, ``Nutzer*innen``: words of which either is meant, without their signs."""
    if not _EITHER.fullmatch(core):
        return ""
    words = re.sub("/-?", " ", _GENDERED.sub(" ", core.replace("-/", f" {record.and_word} ")))
    return "" if re.search("[*_]", words) else words


def rate(core: str, left: Left, record: Record) -> Said | None:
    """How often, or how many: ``3x/Tag``, "3 volte/giorno", ``Personen/km²``."""
    m = _RATE.fullmatch(core)
    if not m or not (m[1] or m[2] in record.times or m[3] in record.per_words or m[3][-1] in "²³"):
        return None
    if not (each := amounts.per(m[3], record)):
        return None
    often = f"{amounts.number(m[1], record, 'f')} {record.multiplied or record.over('x')}" if m[1] else m[2]
    return Said(f"{often} {each}", Left(word=core, before=left.word))


def season(first: str, last: str) -> bool:
    """Whether the second figures are the year after the first ones, in full or without its hundreds: 2024/25."""
    after = str(int(first) + 1) if re.fullmatch("(?:19|20)[0-9]{2}", first) else ""
    return after != "" and last in (after, after[2:]) and last[0] != "0"


def alone(parts: Parts, left: Left, right: Right, record: Record) -> Said | None:
    """Between spaces: ``5 / 2``, ``5 € / Monat``, ``ja / nein``: divided by, for each, or a pause."""
    initial = right.initial()
    if initial is None:
        return None
    divided = (len(left.word) == 1 and left.word.isalpha()) or (left.kind == "number" and initial.isdecimal())
    if initial.isdecimal() or (divided and initial):
        return Said(record.over("/") if divided else record.sign("/"), Left(word="/"))
    if initial and (left.kind == "money" or left.word in record.currencies):
        return Said(record.per, Left(word="/"))
    parts.mark = parts.mark or ","
    return Said("")
