"""Words that are read as they are written."""

from __future__ import annotations

import functools
import re

from sayahead.text.reading.context import Match, Reading
from sayahead.text.reading.words import MAX_KNOWN, Words

SHORT = frozenset({"short"})
CUT = frozenset({"short", "cut"})
MAX_STRETCHED = 20
"""Letters of the longest word of which it is asked whether it is another one that is stretched."""
_STRETCHED = re.compile(
    r"(?!(?-i:III|XXX[IVX]*)(?![^\W\d_]))(?!(?<=[ivxlc])i)([^\W\d_])\1{2,}", re.IGNORECASE
)
"""Letters that are written three times or more and are no Roman numeral."""


def plain(match: Match) -> Reading:
    """The word; ``short`` if it may be an abbreviation by its full stop, ``cut`` if it can be
    nothing else."""
    return _reading(match.text, match.language)


@functools.lru_cache(maxsize=MAX_KNOWN)
def _reading(text: str, language: Words) -> Reading:
    tags: frozenset[str] = frozenset()
    if language.is_short(text):
        tags = CUT if language.is_cut(text) else SHORT
    return Reading(_unstretched(text, language).replace("`", "'"), tags)


def _unstretched(text: str, language: Words) -> str:
    """A word whose letters are written three times or more, as the common word that it is: "sooo"
    is "so"."""
    if len(text) > MAX_STRETCHED or _STRETCHED.search(text) is None:
        return text
    known = language.common.union(language.vocabularies.get("stretched", ()))
    plain = (_STRETCHED.sub(letters, text) for letters in (r"\1", r"\1\1"))
    return next((word for word in plain if len(word) > 1 and word.lower() in known), text)
