"""Draw Mohan et al.'s Fig. 3 and 4 from results: word errors and opinion over d_T.

python lab/benchmarks/mohan/plots.py -o lab/benchmarks/results/mohan
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sayahead_lab.eval.report.drawing import MUTED, SMALL, Point, canvas, labelled, save
from sayahead_lab.eval.report.tables import read_csv
from sayahead_lab.results import load_figures, options

RESULTS = Path(__file__).parents[1] / "results" / "mohan"
FIGURES = {"wer.png": ("WER, %", "Word errors"), "opinion.png": ("DistillMOS", "Predicted opinion")}
TRUTHS = ("ground truth", "ground truth mel")
"""Rows of the experiment of Ma et al.: the same speaker and vocoder, but 100 sentences, which their
names say."""


def series(rows: dict[str, Any], figure: str) -> dict[str, list[Point]]:
    """A point a rule, and one for the agents of a unit, over all seeds."""
    points: dict[str, list[Point]] = {"benchmarks": [], "agents": []}
    for name, row in rows.items():
        area = float(np.mean(list(row["d_T"].values())))
        value = row[figure]
        kind, label = (
            ("agents", name.removeprefix("agents, "))
            if name.startswith("agents")
            else ("benchmarks", name)
        )
        points[kind].append(Point(label, area, value["value"], value["low"], value["high"]))
    return points


def main() -> None:
    # The folder has frontier.json.
    out = options(__doc__, "out").parse_args().out
    rows = load_figures(out / "frontier.json")
    true = read_csv(RESULTS.parent / "ma" / "quality" / "quality.csv")
    for name, (figure, title) in FIGURES.items():
        drawn, axes = canvas(
            f"{title} over d_T", "d_T: share of the area under the READ/SPEAK path", figure
        )
        for number, truth in enumerate(TRUTHS):
            height = float(true[truth][figure])
            axes.axhline(height, color=MUTED, linewidth=1, linestyle=":")
            axes.annotate(
                f"{truth} (100 sentences)",
                (0.02 + 0.35 * number, height),
                (0, 3),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                fontsize=SMALL,
                color=MUTED,
            )
        labelled(axes, series(rows, figure), apart=["agents"])
        save(drawn, out / name)


if __name__ == "__main__":
    main()
