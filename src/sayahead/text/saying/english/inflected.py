"""German forms of English verbs: ``gestreamt``, ``downgeloadet``, ``gegoogelt``."""

from __future__ import annotations

import collections
import functools
import re
from pathlib import Path
from typing import NamedTuple

from sayahead.text.tables import alternatives, lines_of

TABLE = Path(__file__).with_name("inflected.txt")


class Inflected(NamedTuple):
    """The parts of a form."""

    before: str
    """How what stands before the stem is said, or nothing."""
    english: str
    """The stem as English spells it."""
    ending: str
    """How what follows is said."""


def inflected(word: str) -> Inflected | None:
    """The parts of a German form of an English verb; None for any other word."""
    table, pattern = _table()
    m = pattern.fullmatch(word.lower())
    if m is None:
        return None
    parts = m.groupdict("")
    apart, prefix, stem, ending = (table.get(parts[name], "") for name in PARTS)
    return Inflected(apart + prefix, stem, ending)


PARTS = ("apart", "prefix", "stem", "ending")


@functools.cache
def _table() -> tuple[dict[str, str], re.Pattern[str]]:
    """What each part stands for, and the pattern of a form."""
    sections = dict[str, dict[str, str]]()
    for line in lines_of(TABLE):
        words = line.split()
        if len(words) == 1:
            sections[line] = {}
        else:
            pairs = (word.partition("=") for word in words)
            [*sections.values()][-1].update((own, other or own) for own, _, other in pairs)
    verbs, participles, apart, prefix, finite, adjective = (
        alternatives(section) for section in sections.values()
    )
    # The last part: no "Crashtest".
    pattern = re.compile(
        rf"(?:(?=(?:{apart}|{prefix}).)(?P<apart>{apart})?(?P<prefix>{prefix})?(?={verbs}|{participles})"
        rf"|(?={verbs}))(?P<stem>{verbs}|{participles})(?P<ending>{finite}|{adjective})(?<!test)"
    )
    return dict(collections.ChainMap(*reversed(sections.values()))), pattern
