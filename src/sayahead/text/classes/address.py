"""Addresses: postal codes before a town."""

from __future__ import annotations

from sayahead.text.classes.verbalize import digits
from sayahead.text.reading.context import Match, Reading


def postal(match: Match) -> Reading | None:
    """``10115 Berlin``: figure by figure; a round number counts what stands behind it."""
    return None if match["n"].endswith("000") else Reading(digits(match["n"], match.language))
