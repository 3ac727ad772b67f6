"""Parts of a whole: three quarters, one and a half. A unit behind a part has "of" before it, like
one of millions."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from sayahead.text.classes.number import gender_of
from sayahead.text.classes.quantity import named_unit, noun_after
from sayahead.text.classes.verbalize import cardinal
from sayahead.text.reading.context import NUMBER, Match, Reading

UNNAMED = 5
"""Denominators from here on make no fraction of what is more than a whole."""


def half(match: Match) -> Reading | None:
    """``½``, ``1 1/2``: a half, in the form of what it is of."""
    record = match.record
    whole = match["n"]
    if not whole:
        gender = _gender(match)
        form = record.table("half").get(gender) or record.table("half").get(
            "f" if gender == "e" else gender
        )
        return Reading(form, NUMBER, is_one=True) if form else _part(match, 1, 2)
    if record.and_a_half:
        return Reading(record.and_a_half.format(n=cardinal(whole, match.language, "n")), NUMBER)
    if record.table("half_more"):
        noun = match["noun"]
        is_feminine = noun and gender_of(match, noun, is_one=whole == "1") in ("f", "e")
        gender = "f" if is_feminine else ""
        return Reading(
            f"{cardinal(whole, match.language, gender)} {record.table('half_more')[gender or 'm']}",
            NUMBER,
        )
    return _part(match, 1, 2)


def _gender(match: Match) -> str:
    """The gender of what a half is of; a neuter one only where the tables say so."""
    noun = match["noun"]
    gender = gender_of(match, noun, is_one=True) if noun else ""
    record = match.record
    is_known = noun.lower() in record.table("genders") or noun in record.units
    return gender if gender != "n" or is_known else ""


def sign(match: Match) -> Reading | None:
    """``¾``."""
    return _part(match, *map(int, unicodedata.normalize("NFKC", match["v"]).split("⁄")))


def glued(match: Match) -> Reading | None:
    """``1½kg``: parts and the unit that touches them."""
    part = {"½": half}.get(match["v"], sign)(match)
    if part is None:
        return None
    count = replace(match.context, word=match.text, is_one=part.is_one, is_million=part.is_million)
    noun = named_unit(match, match["noun"])
    return Reading(f"{part.text} {noun_after(noun, count, match.language)}")


def plain(match: Match) -> Reading | None:
    """``3/4``."""
    return _part(match, int(match["a"]), int(match["b"]))


def _part(match: Match, above: int, below: int) -> Reading | None:
    """A fraction by its name, with its sign and the whole number before it; 7/5 has no name."""
    if above >= below >= UNNAMED:
        return None
    part = match.numbers.part(above, below)
    if not part:
        return None
    sign = match.record.signs.get(match["s"].replace("−", "-"), "")
    is_million = (above, below) != (1, 2)
    if not match["n"]:
        return Reading(f"{sign} {part}".strip(), NUMBER, is_one=True, is_million=is_million)
    part = match.language.meaning("more_parts", part) or part
    words = f"{cardinal(match['s'] + match['n'], match.language)} {match.record.and_word} {part}"
    return Reading(words, NUMBER, is_one=not match.record.plural_parts, is_million=is_million)
