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
from sayahead.cli import main
from sayahead.eval import panels, plots
from sayahead.eval.drawing import COLOURS, DASHES, MARKERS, Point, levels, save
from sayahead.eval.figures import Experiment, family, group, over_lookahead
from sayahead.eval.latency import by_position, summarize, time_balance_s
from sayahead.eval.report import report
from sayahead.eval.tables import Column, as_csv, as_markdown, filled
from sayahead.eval.trace import Trace, TracedChunk, TracedFragment, write_traces
from sayahead.types import Floats, WordTiming

RATE = 1000
CLOCKS = ("50 tokens per s", "180 words per min")
NAMES = ("whole", "k=0", "k=1 | random", "k=1, 1 core", "k=1, 2 cores", "peer")
CORES = {"policy": "lookahead", "k": 1, "context": "truth", "voice": "heart"}
SETTINGS = {
    "whole": {"policy": "wait-all", "k": 1, "context": "none", "voice": "heart"},
    "k=0": {"policy": "lookahead", "k": 0, "context": "none", "voice": "heart"},
    "k=1 | random": {"policy": "lookahead", "k": 1, "context": "random", "voice": "heart"},
    "k=1, 1 core": {**CORES, "cores": 1},
    "k=1, 2 cores": {**CORES, "cores": 2},
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
        3,
    ),
    "generation": (
        lambda: plots.generation_and_audio({"a": by_position([LONG]), "b": by_position([LONG, LONG])}),
        "Computing time against",
        4,
    ),
    "cores": (
        lambda: plots.ratio_over_cores({"k=1": [Point("2", 2, 0.3), Point("1", 1, 0.5, 0.4, 0.6)]}),
        "by processor cores",
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
    caps = [line for container in axes.containers for line in getattr(container, "lines", ((), ()))[1]]
    drawn = [line for line in axes.get_lines() if line not in caps]
    assert len(drawn) == lines
    save(figure, tmp_path / "figure.png")
    png = (tmp_path / "figure.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") == 1280


def diagonal(frames: int, columns: int) -> Floats:
    """Attention that goes over the columns evenly."""
    return np.eye(columns, dtype=np.float32)[np.arange(frames) * columns // frames]


PANELS: dict[str, tuple[Callable[[], Figure], list[str]]] = {
    "alignments": (
        lambda: panels.alignments({"full": diagonal(40, 5), "k = 1": diagonal(50, 5)}, hop_s=0.0125, phonemes="hElo."),
        ["full", "k = 1"],
    ),
    "mels": (
        lambda: panels.mels({name: diagonal(60, 80) - 4 for name in ("ground truth", "full", "k = 1")}, hop_s=0.01),
        ["ground truth", "full", "k = 1"],
    ),
    "path": (
        lambda: panels.policy_over_alignment({"wait": (diagonal(40, 10), np.full(40, 10)),
            "agent": (diagonal(40, 10), np.arange(40) // 4 + 1)}, hop_s=0.01),
        ["wait, $d_T$ = 1.00", "agent, $d_T$ = 0.55"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PANELS)
def test_panels_have_a_row_a_method(name: str, tmp_path: Path) -> None:
    make, methods = PANELS[name]
    figure = make()
    rows = figure.axes
    assert [text.get_text() for axes in rows for text in axes.texts if text.get_text()] == methods
    assert rows[0].get_title(loc="left")
    assert rows[-1].get_xlabel() == "time, s"
    assert all(len(axes.images) == 1 and axes.get_ylabel() for axes in rows)
    save(figure, tmp_path / "figure.png")
    assert int.from_bytes((tmp_path / "figure.png").read_bytes()[16:20], "big") == 1280


def test_panels_show_the_data() -> None:
    rows = panels.alignments({"full": diagonal(40, 5), "k = 1": diagonal(50, 5)}, hop_s=0.1, phonemes="hElo.").axes
    shown = rows[1].images[0]
    assert np.array_equal(np.asarray(shown.get_array()), diagonal(50, 5).T)
    assert list(shown.get_extent()) == [0, 5, 0, 5]
    # Both panels have room for the longer one.
    assert rows[0].get_xlim() == rows[1].get_xlim() == (0, 5)
    assert [label.get_text() for label in rows[0].get_yticklabels()] == list("hElo.")
    mels = panels.mels({"a": diagonal(60, 80), "b": 2 * diagonal(60, 80)}, hop_s=0.01).axes
    assert mels[0].images[0].get_clim() == mels[1].images[0].get_clim()


def test_panels_that_do_not_fit_are_errors() -> None:
    with pytest.raises(ConfigError, match="full, k = 1 with 5, 6 phonemes and 0 labels do not go together"):
        panels.alignments({"full": diagonal(9, 5), "k = 1": diagonal(9, 6)}, hop_s=0.1)
    with pytest.raises(ConfigError, match="with 5 phonemes and 2 labels"):
        panels.alignments({"full": diagonal(9, 5)}, hop_s=0.1, phonemes="ab")
    with pytest.raises(ConfigError, match=r"full: an array of frames by rows is drawn, not one of shape \(9,\)"):
        panels.mels({"full": np.zeros(9, np.float32)}, hop_s=0.1)
    with pytest.raises(ConfigError, match=r"different bands: \[5, 6\]"):
        panels.mels({"full": diagonal(9, 5), "k = 1": diagonal(9, 6)}, hop_s=0.1)
    with pytest.raises(ConfigError, match=r"Policy a: 9 frames of attention, but a path of shape \(8,\)"):
        panels.policy_over_alignment({"a": (diagonal(9, 5), np.ones(8, np.int64))}, hop_s=0.1)


def test_pictures_are_small(tmp_path: Path) -> None:
    pairs = [(float(at % 30), float(at)) for at in range(800)]
    save(plots.latency_over_length({str(n): pairs for n in range(8)}, clock="c"), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size < 80_000


def test_figures_show_the_data() -> None:
    axes = plots.latency_over_length({"a": [(3, 0.2), (6, 0.5)]}, clock="c").axes[0]
    cloud = next(item for item in axes.collections if isinstance(item, PathCollection))
    assert np.asarray(cloud.get_offsets()).tolist() == [[3, 0.2], [6, 0.5]]
    assert np.allclose(axes.get_lines()[0].get_xydata(), [[3, 0.2], [6, 0.5]])
    least = plots.time_balance({"a": [[0.5, 0.2], [0.1, 0.4, 0.9]]}).axes[0].get_lines()[-1]
    assert np.allclose(least.get_xydata(), [[2, 0.1], [3, 0.2], [4, 0.9]])
    playing, computing, _, _ = FIGURES["generation"][0]().axes[0].get_lines()
    assert np.allclose(playing.get_ydata(), 250)
    assert np.allclose(computing.get_ydata(), 10)
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
    """An experiment of six conditions on two clocks: some have no quality, nothing has DNSMOS."""
    out = tmp_path / "out"
    for name in NAMES:
        (out / name / "latency").mkdir(parents=True)
        write_traces(out / name / "measured.jsonl", some(name in ("whole", "peer"), 0.0))
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
        "load": {"k=0": [{"other_cores": 0.1}, {"other_cores": 0.9}], "peer": [{"other_cores": 0.4}], "whole": []},
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
        "Quality of k=1, 1 core, k=1, 2 cores, peer is missing: run sayahead eval score out.",
        "while these were measured, which makes times long: k=0 (0.9).",
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
    # All text at once: 10 ms of computing; a word more each 0.3 s else.
    assert float(rows[1]["with all text there p50, ms"]) == pytest.approx(10)
    assert float(rows[0]["text wait mean, ms"]) == pytest.approx(1000 * 0.3 * (3 + 5 + 8 + 13) / 4)
    assert float(rows[1]["text wait mean, ms"]) == pytest.approx(300)
    assert float(rows[1]["the least of all, s"]) == pytest.approx(0.24)
    assert float(rows[2]["the least of all, s"]) <= float(rows[2]["least time balance, s"])
    stems = {path.stem for path in target.glob("*.png")}
    assert stems == {
        *(f"{figure}-{clock}" for figure in ("first-audio", "chunk-delay", "timeline") for clock in (1, 2)),
        *("time-balance", "generation-and-audio", "computing-by-word", "policy-path"),
        *("first-audio-given", "ratio-cores"),
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
    for name in ("k=0", "k=1, 1 core", "k=1, 2 cores"):
        del about["settings"][name]
    (scored / "experiment.json").write_text(json.dumps(about), encoding="utf-8")
    report(scored, tmp_path / "report")
    text = (tmp_path / "report" / "tables.md").read_text(encoding="utf-8")
    for part in (
        f"Latency of peer on the text clock {CLOCKS[0]} is missing",
        f"Traces of peer on the text clock {CLOCKS[1]} are missing",
        "Quality of whole, k=0, k=1 | random, k=1, 1 core, k=1, 2 cores, peer is missing",
        "WER is left out.",
        "A control is missing from the experiment: no lookahead and no context.",
        "A control is missing from the experiment: the true future.",
    ):
        assert part in text, part
    assert "## Quality" not in text
    assert not list((tmp_path / "report").glob("wer*"))


def test_without_a_page_and_with_ratings_from_elsewhere(scored: Path, tmp_path: Path) -> None:
    rated = [{"sentence": "u3", "condition": "k=0", "score": 20}, {"sentence": "u3", "condition": "whole", "score": 60}]
    bob, pairs = tmp_path / "bob.json", tmp_path / "pairs.json"
    bob.write_text(json.dumps({"page": "p", "rater": "bob", "ratings": rated}), encoding="utf-8")
    said = [{"sentence": "u3", "condition": "k=0", "against": "whole", "score": 0}]
    answers = {"page": "q", "design": "ab", "rater": "bob", "ratings": said}
    pairs.write_text(json.dumps(answers), encoding="utf-8")
    command = ["eval", "report", str(scored), "-o", str(tmp_path / "report"), "--no-page"]
    assert main([*command, "--ratings", str(bob), str(pairs)]) == 0
    text = (tmp_path / "report" / "tables.md").read_text(encoding="utf-8")
    # Ann gave 43 and 45, Bob 20; Ann 63 and 65, Bob 60.
    assert re.search(r"\| k=0 \| 36\.0 \(.*\) \| 3 \|", text)
    assert "| whole over k=0 | 100.0 | 1 |" in text
    assert "2 raters, 2 sentences, 7 judgements" in text
    assert not (tmp_path / "report" / "report.html").exists()
    assert list((tmp_path / "report").glob("*.png"))
    assert main([*command, "--design", "ab"]) == 2


def test_conditions_of_one_manner_are_one_series() -> None:
    plain = {"policy": "lookahead", "k": 1, "context": "none", "voice": "heart"}
    settings = {
        "full": {**plain, "policy": "wait-all"},
        "alone": {**plain, "policy": "independent", "words": 2},
        "lookahead-1": {**plain, "k2": 0},
        "lookahead-2": {**plain, "k2": 1},
        "chunks": {**plain, "first_chunk": 18, "chunk": 6, "delta": 0},
    }
    assert [family(one) for one in settings.values()] == [
        "heart, whole sentences",
        "heart, every 2 words by themselves",
        "heart, k = 1, no context",
        "heart, k = 1, k2 = 1, no context",
        "heart, k = 1, no context, chunks 18-6, delta 0",
    ]
    quality = {name: {"wer": {"mean": 0.1}} for name in settings}
    experiment = Experiment({"settings": settings}, tuple(settings), (), {}, quality, lambda name, clock: [])
    found, full = over_lookahead(experiment, Column("WER, %", "wer"))
    assert {name: [(p.name, p.x) for p in points] for name, points in found.items()} == {
        "no context": [("lookahead-1", 1), ("lookahead-2", 2)],
        "no context, chunks 18-6, delta 0": [("chunks", 1)],
    }
    assert full is not None
    assert full.name == group(experiment, "full") == "full"
    assert group(experiment, "alone") == "alone"


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
