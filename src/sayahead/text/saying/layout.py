"""How a voice lays its ids out: what stands between phonemes, and at the ends of a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sayahead.types import Ids

MARKS = {".": ".", "!": "!.", "?": "?.", ",": ",;", ";": ";,", ":": ":;,", "—": "—;,", "…": "….;"}
"""What stands for a mark: the first of these that the voice has an id for."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Symbols that are no phonemes, by their names in the voice's table; an empty one is left out.

    With ``Layout(pad="_")`` ids are those of Piper without the ends, ``a _ b _``; with ``begin="^",
    end="$"`` a sentence's first word begins with ``^ _`` and its last one ends with ``$``."""

    pad: str = ""
    """What follows every symbol but ``end``."""
    begin: str = ""
    """What opens a sentence."""
    end: str = ""
    """What closes it."""

    def ids(self, symbols: str, table: Mapping[str, int]) -> Ids:
        """(P,) ids of symbols, each with its pad; what the voice has no id for is left out."""
        numbers = [table[symbol] for symbol in symbols if symbol in table]
        if not self.pad:
            return np.array(numbers, np.int64)
        return np.array(
            [number for symbol in numbers for number in (symbol, table[self.pad])], np.int64
        )

    def closing(self, table: Mapping[str, int]) -> Ids:
        """(0 or 1,) ids that close a sentence."""
        return np.array([table[self.end]] if self.end else [], np.int64)


def mark(text: str, table: Mapping[str, int]) -> str:
    """The symbol with which a voice reads the mark, or nothing."""
    return next((one for one in MARKS.get(text, "") if one in table), "")
