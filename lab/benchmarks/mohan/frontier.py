"""Agents of a unit of the quality reward, over their seeds, against the rules (Mohan et al. 2020,
5.4): the frontier.

    python lab/benchmarks/mohan/frontier.py out --proportion PROPORTION.json -o DIR

Reads the scored folder of quality.toml and proportion.json. A row of agents takes the errors, words
and opinions of all its seeds together; differences are paired by sentence. In brackets are 95 %
bootstrap intervals over seeds and sentences. How far seeds lie apart is told beside: lowest and
highest of them. Writes frontier.md, frontier.json, and scores.jsonl.gz with the errors and opinions
of each sentence."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sayahead_lab.eval.experiment.folder import read_experiment
from sayahead_lab.eval.listening.quality import Row
from sayahead_lab.eval.listening.score import read_rows
from sayahead_lab.eval.measures.intervals import (
    Estimate,
    Values,
    difference_trained,
    estimate_trained,
    quotient,
)
from sayahead_lab.eval.report.scores import SCORES, write_lines

AGAINST = ("wait-3-steps", "wait-2-steps")
"""Rules that agents are compared with, unless others are named."""
Group = Mapping[str, Sequence[Row]]
"""Rows of each seed; of a rule, or of the teacher, of itself alone."""


def wrong_words(row: Row) -> tuple[float, float]:
    assert row.errors is not None
    return 100 * row.errors.total, row.errors.words


def opinion(row: Row) -> tuple[float, float]:
    assert row.distillmos is not None
    return row.distillmos, 1.0


Measure = tuple[str, Callable[[Row], tuple[float, float]], int]
MEASURES: dict[str, Measure] = {
    "WER, %": ("errors", wrong_words, 2),
    "DistillMOS": ("distillmos", opinion, 3),
}
"""What a row needs, numerator and denominator of a sentence, and digits."""


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


def sums(group: Group, measure: Callable[[Row], tuple[float, float]]) -> Values:
    """(R, N, 2) each sentence's numerator and denominator, of each seed."""
    kept = [{row.name: measure(row) for row in rows} for rows in group.values()]
    shared = sorted(set.intersection(*(set(one) for one in kept)))
    if any(len(one) != len(shared) for one in kept):
        raise ValueError(f"The seeds of {', '.join(group)} did not all say the same sentences.")
    return np.array([[one[name] for name in shared] for one in kept], np.float64)


def measured(read: Iterable[Group]) -> dict[str, Measure]:
    """The measures that all sentences were scored with."""
    rows = [row for group in read for rows in group.values() for row in rows]
    return {
        title: one
        for title, one in MEASURES.items()
        if all(getattr(row, one[0]) is not None for row in rows)
    }


def text(value: Estimate, digits: int, *, sign: str = "") -> str:
    return (
        f"{value.value:{sign}.{digits}f} ({value.low:{sign}.{digits}f} to"
        f" {value.high:{sign}.{digits}f})"
    )


def between(values: Sequence[float], digits: int) -> str:
    """The mean, and, of several, the lowest and the highest."""
    ends = f" ({min(values):.{digits}f} to {max(values):.{digits}f})" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{ends}"


def compared(
    out: Path, areas: Mapping[str, Any], rules: Sequence[str] = AGAINST
) -> tuple[list[list[str]], dict[str, Any]]:
    """The table, its names of columns first, and the figures behind it."""
    members = groups(read_experiment(out)["conditions"])
    read = {
        key: {name: read_rows(out / name)[0] for name in names} for key, names in members.items()
    }
    measures = measured(read.values())
    made = {
        (key, title): sums(group, measure)
        for key, group in read.items()
        for title, (_, measure, _) in measures.items()
    }
    table = list[list[str]]()
    figures = dict[str, Any]()
    for key, group in read.items():
        paths = {name: areas[name]["d_T"] for name in group if name in areas}
        cells = [key, str(len(group)), between(list(paths.values()), 3) if paths else "–"]
        figures[key] = {"d_T": paths}
        for title, (_, _, digits) in measures.items():
            whole = estimate_trained(made[key, title], quotient)
            own = [float(quotient(seed.sum(0))) for seed in made[key, title]]
            cells += [text(whole, digits)] + ([between(own, digits)] if title == "WER, %" else [])
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
                cells.append(text(apart, digits, sign="+"))
                figures[key][f"{title}, less {rule}'s"] = {
                    "value": apart.value,
                    "low": apart.low,
                    "high": apart.high,
                    "over": "seeds, sentences",
                }
        table.append(cells)
    return [heads(measures, rules), *table], figures


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


def heads(measures: Iterable[str], rules: Sequence[str]) -> list[str]:
    """Names of the columns."""
    less = [f"less {rule}'s" for rule in rules]
    own = {"WER, %": ["of the seeds"]}
    return [
        *("policy", "seeds", "d_T"),
        *(name for title in measures for name in (title, *own.get(title, ()), *less)),
    ]


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", type=Path, help="the scored folder of quality.toml")
    parser.add_argument("--proportion", type=Path, required=True, help="d_T of the same rows")
    parser.add_argument(
        "--against", metavar="ROW", action="append", help="a rule to compare with; may be repeated"
    )
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args(given)
    areas = json.loads(arguments.proportion.read_text(encoding="utf-8"))["rows"]
    rules = arguments.against or AGAINST
    (columns, *table), figures = compared(arguments.experiment, areas, rules)
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *table]
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "frontier.md").write_text(
        "".join(f"| {' | '.join(line)} |\n" for line in lines), encoding="utf-8"
    )
    (arguments.out / "frontier.json").write_text(
        json.dumps(figures, indent=1) + "\n", encoding="utf-8"
    )
    write_lines(arguments.out / SCORES, scores(arguments.experiment))
    print((arguments.out / "frontier.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
