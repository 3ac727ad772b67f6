"""Rows of an experiment over several trainings and speakers, together and each: Ma et al.'s and
Saeki et al.'s tables.

    python lab/benchmarks/trainings.py --heard out --against "full sentence" -o \
        lab/benchmarks/results/ma/speakers
    python lab/benchmarks/trainings.py --heard out \
        --segments "segments that fail, %=DIR/failures.json" \
        --against unicontext --against "bicontext, random words" -o DIR

A row's name is its speaker, its seed, and what it is: "heart, seed 0: lookahead-1". Reads word
errors and opinions of a scored folder, and the segments that fail (``saeki/segments.py``). Rows are
taken together over trainings, of which a row may have fewer than what it is compared with;
differences are paired by training and by sentence. In brackets are 95 % bootstrap intervals, which
draw speakers, then seeds of each, then sentences. Fewer than four speakers say nothing of others,
and the table says so. What was not scored has no line. Writes trainings.md, each.md,
and scores.jsonl.gz with what was counted in each sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sayahead_lab.eval.experiment.folder import read_experiment
from sayahead_lab.eval.listening.quality import TRAINED, Row
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
from sayahead_lab.eval.report.scores import SCORES, write_lines
from sayahead_lab.results import Rows, keep, load_figures, options, publish, table

ENOUGH_SPEAKERS = 4
"""Speakers that a statement about others needs."""
Trainings = dict[str, dict[str, Values]]
"""By row, then by training: (N, 2) sums of each sentence, to be divided."""


def trainings(parts: Mapping[str, Values]) -> Trainings:
    """Conditions by what they are, then by speaker and seed."""
    found: Trainings = {}
    for name, sums in parts.items():
        training, _, row = name.partition(": ")
        found.setdefault(row, {})[training] = sums
    return found


def heard(read: Mapping[str, Sequence[Row]]) -> dict[str, Trainings]:
    """What listeners say of scored conditions; ValueError where two did not say the same
    sentences."""
    if len({tuple(sorted(row.name for row in rows)) for rows in read.values()}) > 1:
        raise ValueError("The conditions did not all say the same sentences.")
    found = dict[str, Trainings]()
    for title, (measure, _) in TRAINED.items():
        each = {
            name: [measure(row) for row in sorted(rows, key=lambda one: one.name)]
            for name, rows in read.items()
        }
        if all(value is not None for values in each.values() for value in values):
            found[title] = trainings(
                {name: np.array(values, np.float64) for name, values in each.items()}
            )
    return found


def failing(path: Path) -> Trainings:
    """Segments in which attention or stop fail, in per cent, and segments of each sentence."""
    kept = load_figures(path)
    return trainings(
        {name: np.array(figures["any"], np.float64) * (100, 1) for name, figures in kept.items()}
    )


def listed(one: Estimate) -> list[float]:
    return [one.value, one.low, one.high]


def speaker_of(training: str) -> str:
    """The speaker of a training: "heart" of "heart, seed 0"."""
    return training.partition(", seed ")[0]


def together(
    found: Trainings, row: str, against: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """A row's cells over all trainings, and its figures; KeyError where a training lacks a row."""
    names = list(found[row])
    sums = np.stack([found[row][name] for name in names])
    speakers = [speaker_of(name) for name in names]
    own = [float(quotient(one.sum(0))) for one in sums]
    whole = estimate_trained(sums, quotient, speakers=speakers)
    cells = [str(len(names)), f"{whole:.2f}", ", ".join(f"{value:.2f}" for value in own)]
    figures: dict[str, Any] = {
        "value": listed(whole),
        "trainings": dict(zip(names, own, strict=True)),
    }
    for other in against:
        if other == row:
            cells.append("–")
            continue
        others = np.stack([found[other][name] for name in names])
        less = difference_trained(sums, others, quotient, speakers=speakers)
        cells.append(f"{less:+.2f}")
        figures[f"less {other}"] = listed(less)
    return cells, figures


def separately(found: Trainings, against: Sequence[str]) -> Rows:
    """The cells of each training and row, with intervals over sentences."""
    lines = Rows()
    for name in next(iter(found.values())):
        for row, of in found.items():
            if name not in of:
                continue
            less = [
                "–"
                if other == row
                else f"{difference(of[name], found[other][name], quotient):+.2f}"
                for other in against
            ]
            lines.append([name, row, f"{estimate(of[name], quotient):.2f}", *less])
    return lines


def tables(
    measures: Mapping[str, Trainings], against: Sequence[str]
) -> tuple[list[str], list[str], dict[str, dict[str, Any]]]:
    """All figures of all rows, together and of each training."""
    less = "".join(f"|less {name}" for name in against)
    whole = Rows()
    each = Rows()
    figures = dict[str, dict[str, Any]]()
    for title, found in measures.items():
        for row in found:
            cells, kept = together(found, row, against)
            whole.append([title, row, *cells])
            figures.setdefault(row, {})[title] = kept
        each += [[title, *cells] for cells in separately(found, against)]
    named = {
        speaker_of(name) for found in measures.values() for row in found.values() for name in row
    }
    return (
        table(f"||trainings|together|each{less}", whole, words=2) + caution(len(named)),
        table(f"|training||value{less}", each, words=3),
        figures,
    )


def caution(speakers: int) -> list[str]:
    """What so few speakers cannot say; nothing of enough of them."""
    if speakers >= ENOUGH_SPEAKERS:
        return []
    those = "this speaker" if speakers == 1 else f"these {speakers} speakers"
    return ["", f"Intervals are of {those}: too few to speak of others."]


def keep_sums(path: Path, measures: Mapping[str, Trainings]) -> None:
    """Write what was counted in each sentence: a line for each measure, row and training."""
    lines = (
        {"measure": title, "row": row, "training": name, "sums": sums.tolist()}
        for title, found in measures.items()
        for row, of in found.items()
        for name, sums in of.items()
    )
    write_lines(path, lines)


def main(given: Sequence[str] | None = None) -> None:
    arguments = options(__doc__, "out", heard=[Path], segments=[str], against=[str]).parse_args(
        given
    )
    read = {
        name: read_rows(folder / name)[0]
        for folder in arguments.heard
        for name in read_experiment(folder)["conditions"]
    }
    measures = heard(read) if read else {}
    measures |= {
        title: failing(Path(file))
        for title, _, file in (one.partition("=") for one in arguments.segments)
    }
    whole, each, figures = tables(measures, arguments.against)
    publish(arguments.out / "trainings.md", whole, figures)
    keep(each, arguments.out / "each.md")
    keep_sums(arguments.out / SCORES, measures)


if __name__ == "__main__":
    main()
