"""Put the measured figures into the documents, or check that they are there.

    python lab/benchmarks/figures.py [--check]

A document has places between ``<!-- figures:NAME -->`` and ``<!-- /figures -->``, made from the
committed results: tables by ``figures.toml``, the papers' claims by ``claims.py``, and sentences by
the functions here. With ``--check`` nothing is written, and a document that differs ends the run
with an error.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import posixpath
import re
import statistics
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import claims
from sayahead.config import from_mapping

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


def load(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def read_rows(text: str, number: int = 0) -> list[list[str]]:
    """The cells of one of the tables in a text; its heading and the line below it are rows."""
    found = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)[number]
    return [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in found.strip().splitlines()
    ]


def server_memory() -> list[list[str]]:
    """What a server takes with more and more sessions."""
    return read_rows((RESULTS / "server" / "memory.md").read_text(encoding="utf-8"))[2:]


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
        text = (RESULTS / self.file).read_text(encoding="utf-8").strip()
        if not self.rows and not self.columns and self.number is None:
            return text
        heading, rule, *lines = read_rows(text, self.number or 0)
        body = [line for line in lines if not self.rows or self._key(line) in self.rows]
        if missing := set(self.rows) - {self._key(line) for line in body}:
            raise ValueError(f"there is no row {', '.join(sorted(missing))}")
        at = self.columns or range(len(heading))
        return grid([[line[index] for index in at] for line in (heading, rule, *body)])

    def _key(self, line: list[str]) -> str:
        two = ", ".join(line[:2])
        return two if two in self.rows else line[0]


@dataclass(frozen=True, slots=True)
class Report:
    """A table of conditions from the CSV files of an evaluation's report."""

    folder: str
    """The report, among the results."""
    figures: tuple[tuple[Any, ...], ...]
    """Columns: heading, CSV file, its column, and decimal places (2). A column with further ones
    named " low" and " high" has a 95 % interval."""
    rows: dict[str, str] = field(default_factory=dict)
    """Label to the condition's name; none: all conditions under their own names."""
    beside: dict[str, dict[str, str]] = field(default_factory=dict)
    """Further columns, such as a paper's own figures: heading to condition to what stands there."""

    def __call__(self) -> str:
        rows = self.rows or {name: name for name in read_table(self.folder, self.figures[0][1])}
        headings = [*(heading for heading, *_ in self.figures), *self.beside]
        lines = [["", *headings], ["---", *["---:"] * len(headings)]]
        for label, name in rows.items():
            cells = [self.cell(name, *figure[1:]) for figure in self.figures]
            lines.append(
                [label, *cells, *(column.get(name, "–") for column in self.beside.values())]
            )
        return grid(lines)

    def cell(self, name: str, file: str, column: str, digits: int = 2) -> str:
        """A condition's figure with its interval; a dash where the report has none."""
        table = read_table(self.folder, file)
        if name not in table or column not in table[name]:
            what = f"column {column!r}" if name in table else f"condition {name!r}"
            sys.exit(
                f"{RESULTS / self.folder / file} has no {what}: measure it, or change what"
                " figures.toml asks."
            )
        parts = [table[name].get(column + part, "") for part in ("", " low", " high")]
        value, low, high = (f"{float(part):.{digits}f}" if part else "" for part in parts)
        return f"{value} ({low} to {high})" if value and low and high else value or "–"


def grid(lines: Sequence[Sequence[str]]) -> str:
    """Rows of cells as Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def read_table(folder: str, file: str) -> dict[str, dict[str, str]]:
    """A report's CSV file by condition."""
    path = RESULTS / folder / file
    if not path.is_file():
        sys.exit(f"{path} is missing: write the report anew with sayahead eval report.")
    with path.open(encoding="utf-8", newline="") as opened:
        return {row["condition"]: row for row in csv.DictReader(opened)}


def summary() -> str:
    """How fast, how good and for how many: three bullets, each with what it includes."""
    bench = load("bench.json")
    first = bench["first_audio_ms"]
    quality = read_table("context", "quality.csv")
    latency = read_table("context", "latency-1.csv")
    wer, opinion = (
        [f"{float(quality[name][column]):.2f}" for name in ("k = 1", "full")]
        for column in ("WER, %", "DistillMOS")
    )
    waits = [
        f"{float(latency[name]['first audible sample p50, ms']) / 1000:.1f} s"
        for name in ("k = 1", "full")
    ]
    token = next(row for row in load("first_token.json")["rows"] if row["lookahead"] == 1)
    return f"""- **Latency**: {token["mean_ms"]:.0f} ms from a language model's first token (62 a second) to the first \
sound, including the wait for the words.
  Synthesis takes {first["p50"]:.1f} ms of that (95th percentile {first["p95"]:.1f} ms) on an otherwise idle \
{bench["machine"]["cpu"]} core, whether the sentence has 5 words or 80.
  When somebody reads the text out at 180 words a minute, sound starts after {waits[0]}; waiting for the sentence \
would take {waits[1]}.
  (`say` and `doctor` time a fresh process on your machine as it is, so they usually show more.)
- **Quality**: by automatic judges, as good as speaking whole sentences: word error rate {wer[0]} % against \
{wer[1]} %,
  DistillMOS {opinion[0]} against {opinion[1]}, on 200 sentences. Nobody has listened yet.
- **Capacity**: {conversations()}"""  # noqa: E501


def conversations() -> str:
    """How many a server speaks to at once."""
    server = load("server/threads.json")
    machine = server["machine"]
    row = next(r for r in server["rounds"] if r["sessions"] == server["largest"])
    cost_ms = 1000 * load("bench.json")["rtf"]["streamed"]
    many = row["sessions"] / machine["cores"]
    first_ms = math.ceil(row["first_ms"]["p95"])
    return (
        f"an {machine['cpu']} core, on which a second of speech takes {cost_ms:.0f} ms, holds"
        f" {many:.0f} conversations at once,\n  50 tokens a second each, without a stall (it also"
        f" ran the clients); in 95 % of turns, sound starts within {first_ms} ms of\n  the first"
        " character. A core that takes twice as long for a second of speech (`sayahead bench`)"
        " holds half as many."
    )


def capacity() -> str:
    """The same, and what a conversation takes."""
    memory = server_memory()[-2]
    return (
        conversations().replace("\n  ", "\n").replace("an ", "An ", 1)
        + f" A conversation in the middle of a sentence takes {float(memory[3]):.1f} MB.\n"
        "[All measurements](lab/docs/server.md), with their commands."
    )


def kokoro_cost() -> str:
    """What Kokoro costs word by word, beside its own whole sentences."""
    bench = load("kokoro_bench.json")
    rtf = bench["rtf"]
    first = bench["first_audio_ms"]
    return (
        f"On one core, a second of speech takes {rtf['streamed']:.2f} s word by word and"
        f" {rtf['oneshot']:.2f} s as whole sentences, {rtf['streamed'] / rtf['oneshot']:.2f} times"
        f" as much;\nthe first audible sample comes {first['p50']:.0f} ms after its lookahead word"
        f" (p95 {first['p95']:.0f}; `sayahead bench --voice kokoro`)."
    )


def cost() -> str:
    """Latency, computing time and memory, a line each, with what it includes."""
    bench = load("bench.json")
    token = {row["lookahead"]: row for row in load("first_token.json")["rows"]}
    first = bench["first_audio_ms"]
    word = bench["word_ms"]
    rtf = bench["rtf"]
    server = load("server/threads.json")
    memory = server_memory()
    row = next(one for one in server["rounds"] if one["sessions"] == server["largest"])
    many = f"{row['sessions']} conversations on {server['machine']['cores']} cores"

    def source(name: str) -> str:
        return f"([{name}](lab/benchmarks/results/{name}))"

    idle = float(memory[0][1])
    each = float(memory[-2][3])
    return f"""**Latency**, to the first sound:

- from a language model's first token (62 a second): **{token[1]["mean_ms"]:.0f} ms**, text and synthesis; without \
lookahead {token[0]["mean_ms"]:.0f} ms {source("first_token.md")}
- from the word that it had to wait for: **{first["p50"]:.1f} ms** (p95 {first["p95"]:.1f} ms), synthesis alone; \
{first["slope_ms_per_word"]:+.4f} ms for each further word of the sentence {source("bench.json")}
- over a socket, from a turn's first character (50 tokens a second), {many}: **{row["first_ms"]["p50"]:.0f} ms** \
(p95 {row["first_ms"]["p95"]:.0f} ms), text, synthesis and transport {source("server/threads.json")}
- from the start of a new process: **{bench["cold_start_s"]:.2f} s**, Python, imports and loading included \
{source("bench.json")}

**Cost**, on one {bench["machine"]["cpu"]} core {source("bench.json")}:

- a word: **{word["p50"]:.1f} ms** (p99 {word["p99"]:.1f} ms)
- a second of sound: **{1000 * rtf["streamed"]:.0f} ms** word by word, {1000 * rtf["oneshot"]:.0f} ms in whole \
sentences; hibari-tts, from which the voice comes, takes {1000 * rtf["peer_oneshot"]:.0f} ms

**Memory** {source("server/memory.md")}:

- a server without conversations: **{idle:.0f} MB**; each conversation: **{each:.1f} MB**"""  # noqa: E501


def waiting() -> str:
    """What the default voice loses by not waiting for the sentence."""
    quality = read_table("context", "quality.csv")
    latency = read_table("context", "latency-1.csv")
    rows = {
        "One word of lookahead (the default)": "k = 1",
        "None": "k = 0",
        "Whole sentences": "full",
    }
    lines = []
    for what, name in rows.items():
        first, lag = (
            latency[name][column] for column in ("first audible sample p50, ms", "word lag mean, s")
        )
        wer, opinion = (float(quality[name][column]) for column in ("WER, %", "DistillMOS"))
        lines.append(
            f"- {what}: the first sound after **{float(first) / 1000:.1f} s**, each word"
            f" {float(lag):.1f} s behind the text; word error rate {wer:.2f} %, DistillMOS"
            f" {opinion:.2f}."
        )
    return "\n".join(lines)


def bench_runs() -> str:
    """The first line of each of several runs of ``sayahead bench``, the last of which is
    ``bench.json``."""
    former = (RESULTS / "bench_runs.jsonl").read_text(encoding="utf-8").splitlines()
    ratios = [run["ratio"] for run in (*map(json.loads, former), load("bench.json"))]
    ways = {"streamed": "word by word, one word of lookahead", "oneshot": "whole sentences"}
    if all("listened" in ratio for ratio in ratios):
        ways = {"listened": "for a listener: 20 tokens a second, up to six words a step", **ways}
    return "\n".join(
        [
            (
                f"`sayahead bench --json FILE`, {len(ratios)} runs one after the other on a quiet"
                " machine ([results](lab/benchmarks/results/bench_runs.jsonl)); the last is"
                " bench.json."
            ),
            "",
            "| processor time beside hibari-tts | median | of each run |",
            "|---|---:|---|",
            *(
                f"| {said} | {statistics.median(ratio[way] for ratio in ratios):.2f} "
                f"| {', '.join(f'{ratio[way]:.2f}' for ratio in ratios)} |"
                for way, said in ways.items()
            ),
        ]
    )


LOADS = {"threads": "a language model, 50 tokens/s", "reader": "a reader, 180 words/min"}


def server_load() -> str:
    """What sayahead loadtest measured: its first and last round, and the overload."""
    lines = [
        (
            "| text of | sessions | refused | stalls | first sample, ms: p50, p95 | after its text"
            " | cores |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, clock in LOADS.items():
        result = load(f"server/{name}.json")
        overload = [result["overload"]] if "overload" in result else []
        for row in (result["rounds"][0], result["rounds"][-1], *overload):
            times = [
                f"{row[kind]['p50']:.0f}, {row[kind]['p95']:.0f}"
                for kind in ("first_ms", "after_its_text_ms")
            ]
            lines.append(
                f"| {clock} | {row['sessions']} | {row['refused']} | {row['stalls']} | {times[0]} "
                f"| {times[1]} | {row['server_cores']:.2f} |"
            )
    return "\n".join(lines)


def server_overload() -> str:
    """What three times the sessions that a machine holds do to a server with its own limit."""
    result = load("server/overload.json")
    row = result["overload"]
    late = result["overload"]["sessions_late_ms"]
    command = (
        "sayahead loadtest --sessions 130 --overload 300 --json"
        " lab/benchmarks/results/server/overload.json"
    )
    return f"""`{command}`: a server that measured {row["places"]} places at its start.

| | |
|---|---:|
| sessions that ask | {row["sessions"]} |
| turns that were spoken | {row["turns"]} |
| stalls in them (the longest, ms) | {row["stalls"]} ({row["longest_stall_ms"]}) |
| sessions that were let in, and lost their place | {row["let_go"]} |
| first sample after the turn's first character, p95, ms | {row["first_ms"]["p95"]} |
| refusals | {row["refused"]} |
| time of a refusal, p95 and the longest, ms | {row["refused_ms"]["p95"]}, {row["refused_ms"]["most"]} |
| how late the sessions themselves were woken, p95 and the most, ms | {late["p95"]}, {late["most"]} |
| cores: server, sessions, other programs | {row["server_cores"]}, {row["sessions_cores"]}, {result["other_cores"]} |"""  # noqa: E501


def tables() -> dict[str, Callable[[], str]]:
    """The tables of ``figures.toml``, by name."""
    path = Path(__file__).with_name("figures.toml")
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    kinds: Mapping[str, type[Table | Report]] = {"tables": Table, "reports": Report}
    return {
        name: from_mapping(kinds[kind], entry, where=f"{path.name}: {name}")
        for kind, entries in found.items()
        for name, entry in entries.items()
    }


PLACES: dict[str, Callable[[], str]] = {
    function.__name__: function
    for function in (
        summary,
        capacity,
        cost,
        waiting,
        server_load,
        server_overload,
        bench_runs,
        kokoro_cost,
    )
}
PLACES |= {f"claims_{paper}": partial(claims.table, paper) for paper in claims.NAMES} | tables()


def filled(text: str, folder: str) -> str:
    """The document with its figures as the results have them; ``folder`` is its own, from the
    repository's root."""

    def place(match: re.Match[str]) -> str:
        made = LINK.sub(lambda link: posixpath.relpath(link[1], folder), PLACES[match[2]]())
        return f"{match[1]}\n{made}\n{match[3]}"

    return re.sub(r"(<!-- figures:(\w+) -->)\n.*?(<!-- /figures -->)", place, text, flags=re.DOTALL)


def main(command: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args(command)
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
