"""Tables and pictures of what ``measure.py`` left: which points lie beyond the frontier of fixed
settings.

python lab/benchmarks/frontier/report.py OUT [--results lab/benchmarks/results/frontier]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from conditions import CLOCKS, Condition, conditions, file_of
from numpy.typing import NDArray

from sayahead_lab.eval.measures.intervals import (
    ConfidenceInterval,
    estimate,
    interval,
    quotient,
    resampled,
)
from sayahead_lab.eval.report.drawing import Point, canvas, dots, legend, save
from sayahead_lab.results import Rows, load_figures, options, publish, table

RESULTS = Path("lab/benchmarks/results/frontier")
Values = NDArray[np.float64]
BASE = "k = 0, 50 ms"
"""What its words lose is the unit of each part of the distance."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A condition on a clock, over S sentences."""

    condition: Condition
    """The condition."""
    lost: Values
    """(S, 2) sum of the words' distances, and words."""
    parts: Values
    """(S, 4) sums of the parts, and words."""
    frames: Values
    """(S,) frames of the words in the full sentence."""
    lag_s: Values
    """(S,) mean word lag."""
    stall_s: Values
    """(S,) sum of stalls."""


def read(out: Path, measured: Sequence[Condition], clock: str) -> list[Measured]:
    """What was measured of the conditions that are made for a clock."""
    rows = {condition.name: load_figures(file_of(out, condition)) for condition in measured}
    base = rows[BASE]
    unit = np.sum([row["parts"] for row in base], axis=0) / sum(row["words"] for row in base)
    points = []
    for condition in measured:
        if condition.clock not in (None, clock):
            continue
        table = rows[condition.name]
        parts = np.array([row["parts"] for row in table])
        words = np.array([float(row["words"]) for row in table])
        lost = np.stack([(parts / unit).mean(axis=1), words], axis=1)
        frames = np.array([float(row["frames"]) for row in table])
        lag_s, stall_s = (
            np.array([row[clock][key] for row in table]) for key in ("lag_s", "stall_s")
        )
        points.append(
            Measured(condition, lost, np.column_stack([parts, words]), frames, lag_s, stall_s)
        )
    return points


def hull(lags: Values, lost: Values, at: float) -> float:
    """The distance that mixtures of the points reach at lag ``at`` or less: their lower convex
    hull, then level."""
    order = np.lexsort((lost, lags))
    kept: list[tuple[float, float]] = []
    for x, y in zip(lags[order], lost[order], strict=True):
        if kept and y >= kept[-1][1]:
            continue
        while len(kept) > 1 and slope(kept[-2], kept[-1]) >= slope(kept[-2], (x, y)):
            kept.pop()
        kept.append((float(x), float(y)))
    return float(np.interp(at, *np.array(kept).T))


def slope(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Of the line through both."""
    return (other[1] - one[1]) / max(other[0] - one[0], 1e-12)


def beyond(point: Measured, others: Sequence[Measured]) -> dict[str, float]:
    """A point's distance less that of the others' frontier at its lag, with the 95 % interval over
    sentences.

    Each draw of sentences makes all points anew, and the frontier of them.
    """
    every = [point, *others]
    lags = np.stack([one.lag_s for one in every], axis=1)
    lost = np.stack([one.lost[:, 0] for one in every], axis=1)
    words = point.lost[:, 1]

    def apart(weights: Values) -> float:
        lag = weights @ lags / weights.sum()
        quality = weights @ lost / (weights @ words)
        return float(quality[0] - hull(lag[1:], quality[1:], lag[0]))

    drawn = [apart(weights) for block in resampled(len(words), 0) for weights in block[:100]]
    low, high = interval([np.array(drawn)])
    return {"value": apart(np.ones(len(words))), "low": low, "high": high}


def summary(
    point: Measured, fixed: Sequence[Measured], others: Sequence[Measured]
) -> dict[str, Any]:
    """The figures of a condition on a clock."""
    lost = estimate(point.lost, quotient)
    lag = estimate(np.column_stack([point.lag_s, np.ones(len(point.lag_s))]), quotient)
    duration, pitch, frames = point.parts[:, :3].sum(axis=0)
    row: dict[str, Any] = {
        "name": point.condition.name,
        "group": point.condition.group,
        "distance": [lost.value, lost.low, lost.high],
        "lag_s": [lag.value, lag.low, lag.high],
        "stall_s": float(point.stall_s.mean()),
        "duration_ms": duration / point.lost[:, 1].sum(),
        "pitch_cents": pitch / point.frames.sum(),
        "frames": frames / point.frames.sum(),
    }
    if point.condition.group == "learned":
        row["beyond_fixed"] = beyond(point, fixed)
        row["beyond_all"] = beyond(point, others)
    return row


HEADING = (
    "condition|word lag, s|distance|less than fixed k and hold-back at this lag|word duration, ms"
    "|pitch, cents|stalls a sentence, s"
)


def lines_of(clock: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """A clock's rows in Markdown."""
    cells = Rows()
    for row in rows:
        gain = "–"
        if "beyond_fixed" in row:
            found = row["beyond_fixed"]
            gain = f"{ConfidenceInterval(-found['value'], -found['high'], -found['low']):.3f}"
        spans = (f"{ConfidenceInterval(*row[name]):.2f}" for name in ("lag_s", "distance"))
        figures = [f"{row['duration_ms']:.1f}", f"{row['pitch_cents']:.0f}"]
        cells.append([row["name"], *spans, gain, *figures, f"{row['stall_s']:.2f}"])
    return [f"### {clock}", "", *table(HEADING, cells), ""]


def picture(clock: str, rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Distance over word lag, a line a group."""
    figure, axes = canvas(
        f"What is lost over what is waited ({clock})",
        "mean word lag, s",
        "distance to the full sentence (k = 0: 1)",
    )
    groups = list(dict.fromkeys(row["group"] for row in rows))
    for number, group in enumerate(groups):
        own = [row for row in rows if row["group"] == group]
        points = [Point(row["name"], row["lag_s"][0], *row["distance"]) for row in own]
        dots(axes, sorted(points, key=lambda point: point.x), number, label=group, line=True)
    axes.set_ylim(bottom=0)
    legend(axes, columns=2)
    save(figure, path)


def report(out: Path, results: Path, measured: Sequence[Condition]) -> None:
    """Write ``frontier.md`` and a picture a clock."""
    data = dict[str, Any]()
    lines = list[str]()
    for number, clock in enumerate(CLOCKS, start=1):
        points = read(out, measured, clock)
        fixed = [point for point in points if point.condition.group.startswith("fixed")]
        others = [point for point in points if point.condition.group != "learned"]
        data[clock] = [summary(point, fixed, others) for point in points]
        lines += lines_of(clock, data[clock])
        picture(clock, data[clock], results / f"frontier-{number}.png")
    publish(results / "frontier.md", lines[:-1], data)


def main() -> None:
    arguments = options(__doc__, "OUT", results=RESULTS).parse_args()
    measured = [
        condition for condition in conditions() if file_of(arguments.out, condition).is_file()
    ]
    for condition in conditions():
        if condition not in measured:
            print(f"Left out, as it is not measured: {condition.name}.")
    report(arguments.out, arguments.results, measured)


if __name__ == "__main__":
    main()
