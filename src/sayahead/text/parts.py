"""A word in parts, each with a part of its place in the source; all but the last one go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sayahead.types import Word


def shares(word: Word, count: int) -> list[int]:
    """Where each of so many parts of a word ends; where there are more of them than characters, the
    first ones have these."""
    size = word.end - word.start
    return [word.start - (-size * number // count) for number in range(1, count + 1)]


def parted(word: Word, texts: Sequence[str], ends: Sequence[int] = ()) -> list[Word]:
    """A word as one of each text; without places where they ``end``, all have like shares."""
    ends = ends or shares(word, len(texts))
    starts = [word.start, *ends[:-1]]
    words = [
        replace(word, text=text, start=start, end=end, ends=False, continues=True)
        for text, start, end in zip(texts, starts, ends, strict=True)
    ]
    words[-1] = replace(words[-1], ends=word.ends, continues=word.continues)
    return words
