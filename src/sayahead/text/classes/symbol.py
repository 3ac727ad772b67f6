"""Signs that have a name."""

from __future__ import annotations

from sayahead.text.classes.verbalize import pieces
from sayahead.text.languages.signs import is_silent, name_of
from sayahead.text.reading.context import SILENT, UNHEARD, Match, Reading


def once(match: Match) -> Reading:
    """Many of one sign, which are no many times its name."""
    return Reading(pieces(match.text[0], match.language))


def unnamed(match: Match) -> Reading | None:
    """A sign that the language's own table has no word for."""
    if match.text.isalnum():
        return None
    name = name_of(match.text, match.record.tag.partition("-")[0])
    if name:
        return Reading(name)
    return SILENT if is_silent(match.text) else Reading("", frozenset({UNHEARD}))
