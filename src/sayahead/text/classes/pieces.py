"""What no other class knows, piece by piece."""

from __future__ import annotations

import re

from sayahead.text.classes.verbalize import pieces
from sayahead.text.reading.context import Match, Reading

BETWEEN = re.compile(r"\d[^-]*-\d")
"""Two numbers, each a token of its own."""


def mixed(match: Match) -> Reading | None:
    """``C3PO``, ``COVID-19``: letters as they are, figures as numbers."""
    if BETWEEN.match(match.text):
        return None
    return Reading(pieces(match.text, match.language))
