"""Texts that do not change, each with the tokens in which a language model writes it.

``lj``: 200 of LJ Speech's test sentences. ``answers``: 200 answers of an assistant. ``changing``:
60 whose reading a next token changes (figures, abbreviations, Markdown). ``long``: five of ten
minutes, from LJ Speech's books. Tokens are those of OpenAI's o200k_base
(lab/benchmarks/field/freeze.py); a set is named by its digest in cards."""

from __future__ import annotations

import functools
import hashlib
import json
from itertools import accumulate, pairwise
from pathlib import Path

from sayahead.config import nearest
from sayahead.errors import ConfigError

from sayahead_lab.scripts import ScriptLine

FOLDER = Path(__file__).parent / "texts"


def names() -> list[str]:
    """The sets."""
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def frozen(name: str) -> list[ScriptLine]:
    """The texts of a set; ConfigError where there is none of that name."""
    return [ScriptLine(row["name"], row["text"]) for row in rows(name)]


def tokens(text: str) -> list[str]:
    """The tokens of a frozen text, which join to it; ConfigError for any other text."""
    lengths = lengths_by_text().get(text)
    if lengths is None:
        raise ConfigError(
            f"Recorded tokens are those of frozen texts ({', '.join(names())}), not of"
            f" {text[:60]!r}."
        )
    return [text[a:b] for a, b in pairwise(accumulate(lengths, initial=0))]


def digest(name: str) -> str:
    """The SHA-256 of a set's file, its first 16 digits."""
    return hashlib.sha256((FOLDER / f"{name}.jsonl").read_bytes()).hexdigest()[:16]


@functools.cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """The lines of a set."""
    if name not in names():
        raise ConfigError(f"There are no frozen texts {name!r}{nearest(name, names())}.")
    return tuple(
        map(json.loads, (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    )


@functools.cache
def lengths_by_text() -> dict[str, list[int]]:
    """The lengths of the tokens of every frozen text."""
    return {row["text"]: row["tokens"] for name in names() for row in rows(name)}  # type: ignore[misc]
