"""``sayahead measure``: the measurements behind the documents, by name.

Each is a script of ``lab/benchmarks``, which is in a checkout but in no package.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sayahead.config import from_mapping, nearest
from sayahead.errors import ConfigError

HELP = "carry out a measurement that the documents quote"
EPILOG = """examples:
  sayahead measure --list                                    what there is
  sayahead measure cores                                     the script's docstring has its options
  sayahead measure first_token -- --results result.md        what follows -- are the script's own
"""
INSTALLED = Path(__file__).parents[3] / "benchmarks"
"""The scripts, where the package is installed in place."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement, as ``measures.toml`` has it."""

    answers: str
    """The question that it answers, or what it makes."""
    takes: str
    """How long it takes on two quiet cores."""
    writes: str
    """Its result, from the repository's root; empty where it prints."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the measurement")
    parser.add_argument(
        "options", metavar="OPTION", nargs="*", help="the script's own options, behind --"
    )
    parser.add_argument("--list", action="store_true", help="show all, with what each answers")


def run(arguments: argparse.Namespace) -> int:
    """List or measure; the exit code."""
    folder = scripts()
    measures = {name: one for group in read(folder).values() for name, one in group.items()}
    if arguments.list or arguments.name is None:
        print(table(read(folder)))
        return 0
    if arguments.name not in measures:
        raise ConfigError(
            f"There is no measurement {arguments.name!r}{nearest(arguments.name, measures)}."
        )
    tests = folder.parents[1] / "tests"
    path = os.pathsep.join(filter(None, (str(tests), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, str(folder / f"{arguments.name}.py"), *arguments.options]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False).returncode


def scripts() -> Path:
    """The folder of the scripts; ConfigError outside a checkout."""
    for folder in (INSTALLED, Path("lab/benchmarks").resolve()):
        if (folder / "measures.toml").is_file():
            return folder
    raise ConfigError("Measurements are in a checkout of the repository: run this from its root.")


def read(folder: Path) -> dict[str, dict[str, Measurement]]:
    """All measurements, by group and name."""
    groups: Mapping[str, Mapping[str, dict[str, str]]] = tomllib.loads(
        (folder / "measures.toml").read_text(encoding="utf-8")
    )
    return {
        group: {
            name: from_mapping(Measurement, entry, where=f"measures.toml: {name}")
            for name, entry in entries.items()
        }
        for group, entries in groups.items()
    }


def table(groups: Mapping[str, Mapping[str, Measurement]]) -> str:
    """A line for each measurement: its name, what it answers, how long it takes, what it writes."""
    width = max(len(name) for entries in groups.values() for name in entries)
    lines = []
    for group, entries in groups.items():
        lines.append(f"{group}:")
        lines += [
            f"  {name:{width}}  {one.answers} ({one.takes}){f' -> {one.writes}' * bool(one.writes)}"
            for name, one in entries.items()
        ]
    return "\n".join(lines)
