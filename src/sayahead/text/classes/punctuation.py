"""Punctuation: what pauses, what ends a sentence, what is silent."""

from __future__ import annotations

import unicodedata

from sayahead.text.reading.context import SILENT, Match, Reading

_SAME = str.maketrans("。।॥؟۔։።᙮‼⁇⁈⁉｡．、，；：،؛፣፤·", "...?....!???..,,;:,;,;,")
"""Marks of other scripts as those that voices know."""


def pause(match: Match) -> Reading:
    """A mark inside a sentence."""
    return Reading("", shown=_shown(match.text), mark=match.text.translate(_SAME))


def stop(match: Match) -> Reading:
    """Marks that end a sentence: the strongest of them."""
    marks = unicodedata.normalize("NFKC", match.text.translate(_SAME)).replace("...", "…")
    return Reading("", shown=_shown(match.text), mark=max(marks, key=".…!?".index), ends=True)


def _shown(marks: str) -> str:
    """A mark of another script, as its script writes it."""
    return next((mark for mark in reversed(marks) if not mark.isascii() and mark != "…"), "")


def option(match: Match) -> Reading | None:
    """An option of a command: "--help", "-U" after a word."""
    name = match.record.address.get("-", "")
    dashes = len(match["d"])
    is_one = dashes == 1 and len(match["w"]) == 1 and match.context.word[:1].islower()
    is_long = dashes == 2 and match["w"].islower() and len(match["w"]) > 1
    if not (is_one or is_long):
        return None
    return Reading(" ".join([*[name] * dashes, match["w"].replace("-", " ")]))


def cited(match: Match) -> Reading | None:
    """The number of a source: after a mark or a word, where it is no index of a variable."""
    return SILENT if len(match.context.word) != 1 else None
