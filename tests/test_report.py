"""The report of an experiment: every figure, the tables, and what it says of things that are missing."""

from __future__ import annotations

import csv
import functools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from sayahead import ConfigError
from sayahead.eval import plots
from sayahead.eval.drawing import COLOURS, DASHES, MARKERS, Point, levels, save
from sayahead.eval.latency import durations_s, generation_s, summarize, time_balance_s
from sayahead.eval.report import report
from sayahead.eval.tables import Column, as_csv, as_markdown, filled
from sayahead.eval.trace import Trace, TracedChunk, TracedFragment, write_traces
from sayahead.types import WordTiming

RATE = 1000
CLOCKS = ("50 tokens per s", "180 words per min")
NAMES = ("whole", "k=0", "k=1 | random", "peer")
SETTINGS = {
    "whole": {"policy": "wait-all", "k": 1, "context": "none", "voice": "heart"},
    "k=0": {"policy": "lookahead", "k": 0, "context": "none", "voice": "heart"},
    "k=1 | random": {"policy": "lookahead", "k": 1, "context": "random", "voice": "heart"},
}


def utterance(words: int, *, whole: bool = False, name: str = "u", gap_s: float = 0.3) -> Trace:
    """Words of four letters, 250 ms each; a chunk a word, or one for all; computing takes 10 ms."""
    text = " ".join(["word"] * words)
    fragments = tuple(TracedFragment(5 * i, min(5 * i + 5, len(text)), round(gap_s * (i + 1), 6)) for i in range(words))
    read = [(fragment.end, fragment.at_s) for fragment in fragments]
    chunks: tuple[TracedChunk, ...]
    if whole:
        chunks = (TracedChunk(0, 250 * words, read[-1][1], read[-1][1] + 0.01, 0.01, len(text), 4),)
    else:
        chunks = tuple(TracedChunk(250 * i, 250, at_s, at_s + 0.01, 0.01, end, 4) for i, (end, at_s) in enumerate(read))
    said = tuple(WordTiming("word", 5 * i, 5 * i + 4, 250 * i, 250 * i + 240) for i in range(words))
    return Trace(words, text, RATE, fragments, chunks, said, name, "", "")


SHORT, LONG, WHOLE = utterance(3), utterance(6), utterance(6, whole=True)
SERIES = {
    "no context": [Point("k=0", 0, 3.0, 2.9, 3.1), Point("k=1", 1, 3.5)],
    "random words": [Point("k=0, random", 0.1, 2.9), Point("k=1, random", 1.1, 3.4, 3.2, 3.6)],
    "whole": [Point("whole", 3.0, 4.0, 3.9, 4.1)],
}
CURVES = {name: points for name, points in SERIES.items() if name != "whole"}
FIGURES: dict[str, tuple[Callable[[], Figure], str, int]] = {
    # What is made, a part of its title, and its lines without bars and spans.
    "lookahead": (lambda: plots.quality_over_lookahead(CURVES, SERIES["whole"][0], metric="WER, %"), "lookahead", 3),
    "no full sentence": (lambda: plots.quality_over_lookahead(CURVES, None, metric="WER, %"), "WER over", 2),
    "length": (
        lambda: plots.latency_over_length({"a": [(3, 0.2), (6, 0.4)], "b": [(3, 0.1)]}, clock="c"),
        "sentence length (c)",
        1,
    ),
    "chunk delay": (
        lambda: plots.chunk_delay_over_length({"a": [(3, 0.2), (6, 0.4)], "b": [(3, 1), (9, 2)]}, clock="c"),
        "chunk delay",
        2,
    ),
    "balance": (
        lambda: plots.time_balance({"a": [list(time_balance_s(LONG)), list(time_balance_s(SHORT))], "none": []}),
        "balance",
        2,
    ),
    "generation": (
        lambda: plots.generation_and_audio({"a": ([list(generation_s(LONG))], [list(durations_s(LONG))])}),
        "Computing time against",
        2,
    ),
    "path": (lambda: plots.policy_path({"k=0": LONG, "whole": WHOLE}), "READ", 2),
    "share": (lambda: plots.quality_over_proportion(SERIES, metric="MOS"), "MOS over the share", 3),
    "processing": (
        lambda: plots.processing_over_steps({"a": ([[0.1, 0.2, 0.3]], 600.0), "b": ([[0.1]], 60.0)}),
        "Cumulative",
        4,
    ),
    "frontier": (lambda: plots.frontier(SERIES, metric="MOS", clock="c"), "word lag (c)", 3),
    "timeline": (lambda: plots.timeline({"k=0": LONG, "whole": WHOLE}, clock="c"), "text in, speech out (c)", 2),
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_titled_labelled_and_written(name: str, tmp_path: Path) -> None:
    make, title, lines = FIGURES[name]
    figure = make()
    (axes,) = figure.axes
    assert title in axes.get_title(loc="left")
    assert axes.get_xlabel()
    assert axes.get_ylabel() or name == "timeline"
    # Error bars' caps are lines too, without a name of their own.
    drawn = [line for line in axes.get_lines() if line.get_linestyle() != "None" or str(line.get_marker()) not in "_|"]
    assert len(drawn) == lines
    save(figure, tmp_path / "figure.png")
    png = (tmp_path / "figure.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") == 1280


def test_figures_show_the_data() -> None:
    axes = plots.latency_over_length({"a": [(3, 0.2), (6, 0.5)]}, clock="c").axes[0]
    cloud = next(item for item in axes.collections if isinstance(item, PathCollection))
    assert np.asarray(cloud.get_offsets()).tolist() == [[3, 0.2], [6, 0.5]]
    assert np.allclose(axes.get_lines()[0].get_xydata(), [[3, 0.2], [6, 0.5]])
    path = plots.policy_path({"k=0": LONG, "whole": WHOLE})
    names = [text.get_text() for text in path.legends[0].get_texts()]
    # Six equal chunks after 5, 10, ..., 29 of 29 characters.
    share = (5 + 10 + 15 + 20 + 25 + 29) / 6 / 29
    assert names == [f"k=0, $d_T$ = {share:.2f}", "whole, $d_T$ = 1.00"]
    rows = plots.timeline({"k=0": LONG, "whole": WHOLE}, clock="c").axes[0]
    assert [label.get_text() for label in rows.get_yticklabels()] == [
        "text arrives",
        "k=0\nfirst sound 0.31 s",
        "whole\nfirst sound 1.81 s",
    ]
    assert len(rows.patches) == 3 * 6
    assert plots.words_heard(WHOLE)[1] == pytest.approx(("word", 2.06, 2.30))
    assert plots.words_arrived(LONG)[:2] == [("word", 0.3), ("word", 0.6)]


def test_levels_stop_where_few_utterances_are_left() -> None:
    series = [[1.0, 2.0, 3.0], [3.0, 4.0], [5.0], [5.0], [5.0]]
    _, middle, _ = levels(series)
    assert middle.tolist() == [5.0, 3.0]
    assert [len(level) for level in levels([])] == [0, 0, 0]


def test_styles_differ() -> None:
    assert len(COLOURS) == len(MARKERS) == len(set(COLOURS)) == len(set(MARKERS))
    assert len(set(DASHES)) == len(DASHES)


def test_a_table_leaves_out_what_nobody_has_and_marks_the_rest() -> None:
    columns = (
        Column("a, ms", "a", factor=1000, digits=0, interval=True),
        Column("b", "b", signed=True, interval=True),
        Column("never", "c"),
    )
    summaries: dict[str, dict[str, dict[str, Any]]] = {
        "x|y": {"a": {"mean": 0.5, "low": 0.4, "high": 0.6}, "b": {"mean": 0.25, "p": 0.0001}},
        "z": {"a": {"mean": math.nan}, "c": {"p50": 1.0}},
    }
    table = filled("t", "Title", columns, summaries)
    assert as_markdown(table).splitlines()[:6] == [
        "## Title",
        "",
        "| condition | a, ms | b |",
        "| --- | ---: | ---: |",
        "| x\\|y | 500 (400 to 600) | +0.25, p < 0.001 |",
        "| z | – | – |",
    ]
    assert as_csv(table).splitlines() == [
        'condition,"a, ms","a, ms low","a, ms high",b,b p',
        "x|y,500,400,600,0.25,0.0001",
        "z,,,,,",
    ]


def some(whole: bool, gap_s: float) -> list[Trace]:
    """Four utterances."""
    return [utterance(n, whole=whole, name=f"u{n}", gap_s=gap_s) for n in (3, 5, 8, 13)]


@functools.cache
def summary_of(whole: bool, gap_s: float) -> dict[str, dict[str, float]]:
    """Their scores, computed once: the bootstrap takes its time."""
    return summarize(some(whole, gap_s))


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """An experiment of four conditions on two clocks: the peer has no quality, nothing has DNSMOS."""
    out = tmp_path / "out"
    for name in NAMES:
        (out / name / "latency").mkdir(parents=True)
        for clock, gap_s in zip(CLOCKS, (0.05, 0.3), strict=True):
            whole = name in ("whole", "peer")
            made = some(whole, gap_s)
            write_traces(out / name / f"{clock}.jsonl", made)
            scores = json.dumps(summary_of(whole, gap_s))
            (out / name / "latency" / f"{clock}.json").write_text(scores, encoding="utf-8")
    for name, wer in (("whole", 0.03), ("k=0", 0.05), ("k=1 | random", 0.04)):
        estimate = {"value": wer, "low": wer - 0.01, "high": wer + 0.01, "sentences": 4}
        mos = {"value": 4.0, "low": 3.9, "high": 4.1, "sentences": 4}
        against = {"wer": {**estimate, "value": wer - 0.03, "p": 0.25}}
        summary = {
            "wer": estimate,
            "cer": estimate,
            "distillmos": mos,
            "pitch_cents": {"value": 12.5, "low": None, "high": None},
        }
        quality = json.dumps({"summary": summary, "rows": [], "against": against})
        (out / name / "quality.json").write_text(quality, encoding="utf-8")
    experiment = {
        "conditions": NAMES,
        "clocks": CLOCKS,
        "count": 4,
        "command": "sayahead eval run <x>.toml",
        "machine": {"cpu": "Abacus", "cores": 1},
        "versions": {"python": "3.11"},
        "seeds": [0, 7],
        "jobs": 2,
        "settings": SETTINGS,
    }
    (out / "experiment.json").write_text(json.dumps(experiment), encoding="utf-8")
    rated = [
        {"sentence": f"u{n}", "condition": c, "score": s + n} for n in (3, 5) for c, s in (("k=0", 40), ("whole", 60))
    ]
    (out / "ratings").mkdir()
    ratings = json.dumps({"page": "p", "rater": "ann", "ratings": rated})
    (out / "ratings" / "ann.json").write_text(ratings, encoding="utf-8")
    return out


def test_the_report_has_tables_figures_and_a_page(scored: Path, tmp_path: Path) -> None:
    target = tmp_path / "report"
    report(scored, target)
    text = (target / "tables.md").read_text(encoding="utf-8")
    for part in (
        "`sayahead eval run <x>.toml`",
        "- Sentences: 4",
        "| whole | 3.00 (2.00 to 4.00) | – | 3.00",
        "- Seed: 0, 7",
        "cpu Abacus, cores 1",
        "| k=0 | 5.00 (4.00 to 6.00) | +2.00 (+4.00 to +6.00), p = 0.250 |",
        "## Latency, text clock: 180 words per min",
        "| peer | – | – |",
        "pitch cents",
        "| whole | 64.0 (63.0 to 65.0) | 2 |",
        "| whole over k=0 | +20.0 (+20.0 to +20.0), p < 0.001 |",
        "Quality of peer is missing: run sayahead eval score out.",
        "DNSMOS is left out.",
        "4 sentences are too few for a claim",
        "2 processes ran beside each other",
    ):
        assert part in text, part
    assert "control is missing" not in text
    with (target / "latency-2.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["condition"] for row in rows] == list(NAMES)
    # Three to 13 words, one each 0.3 s: by word after the first, by sentence after all.
    assert float(rows[1]["first audible sample p50, ms"]) == pytest.approx(310)
    assert float(rows[0]["first audible sample p50, ms"]) == pytest.approx(1000 * (0.3 * 6.5 + 0.01))
    assert float(rows[0]["O(1): first sample, ms a word"]) == pytest.approx(300)
    stems = {path.stem for path in target.glob("*.png")}
    assert stems == {
        *(f"{figure}-{clock}" for figure in ("first-audio", "chunk-delay", "timeline") for clock in (1, 2)),
        *("time-balance", "generation-and-audio", "computing-by-word", "policy-path"),
        *(
            f"{metric}-{figure}"
            for metric in ("wer", "distillmos")
            for figure in ("lookahead", "share", "lag-1", "lag-2")
        ),
    }
    page = (target / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == len(stems)
    assert "sayahead eval run &lt;x&gt;.toml" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "<!--" not in page
    assert set(re.findall(r'href="#([^"]+)"', page)) == set(re.findall(r' id="([^"]+)"', page))
    # Once more gives the same.
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    report(scored, target)
    assert before == {path.name: path.read_bytes() for path in target.iterdir()}


def test_the_report_says_what_is_missing(scored: Path, tmp_path: Path) -> None:
    for name in NAMES:
        (scored / name / "quality.json").unlink(missing_ok=True)
    (scored / "peer" / "latency" / f"{CLOCKS[0]}.json").unlink()
    (scored / "peer" / f"{CLOCKS[1]}.jsonl").unlink()
    about = json.loads((scored / "experiment.json").read_text(encoding="utf-8"))
    del about["settings"]["k=0"]
    (scored / "experiment.json").write_text(json.dumps(about), encoding="utf-8")
    report(scored, tmp_path / "report")
    text = (tmp_path / "report" / "tables.md").read_text(encoding="utf-8")
    for part in (
        f"Latency of peer on the text clock {CLOCKS[0]} is missing",
        f"Traces of peer on the text clock {CLOCKS[1]} are missing",
        "Quality of whole, k=0, k=1 | random, peer is missing",
        "WER is left out.",
        "A control is missing from the experiment: no lookahead and no context.",
    ):
        assert part in text, part
    assert "## Quality" not in text
    assert not list((tmp_path / "report").glob("wer*"))


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"experiment\.json is missing"):
        report(tmp_path, tmp_path / "report")
    (tmp_path / "experiment.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ConfigError, match="not a JSON object"):
        report(tmp_path, tmp_path / "report")
    (tmp_path / "experiment.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="does not name conditions"):
        report(tmp_path, tmp_path / "report")


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"sayahead\[score\]"):
        plots.frontier(SERIES, metric="MOS", clock="c")
