"""Punctuation: what pauses, what ends a sentence, what is silent."""

from __future__ import annotations

from sayahead.text.reading.context import SILENT, Match, Reading


def pause(match: Match) -> Reading | None:
    """A mark inside a sentence."""
    return Reading("", mark=match.text)


def stop(match: Match) -> Reading | None:
    """A mark that ends a sentence."""
    if (match.text[0] in ".…" and len(match.text) > 1) or match.text == "…":
        return Reading("", mark="…")
    return Reading("", mark=max(match.text, key=".!?".index), ends=True)


def dash(match: Match) -> Reading | None:
    """A dash between words or clauses."""
    return Reading("", mark="—")


def open(match: Match) -> Reading | None:
    """A bracket that opens."""
    return Reading("", mark="(")


def close(match: Match) -> Reading | None:
    """A bracket that closes."""
    return Reading("", frozenset({"closed"}), mark=")")


def silent(match: Match) -> Reading | None:
    """Nothing is said."""
    return SILENT
