"""Words that are read as they are written."""

from __future__ import annotations

from sayahead.text.reading.context import Match, Reading

SHORT = frozenset({"short"})


def plain(match: Match) -> Reading | None:
    """The word; ``short`` if a full stop after it may be that of an abbreviation."""
    is_short = match.language.is_short(match.text)
    return Reading(match.text.replace("`", "'"), SHORT if is_short else frozenset())
