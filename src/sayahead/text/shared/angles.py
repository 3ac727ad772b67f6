"""Primes and degrees: ``52'`` minutes, ``27"`` inches, ``48°51'24"N`` a place on the globe."""

from __future__ import annotations

import re
from typing import Literal

from sayahead.text.shared.amounts import counted
from sayahead.text.shared.record import Record, prefixes_of
from sayahead.text.shared.tokens import QUOTES, Parts, Right
from sayahead.text.shared.words import Left, Said

_PRIME = re.compile("(?<=[0-9])(?:(″|''|’’|[\"”])|(′|['’](?![0-9]{3}))(?![^\\W\\d_]))")
_YEAR = re.compile("[0-9]{4}['’\"”]")
_PART = "(-?[0-9]+(?:[.,][0-9]+)?)([°′″])"
_ANGLE = re.compile(rf"(?:{_PART} ?){{1,3}}([A-Z]{{1,2}})?")
_SIGNS = ("°", "′", "″")


def primed(raw: str, *, quoted: bool) -> str:
    """A token with primes for the quotes after its figures, unless they close a quotation or follow a year."""
    if quoted or raw[0] in QUOTES or _YEAR.search(raw):
        return raw
    return _PRIME.sub(lambda m: "″" if m[1] else "′", raw.replace("′′", "″"))


def reading(parts: Parts, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """What follows degrees or minutes, and degrees whose sign would make an ordinal: ``48° 51' N``, ``25°.``"""
    core = parts.core
    if left.kind == "measure" and left.word in _SIGNS and core in record.compass:
        return Said(record.compass[core], Left(word=core, before=left.word))
    if core[-1] == "″" and left.kind == "measure" and left.word == "′" and core[:-1].isdecimal():
        return Said(counted(core[:-1], record.units["s"], record), Left("measure", "″"))
    if core[-1] not in "°º" or not core[:-1].isdecimal() or "°" not in record.ordinal_suffixes:
        return False
    if record.cues.get(left.word.lower().rstrip(".")) == "degrees" and left.before[-1:] not in ("º", "°", "ª"):
        return Said(counted(core[:-1], record.units["°"], record), Left("measure", "°")) if core != "1º" else False
    if int(core[:-1]) > 12 and not parts.mark and record.articles.get(left.word.lower()) is None:
        placed = _before_preposition(left, right, record)
        if placed is not False:
            return placed and Said(counted(core[:-1], record.units["°"], record), Left("measure", "°"))
    if core[-1] == "º":
        return False
    if not (parts.mark or right.last):
        initial = right.initial()
        if not initial or not (initial.isdecimal() or right.text[:2].strip("CFNSEW ") == ""):
            return None if initial is None else False
    elif int(core[:-1]) < 13 or not left.word:  # "Vive al 5°": a floor.
        return False
    return Said(counted(core[:-1], record.units["°"], record), Left("measure", "°"))


def _before_preposition(left: Left, right: Right, record: Record) -> bool | None:
    """Whether a word for a place follows a number that no article makes an ordinal: ``metti 21° in cucina``."""
    word = left.word.lower()
    if len(word) < 3 or record.cues.get(word) == "day" or record.genders.get(word) == "":
        return False
    return right.one_of(record.places, prefixes_of(record, "places"))


def angle(core: str, record: Record) -> Said | None:
    """``48°51′24″N``, ``1′30″``: degrees, minutes and seconds, and which way they go."""
    m = _ANGLE.fullmatch(core)
    if m is None or not {"°", "′", "″", "s"} <= record.units.keys() or (m[3] and m[3] not in record.compass):
        return None
    parts = re.findall(_PART, core)
    if len(parts) == 1 and not m[3] and "." not in core:
        return None
    nouns = {sign: record.units["s" if sign == "″" and len(parts) > 1 else sign] for sign in _SIGNS}
    parts = [(figures.replace(".", record.decimal), sign) for figures, sign in parts]
    words = [counted(re.sub("^0(?=[0-9]$)", "", figures), nouns[sign], record) for figures, sign in parts]
    return Said(" ".join([*words, record.compass.get(m[3], "")]).strip(), Left("measure", parts[-1][1]))
