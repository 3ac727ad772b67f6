"""Codes: letters and figures mixed, numbers of accounts and orders, versions."""

from __future__ import annotations

import re

from sayahead.text.classes import money
from sayahead.text.classes.verbalize import ADDRESS, label, pieces, spelled
from sayahead.text.classes.verbalize import digits as figures
from sayahead.text.reading.context import NUMBER, Match, Reading

CODE = frozenset({"code"})


def digits(match: Match) -> Reading | None:
    """Figures that a cue announced, one by one."""
    count = sum(map(str.isdecimal, match.text))
    return Reading(figures(match.text, match.language), CODE) if count > 2 else None


def masked(match: Match) -> Reading:
    """``••4471``: the last figures of a card, as the language says those of labels, or one by
    one."""
    read = label if match.numbers.has("rules label") else figures
    return Reading(read(match["n"], match.language))


def firm(match: Match) -> Reading:
    """``3M``: the company, unless it counts what follows."""
    record = match.record
    word = match["w"]
    is_noun = record.capital_nouns and word.istitle()
    if word and (not word.isalpha() or is_noun or re.fullmatch(record.counted, word.lower())):
        return money.million(match)
    return Reading(f"{match.numbers.cardinal(3)} M")


def version(match: Match) -> Reading:
    """``2.3.1``: numbers with stops between them; many figures after the only one are said one by
    one."""
    text, _, suffix = match.text.removeprefix("v").partition("-")
    letter = "" if match.text[0] != "v" else f"{match.language.meaning('version', 'v') or 'v'} "
    first, *others = text.split(".")
    is_long = len(others) == 1 and len(others[0]) > 2
    numbers = match.numbers
    words = [numbers.cardinal(int(first))]
    for part in others:
        is_spelled = is_long or (len(part) > 1 and part[0] == "0")
        words.append(figures(part, match.language) if is_spelled else numbers.cardinal(int(part)))
    dot = match.record.version_mark or match.record.dot
    said = letter + f" {dot} ".join(words)
    if suffix:
        return Reading(f"{said} {pieces(f'-{suffix}', match.language, ADDRESS)}")
    return Reading(said, NUMBER)


def hexadecimal(match: Match) -> Reading | None:
    """``9f3c2ab``: a hash, which has letters and figures in any order."""
    count = sum(map(str.isdecimal, match.text))
    is_hash = 1 < count < len(match.text) - 1
    return Reading(spelled(match.text, match.language)) if is_hash else None
