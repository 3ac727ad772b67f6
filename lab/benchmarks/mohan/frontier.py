"""Agents of a unit of the quality reward, over their seeds, against the rules (Mohan et al. 2020,
5.4): the frontier.

    python lab/benchmarks/mohan/frontier.py SCORED --proportion PROPORTION.json -o DIR
    python lab/benchmarks/mohan/frontier.py -o DIR

Reads the scored folder of quality.toml and proportion.json. A row of agents takes the errors, words
and opinions of all its seeds together; differences are paired by sentence. In brackets are 95 %
bootstrap intervals over seeds and sentences. How far seeds lie apart is told beside: lowest and
highest of them. Writes frontier.md, and scores.jsonl.gz with the errors and opinions
of each sentence. Without SCORED, draws Fig. 3 and 4 of the frontier.md that is in DIR: wer.png and
opinion.png."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sayahead_lab.eval.experiment.folder import read_experiment
from sayahead_lab.eval.listening.quality import TRAINED, Row, Sums
from sayahead_lab.eval.listening.score import read_rows
from sayahead_lab.eval.measures.intervals import (
    ConfidenceInterval,
    Values,
    difference_trained,
    estimate_trained,
    quotient,
)
from sayahead_lab.eval.report.drawing import MUTED, SMALL, Point, canvas, labelled, save
from sayahead_lab.eval.report.scores import SCORES, write_lines
from sayahead_lab.eval.report.tables import read_csv
from sayahead_lab.results import Rows, load_figures, options, publish, table

AGAINST = ("wait-3-steps", "wait-2-steps")
"""Rules that agents are compared with, unless others are named."""
QUALITY = Path(__file__).parents[1] / "results/ma/quality/tables.csv"
DRAWN = {"wer.png": ("WER, %", "Word errors"), "opinion.png": ("DistillMOS", "Predicted opinion")}
TRUTHS = ("ground truth", "ground truth mel")
"""Rows of the experiment of Ma et al.: the same speaker and vocoder, but 100 sentences, which their
names say."""
Group = Mapping[str, Sequence[Row]]
"""Rows of each seed; of a rule, or of the teacher, of itself alone."""


def groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Agents by unit without their seed, "agent, 30 nats, seed 2" as one of "agents, 30 nats"; all
    else by itself."""
    found: dict[str, list[str]] = {}
    for name in names:
        key = (
            name.rpartition(", seed ")[0].replace("agent,", "agents,")
            if name.startswith("agent,")
            else name
        )
        found.setdefault(key, []).append(name)
    return found


def sums(group: Group, measure: Callable[[Row], Sums]) -> Values:
    """(R, N, 2) each sentence's numerator and denominator, of each seed."""
    kept = [{row.name: measure(row) for row in rows} for rows in group.values()]
    shared = sorted(set.intersection(*(set(one) for one in kept)))
    if any(len(one) != len(shared) for one in kept):
        raise ValueError(f"The seeds of {', '.join(group)} did not all say the same sentences.")
    return np.array([[one[name] for name in shared] for one in kept], np.float64)


def measured(read: Iterable[Group]) -> list[str]:
    """The measures that all sentences were scored with."""
    rows = [row for group in read for rows in group.values() for row in rows]
    return [title for title, (measure, _) in TRAINED.items() if all(map(measure, rows))]


def compared(
    out: Path, areas: Mapping[str, Any], rules: Sequence[str] = AGAINST
) -> tuple[list[str], dict[str, Any]]:
    """The table, and the figures behind it."""
    members = groups(read_experiment(out)["conditions"])
    read = {
        key: {name: read_rows(out / name)[0] for name in names} for key, names in members.items()
    }
    measures = measured(read.values())
    made = {
        (key, title): sums(group, TRAINED[title][0])
        for key, group in read.items()
        for title in measures
    }
    lines = Rows()
    figures = dict[str, Any]()
    for key, group in read.items():
        paths = {name: areas[name]["d_T"] for name in group if name in areas}
        cells = [
            key,
            str(len(group)),
            f"{ConfidenceInterval.spread(list(paths.values())):.3f}" if paths else "–",
        ]
        figures[key] = {"d_T": paths}
        for title in measures:
            digits = TRAINED[title][1]
            whole = estimate_trained(made[key, title], quotient)
            own = [float(quotient(seed.sum(0))) for seed in made[key, title]]
            cells.append(f"{whole:.{digits}f}")
            cells += [f"{ConfidenceInterval.spread(own):.{digits}f}"] if title == "WER, %" else []
            figures[key][title] = {
                "value": whole.value,
                "low": whole.low,
                "high": whole.high,
                "seeds": own,
            }
            for rule in rules:
                if not key.startswith("agents,"):
                    cells.append("–")
                    continue
                apart = difference_trained(made[key, title], made[rule, title], quotient)
                cells.append(f"{apart:+.{digits}f}")
                figures[key][f"{title}, less {rule}'s"] = {
                    "value": apart.value,
                    "low": apart.low,
                    "high": apart.high,
                    "over": "seeds, sentences",
                }
        lines.append(cells)
    return table(heading(measures, rules), lines), figures


def scores(out: Path) -> Iterator[dict[str, Any]]:
    """A line for each row and sentence."""
    for name in read_experiment(out)["conditions"]:
        for row in read_rows(out / name)[0]:
            errors = None if row.errors is None else [row.errors.total, row.errors.words]
            yield {
                "row": name,
                "sentence": row.name,
                "errors": errors,
                "distillmos": row.distillmos,
            }


def heading(measures: Iterable[str], rules: Sequence[str]) -> str:
    """Names of the columns."""
    less = "".join(f"|less {rule}'s" for rule in rules)
    own = {"WER, %": "|of the seeds"}
    return "policy|seeds|d_T" + "".join(f"|{one}{own.get(one, '')}{less}" for one in measures)


def points(figures: Mapping[str, Any], measure: str) -> dict[str, list[Point]]:
    """A point a rule, and one for the agents of a unit, over all seeds."""
    made: dict[str, list[Point]] = {"benchmarks": [], "agents": []}
    for name, row in figures.items():
        area = float(np.mean(list(row["d_T"].values())))
        label = name.removeprefix("agents, ")
        ends = (row[measure][end] for end in ("value", "low", "high"))
        made["benchmarks" if label == name else "agents"].append(Point(label, area, *ends))
    return made


def draw(figures: Mapping[str, Any], out: Path) -> None:
    """Fig. 3 and 4: word errors and opinion over d_T."""
    true = read_csv(QUALITY, "quality")
    for name, (measure, title) in DRAWN.items():
        drawn, axes = canvas(
            f"{title} over d_T", "d_T: share of the area under the READ/SPEAK path", measure
        )
        for number, truth in enumerate(TRUTHS):
            height = float(true[truth][measure])
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
        labelled(axes, points(figures, measure), apart=["agents"])
        save(drawn, out / name)


def main(given: Sequence[str] | None = None) -> None:
    arguments = options(__doc__, "[SCORED]", "out", proportion=Path, against=[str]).parse_args(
        given
    )
    if arguments.scored is None:
        draw(load_figures(arguments.out / "frontier.md"), arguments.out)
        return
    areas = load_figures(arguments.proportion)["rows"]
    rules = arguments.against or AGAINST
    lines, figures = compared(arguments.scored, areas, rules)
    publish(arguments.out / "frontier.md", lines, figures)
    write_lines(arguments.out / SCORES, scores(arguments.scored))


if __name__ == "__main__":
    main()
