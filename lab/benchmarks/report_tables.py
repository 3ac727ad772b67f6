"""Tables of the documents that are made from committed results: from files of their own, or an
evaluation's report."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "lab" / "benchmarks" / "results"


def load(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def read_rows(name: str) -> list[list[str]]:
    """The cells of a results file's table, without its heading."""
    lines = [
        line
        for line in (RESULTS / name).read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


FORMER_SCRIPTS = {"faster": "cost", "released": "quality"} | {
    name: name for name in ("start", "graph_calls", "server_cost")
}
"""What the scripts that results name are measures of now, in ``side_by_side.py``."""


def table(
    name: str,
    command: str = "",
    *,
    rows: Sequence[str] = (),
    columns: Sequence[int] = (),
    number: int = 0,
) -> Callable[[], str]:
    """A results file's table, its command as it is now; where one is named that makes it, it may
    not be there yet. With ``rows`` (their first cell, or their first two with ", " between them) or
    ``columns`` (by position) only those of the file's table ``number``."""
    path = RESULTS / name
    waiting = f"Not measured yet: `{command}`."

    def present(match: re.Match[str]) -> str:
        measure = FORMER_SCRIPTS.get(match[1])
        return f"lab/benchmarks/side_by_side.py {measure} " if measure else match[0]

    def read() -> str:
        if command and not path.exists():
            return waiting
        text = path.read_text(encoding="utf-8").strip()
        if rows or columns:
            text = selection(text, rows, columns, number)
        return re.sub(r"lab/benchmarks/(\w+)\.py ", present, text)

    return read


def selection(text: str, rows: Sequence[str], columns: Sequence[int], number: int) -> str:
    """Rows and columns of one of the tables in a text; ValueError for a row that it lacks."""
    found = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)[number]
    lines = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in found.strip().splitlines()
    ]

    def key(line: list[str]) -> str:
        return ", ".join(line[:2]) if ", ".join(line[:2]) in rows else line[0]

    body = [line for line in lines[2:] if not rows or key(line) in rows]
    if missing := set(rows) - {key(line) for line in body}:
        raise ValueError(f"there is no row {', '.join(sorted(missing))}")
    at = columns or range(len(lines[0]))
    return "\n".join(
        "| " + " | ".join(line[index] for index in at) + " |" for line in (*lines[:2], *body)
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """A column of a table that is made from an evaluation's report."""

    heading: str
    """What stands over it."""
    file: str
    """The report's table, a CSV file."""
    column: str
    """Its column; one named so with " low" and " high" after it has the 95 % interval."""
    digits: int = 2
    """Decimal places."""
    bare: bool = False
    """Whether its interval is left out."""


@dataclass(frozen=True, slots=True)
class FromReport:
    """A table of conditions from the CSV files of an evaluation's report."""

    folder: str
    """The report, among the results."""
    command: str
    """What makes it."""
    figures: tuple[Figure, ...]
    """Its columns."""
    rows: Mapping[str, str] | None = None
    """Label to the condition's name; none: all conditions of the first figure's file under their
    own names."""
    beside: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Further columns, such as a paper's own figures: heading to condition to what stands there."""

    def __call__(self) -> str:
        if not (RESULTS / self.folder).is_dir():
            return f"Not measured yet: `{self.command}`."
        tables = {
            figure.file: read_table(RESULTS / self.folder / figure.file) for figure in self.figures
        }
        rows = self.rows or {name: name for name in tables[self.figures[0].file]}
        headings = [*(figure.heading for figure in self.figures), *self.beside]
        lines = [["", *headings], ["---", *["---:"] * len(headings)]]
        for label, name in rows.items():
            cells = [cell(tables[one.file], name, one, self.folder) for one in self.figures]
            lines.append(
                [label, *cells, *(column.get(name, "–") for column in self.beside.values())]
            )
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def read_table(path: Path) -> dict[str, dict[str, str]]:
    """A report's CSV file by condition."""
    if not path.is_file():
        sys.exit(f"{path} is missing: write the report anew with sayahead eval report.")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["condition"]: row for row in csv.DictReader(file)}


def cell(table: Mapping[str, Mapping[str, str]], name: str, figure: Figure, folder: str) -> str:
    """A figure with its interval; a dash where the report has none."""
    if name not in table or figure.column not in table[name]:
        what = f"condition {name!r}" if name not in table else f"column {figure.column!r}"
        sys.exit(
            f"{RESULTS / folder / figure.file} has no {what}: measure it, or change what"
            f" {Path(__file__).name} asks."
        )
    parts = [table[name].get(figure.column + part, "") for part in ("", " low", " high")]
    value, low, high = (f"{float(part):.{figure.digits}f}" if part else "" for part in parts)
    return (
        f"{value} ({low} to {high})" if value and low and high and not figure.bare else value or "–"
    )


LOOKAHEAD = FromReport(
    "lookahead",
    "sayahead eval run lab/benchmarks/lookahead.toml",
    (
        Figure("WER, %", "quality.csv", "WER, %"),
        Figure("DistillMOS", "quality.csv", "DistillMOS"),
        Figure("first sound, ms, 50 tokens/s", "latency-1.csv", "first audible sample p50, ms", 0),
        Figure(
            "first sound, ms, 180 words/min", "latency-2.csv", "first audible sample p50, ms", 0
        ),
        Figure("word lag, s, 180 words/min", "latency-2.csv", "word lag mean, s"),
    ),
)


WORDS_AND_OPINION = (
    Figure("WER, %", "quality.csv", "WER, %"),
    Figure("DistillMOS", "quality.csv", "DistillMOS"),
)

SHAPES = FromReport(
    "shapes",
    "sayahead eval run lab/benchmarks/shapes.toml",
    (
        Figure("WER, %", "quality.csv", "WER, %"),
        Figure("WER: difference", "quality.csv", "WER, %: difference"),
        Figure("DistillMOS", "quality.csv", "DistillMOS"),
        Figure("DistillMOS: difference", "quality.csv", "DistillMOS: difference"),
        Figure(
            "clicks at seams over elsewhere, points",
            "seams.csv",
            "clicks: over elsewhere, points",
            1,
        ),
    ),
)

OWN_VOICE = FromReport(
    "own_voice", "sayahead eval run lab/benchmarks/own_voice.toml", SHAPES.figures[:4]
)


ANOTHER_SPEAKER = FromReport(
    "another_speaker",
    "sayahead eval run lab/benchmarks/another_speaker.toml",
    SHAPES.figures[:4],
    {name: name for name in ("teacher", "pupil", "pupil, k = 1")},
)

SUMMARY = replace(
    LOOKAHEAD,
    rows={
        "whole sentences": "full",
        "two words of lookahead": "k = 2",
        "one word (the default)": "k = 1",
        "none": "k = 0",
        "none, random words in its place": "k = 0, random",
        "none, a language model's guess in its place": "k = 0, LM",
        "none, the words that really follow in its place": "k = 0, true",
        "hibari-tts, sentence by sentence": "hibari",
    },
)

CONTEXT = FromReport(
    "context",
    "sayahead eval run lab/benchmarks/context.toml",
    (
        Figure("WER: difference", "quality.csv", "WER, %: difference"),
        Figure("DistillMOS: difference", "quality.csv", "DistillMOS: difference", 3),
        Figure(
            "first sound, ms, 180 words/min", "latency-1.csv", "first audible sample p50, ms", 0
        ),
        Figure("word lag, s, 180 words/min", "latency-1.csv", "word lag mean, s"),
    ),
)

LISTENED = replace(
    CONTEXT,
    folder="listened",
    command="sayahead eval run lab/benchmarks/policy/listened.toml",
    figures=(
        *CONTEXT.figures[:2],
        Figure("word lag, s, 180 words/min", "latency-1.csv", "word lag mean, s"),
        Figure("word lag, s, 50 tokens/s", "latency-2.csv", "word lag mean, s"),
    ),
)

MA_QUALITY = FromReport(
    "ma/quality",
    "sayahead eval run lab/benchmarks/ma/quality.toml",
    (
        *WORDS_AND_OPINION,
        Figure("DistillMOS: difference", "quality.csv", "DistillMOS: difference", 3),
    ),
    rows={
        "ground truth": "ground truth",
        "ground truth mel, vocoded": "ground truth mel",
        **{
            name: name
            for name in ("full sentence", "lookahead-2", "lookahead-1", "independent words")
        },
    },
    beside={
        "MOS in the paper": {
            "ground truth": "4.12",
            "ground truth mel": "4.05",
            "full sentence": "3.56",
            "lookahead-2": "3.46",
            "lookahead-1": "3.37",
        }
    },
)
MA_LATENCY = FromReport(
    "ma/latency",
    "sayahead eval run lab/benchmarks/ma/latency.toml",
    (
        Figure("first sound, ms", "latency-1.csv", "first audible sample p50, ms", 0),
        Figure("over sentence length, ms a word", "latency-1.csv", "O(1): first sample, ms a word"),
        Figure("RTF", "latency-1.csv", "RTF", 3),
        Figure("least time balance, s: mean", "latency-1.csv", "least time balance, s"),
        Figure("of all", "latency-1.csv", "the least of all, s"),
    ),
    rows={name: name for name in ("full sentence", "lookahead-2", "lookahead-1")},
)
VOCODED = FromReport(
    "vocoded", "sayahead eval run lab/benchmarks/papers/vocoded.toml", WORDS_AND_OPINION
)

SAEKI_QUALITY = FromReport(
    "saeki/quality",
    "sayahead eval run lab/benchmarks/saeki/quality.toml",
    WORDS_AND_OPINION,
    beside={
        "WER, % (a)": {
            "full sentence": "18.2",
            "independent": "96.9",
            "unicontext": "53.9",
            "bicontext": "29.8",
            "bicontext, truth": "24.2",
            "bicontext, fine-tuned (teacher)": "22.5",
        },
        "MOS (a)": {
            "full sentence": "3.82",
            "independent": "2.69",
            "unicontext": "2.99",
            "bicontext": "3.38",
            "bicontext, truth": "3.36",
            "bicontext, fine-tuned (teacher)": "3.44",
        },
        "WER, % (b)": {
            "full sentence": "18.2",
            "unicontext": "49.4",
            "bicontext, fine-tuned (teacher)": "22.2",
            "student, medium": "22.2",
        },
        "MOS (b)": {
            "full sentence": "3.82",
            "unicontext": "3.10",
            "bicontext, fine-tuned (teacher)": "3.51",
            "student, medium": "3.47",
        },
    },
)


SAEKI_VERIFY = FromReport(
    "saeki/verify",
    "sayahead eval run lab/benchmarks/saeki/verify.toml",
    (
        Figure("WER, %", "quality.csv", "WER, %"),
        Figure("DistillMOS", "quality.csv", "DistillMOS"),
        Figure("pitch RMSE, cents", "prosody.csv", "pitch RMSE, cents", 0),
        Figure("word duration RMSE, ms", "prosody.csv", "word duration RMSE, ms", 0),
        Figure("gaps, % of seams", "seams.csv", "gaps, % of seams", 0),
        Figure("d_T", "latency-1.csv", "d_T"),
    ),
)
MOHAN_LATENCY = FromReport(
    "mohan/latency",
    "sayahead eval run lab/benchmarks/mohan/latency.toml",
    (
        Figure("first sound, ms, 50 tokens/s", "latency-1.csv", "first audible sample p50, ms", 0),
        Figure("word lag, s, 180 words/min", "latency-2.csv", "word lag mean, s"),
        Figure("stalls, 50 tokens/s", "latency-1.csv", "stalls an utterance"),
        Figure("stalls, 180 words/min", "latency-2.csv", "stalls an utterance"),
        Figure("stalled, s, 180 words/min", "latency-2.csv", "stalled, s an utterance"),
        Figure("RTF", "latency-1.csv", "RTF", 3),
    ),
)
