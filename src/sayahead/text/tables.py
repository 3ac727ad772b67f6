"""Small tables as text: the lines of a file, pairs of words, a pattern of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path


def numbered_lines(path: Path, comment: str = "//") -> Iterator[tuple[int, str]]:
    """The lines of a file that are neither blank nor comments, each with its number."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith(comment):
            yield number, line


def lines_of(path: Path, comment: str = "//") -> list[str]:
    """The same without numbers."""
    return [line for _, line in numbered_lines(path, comment)]


def pairs(text: str, mark: str = ":") -> dict[str, str]:
    """Keys and values, with a mark between them and white space between the pairs."""
    return dict(pair.split(mark) for pair in text.split())


def alternatives(words: Iterable[str]) -> str:
    """A pattern of several words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
