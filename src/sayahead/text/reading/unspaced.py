"""Scripts without spaces: what parts their words, and the readings of their figures in portions."""

from __future__ import annotations

import importlib
import re
from typing import Protocol

from sayahead.text.languages.record import Record
from sayahead.text.markup import Character
from sayahead.text.reading.pattern import SPACE
from sayahead.text.reading.segments import SegmentFilter

SEGMENTERS = {
    "japanese": "sayahead.text.saying.japanese.segments.segments_of",
    "mandarin": "sayahead.text.saying.mandarin.segments.MandarinFilter",
}
"""What parts the words of a language, by the key ``segmenter`` of its data file; imported when it
is first wanted."""
OPENERS = "“‘「『（([{【《〈〔"
"""Marks that belong to the word after them."""
MARKS = "，。！？、；：…—”’」』）】》〉〕"
"""Marks that belong to the word before them."""
SIGNS = "+-−±¥$€£₩₹~#@"
"""Signs that belong to the figures after them."""
MAX_SYLLABLES = 5
"""Characters of figures in words that are said at once."""
_NUMERALS = re.compile("[零〇一二三四五六七八九十百千万亿兆点幺两]+[，。！？；：、]?")
_PORTION = re.compile("百分之|千分之|.{1,3}[百千万亿兆](?=..)|.{1,4}")


class Segments(Protocol):
    """A filter that puts spaces of no length between words."""

    def push(self, characters: list[Character]) -> list[Character]:
        """The characters that are certain, with a space before each that begins a word."""
        ...


def space_before(character: Character) -> Character:
    """A space of no length before a character."""
    return SPACE, character[1], character[1]


def segments_of(record: Record) -> Segments:
    """What parts the words of a language that has no spaces between them."""
    if not record.segmenter:
        return SegmentFilter()
    module, name = SEGMENTERS[record.segmenter].rsplit(".", 1)
    maker = getattr(importlib.import_module(module), name)
    segments: Segments = maker(record.vocabularies.get("measures", ()))
    return segments


def numeral_portions(text: str) -> list[str]:
    """A reading in portions, where it is a long number."""
    parts = [""]
    for piece in text.split():
        for part in _pieces(piece):
            is_latin = parts[-1].isascii() or part.isascii()
            if parts[-1] and (is_latin or len(parts[-1] + part) > MAX_SYLLABLES):
                parts.append(part)
            else:
                parts[-1] += part
    return parts


def _pieces(text: str) -> list[str]:
    """A number in words by its powers of ten, other words as they are."""
    is_long = len(text) > MAX_SYLLABLES and _NUMERALS.fullmatch(text) is not None
    return _PORTION.findall(text) if is_long else [text]
