"""Remake a paper's tables: carry out the commands at the head of its experiments, one after the
other.

    python lab/benchmarks/papers/remake.py ma --texts test.csv --whisper WHISPER
    python lab/benchmarks/papers/remake.py ma quality latency --texts test.csv --whisper WHISPER
    python lab/benchmarks/papers/remake.py saeki --list

From the repository's root. Each experiment works in a folder of its own under ``remade`` and goes
on where it was stopped. Results go under ``remade/results``, beside which the committed ones stay
as they are, to be compared. With ``--results lab/benchmarks/results`` they take their place, and
``python lab/benchmarks/figures.py`` puts them into the documents. ``--count 2`` tries all of it in
minutes. ``--list`` without a name lists all experiments: those that need more say what at their
heads."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from sayahead_lab.results import options

ROOT = Path(__file__).parents[3]
BENCHMARKS = ROOT / "lab" / "benchmarks"
USUAL = {
    "ma": ("quality", "latency", "lookahead", "shadowing", "adaptation"),
    "saeki": ("free", "students"),
    "mohan": ("quality", "latency"),
}
"""What needs nothing but the repository, the texts and Whisper; others want what their heads
say."""
COMMITTED = "lab/benchmarks/results"
"""Where the heads' commands put results: of a remake they go elsewhere."""
STARTS = ("sayahead ", "python ", "for ", "test ", "SAYAHEAD_")
"""How a line of a head begins that is a command."""


def main() -> int:
    parser = options(
        __doc__, out=Path("remade"), count=0, list=False, texts=Path, whisper=Path, results=Path
    )
    parser.add_argument("paper", choices=USUAL)
    parser.add_argument(
        "experiments", nargs="*", help="their names (default: those that need nothing else)"
    )
    arguments = parser.parse_args()
    there = {path.stem: path for path in sorted((BENCHMARKS / arguments.paper).glob("*.toml"))}
    if unknown := [name for name in arguments.experiments if name not in there]:
        parser.error(f"{arguments.paper} has no {unknown[0]}: {', '.join(there)}")
    if arguments.list:
        return listed(arguments, there)
    if arguments.texts is None or arguments.whisper is None:
        parser.error("name --texts and --whisper, or --list the commands")
    for name in arguments.experiments or USUAL[arguments.paper]:
        begun = time.monotonic()
        for line in lines_of(arguments, there[name]):
            print(line, flush=True)
            if code := subprocess.run(["bash", "-c", line], cwd=ROOT, check=False).returncode:
                return code
        print(f"{name}: {(time.monotonic() - begun) / 60:.0f} min", flush=True)
    return 0


def listed(arguments: argparse.Namespace, there: Mapping[str, Path]) -> int:
    """Print the commands of experiments."""
    for name in arguments.experiments or there:
        more = "" if name in USUAL[arguments.paper] else ": needs more than the repository"
        print(f"# {name}{more}")
        print("\n".join(lines_of(arguments, there[name])))
    return 0


def lines_of(arguments: argparse.Namespace, experiment: Path) -> Iterator[str]:
    """The commands of an experiment's head with the files and the count that were given."""
    out = arguments.out / arguments.paper / experiment.stem
    results = shlex.quote(str(arguments.results or arguments.out / "results"))
    for command in commands(experiment.read_text(encoding="utf-8")):
        line = filled(command, out, arguments.texts, arguments.whisper)
        line = line.replace(COMMITTED, results)
        yield counted(line, arguments.count) if arguments.count else line


def commands(text: str) -> list[str]:
    """The commands of an experiment's head, continued lines joined."""
    found = list[str]()
    going = False
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        part = line.removeprefix("#").strip()
        if going:
            found[-1] += f" {part.removesuffix(chr(92)).strip()}"
        elif line.startswith("#   ") and part.startswith(STARTS):
            found.append(part.split("   ")[0].removesuffix(chr(92)).strip())
        going = part.endswith(chr(92)) and bool(found)
    return found


def counted(command: str, count: int) -> str:
    """A command with so many sentences of its experiment."""
    command = re.sub(r"(eval run \S+)", rf"\1 --set count={count}", command)
    return re.sub(r"((segments|proportion)\.py .*)", rf"\1 --count {count}", command)


def filled(command: str, out: Path, texts: Path | None, whisper: Path | None) -> str:
    """A command with this machine's files in the places of the documents' names."""
    named = {
        "test.csv": texts,
        "val.csv": texts and texts.with_name("val.csv"),
        "FOLDER": whisper,
        "out": out,
    }
    for name, path in named.items():
        if path is not None:
            words = command.split(" ")
            command = " ".join(shlex.quote(str(path)) if word == name else word for word in words)
    return command


if __name__ == "__main__":
    sys.exit(main())
