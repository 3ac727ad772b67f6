"""``sayahead voices``: the names that ``--voice`` accepts."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

HELP = "list the installed voices"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the voices; the exit code."""
    from sayahead.voices import installed_voices

    rows = [describe(name, folder) for name, folder in installed_voices().items()]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return 0
    table = [("name", "language", "rate", "size", "licence", "description")]
    for row in rows:
        rate, size = f"{row['sample_rate']} Hz", f"{row['bytes'] / 1e6:.1f} MB"
        table.append((row["name"], row["language"], rate, size, row["license"], row["description"]))
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    for line in table:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
        print("  ".join([*cells, line[-1]]))
    return 0


def describe(name: str, folder: Path) -> dict[str, Any]:
    """What a person wants to know about a voice before loading it."""
    from sayahead.voices import read_config

    config = read_config(folder)
    fields = {key: getattr(config, key) for key in ("language", "sample_rate", "license", "description", "source")}
    size = sum(file.stat().st_size for file in folder.iterdir())
    return {"name": name, **fields, "bytes": size, "folder": str(folder)}
