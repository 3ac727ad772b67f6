"""What scripts here end with: a table or figures are printed, and written where a file is named."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def options(about: str | None, *results: str) -> argparse.ArgumentParser:
    """A parser that shows a script's docstring, with the option that names the file to write, if
    there is one."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if results:
        parser.add_argument(
            *results, dest="results", type=Path, metavar="FILE", help="write the figures here, too"
        )
    return parser


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table, whose first column is of words and the rest of figures."""
    lines = [heading, ["---", *["---:"] * (len(heading) - 1)], *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def tell(lines: Sequence[str], results: Path | None) -> None:
    """Print a table's lines; write them into ``results``, if that is a file."""
    print("\n".join(lines))
    keep(lines, results)


def tell_figures(found: Mapping[str, Any], results: Path | None) -> None:
    """Print figures as JSON; write them into ``results``, if that is a file."""
    tell([json.dumps(found, indent=1)], results)


def keep(lines: Sequence[str], results: Path | None) -> None:
    """Write lines that were printed into ``results``, if that is a file; its folder is made."""
    if results is not None:
        results.parent.mkdir(parents=True, exist_ok=True)
        results.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sentences(measurement: str, language: str) -> list[str]:
    """The texts of a language that a measurement speaks, of ``data/sentences.tsv``."""
    path = Path(__file__).parent / "data" / "sentences.tsv"
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [text for name, tag, text in rows if (name, tag) == (measurement, language)]
