"""Cosines at equal steps, from the logs of trainings.

    python lab/benchmarks/saeki/steps.py

Reads ``lab/recipes/saeki/results``. Writes ``lab/benchmarks/results/saeki/steps.md``: how near
students came to their teachers on validation prefixes. A teacher that was fine-tuned (Saeki-a,
III-C) is shown a language model's words or the true ones; the network of hidden states has the true
future's embedding before the fine-tuning. Below, how near a guessed context came to the
true one in fine-tunings with other weights of the cosine loss (``guided-small.toml``).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sayahead_lab.training.loop.curves import read_log

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "saeki"
STEPS = (1000, 2000, 3000)
NAMES = {
    "student-small": "small",
    "student-medium": "medium",
    "student-medium-truth": "medium, taught by the truth",
    "hidden-small": "hidden states, small",
}
ENDS = (500, 1000, 2000, 4000)
"""Training steps at which fine-tunings are compared."""
SPAN = 100
"""Training steps that are averaged before each."""
GUIDED = {
    "guided-alpha-0": "no cosine loss",
    "guided-alpha-0.001": "alpha = 0.001, the paper's",
    "guided-alpha-0.1": "alpha = 0.1",
    "guided-fixed-0.1": "alpha = 0.1, towards the network as it was",
}
PARTS = {"similarity": "to the true context", "similarity_fixed": "to that of the network before"}


def log_of(name: str) -> list[Mapping[str, Any]]:
    """The lines of a run's log."""
    return list(read_log(ROOT / "recipes" / "saeki" / "results" / name / "log.jsonl"))


def students() -> Iterator[list[str]]:
    """A row a student: cosines on validation prefixes."""
    yield ["cosine with the teacher on validation prefixes, by step", *map(str, STEPS)]
    for name, title in NAMES.items():
        lines = log_of(name)
        found = {
            line["step"]: line["validation"]["parts"]["similarity"]
            for line in lines
            if "validation" in line
        }
        yield [title, *(f"{found[step]:.3f}" for step in STEPS)]


def guided() -> Iterator[list[str]]:
    """Rows of a fine-tuning: cosines in training by step, and on validation prefixes."""
    last = ENDS[-1]
    yield ["cosine of a guessed context", "", *map(str, ENDS), f"validation, {last}"]
    for name, title in GUIDED.items():
        lines = log_of(name)
        for part, against in PARTS.items():
            means = (statistics.fmean(until(lines, end, part)) for end in ENDS)
            validated = [
                f"{line['validation']['parts'][part]:.3f}"
                for line in lines
                if line["step"] == last and "validation" in line
            ]
            yield [title, against, *(f"{mean:.3f}" for mean in means), *(validated or ["–"])]


def until(lines: Sequence[Mapping[str, Any]], end: int, part: str) -> list[float]:
    """A part of the loss over the last steps before one."""
    return [
        line["parts"][part]
        for line in lines
        if "parts" in line and end - SPAN < line["step"] <= end
    ]


def table(rows: Iterator[list[str]]) -> str:
    """Rows as Markdown; the first has the titles."""
    head, *others = rows
    dashes = ["---", *["---:"] * (len(head) - 1)]
    return "".join("| " + " | ".join(row) + " |\n" for row in (head, dashes, *others))


def main() -> None:
    text = "\n".join(map(table, (students(), guided())))
    (RESULTS / "steps.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
