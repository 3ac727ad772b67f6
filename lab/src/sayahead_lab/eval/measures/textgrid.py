"""Praat's TextGrid files, long and short, as forced aligners write them."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from sayahead.errors import ConfigError

# The parts of such a file that Praat reads: strings, and free-standing numbers and flags; "item
# [1]:" is decoration.
_TOKEN = re.compile(r'"((?:[^"]|"")*)"|(?<!\S)(-?\d+(?:\.\d+)?(?:[eE]-?\d+)?|<\w+>)(?!\S)')


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of a recording with its label."""

    begin_s: float
    """Its start."""
    end_s: float
    """Its end."""
    label: str
    """The words or sounds; empty for silence."""


def read_textgrid(path: Path) -> dict[str, list[Interval]]:
    """The intervals of each interval tier, by its name; ConfigError where the file is missing or no
    TextGrid."""
    try:
        data = path.read_bytes()
        wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except OSError as error:
        raise ConfigError(f"The TextGrid {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"The TextGrid {path} is neither UTF-8 nor UTF-16: {error}.") from error
    tokens = [
        match.group(1) if match.group(2) is None else match.group(2)
        for match in _TOKEN.finditer(text)
    ]
    try:
        return parse(tokens)
    except (IndexError, ValueError) as error:
        raise ConfigError(
            f"{path} is not a TextGrid, or not all of one: align the recording again."
        ) from error


def parse(tokens: list[str]) -> dict[str, list[Interval]]:
    """Tiers of a TextGrid's strings and numbers in their order; ValueError or IndexError where they
    do not fit."""
    if tokens[:2] != ["ooTextFile", "TextGrid"] or tokens[4] != "<exists>":
        raise ValueError("not a TextGrid")
    tiers: dict[str, list[Interval]] = {}
    count = int(tokens[5])
    at = 6
    for _ in range(count):
        kind = tokens[at]
        name = tokens[at + 1].replace('""', '"')
        rows = int(tokens[at + 4])
        width = {"IntervalTier": 3, "TextTier": 2}.get(kind, 0)
        at = at + 5
        if not width or at + width * rows > len(tokens):
            raise ValueError("a tier is cut off")
        if width == 3:
            tiers[name] = [
                Interval(
                    float(tokens[i]), float(tokens[i + 1]), tokens[i + 2].replace('""', '"').strip()
                )
                for i in range(at, at + 3 * rows, 3)
            ]
        at += width * rows
    return tiers


def tier(tiers: dict[str, list[Interval]], name: str, path: Path) -> list[Interval]:
    """The tier of that name, alone or after its speaker's ("anna - words"); ConfigError unless
    there is just one."""
    keys = [key for key in tiers if key == name or key.endswith(f" - {name}")]
    if len(keys) != 1:
        raise ConfigError(
            f"{path} has {len(keys) or 'no'} tiers named {name!r} (its tiers:"
            f" {', '.join(tiers) or 'none'}): expected those of the Montreal Forced Aligner, words"
            " and phones of one speaker."
        )
    return tiers[keys[0]]
