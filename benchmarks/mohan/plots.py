"""Draw Mohan et al.'s Fig. 3 and 4 from the committed results: word errors and opinion over d_T.

python benchmarks/mohan/plots.py
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from sayahead.eval.report.canvas import MUTED, SMALL, Point, canvas, labelled, save

RESULTS = Path(__file__).parents[1] / "results" / "mohan"
FIGURES = {"wer.png": ("WER, %", "Word errors"), "opinion.png": ("DistillMOS", "Predicted opinion")}
TRUTHS = ("ground truth", "ground truth mel")
"""Rows of the experiment of Ma et al. on the same sentences: the same speaker and vocoder."""


def series(rows: dict[str, dict[str, str]], areas: dict[str, Any], figure: str) -> dict[str, list[Point]]:
    """A point a policy: agents apart from what they are compared with."""
    points: dict[str, list[Point]] = {"benchmarks": [], "agents": []}
    for name, area in ((name, area) for name, area in areas.items() if name in rows):
        value, low, high = (float(rows[name][figure + end]) for end in ("", " low", " high"))
        points["agents" if name.startswith("agent") else "benchmarks"].append(
            Point(name, area["d_T"], value, low, high)
        )
    return points


def read(path: Path) -> dict[str, dict[str, str]]:
    """A report's figures by condition."""
    with path.open(encoding="utf-8") as file:
        return {row["condition"]: row for row in csv.DictReader(file)}


def main() -> None:
    rows, true = (read(folder / "quality" / "quality.csv") for folder in (RESULTS, RESULTS.parent / "ma"))
    areas = json.loads((RESULTS / "proportion.json").read_text(encoding="utf-8"))["rows"]
    for name, (figure, title) in FIGURES.items():
        drawn, axes = canvas(f"{title} over d_T", "d_T: share of the area under the READ/SPEAK path", figure)
        for number, truth in enumerate(TRUTHS):
            height = float(true[truth][figure])
            axes.axhline(height, color=MUTED, linewidth=1, linestyle=":")
            axes.annotate(
                truth,
                (0.02 + 0.2 * number, height),
                (0, 3),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                fontsize=SMALL,
                color=MUTED,
            )
        labelled(axes, series(rows, areas, figure), apart=["agents"])
        save(drawn, RESULTS / name)


if __name__ == "__main__":
    main()
