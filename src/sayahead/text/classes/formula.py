"""Formulas: sums, products, powers, variables, isotopes; figures of footnotes."""

from __future__ import annotations

import re

from sayahead.text.classes.quantity import amount_in, number
from sayahead.text.classes.verbalize import RAISED, cardinal, power
from sayahead.text.reading.context import NUMBER, SILENT, START, Match, Reading

OPERATOR = frozenset({"operator"})
_ALIKE = {
    "<=": "≤",
    ">=": "≥",
    "!=": "≠",
    "=>": "⇒",
    "->": "→",
    "<-": "←",
    "==": "=",
    "&&": "&",
    "||": "∨",
}
MIN_WORD = 3
"""Letters of a word whose raised figures are those of a note; shorter ones have powers."""


def footnote(match: Match) -> Reading | None:
    """``ago¹``: a word with the number of a note, which is silent."""
    word = match["n"]
    is_unit = match.text in match.record.units
    return (
        None if len(word) < MIN_WORD or is_unit else Reading(word, frozenset({"word"}), word=word)
    )


def mark(match: Match) -> Reading | None:
    """The number of a note after a mark or a bracket, the power of what stands in brackets."""
    inside = match.context.before
    if "closed" in match.context.tags and (len(inside) == 1 or inside.isdecimal()):
        return Reading(power(match["p"], match.language), NUMBER)
    return SILENT if {"punctuation", START} & match.context.tags else None


def scientific(match: Match) -> Reading:
    """``3 × 10⁸``."""
    amount = amount_in(match)
    ten = cardinal(match["v"], match.language)
    raised = power(match["p"], match.language)
    times = match.record.sign("×")
    return Reading(f"{number(amount)} {times} {ten} {raised}", NUMBER)


def of(match: Match) -> Reading | None:
    """``f(x)``."""
    link = match.language.meaning("formula", "of")
    return Reading(f"{match['n']} {link}") if link else None


def lowered(match: Match) -> Reading:
    """``CO₂``, ``x₁``: elements and lowered figures."""
    text = match["n"].translate(RAISED)
    parts = re.findall(r"\d+|\D+", text)
    return Reading(
        " ".join(cardinal(part, match.language) if part.isdecimal() else part for part in parts)
    )


def digraph(match: Match) -> Reading:
    """``>=``: two characters for a sign."""
    return Reading(match.record.signs.get(_ALIKE[match["s"]], ""), OPERATOR)


def named(match: Match) -> Reading | None:
    """A sign of mathematics by its name."""
    name = match.record.signs.get(match["s"], "")
    return Reading(name, OPERATOR) if name else None


def minus(match: Match) -> Reading | None:
    """A hyphen that subtracts."""
    is_variable = "letter" not in match.context.tags or match.context.word.isascii()
    return Reading(match.record.sign("-"), OPERATOR) if is_variable else None
