"""Words that are read as they are written."""

from __future__ import annotations

from sayahead.text.reading.context import Match, Reading

SHORT = frozenset({"short"})
CUT = frozenset({"short", "cut"})


def plain(match: Match) -> Reading | None:
    """The word; ``short`` if it may be an abbreviation by its full stop, ``cut`` if it can be nothing else."""
    tags: frozenset[str] = frozenset()
    if match.language.is_short(match.text):
        tags = CUT if match.language.is_cut(match.text) else SHORT
    return Reading(match.text.replace("`", "'"), tags)
