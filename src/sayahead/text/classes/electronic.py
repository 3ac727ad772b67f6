"""Electronic: addresses of the web and of mail, paths, files, names on networks, calls of
methods."""

from __future__ import annotations

import re

from sayahead.text.classes.verbalize import ADDRESS, pieces
from sayahead.text.reading.context import Match, Reading

_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?")


def address(match: Match) -> Reading:
    """An address or a path with its signs by name; what every address begins with is silent."""
    text = _SCHEME.sub("", match.text).rstrip("/")
    return Reading(pieces(text, match.language, ADDRESS))


def call(match: Match) -> Reading | None:
    """``re.compile(x)``: a method, its brackets silent."""
    name, _, inside = match.text.rstrip(")").partition("(")
    if "." not in name and "_" not in name and inside:
        return None
    words = pieces(name, match.language, ADDRESS)
    return Reading(f"{words} {pieces(inside, match.language)}".strip())
