"""Long readings in portions: what is said at once is bounded by how long it takes to say, not by
how it is written."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

AT_ONCE = 8.0
"""A reading up to this weight, in ordinary words, is one word to the engine, as nearly all are."""
MAX_KNOWN = 4096
"""Readings whose portions are remembered."""
PORTION = 4.0
"""Weight of the portions of a longer one: some 1.5 seconds."""

_WORD = re.compile(r"\s*\S+")
_UNIT = re.compile(r"\s*(?:[^\s./_—–-]*[./_—–-]+|[^\s./_—–-]+)")
_PRONOUNCED = re.compile(
    r"(?!.*([A-Za-z])\1{3})(?!.*[aeiouy]{6})(?!.*[^aeiouyø\W]{7})[^\W\d_]+(['’][a-z]+)?",
    re.IGNORECASE,
)
"""What may be a word: wide enough for all that the lexicon has, such as "catchphrase", "queueing"
and "goddessship"."""
_LONGEST = 45
"""Letters of the longest word, a disease of the lungs."""
_MARKS = " ./_—–-,;:!?…\"'()[]“”‘’"
# Letters of a word that are as long to say as a short one; and in groups of how many letters a
# spelled one is divided.
_LETTERS = 10
_GROUP = 3


@functools.lru_cache(maxsize=MAX_KNOWN)
def portions(text: str) -> tuple[str, ...]:
    """A reading in portions that take about equally long, in order; most readings are one."""
    if len(text) <= AT_ONCE:
        return (text,)
    atoms = [atom for word in _WORD.findall(text) for atom in _atoms(word)]
    if sum(weight for _, weight in atoms) <= AT_ONCE:
        return (text,)
    out = [""]
    filled = 0.0
    for atom, weight in atoms:
        paused = out[-1].endswith(",") and filled > PORTION / 2
        if filled and (paused or filled + weight > PORTION):
            out.append("")
            filled = 0.0
        out[-1] += atom
        filled += weight
    return tuple(portion.strip() for portion in out)


def _atoms(word: str) -> list[tuple[str, float]]:
    """A word as what need not be divided, with its weight: itself, unless it is long to say."""
    units = [unit for part in _UNIT.findall(word) for unit in _units(part)]
    weight = sum(weight for _, weight in units)
    return [(word, weight)] if weight <= PORTION else units


def _units(text: str) -> Iterator[tuple[str, float]]:
    """Letters between two marks, with their weight; what is no word of a language in groups, as it
    is spelled."""
    core = text.strip(_MARKS)
    plain = "".join(c for c in unicodedata.normalize("NFD", core) if not unicodedata.combining(c))
    pronounced = _PRONOUNCED.fullmatch(plain)
    if pronounced and len(core) <= _LONGEST:
        yield text, max(1.0, len(core) / _LETTERS)
    elif len(core) <= _GROUP:
        yield text, max(1.0, 0.75 * len(core))
    else:
        size = 2 * _LETTERS if pronounced else _GROUP
        for at in range(0, len(text), size):
            part = text[at : at + size]
            yield part, len(part) / _LETTERS if pronounced else 0.75 * len(part.strip())
