"""Draw processing time (Saeki-b, Fig. 4) from the committed results of ``processing.py``.

    python lab/benchmarks/saeki/drawings.py

Writes ``lab/benchmarks/results/saeki/processing.png``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sayahead_lab.eval.report.drawing import Point, canvas, dots, legend, save, whole_steps

RESULTS = Path(__file__).parents[1] / "results" / "saeki"


def processing(found: Mapping[str, Any], path: Path) -> None:
    """Processing time of all steps so far; logarithmic, as a language model and a student do not
    fit one scale."""
    figure, axes = canvas(
        "Processing time until a step is spoken", "time step", "seconds (logarithmic)", height=5.2
    )
    for number, (name, row) in enumerate(found.items()):
        label = f"{name}: {row['words_a_minute']:.0f} words/min"
        points = [Point(name, step, value) for step, value in enumerate(row["cumulative_s"][:12])]
        dots(axes, points, number, label=label, line=True)
    axes.set_yscale("log")
    whole_steps(axes)
    legend(axes, 2)
    save(figure, path)


def main() -> None:
    timed = json.loads((RESULTS / "processing.json").read_text(encoding="utf-8"))
    processing(timed["rows"], RESULTS / "processing.png")


if __name__ == "__main__":
    main()
