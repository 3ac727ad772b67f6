"""Formulas: sums, products, powers, variables, isotopes; figures of footnotes."""

from __future__ import annotations

import re

from sayahead.text.classes.quantity import amount_in, number
from sayahead.text.classes.verbalize import cardinal, greek, pieces
from sayahead.text.reading.context import SILENT, START, Match, Reading

OPERATOR = frozenset({"operator"})
FORMULA = frozenset({"number"})
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-0123456789+-")
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
_YEARS = range(1500, 2100)
MIN_WORD = 3
"""Letters of a word whose raised figures are those of a note; shorter ones have powers."""


def footnote(match: Match) -> Reading | None:
    """``ago¹``: a word with the number of a note, which is silent."""
    word = match["n"]
    is_unit = match.text in match.record.units
    return (
        None if len(word) < MIN_WORD or is_unit else Reading(word, frozenset({"word"}), word=word)
    )


def dated(match: Match) -> Reading | None:
    """``1998³``: a year with the number of a note."""
    year = int(match["n"])
    return Reading(match.numbers.year(year)) if len(match["n"]) == 4 and year in _YEARS else None


def mark(match: Match) -> Reading | None:
    """The number of a note after a mark or a bracket, the power of what stands in brackets."""
    inside = match.context.before
    if "closed" in match.context.tags and (len(inside) == 1 or inside.isdecimal()):
        return Reading(_power(match), FORMULA)
    return SILENT if {"punctuation", START} & match.context.tags else None


def term(match: Match) -> Reading:
    """``3x²``, ``2πr``, ``10⁻⁶``: a number, variables and a power."""
    is_numbered = match["n"][:1].isdecimal()
    words = [cardinal(match["n"], match.language)] if is_numbered else []
    letters = match["v"] or ("" if words else match["n"])
    words += [greek(letter, match.language) for letter in letters]
    return Reading(" ".join(filter(None, [*words, _power(match)])), FORMULA, word=match.text)


def exponent(match: Match) -> Reading:
    """``^2``: to what power."""
    return Reading(_power(match), FORMULA)


def typed(match: Match) -> Reading:
    """``**3``: to what power, as programs write it."""
    return Reading(_exponent(match["p"], match), FORMULA)


def scientific(match: Match) -> Reading:
    """``3 × 10⁸``."""
    amount = amount_in(match)
    ten = cardinal(match["v"], match.language)
    return Reading(
        f"{number(amount, match.language)} {match.record.sign('×')} {ten} {_power(match)}", FORMULA
    )


def function(match: Match) -> Reading:
    """``sin²x``: a function by its name."""
    name = match.language.meaning("functions", match["f"])
    words = [name, _power(match), greek(match["v"], match.language)]
    return Reading(" ".join(filter(None, words)), FORMULA)


def of(match: Match) -> Reading | None:
    """``f(x)``."""
    link = match.language.meaning("formula", "of")
    return Reading(f"{match['n']} {link}") if link else None


def lowered(match: Match) -> Reading:
    """``CO₂``, ``x₁``: elements and lowered figures."""
    text = match["n"].translate(_PLAIN)
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


def _power(match: Match) -> str:
    """A power by its name: squared, cubed, or to which one."""
    raised = match["p"]
    if not raised:
        return ""
    record = match.record
    name = record.signs.get({"2": "²", "3": "³"}.get(raised, raised))
    if name:
        return name
    plain = raised.translate(_PLAIN)
    if plain[-1] in "+-":
        return f"{cardinal(plain[:-1], match.language)} {record.sign(plain[-1])}".strip()
    return _exponent(plain, match)


def _exponent(text: str, match: Match) -> str:
    """To what power: a number with its sign, a variable."""
    record = match.record
    to = match.language.meaning("formula", "power") or record.sign("^")
    if text.lstrip("-").isdecimal():
        return f"{to} {cardinal(text, match.language)}"
    minus = f"{record.sign('-')} " if text[0] == "-" else ""
    return f"{to} {minus}{pieces(text.lstrip('-'), match.language)}"
