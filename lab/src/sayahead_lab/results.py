"""What measurements share: their options, tables in Markdown, and files of results."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sayahead_lab.overrides import override

COMMON: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "experiment": (("experiment",), {"type": Path, "help": "an experiment's TOML file"}),
    "set": (
        ("--set",),
        {
            "metavar": "KEY=VALUE",
            "type": override,
            "action": "append",
            "default": [],
            "help": "as of sayahead eval run",
        },
    ),
    "texts": (("--texts",), {"type": Path, "required": True, "help": "lines of name|text"}),
    "corpus": (("--corpus",), {"type": Path, "required": True, "help": "folder of a corpus"}),
    "whisper": (
        ("--whisper",),
        {"type": Path, "required": True, "help": "folder of a Whisper model for faster-whisper"},
    ),
    "out": (("-o", "--out"), {"type": Path, "required": True, "help": "where the results go"}),
    "results": (("-o", "--results"), {"type": Path, "help": "write the figures into a file, too"}),
    "json": (("--json",), {"type": Path, "help": "write the figures into a file, too"}),
}
"""Options that mean the same in every measurement, by name."""


COUNTS = {"...": "+", "]": "?"}
"""How many there are of an argument, by the end of its name: "FILES...", "[FILE]"."""


def options(about: str | None, *common: str, **defaults: Any) -> argparse.ArgumentParser:
    """A parser that shows a script's docstring, with those of the ``COMMON`` options that it has.

    A name in capitals is an argument, a path: "FILE", "FILES..." or "[FILE]". Further options are
    named with their defaults, which tell their types. A type alone is an option without a default,
    one in a list may be repeated, a tuple takes
    several values, False makes a switch, and ``...`` a path that has to be given.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in common:
        flags, settings = COMMON.get(name) or argument(name)
        parser.add_argument(*flags, **settings)
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **settings_of(default))
    return parser


def argument(name: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    """A positional argument by its name in capitals; KeyError for another name."""
    if not name.isupper():
        raise KeyError(name)
    bare = name.strip("[].")
    count = next((count for end, count in COUNTS.items() if name.endswith(end)), None)
    return (bare.lower(),), {"type": Path, "metavar": bare, "nargs": count}


def settings_of(default: Any) -> dict[str, Any]:
    """What argparse is told of an option with such a default."""
    if default is ...:
        return {"type": Path, "required": True}
    if default is False:
        return {"action": "store_true"}
    if isinstance(default, list):
        return {"type": default[0], "action": "append", "default": []}
    if isinstance(default, tuple):
        return {"type": type(default[0]), "nargs": "+", "default": default}
    if isinstance(default, type):
        return {"type": default}
    return {"type": type(default), "default": default, "help": f"(default: {default})"}


Rows = list[list[str]]
"""The cells of a table."""
FIGURES = "```json"
FENCE = "```"
"""What is around the figures of a file of Markdown."""


def table(heading: str, rows: Iterable[Sequence[str]], *, words: int = 1) -> list[str]:
    """The lines of a Markdown table.

    The heading's cells have "|" between them; the first ``words`` columns hold words, the others
    figures.
    """
    heads = heading.split("|")
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    return [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)]


def read_table_rows(text: str, number: int = 0) -> Rows:
    """The cells of one of the tables in a text; its heading and the line below it are rows."""
    found = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)[number]
    return [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in found.strip().splitlines()
    ]


def tell(lines: Sequence[str], results: Path | None) -> None:
    """Print lines; write them into ``results``, if that is a file."""
    print("\n".join(lines))
    keep(lines, results)


def tell_figures(figures: object, results: Path | None) -> None:
    """Print figures as JSON; write them into ``results``, if that is a file."""
    tell([json.dumps(figures, indent=1)], results)


def keep(lines: Sequence[str], results: Path | None) -> None:
    """Write lines into ``results``, if that is a file; its folder is made."""
    if results is not None:
        results.parent.mkdir(parents=True, exist_ok=True)
        results.write_text("\n".join(lines) + "\n", encoding="utf-8")


def keep_figures(figures: object, results: Path | None) -> None:
    """Write figures as JSON into ``results``, if that is a file."""
    keep([json.dumps(figures, indent=1)], results)


def publish(results: Path | None, lines: Sequence[str], figures: object) -> None:
    """Print lines; write them into ``results``, if that is a file, with the figures below them."""
    print("\n".join(lines))
    keep([*lines, "", FIGURES, json.dumps(figures, indent=1), FENCE], results)


def load_figures(path: Path, parse_float: Callable[[str], Any] | None = None) -> Any:
    """The figures of a file: of JSON, or of Markdown with JSON at its end."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = text.partition(f"\n{FIGURES}\n")[2].removesuffix(f"{FENCE}\n")
    return json.loads(text, parse_float=parse_float)


def load_text(path: Path) -> str:
    """What a file of Markdown says above its figures."""
    return path.read_text(encoding="utf-8").partition(f"\n{FIGURES}\n")[0].strip()


def kept(results: Path | None) -> dict[str, Any]:
    """The figures that a file has from an earlier run; none where there is no file."""
    if results is None or not results.is_file():
        return {}
    figures: dict[str, Any] = load_figures(results)
    return figures
