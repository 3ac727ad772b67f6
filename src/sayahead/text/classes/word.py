"""Words that are read as they are written."""

from __future__ import annotations

from sayahead.text.reading.context import Match, Reading


def plain(match: Match) -> Reading | None:
    """The word."""
    return Reading(match.text)
