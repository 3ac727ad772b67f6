"""The rows of Saeki et al.'s table over several trainings and speakers: does the true future repair what fails?

    python lab/benchmarks/saeki/trainings.py out lab/benchmarks/results/saeki/frame_early

Reads the scored folder of ``frame.toml``, the segments of its rows (``failures.json`` in the folder of its results),
and those of ``frame_early.toml``. A row's name is its speaker, its seed, and what it is: "heart, seed 0: unicontext".
Rows are taken together over trainings; differences are paired by training and by sentence, in brackets 95 % bootstrap
intervals over both. How far trainings lie apart is told beside. Writes trainings.md and trainings.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from sayahead_lab.eval.experiment.folder import read_experiment
from sayahead_lab.eval.listening.score import read_rows
from sayahead_lab.eval.measures.intervals import Estimate, Values, difference_trained, estimate_trained, quotient

RESULTS = Path(__file__).parents[1] / "results" / "saeki"
AGAINST = {"unicontext": "unicontext's", "bicontext, random words": "random words'"}
Trainings = dict[str, dict[str, Values]]
"""By row, then by training: (N, 2) sums of each sentence, to be divided."""


def trainings(parts: Iterable[tuple[str, Values]]) -> Trainings:
    """Conditions by what they are, then by speaker and seed."""
    found: Trainings = {}
    for name, sums in parts:
        training, _, row = name.partition(": ")
        found.setdefault(row, {})[training] = sums
    return found


def heard(folder: Path) -> Trainings:
    """Wrong words, in per cent, and words of each sentence of a scored experiment."""
    read = [(name, read_rows(folder / name)[0]) for name in read_experiment(folder)["conditions"]]
    errors = [(name, [row.errors for row in sorted(rows, key=lambda row: row.name)]) for name, rows in read]
    return trainings(
        (name, np.array([(100 * one.total, one.words) for one in each if one is not None], np.float64))
        for name, each in errors
    )


def failing(path: Path) -> Trainings:
    """Segments in which attention or stop fail, in per cent, and segments of each sentence (``segments.py``)."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    return trainings((name, np.array(figures["any"], np.float64) * (100, 1)) for name, figures in kept.items())


def together(of: Mapping[str, Values], names: Sequence[str]) -> Values:
    """(R, N, 2) of the named trainings."""
    return np.stack([of[name] for name in names])


def text(one: Estimate, *, signed: bool) -> str:
    sign = "+" if signed else ""
    return f"{one.value:{sign}.2f} ({one.low:{sign}.2f} to {one.high:{sign}.2f})"


def table(measures: Mapping[str, Trainings]) -> tuple[str, dict[str, dict[str, dict[str, object]]]]:
    """The rows with all figures, and the figures."""
    heads, lines = ["", "trainings"], list[list[str]]()
    for title in measures:
        heads += [title, "of the trainings", *(f"less {whose}" for whose in AGAINST.values())]
    figures: dict[str, dict[str, dict[str, object]]] = {}
    for row in next(iter(measures.values())):
        cells, figures[row] = [row], {}
        for title, found in measures.items():
            names = sorted(found[row])
            sums = together(found[row], names)
            whole, own = estimate_trained(sums, quotient), [float(quotient(one.sum(0))) for one in sums]
            cells += [] if len(cells) > 1 else [str(len(names))]
            cells += [text(whole, signed=False), f"{min(own):.2f} to {max(own):.2f}"]
            kept: dict[str, object] = {"value": [whole.value, whole.low, whole.high]}
            kept["trainings"] = dict(zip(names, own, strict=True))
            for other, whose in AGAINST.items():
                if other == row:
                    cells.append("–")
                    continue
                less = difference_trained(sums, together(found[other], names), quotient)
                cells.append(text(less, signed=True))
                kept[f"less {whose}"] = [less.value, less.low, less.high]
            figures[row][title] = kept
        lines.append(cells)
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines), figures


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", type=Path, help="the scored folder of frame.toml")
    parser.add_argument("early", type=Path, help="the folder of segments.py for frame_early.toml")
    parser.add_argument("-o", "--out", type=Path, default=RESULTS / "frame", help="has the segments of frame.toml")
    arguments = parser.parse_args(given)
    measures = {
        "WER, %": heard(arguments.experiment),
        "segments that fail, %": failing(arguments.out / "failures.json"),
        "after half of the steps, %": failing(arguments.early / "failures.json"),
    }
    written, figures = table(measures)
    (arguments.out / "trainings.md").write_text(written, encoding="utf-8")
    (arguments.out / "trainings.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(written)


if __name__ == "__main__":
    main()
