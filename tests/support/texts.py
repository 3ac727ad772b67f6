"""Texts and splits for property tests."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import strategies as st

SNIPPETS = (
    "Hello",
    "the",
    "quick",
    "brown fox",
    "apple",
    "to",
    "a",
    "I",
    "word,",
    "and",
    "end.",
    "What?",
    "No!",
    "Dr.",
    "Smith",
    "e.g.",
    "U.S.",
    "12",
    "12.5",
    "3rd",
    "$5",
    "million",
    "7:30",
    "pm",
    "March",
    "5",
    "km",
    "1,250",
    "50%",
    "...",
    "—",
    "-",
    "well-known",
    "don't",
    "“quoted”",
    "(aside)",
    "**bold**",
    "*",
    "#",
    "`code`",
    "[link](http://x.org)",
    "user@example.org",
    "https://example.com/a",
    "192.168.0.1",
    "😀",
    "naïve",
    "привет",
    "漢字",
    "\x00",
    "\u200b",
    "St.",
    "No.",
    "IV",
    "J.",
    "K.",
)
GAPS = (" ", " ", " ", " ", "\n", "\n\n", "  ", "", "\t", " - ", "\n- ")


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Texts of the things that make reading aloud hard."""
    parts = draw(st.lists(st.tuples(st.sampled_from(SNIPPETS), st.sampled_from(GAPS)), max_size=12))
    return "".join(word + gap for word, gap in parts)


@st.composite
def splits(draw: st.DrawFn, text: str) -> list[str]:
    """The same text in fragments."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return pieces(text, cuts)


def pieces(text: str, cuts: Sequence[int]) -> list[str]:
    edges = [0, *cuts, len(text)]
    return [text[a:b] for a, b in itertools.pairwise(edges)]
