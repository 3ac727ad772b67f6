"""Ma et al.'s Table 2 over several trainings: what lookahead costs them all, and each.

    python lab/benchmarks/ma/trainings.py out -o lab/benchmarks/results/ma/speakers

Reads a scored folder of ``speakers.toml``, whose conditions are named by speaker, seed and row: "heart, seed 0:
lookahead-1". Rows are taken together over trainings; differences to the full sentence are paired by training and by
sentence, in brackets 95 % bootstrap intervals over both. Of a single training, the interval is one over sentences. What
was not scored has no column. Writes trainings.md, each.md and trainings.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sayahead_lab.eval.experiment.folder import read_experiment
from sayahead_lab.eval.listening.quality import Row
from sayahead_lab.eval.listening.score import read_rows
from sayahead_lab.eval.measures.intervals import (
    Estimate,
    Values,
    difference,
    difference_trained,
    estimate,
    estimate_trained,
    quotient,
)

FULL = "full sentence"
"""The row that others are compared with."""


def wrong_words(row: Row) -> tuple[float, float] | None:
    return None if row.errors is None else (100 * row.errors.total, row.errors.words)


def opinion(row: Row) -> tuple[float, float] | None:
    return None if row.distillmos is None else (row.distillmos, 1.0)


Measure = Callable[[Row], tuple[float, float] | None]
MEASURES: dict[str, tuple[Measure, int]] = {"WER, %": (wrong_words, 2), "DistillMOS": (opinion, 3)}
"""Numerator and denominator of a sentence, and digits of a difference."""
Trainings = dict[str, dict[str, Values]]
"""By row, then by training: (N, 2) sums of each sentence, to be divided."""


def trainings(read: Mapping[str, Sequence[Row]], measure: Measure) -> Trainings:
    """Conditions by row, then by speaker and seed; ValueError where two did not say the same sentences."""
    found: Trainings = {}
    names = {tuple(sorted(row.name for row in rows)) for rows in read.values()}
    if len(names) != 1:
        raise ValueError("The conditions did not all say the same sentences.")
    for name, rows in read.items():
        training, _, row = name.partition(": ")
        ordered = sorted(rows, key=lambda one: one.name)
        found.setdefault(row, {})[training] = np.array([measure(one) for one in ordered], np.float64)
    return found


def text(one: Estimate, digits: int, *, signed: bool = False) -> str:
    form = f"{'+' if signed else ''}.{digits}f"
    return f"{one.value:{form}} ({one.low:{form}} to {one.high:{form}})"


def together(found: Trainings, row: str, digits: int) -> tuple[list[str], dict[str, Any]]:
    """A row's cells over all trainings, and its figures: value, difference to the full sentence, the same of each."""
    names = sorted(found[row])
    sums, full = (np.stack([found[which][name] for name in names]) for which in (row, FULL))
    own = [float(quotient(one.sum(0))) for one in sums]
    whole = estimate_trained(sums, quotient)
    cells = [text(whole, 2), f"{min(own):.2f} to {max(own):.2f}"]
    figures: dict[str, Any] = {"value": listed(whole), "trainings": dict(zip(names, own, strict=True))}
    if row == FULL:
        return [*cells, "–"], figures
    less = difference_trained(sums, full, quotient)
    each = {name: difference(found[row][name], found[FULL][name], quotient) for name in names}
    figures |= {"difference": listed(less), "differences": {name: listed(one) for name, one in each.items()}}
    return [*cells, text(less, digits, signed=True)], figures


def listed(one: Estimate) -> list[float]:
    return [one.value, one.low, one.high]


def separately(found: Mapping[str, Trainings]) -> list[list[str]]:
    """A line for each training and row, with intervals over sentences."""
    lines = list[list[str]]()
    rows = next(iter(found.values()))
    for name in rows[FULL]:
        for row in rows:
            cells = [name, row]
            for title, digits in ((title, MEASURES[title][1]) for title in found):
                one, full = found[title][row][name], found[title][FULL][name]
                cells.append(text(estimate(one, quotient), 2))
                cells.append("–" if row == FULL else text(difference(one, full, quotient), digits, signed=True))
            lines.append(cells)
    return lines


def table(heads: list[str], words: int, lines: Sequence[list[str]]) -> str:
    """A table whose first columns are words."""
    marks = ["---"] * words + ["---:"] * (len(heads) - words)
    return "".join(f"| {' | '.join(line)} |\n" for line in [heads, marks, *lines])


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", type=Path, help="the scored folder")
    parser.add_argument("-o", "--out", type=Path, required=True, help="where the tables go")
    arguments = parser.parse_args(given)
    read = {
        name: read_rows(arguments.experiment / name)[0] for name in read_experiment(arguments.experiment)["conditions"]
    }
    found = {
        title: trainings(read, measure)
        for title, (measure, _) in MEASURES.items()
        if all(measure(row) for rows in read.values() for row in rows)
    }
    lines, kept = list[list[str]](), dict[str, dict[str, Any]]()
    for row, of in found["DistillMOS"].items():
        cells, kept[row] = [row, str(len(of))], {}
        for title in found:
            more, kept[row][title] = together(found[title], row, MEASURES[title][1])
            cells += more
        lines.append(cells)
    kept["sentences"] = {"count": len(next(iter(read.values())))}
    arguments.out.mkdir(parents=True, exist_ok=True)
    heads = [part for title in found for part in (title, "of the trainings", "less the full sentence's")]
    (arguments.out / "trainings.md").write_text(table(["", "trainings", *heads], 1, lines), encoding="utf-8")
    heads = [part for title in found for part in (title, "less the full sentence's")]
    (arguments.out / "each.md").write_text(table(["training", "", *heads], 2, separately(found)), encoding="utf-8")
    (arguments.out / "trainings.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print((arguments.out / "trainings.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
