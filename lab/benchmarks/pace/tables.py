"""Tables of a scored experiment of pace: the lag with and without keep_up, quality, and where a
typist's silences come.

    python lab/benchmarks/pace/tables.py OUT --results lab/benchmarks/results/pace.md

All on the ideal clock, where computing takes no time. The slope of the lag is taken over the last
two thirds of each passage's words: before, the lag builds up in any case. Its interval, and that of
the differences, is a bootstrap over passages. A silence is inside a word where the sound stops
before the word's end, inside a phrase where it stops elsewhere but after a mark or before one of
the front end's openers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.engine.sentence import PAUSES
from sayahead.text import front_end

from sayahead_lab.eval.experiment.folder import read_experiment
from sayahead_lab.eval.experiment.trace import Trace, read_traces
from sayahead_lab.eval.measures.intervals import ConfidenceInterval, estimate, quotient
from sayahead_lab.eval.measures.latency import audible_words, stalls_s, word_lags_s
from sayahead_lab.eval.measures.statistics import regress
from sayahead_lab.results import Rows, load_figures, options, table, tell

PLAIN = "k = 1"
OPENERS = front_end("en").openers
# A word whose last few milliseconds come later is whole to the ear.
WHOLE_S = 0.01


def places(trace: Trace) -> list[tuple[str, float]]:
    """Of each silence between chunks where it comes ("word", "phrase" or "pause"), and its
    seconds."""
    words = audible_words(trace)
    found = list[tuple[str, float]]()
    for chunk, stall in zip(trace.chunks[1:], stalls_s(trace, ideal=True), strict=True):
        if stall <= 0:
            continue
        at = chunk.start
        after = next((i for i, word in enumerate(words) if word.onset_samples >= at), len(words))
        before = words[after - 1] if after else None
        if before is not None and before.offset_samples - at > WHOLE_S * trace.sample_rate:
            place = "word"
        elif before is None or before.text[-1:] in PAUSES + ".!?" or after == len(words):
            place = "pause"
        else:
            place = "pause" if words[after].text.lower() in OPENERS else "phrase"
        found.append((place, float(stall)))
    return found


def slope(trace: Trace) -> float:
    """Seconds a word by which the lag grows over the last two thirds of the words."""
    lags = word_lags_s(trace, ideal=True)
    first = len(lags) // 3
    return float(regress(range(first, len(lags)), [float(lag) for lag in lags[first:]])[0])


def mean(traces: Sequence[Trace], metric: Callable[[Trace], float]) -> float:
    return float(np.mean([metric(trace) for trace in traces]))


def lag_rows(out: Path, about: dict[str, Any]) -> Rows:
    rows = Rows()
    for clock in about["clocks"]:
        if clock == "typist":
            continue
        for name in (PLAIN, f"keep up, {clock}"):
            traces = list(read_traces(out / name / f"{clock}.jsonl"))
            last = [float(word_lags_s(trace, ideal=True)[-10:].mean()) for trace in traces]
            total = mean(traces, lambda trace: trace.duration_s)
            lag = mean(traces, lambda trace: float(word_lags_s(trace, ideal=True).mean()))
            slopes = estimate(np.array([(1000 * slope(one), 1.0) for one in traces]), quotient)
            cells = [
                f"{slopes:.1f}",
                f"{lag:.2f}",
                f"{np.mean(last):.2f}",
                f"{max(last):.2f}",
                f"{total:.1f}",
            ]
            rows.append([clock, "keep_up" if name != PLAIN else "–", *cells])
    return rows


def quality_rows(out: Path, about: dict[str, Any]) -> Rows:
    rows = Rows()
    for name in about["conditions"]:
        if not (out / name / "quality.json").is_file():
            continue
        quality = load_figures(out / name / "quality.json")
        row = [name]
        for part in ("summary", "against"):
            value = quality[part].get("distillmos")
            if value is None or (part == "against" and name == about["conditions"][0]):
                row.append("–")
                continue
            row.append(f"{ConfidenceInterval(value['value'], value['low'], value['high']):.3f}")
        rows.append(row)
    return rows


def stall_rows(out: Path, about: dict[str, Any]) -> Rows:
    rows = Rows()
    for name in [one for one in about["conditions"] if one.startswith("k = ") or "typist" in one]:
        traces = list(read_traces(out / name / "typist.jsonl"))
        found = [one for trace in traces for one in places(trace)]
        words = sum(len(audible_words(trace)) for trace in traces)
        kinds = [kind for kind, _ in found]
        counts = [len(kinds), *map(kinds.count, ("word", "phrase", "pause"))]
        inside = sum(seconds for kind, seconds in found if kind != "pause") / len(traces)
        total = sum(seconds for _, seconds in found) / len(traces)
        lag = mean(traces, lambda trace: float(word_lags_s(trace, ideal=True).mean()))
        cells = [*(f"{100 * count / words:.0f}" for count in counts), f"{inside:.0f}"]
        rows.append([name, *cells, f"{total:.0f}", f"{lag:.2f}"])
    return rows


TABLES = {
    "text|speech|slope of the lag, ms a word|mean lag, s|lag at the end, s|largest, s|speech, s": (
        lag_rows
    ),
    "condition|DistillMOS|against k = 1": quality_rows,
    (
        "condition|silences in 100 words|in a word|in a phrase|at a pause|in either, s|all, s"
        "|mean lag, s"
    ): stall_rows,
}
"""Headings of the tables, and what makes their rows."""


def main() -> None:
    arguments = options(__doc__, "OUT", "results").parse_args()
    about = read_experiment(arguments.out)
    lines = list[str]()
    for header, rows in TABLES.items():
        lines += [*table(header, rows(arguments.out, about)), ""]
    tell(lines[:-1], arguments.results)


if __name__ == "__main__":
    main()
