"""What no other class knows, piece by piece."""

from __future__ import annotations

from sayahead.text.classes.verbalize import pieces
from sayahead.text.reading.context import Match, Reading


def mixed(match: Match) -> Reading | None:
    """``C3PO``, ``COVID-19``: letters as they are, figures as numbers."""
    return Reading(pieces(match.text, match.language))
