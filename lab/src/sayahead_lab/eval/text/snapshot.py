"""Snapshots of what a front end reads: the words of many texts, when each is final, and what
reading costs."""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayahead_lab.eval.text import reading_worker

TODAY = "sayahead.text:front_end"
"""What makes the front end of a language's tag."""
SAMPLE = 400
"""Texts of each set that are timed."""
Row = dict[str, Any]
Judge = Callable[[Mapping[str, Any]], bool | None]
"""Whether a text is read right, where its row says what is."""


@dataclass(frozen=True, slots=True)
class Front:
    """A front end in a checkout."""

    tree: Path
    path: str = TODAY

    def ask(self, command: str, language: str, *rest: str, text: str = "") -> str:
        """The output of the worker, in a process that imports the checkout's package."""
        worker = [sys.executable, reading_worker.__file__, command, self.path, language, *rest]
        environment = {**os.environ, "PYTHONPATH": str(self.tree / "src")}
        answer = subprocess.run(
            worker, input=text, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        return answer.stdout

    def revision(self) -> str:
        """The commit of the checkout, with a plus where files differ from it."""
        git = ["git", "-C", str(self.tree)]
        commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
        changes = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True)
        return commit.stdout.strip()[:12] + "+" * bool(changes.stdout.strip())


def rows_of(path: Path, sets: str = "", every: int = 1) -> list[Row]:
    """The rows of a file, of the sets whose names begin so, and of each set one of ``every``."""
    with gzip.open(path, "rt", encoding="utf-8") as opened:
        rows = [json.loads(line) for line in opened]
    return [row for row in rows if row.get("set", "").startswith(sets)][::every]


def read(front: Front, language: str, rows: Sequence[Row], judge: Judge, jobs: int) -> list[Row]:
    """The rows with what is read of each text, and as last the most memory of a process."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    chunks = ["".join(lines[start::jobs]) for start in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        outputs = list(pool.map(lambda text: front.ask("read", language, text=text), chunks))
    answers = [[json.loads(line) for line in output.splitlines()] for output in outputs]
    memory = max(answer.pop()["memory_mb"] for answer in answers)
    found = []
    for place, row in enumerate(rows):
        full = row | answers[place % jobs][place // jobs]
        right = judge(full)
        found.append(full if right is None else full | {"right": right})
    return [*found, {"memory_mb": memory}]


def sample(rows: Iterable[Row]) -> str:
    """Lines of the texts that are timed: as many of golden ones as of prose."""
    chosen: dict[str, list[str]] = {"golden": [], "prose": []}
    for row in rows:
        name = row["set"].partition(" ")[0]
        if name in chosen:
            text = {"set": name, "text": row["text"]}
            chosen[name].append(json.dumps(text, ensure_ascii=False) + "\n")
    return "".join(line for one in chosen.values() for line in one[:: -(-len(one) // SAMPLE) or 1])


def costs(front: Front, language: str, lines: str, repeats: int) -> dict[str, list[float]]:
    """Processor microseconds a word of each repeat, by what is read and how it comes."""
    answer: dict[str, list[float]] = json.loads(
        front.ask("cost", language, str(repeats), text=lines)
    )
    return answer


def cold(front: Front, language: str, repeats: int) -> dict[str, float]:
    """Medians of fresh processes up to the first words: milliseconds, and memory beyond
    Python's."""
    answers = [json.loads(front.ask("cold", language)) for _ in range(repeats)]
    return {name: statistics.median(one[name] for one in answers) for name in answers[0]}


def snapshot(
    front: Front,
    language: str,
    rows: Sequence[Row],
    judge: Judge,
    *,
    jobs: int = 1,
    repeats: int = 5,
) -> list[Row]:
    """A header with what reading costs, and the rows with what is read."""
    found = read(front, language, rows, judge, jobs)
    header: Row = {
        "language": language,
        "front": front.path,
        "revision": front.revision(),
    } | found.pop()
    if repeats:
        header["cold"] = cold(front, language, repeats)
        header["cost_us"] = costs(front, language, sample(rows), repeats)
    return [header, *found]


def write(path: Path, rows: Iterable[Row]) -> None:
    """A snapshot as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as opened:
        for row in rows:
            opened.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def load(path: Path) -> tuple[Row, dict[tuple[str, str, str], Row]]:
    """The header of a snapshot, and its rows by set, variant and text."""
    with gzip.open(path, "rt", encoding="utf-8") as opened:
        header, *rows = map(json.loads, opened)
    return header, {(row["set"], row["tag"], row["text"]): row for row in rows}


def spoken(row: Mapping[str, Any]) -> str:
    """What is said, with a bar after each sentence."""
    if "error" in row:
        return f"[{row['error']}]"
    marks = (" ‖" if flags & reading_worker.ENDS else "" for _, _, _, flags, _ in row["words"])
    return " ".join(word[0] + mark for word, mark in zip(row["words"], marks, strict=True))


def pieces(row: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """The words with their places."""
    return ((text, start, end) for text, start, end, *_ in row["words"])
