"""Punctuation: what pauses, what ends a sentence, what is silent."""

from __future__ import annotations

import unicodedata

from sayahead.text.reading.context import SILENT, Match, Reading

_SAME = str.maketrans("。।॥؟۔։።᙮‼⁇⁈⁉｡．、，；：،؛፣፤·", "...?....!???..,,;:,;,;,")
"""Marks of other scripts as those that voices know."""


def pause(match: Match) -> Reading | None:
    """A mark inside a sentence."""
    return Reading("", shown=_shown(match.text), mark=match.text.translate(_SAME))


def slash(match: Match) -> Reading | None:
    """A stroke between spaces, a step of a menu: a pause."""
    return Reading("", mark=",")


def stop(match: Match) -> Reading | None:
    """Marks that end a sentence: the strongest of them."""
    marks = unicodedata.normalize("NFKC", match.text.translate(_SAME)).replace("...", "…")
    return Reading("", shown=_shown(match.text), mark=max(marks, key=".…!?".index), ends=True)


def question(match: Match) -> Reading | None:
    """What ends a question, where it is another mark elsewhere."""
    return Reading("", mark="?", ends=True) if match.text == match.record.question else None


def _shown(marks: str) -> str:
    """A mark of another script, as its script writes it."""
    return next((mark for mark in reversed(marks) if not mark.isascii() and mark != "…"), "")


def trailing(match: Match) -> Reading | None:
    """A sentence that trails off, and goes on."""
    return Reading("", mark="…")


def listed(match: Match) -> Reading | None:
    """What follows the number of a list's item."""
    return Reading("", mark=".")


def dash(match: Match) -> Reading | None:
    """A dash between words or clauses."""
    return Reading("", mark="—")


def option(match: Match) -> Reading | None:
    """An option of a command: "--help", "-U" after a word."""
    name = match.record.address.get("-", "")
    dashes = len(match["d"])
    is_one = dashes == 1 and len(match["w"]) == 1 and match.context.word[:1].islower()
    is_long = dashes == 2 and match["w"].islower() and len(match["w"]) > 1
    if not (is_one or is_long):
        return None
    return Reading(" ".join([*[name] * dashes, match["w"].replace("-", " ")]))


def open(match: Match) -> Reading | None:
    """A bracket that opens."""
    return Reading("", mark="(")


def close(match: Match) -> Reading | None:
    """A bracket that closes."""
    return Reading("", frozenset({"closed"}), mark=")")


def cited(match: Match) -> Reading | None:
    """The number of a source: after a mark or a word, where it is no index of a variable."""
    return SILENT if len(match.context.word) != 1 else None


def silent(match: Match) -> Reading | None:
    """Nothing is said."""
    return SILENT
