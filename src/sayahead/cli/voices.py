"""``sayahead voices``: the voices that ``--voice`` accepts; others are added, tried and removed."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HELP = "list the installed voices; add, shape, try and remove voices"
EPILOG = """examples:
  sayahead voices                                     those that are installed
  sayahead voices --language de                       those that speak German
  sayahead voices catalogue fr                        public French voices that can be added by name
  sayahead voices add fr_FR-siwis-medium              download one of them
  sayahead voices add en_US-joe-medium.onnx           any Piper voice, with en_US-joe-medium.onnx.json beside it
  sayahead voices try en_US-joe-medium                hear it
  sayahead voices shape bass --pitch -6 --formants 0.85    the default voice, lower and larger
  sayahead voices remove en_US-joe-medium

Added voices lie in SAYAHEAD_VOICES, by default in ~/.local/share/sayahead/voices.
"""
PARTS = {
    "add": "sayahead.cli.voices_add",
    "remove": "sayahead.cli.voices_remove",
    "shape": "sayahead.cli.voices_shape",
    "try": "sayahead.cli.voices_try",
    "catalogue": "sayahead.cli.voices_catalogue",
    "pack": "sayahead.cli.voices_pack",
}
COLUMNS = ("name", "language", "speakers", "rate", "size", "cost", "licence", "description")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("--language", metavar="TAG", help="only voices of this language: de, or pt-BR")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the voices; the exit code."""
    from sayahead.voices.locations import installed_voices

    rows = [describe(name, folder) for name, folder in installed_voices().items()]
    if arguments.language:
        rows = [row for row in rows if speaks(row.get("language", ""), arguments.language)]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return 0
    print_table([COLUMNS, *(line(row) for row in rows)])
    if any(row.get("commercial") is False for row in rows):
        print("* by its licence not for commercial use")
    return 0


def speaks(language: str, wanted: str) -> bool:
    """Whether a language is the one that is wanted, or a variety of it."""
    own, asked = (re.split("[-_]", tag.lower()) for tag in (language, wanted))
    return own[: len(asked)] == asked


def describe(name: str, folder: Path) -> dict[str, Any]:
    """What a person wants to know about a voice before loading it."""
    from sayahead.errors import VoiceError
    from sayahead.voices import read_config
    from sayahead.voices.install.add import for_trade
    from sayahead.voices.install.trial import kept

    try:
        config = read_config(folder)
    except VoiceError as error:
        return {"name": name, "folder": str(folder), "error": str(error)}
    fields = {key: getattr(config, key) for key in ("language", "sample_rate", "license", "description", "source")}
    size = sum(file.stat().st_size for file in folder.iterdir())
    measured = kept(folder)
    cost = None if measured is None else round(measured.rtf, 3)
    more = {
        "kind": config.kind,
        "speakers": len(config.speakers) or 1,
        "commercial": for_trade(config.license),
        "cost": cost,
    }
    return {"name": name, **fields, **more, "bytes": size, "folder": str(folder)}


def line(row: dict[str, Any]) -> Sequence[str]:
    """A voice's row of the table."""
    if "error" in row:
        return (row["name"], *["-"] * 6, row["error"])
    cost = "" if row["cost"] is None else f"{row['cost']:.2f}"
    licence = row["license"] + ("" if row["commercial"] else " *")
    rate, size = f"{row['sample_rate']} Hz", f"{row['bytes'] / 1e6:.1f} MB"
    return (row["name"], row["language"], str(row["speakers"]), rate, size, cost, licence, row["description"])


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Rows in columns as wide as their longest cell, without a column that is empty below its head."""
    table = list(rows)
    columns = [c for c in range(len(table[0])) if len(table) == 1 or any(row[c] for row in table[1:])]
    widths = [max(len(row[c]) for row in table) for c in columns]
    for row in table:
        print("  ".join(row[c].ljust(width) for c, width in zip(columns, widths, strict=True)).rstrip())
