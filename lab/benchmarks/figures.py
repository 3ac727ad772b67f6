"""Put the measured figures into the documents, or check that they are there.

    python lab/benchmarks/figures.py [--check]

A document has places between ``<!-- figures:NAME -->`` and ``<!-- /figures -->``, made from the
committed results: tables and sentences by ``figures.toml``, the papers' claims by ``claims.py``.
With ``--check`` nothing is written, and a document that differs ends the run
with an error.
"""

from __future__ import annotations

import functools
import json
import posixpath
import re
import statistics
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import claims
from sayahead.config import from_mapping

from sayahead_lab.eval.measures.intervals import ConfidenceInterval
from sayahead_lab.eval.report.tables import read_csv
from sayahead_lab.results import Rows, load_figures, load_text, options, read_table_rows, table

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "lab" / "benchmarks" / "results"
DOCUMENTS = (
    "README.md",
    *sorted(
        str(page.relative_to(ROOT))
        for docs in ("docs", "lab/docs")
        for page in (ROOT / docs).rglob("*.md")
    ),
)
LINK = re.compile(r"(?<=\]\()((?:docs|lab)/[^)#\s]+)")
"""A link of a place, from the repository's root; it becomes one from the document's folder."""


class Number(float):
    """A figure that a sentence may show in another unit: ``{bench[rtf][streamed]:.0f*1000}``."""

    def __format__(self, spec: str) -> str:
        form, _, factor = spec.partition("*")
        return format(float(self) * float(factor or 1), form)


def load(name: str) -> Any:
    return load_figures(RESULTS / name, parse_float=Number)


@dataclass(frozen=True, slots=True)
class Table:
    """A results file, or rows and columns of a table in it."""

    file: str
    """The file, among the results."""
    rows: tuple[str, ...] = ()
    """First cells, or the first two with ", " between them; none: all rows."""
    columns: tuple[int, ...] = ()
    """Columns by position; none: all."""
    number: int | None = None
    """Which of the file's tables; none: all of the file, or the first where rows or columns are
    chosen."""

    def __call__(self) -> str:
        text = load_text(RESULTS / self.file)
        if not self.rows and not self.columns and self.number is None:
            return text
        heading, rule, *lines = read_table_rows(text, self.number or 0)
        body = [line for line in lines if not self.rows or self._key(line) in self.rows]
        if missing := set(self.rows) - {self._key(line) for line in body}:
            raise ValueError(f"there is no row {', '.join(sorted(missing))}")
        at = self.columns or range(len(heading))
        chosen = [[line[index] for index in at] for line in (heading, rule, *body)]
        return "\n".join(f"| {' | '.join(line)} |" for line in chosen)

    def _key(self, line: list[str]) -> str:
        two = ", ".join(line[:2])
        return two if two in self.rows else line[0]


@dataclass(frozen=True, slots=True)
class Report:
    """A table of conditions from the tables of an evaluation's report."""

    folder: str
    """The report, among the results."""
    figures: tuple[tuple[Any, ...], ...]
    """Columns: heading, table, its column, and decimal places (2). A column with further ones
    named " low" and " high" has a 95 % interval."""
    rows: dict[str, str] = field(default_factory=dict)
    """Label to the condition's name; none: all conditions under their own names."""
    beside: dict[str, dict[str, str]] = field(default_factory=dict)
    """Further columns, such as a paper's own figures: heading to condition to what stands there."""

    def __call__(self) -> str:
        rows = self.rows or {name: name for name in read_table(self.folder, self.figures[0][1])}
        headings = [*(heading for heading, *_ in self.figures), *self.beside]
        lines = Rows()
        for label, name in rows.items():
            cells = [self.cell(name, *figure[1:]) for figure in self.figures]
            lines.append(
                [label, *cells, *(column.get(name, "–") for column in self.beside.values())]
            )
        return "\n".join(table("|".join(["", *headings]), lines))

    def cell(self, name: str, table: str, column: str, digits: int = 2) -> str:
        """A condition's figure with its interval; a dash where the report has none."""
        rows = read_table(self.folder, table)
        if name not in rows or column not in rows[name]:
            what = f"column {column!r}" if name in rows else f"condition {name!r}"
            sys.exit(
                f"{RESULTS / self.folder} has no {what} in {table}: measure it, or change what"
                " figures.toml asks."
            )
        parts = [rows[name].get(column + part, "") for part in ("", " low", " high")]
        if not parts[0]:
            return "–"
        return f"{ConfidenceInterval(*(float(part or 'nan') for part in parts)):.{digits}f}"


def read_table(folder: str, table: str) -> dict[str, dict[str, str]]:
    """A table of a report by condition."""
    path = RESULTS / folder / "tables.csv"
    if not path.is_file():
        sys.exit(f"{path} is missing: write the report anew with sayahead eval report.")
    return read_csv(path, table)


def numbers(table: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Number]]:
    """A report's figures by condition and column."""
    return {
        name: {column: Number(cell) for column, cell in row.items() if cell}
        for name, row in table.items()
    }


@functools.cache
def results() -> dict[str, Any]:
    """What the sentences of ``figures.toml`` name."""
    server = load("server/threads.json")
    largest = next(row for row in server["rounds"] if row["sessions"] == server["largest"])
    kokoro = load("kokoro_bench.json")
    memory = load("server/memory.md")["rows"]
    return {
        "bench": load("bench.json"),
        "kokoro": kokoro,
        "kokoro_slower": kokoro["rtf"]["streamed"] / kokoro["rtf"]["oneshot"],
        "quality": numbers(read_table("context", "quality")),
        "latency": numbers(read_table("context", "latency-1")),
        "token": load("first_token.md")["rows"],
        "server": server["machine"],
        "largest": largest,
        "a_core": largest["sessions"] / server["machine"]["cores"],
        "idle_mb": memory[0]["rss_mb"],
        "session_mb": memory[-2]["session_mb"],
        "overload": load("server/overload.json"),
    }


@dataclass(frozen=True, slots=True)
class Sentence:
    """Prose with figures."""

    text: str
    """As ``str.format`` takes it, with the names of ``results``."""

    def __call__(self) -> str:
        return self.text.strip().format_map(results())


def bench_runs() -> str:
    """The first line of each of several runs of ``sayahead bench``, the last of which is
    ``bench.json``."""
    former = (RESULTS / "bench_runs.jsonl").read_text(encoding="utf-8").splitlines()
    ratios = [run["ratio"] for run in (*map(json.loads, former), load("bench.json"))]
    ways = {"streamed": "word by word, one word of lookahead", "oneshot": "whole sentences"}
    if all("listened" in ratio for ratio in ratios):
        ways = {"listened": "for a listener: 20 tokens a second, up to six words a step", **ways}
    rows = Rows()
    for way, said in ways.items():
        each = [ratio[way] for ratio in ratios]
        shown = ", ".join(f"{one:.2f}" for one in each)
        rows.append([said, f"{statistics.median(each):.2f}", shown])
    about = (
        f"`sayahead bench --json FILE`, {len(ratios)} runs one after the other on a quiet"
        " machine ([results](lab/benchmarks/results/bench_runs.jsonl)); the last is bench.json."
    )
    heading = "processor time beside hibari-tts|median|of each run"
    return "\n".join([about, "", *table(heading, rows)])


LOADS = {"threads": "a language model, 50 tokens/s", "reader": "a reader, 180 words/min"}


def server_load() -> str:
    """What sayahead loadtest measured: its first round, the largest that passed, and the last."""
    rows = Rows()
    for name, clock in LOADS.items():
        result = load(f"server/{name}.json")
        rounds = {row["sessions"]: row for row in result["rounds"]}
        for sessions in sorted({min(rounds), result["largest"], max(rounds)}):
            row = rounds[sessions]
            times = [
                f"{row[kind]['p50']:.0f}, {row[kind]['p95']:.0f}"
                for kind in ("first_ms", "after_its_text_ms")
            ]
            counts = (str(row[count]) for count in ("sessions", "refused", "stalls"))
            rows.append([clock, *counts, *times, f"{row['server_cores']:.2f}"])
    heading = "text of|sessions|refused|stalls|first sample, ms: p50, p95|after its text|cores"
    return "\n".join(table(heading, rows))


def places() -> dict[str, Callable[[], str]]:
    """The tables and sentences of ``figures.toml``, by name."""
    path = Path(__file__).with_name("figures.toml")
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    kinds: Mapping[str, type[Table | Report | Sentence]] = {
        "tables": Table,
        "reports": Report,
        "sentences": Sentence,
    }
    return {
        name: from_mapping(kinds[kind], entry, where=f"{path.name}: {name}")
        for kind, entries in found.items()
        for name, entry in entries.items()
    }


PLACES: dict[str, Callable[[], str]] = {
    "server_load": server_load,
    "bench_runs": bench_runs,
    **{f"claims_{paper}": functools.partial(claims.claims_table, paper) for paper in claims.NAMES},
    **places(),
}


def filled(text: str, folder: str) -> str:
    """The document with its figures as the results have them; ``folder`` is its own, from the
    repository's root."""

    def place(match: re.Match[str]) -> str:
        made = LINK.sub(lambda link: posixpath.relpath(link[1], folder), PLACES[match[2]]())
        return f"{match[1]}\n{made}\n{match[3]}"

    return re.sub(r"(<!-- figures:(\w+) -->)\n.*?(<!-- /figures -->)", place, text, flags=re.DOTALL)


def main(command: Sequence[str] | None = None) -> int:
    arguments = options(__doc__, check=False).parse_args(command)
    wrong = []
    for name in DOCUMENTS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        if (now := filled(text, posixpath.dirname(name) or ".")) != text:
            wrong.append(name)
            if not arguments.check:
                path.write_text(now, encoding="utf-8")
    if wrong and arguments.check:
        told = (
            f"Figures differ from the results in: {', '.join(wrong)}. Run: python"
            " lab/benchmarks/figures.py"
        )
        print(told, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
