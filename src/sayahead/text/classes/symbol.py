"""Signs that have a name."""

from __future__ import annotations

from sayahead.text.classes.verbalize import pieces
from sayahead.text.reading.context import Match, Reading


def menu(match: Match) -> Reading | None:
    """``Datei > Öffnen``: a step of a menu, a pause."""
    return Reading("", mark=",")


def before(match: Match) -> Reading | None:
    """A sign that has its name before figures only."""
    return Reading(match.language.record.sign(match.text.strip()))


def once(match: Match) -> Reading | None:
    """Many of one sign, which are no many times its name."""
    return Reading(pieces(match.text[0], match.language))
