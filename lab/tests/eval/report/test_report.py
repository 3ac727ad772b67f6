"""The report of an experiment: the tables, and what it says of things that are missing."""

from __future__ import annotations

import functools
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from lab_support.traces import utterance
from sayahead import ConfigError
from sayahead.cli import main

from sayahead_lab.eval.experiment.trace import Trace, write_traces
from sayahead_lab.eval.measures.latency import summarize
from sayahead_lab.eval.report.figures import Experiment
from sayahead_lab.eval.report.report import cautions, report, scored_experiment
from sayahead_lab.eval.report.tables import Column, as_csv, as_markdown, filled, read_csv

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


def test_a_table_leaves_out_what_nobody_has_and_marks_the_rest(tmp_path: Path) -> None:
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
    assert as_csv([table]).splitlines() == [
        "table,condition,figure,value,low,high,p",
        't,x|y,"a, ms",500,400,600,',
        "t,x|y,b,0.25,,,0.0001",
        't,z,"a, ms",,,,',
        "t,z,b,,,,",
    ]
    (tmp_path / "tables.csv").write_text(as_csv([table]), encoding="utf-8")
    read = read_csv(tmp_path / "tables.csv", "t")
    assert read["x|y"]["a, ms high"] == "600"
    assert read["z"]["b"] == ""


def some(whole: bool, gap_s: float) -> list[Trace]:
    """Four utterances."""
    return [utterance(n, whole=whole, name=f"u{n}", gap_s=gap_s) for n in (3, 5, 8, 13)]


@functools.cache
def summary_of(whole: bool, gap_s: float) -> dict[str, dict[str, float]]:
    """Their scores, computed once: the bootstrap takes its time."""
    return summarize(some(whole, gap_s))


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of six conditions on two clocks: some have no quality, nothing has DNSMOS."""
    out = tmp_path_factory.mktemp("experiment") / "out"
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
        "load": {
            "k=0": [{"other_cores": 0.1}, {"other_cores": 0.9}],
            "peer": [{"other_cores": 0.4}],
            "whole": [],
        },
    }
    (out / "experiment.json").write_text(json.dumps(experiment), encoding="utf-8")
    rated = [
        {"sentence": f"u{n}", "condition": c, "score": s + n}
        for n in (3, 5)
        for c, s in (("k=0", 40), ("whole", 60))
    ]
    (out / "ratings").mkdir()
    ratings = json.dumps({"page": "p", "rater": "ann", "ratings": rated})
    (out / "ratings" / "ann.json").write_text(ratings, encoding="utf-8")
    return out


@pytest.fixture
def scored(experiment: Path, tmp_path: Path) -> Path:
    """A copy of the experiment, to take files from."""
    return shutil.copytree(experiment, tmp_path / "out")


@pytest.fixture(scope="module")
def target(experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The experiment's report."""
    target = tmp_path_factory.mktemp("report")
    report(experiment, target)
    return target


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures' files are empty, which saves most of a report's time."""
    monkeypatch.setattr("sayahead_lab.eval.report.report.save", lambda figure, path: path.touch())


def test_the_report_has_tables_figures_and_a_page(target: Path) -> None:
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
    latency = read_csv(target / "tables.csv", "latency-2")
    assert list(latency) == list(NAMES)
    rows = list(latency.values())
    # Three to 13 words, one each 0.3 s: by word after the first, by sentence after all.
    assert float(rows[1]["first audible sample p50, ms"]) == pytest.approx(310)
    assert float(rows[0]["first audible sample p50, ms"]) == pytest.approx(
        1000 * (0.3 * 6.5 + 0.01)
    )
    assert float(rows[0]["O(1): first sample, ms a word"]) == pytest.approx(300)
    # All text at once: 10 ms of computing; a word more each 0.3 s else.
    assert float(rows[1]["with all text there p50, ms"]) == pytest.approx(10)
    assert float(rows[0]["text wait mean, ms"]) == pytest.approx(1000 * 0.3 * (3 + 5 + 8 + 13) / 4)
    assert float(rows[1]["text wait mean, ms"]) == pytest.approx(300)
    assert float(rows[1]["the least of all, s"]) == pytest.approx(0.24)
    assert float(rows[2]["the least of all, s"]) <= float(rows[2]["least time balance, s"])
    stems = {path.stem for path in target.glob("*.png")}
    assert stems == {
        *(
            f"{figure}-{clock}"
            for figure in ("first-audio", "chunk-delay", "timeline")
            for clock in (1, 2)
        ),
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


@pytest.mark.slow
def test_the_same_experiment_gives_the_same_report(
    experiment: Path, target: Path, tmp_path: Path
) -> None:
    report(experiment, tmp_path)
    first, again = (
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (target, tmp_path)
    )
    assert first == again


@pytest.mark.usefixtures("undrawn")
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


def test_futures_are_controlled_only_where_there_are_some(scored: Path) -> None:
    path = scored / "experiment.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    plain = {name: one for name, one in about["settings"].items() if one["context"] == "none"}
    path.write_text(json.dumps({**about, "settings": plain}), encoding="utf-8")
    assert not [line for line in cautions(scored_experiment(scored)) if "future" in line]
    guessed = {
        "guessed": {**next(iter(plain.values())), "name": "guessed", "context": "random:count=5"}
    }
    path.write_text(json.dumps({**about, "settings": {**plain, **guessed}}), encoding="utf-8")
    told = [line for line in cautions(scored_experiment(scored)) if "future" in line]
    assert told == ["A control is missing from the experiment: the true future."]


@pytest.mark.usefixtures("undrawn")
def test_without_a_page_and_with_ratings_from_elsewhere(scored: Path, tmp_path: Path) -> None:
    rated = [
        {"sentence": "u3", "condition": "k=0", "score": 20},
        {"sentence": "u3", "condition": "whole", "score": 60},
    ]
    bob = tmp_path / "bob.json"
    pairs = tmp_path / "pairs.json"
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


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"experiment\.json is missing"):
        report(tmp_path, tmp_path / "report")
    (tmp_path / "experiment.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ConfigError, match="not a JSON object"):
        report(tmp_path, tmp_path / "report")
    (tmp_path / "experiment.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="does not name conditions"):
        report(tmp_path, tmp_path / "report")


def test_processor_time_is_told_beside_the_load() -> None:
    settings = {"wall": {}, "own": {"computing": "processor"}, "quiet": {"computing": "processor"}}
    load = {
        name: [{"other_cores": cores, "seconds": 9.0}]
        for name, cores in (("wall", 1.5), ("own", 1.9), ("quiet", 0.0))
    }
    experiment = Experiment(
        {"settings": settings, "load": load}, tuple(settings), (), {}, {}, lambda name, clock: []
    )
    told = [line for line in cautions(experiment) if "busy" in line]
    assert [line.rsplit(": ", 1)[1] for line in told] == ["wall (1.5).", "own (1.9)."]
    assert "makes times long" in told[0]
    assert "processor time" in told[1]
