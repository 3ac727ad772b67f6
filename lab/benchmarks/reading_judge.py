"""What is read today and what is read instead: snapshots of a front end over many texts, and what
differs in two.

    python lab/benchmarks/reading_texts.py TEXTS DEBIAN
    python lab/benchmarks/reading_judge.py snapshot TEXTS de -o before/ [--tree COMMIT] [--front \
        module:attribute]
    python lab/benchmarks/reading_judge.py compare before/de.jsonl.gz after/de.jsonl.gz
    python lab/benchmarks/reading_judge.py cost TEXTS de OLD NEW

A tree is a checkout or a commit of this repository; the front end is ``module:attribute`` in it: a
front end, or what makes one of a language's tag. ``snapshot --against before/`` compares at once. A
cost is honest only from ``cost``: it runs both front ends in turns, OLD and NEW being ``TREE`` or
``TREE=module:attribute``."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sayahead.types import Word

from sayahead_lab.eval.text import differences
from sayahead_lab.eval.text import snapshot as snapshots
from sayahead_lab.eval.text.reading_worker import ENDS

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support import other_readings, readings

ROOT = Path(__file__).parents[2]


def right(row: Mapping[str, Any]) -> bool | None:
    """Whether a text is read as its test accepts; None where nothing says what is right."""
    if "accepted" not in row:
        return None
    if "error" in row:
        return False
    case = readings.Case(row["category"], row["text"], tuple(row["accepted"]))
    words = [
        Word(text, start, end, ends=bool(flags & ENDS))
        for text, start, end, flags, _ in row["words"]
    ]
    if row["tag"].partition("-")[0] != "en":
        return other_readings.accepts(case, words)
    return readings.accepts(case, words, row.get("phonemes", []))


@contextmanager
def checkout(tree: str) -> Iterator[Path]:
    """The folder of a tree, or a commit's files in a folder of their own."""
    if Path(tree).is_dir():
        yield Path(tree).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "-q", str(path), tree], check=True)
        try:
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], check=True)


@contextmanager
def front_in(spec: str) -> Iterator[snapshots.Front]:
    """A front end by ``TREE`` or ``TREE=module:attribute``."""
    tree, _, path = spec.partition("=")
    with checkout(tree) as folder:
        yield snapshots.Front(folder, path or snapshots.TODAY)


def take(arguments: argparse.Namespace) -> None:
    """Write a snapshot of each language; print what differs from an earlier one, if one is
    given."""
    with front_in(f"{arguments.tree}={arguments.front}") as front:
        for language in arguments.languages.split(","):
            texts = arguments.texts / f"{language}.jsonl.gz"
            rows = snapshots.rows_of(texts, arguments.sets, arguments.every)
            made = snapshots.snapshot(
                front, language, rows, right, jobs=arguments.jobs, repeats=arguments.repeats
            )
            path = arguments.out / f"{language}.jsonl.gz"
            snapshots.write(path, made)
            print(f"{path}: {len(rows):,} texts", flush=True)
            if arguments.against:
                tell(arguments.against / path.name, path, arguments)


def tell(before: Path, after: Path, arguments: argparse.Namespace) -> None:
    """Print what differs, and write the differences to a file if one is named."""
    accepted = differences.read_accepted(arguments.accepted) if arguments.accepted else {}
    found = differences.compare(before, after, accepted)
    print(differences.report(found, arguments.shown))
    if arguments.differences:
        lines = differences.rows_of_differences(found.differences)
        with arguments.differences.open("a", encoding="utf-8") as opened:
            opened.writelines(lines)


def price(arguments: argparse.Namespace) -> None:
    """Print the cost of two front ends, measured in turns."""
    print("| | before | after | ratio |\n|---|--:|--:|--:|")
    with front_in(arguments.before) as before, front_in(arguments.after) as after:
        for language in arguments.languages.split(","):
            rows = snapshots.rows_of(arguments.texts / f"{language}.jsonl.gz")
            lines = snapshots.sample(rows)
            turns = [
                [{**snapshots.costs(front, language, lines, 1)} for front in (before, after)]
                for _ in range(arguments.repeats)
            ]
            for name in turns[0][0]:
                pairs = [(old[name][0], new[name][0]) for old, new in turns]
                ratio = statistics.median(new / old for old, new in pairs)
                figures = " | ".join(
                    f"{statistics.median(side):.1f}" for side in zip(*pairs, strict=True)
                )
                print(f"| {language}: microseconds a word, {name} | {figures} | {ratio:.2f} |")
            print_cold(before, after, language, arguments.repeats)


def print_cold(
    before: snapshots.Front, after: snapshots.Front, language: str, repeats: int
) -> None:
    """Print how long both take to begin, and the memory that takes, measured in turns."""
    turns = [
        [snapshots.cold(front, language, 1) for front in (before, after)] for _ in range(repeats)
    ]
    for name in turns[0][0]:
        old, new = (statistics.median(turn[side][name] for turn in turns) for side in (0, 1))
        ratio = new / old
        print(
            f"| {language}: cold start, {name} | {old:.1f} | {new:.1f} | {ratio:.2f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    taking = commands.add_parser("snapshot", help="what a front end reads, as a file")
    taking.add_argument("texts", type=Path)
    taking.add_argument("languages", help="such as de,fr")
    taking.add_argument("-o", "--out", type=Path, required=True, help="folder")
    taking.add_argument("--tree", default=str(ROOT), help="checkout or commit")
    taking.add_argument("--front", default=snapshots.TODAY, help="module:attribute")
    taking.add_argument(
        "--sets", default="", help="only sets whose names begin so: golden, generator, prose"
    )
    taking.add_argument("--every", type=int, default=1, help="only one text of so many")
    taking.add_argument("--repeats", type=int, default=5, help="of what is timed; 0 times nothing")
    taking.add_argument("-j", "--jobs", type=int, default=1)
    taking.add_argument("--against", type=Path, help="folder of earlier snapshots to compare with")
    taking.set_defaults(run=take)
    comparing = commands.add_parser("compare", help="what differs in two snapshots")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.set_defaults(run=lambda given: tell(given.before, given.after, given))
    for command in (taking, comparing):
        command.add_argument(
            "--accepted", type=Path, help="lines: better, equal or worse, language, text, reading"
        )
        command.add_argument(
            "--differences", type=Path, help="file to which all differences are added"
        )
        command.add_argument(
            "--shown", type=int, default=40, help="most differences of a kind that are shown"
        )
    pricing = commands.add_parser("cost", help="cost of two front ends, in turns")
    pricing.add_argument("texts", type=Path)
    pricing.add_argument("languages")
    pricing.add_argument("before")
    pricing.add_argument("after")
    pricing.add_argument("--repeats", type=int, default=7)
    pricing.set_defaults(run=price)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
