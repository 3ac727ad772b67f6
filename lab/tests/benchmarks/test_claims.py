"""Claims of the papers: verdicts follow from results files, by rules, and from nothing else."""

from __future__ import annotations

import dataclasses
import importlib
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from sayahead.errors import ConfigError

from sayahead_lab.results import keep_figures, load_figures, publish

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
WORSE = "lookahead-1 is a little worse"
ADAPTED = "a model trained on whole sentences speaks prefixes without further training"
UNHEARD = "without a future, words are misheard; the true one repairs it"


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``claims``."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "claims", raising=False)
    return importlib.import_module("claims")


@pytest.fixture
def results(claims: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of the results that claims are read from."""
    for claim in claims.read_claims():
        for file in (claim.file, *(need.file for need in claim.needs)):
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(claims.RESULTS / file, tmp_path / file)
            if (each := (claims.RESULTS / file).with_name("each.md")).is_file():
                shutil.copy(each, (tmp_path / file).with_name("each.md"))
    monkeypatch.setattr(claims, "RESULTS", tmp_path)
    return tmp_path


def verdict(claims: Any, says: str) -> str:
    """The verdict on the claim of these words."""
    return str(
        claims.judged(next(claim for claim in claims.read_claims() if claim.says == says))[1]
    )


def changed(path: Path, *keys: str, value: Any) -> None:
    """Put another value into a JSON file."""
    data = load_figures(path)
    inner = data
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    (keep_figures if path.suffix == ".json" else published)(data, path)


def published(figures: Any, path: Path) -> None:
    """Write a file of Markdown that has figures."""
    publish(path, ["| a |"], figures)


def test_another_result_is_another_verdict(claims: Any, results: Path) -> None:
    assert verdict(claims, WORSE) == claims.YES
    kept = load_figures(results / "ma/speakers/trainings.md")
    better = {
        name: value + 1 for name, value in kept["full sentence"]["DistillMOS"]["trainings"].items()
    }
    changed(
        results / "ma/speakers/trainings.md", "lookahead-1", "DistillMOS", "trainings", value=better
    )
    assert verdict(claims, WORSE) == claims.NO


def test_an_experiment_that_cannot_fail_is_no_test(claims: Any, results: Path) -> None:
    says = "lookahead-2 sounds like the full sentence"
    assert verdict(claims, says).startswith(f"{claims.NO_TEST}: the encoder")
    path = results / "ma/quality/tables.csv"
    # Were lookahead-2 another sentence than the whole one, its opinion would be a result.
    text = path.read_text(encoding="utf-8")
    own = 'prosody,lookahead-2,"pitch RMSE, cents",'
    assert own in text
    path.write_text(re.sub(f"(?<={own})[^,]*", "60.0", text), encoding="utf-8")
    assert verdict(claims, says) == claims.YES


def test_a_rise_without_the_loss_refutes_that_the_loss_brings_it(
    claims: Any, results: Path
) -> None:
    says = "it is the cosine loss that brings a guessed context nearer"
    assert verdict(claims, says) == claims.NO
    path = results / "saeki" / "guided" / "cosine.md"
    without = load_figures(path)["networks"]["tacotron-longer"]
    changed(path, "networks", "guided-alpha-0", value=without)
    assert verdict(claims, says) == claims.YES


def test_each_need_that_is_not_met_is_said(claims: Any, results: Path) -> None:
    assert "no pauses" in verdict(claims, UNHEARD)
    pauses = ("corpora", "default voice, final marks", "at least 200 ms, %")
    changed(results / "saeki/pauses.md", *pauses, value=10.8)
    assert "no pauses" not in verdict(claims, UNHEARD)
    assert "segment fails at N = 1" in verdict(claims, UNHEARD)
    changed(results / "saeki/control.md", "unicontext", "1", value=30.0)
    assert verdict(claims, UNHEARD) == claims.NO


def test_a_control_that_loses_nothing_is_no_test(claims: Any, results: Path) -> None:
    assert verdict(claims, ADAPTED).startswith(f"{claims.NO_TEST}: DistillMOS does not fall")
    path = results / "ma/adaptation/tables.csv"
    # Had opinion fallen without lookahead, the metric could have told.
    told = path.read_text(encoding="utf-8").replace(",-0.016369,", ",-0.3,")
    path.write_text(told, encoding="utf-8")
    assert verdict(claims, ADAPTED) == claims.YES


def test_results_of_other_conditions_than_today_s_are_no_test(claims: Any, results: Path) -> None:
    assert "another lookahead" not in verdict(claims, ADAPTED)
    path = results / "ma/adaptation/experiment.json"
    chunks = "lookahead:k=1,first_chunk=18,chunk=6,words=1,in_chunks=true"
    changed(path, "settings", "whole sentences taught, k1 = 1", "policy", value=chunks)
    assert "another lookahead" in verdict(claims, ADAPTED)


@pytest.mark.parametrize(
    ("rule", "interval", "limit", "expected"),
    [
        ("lower", (-2, -3, -1), 0, "YES"),
        ("lower", (2, 1, 3), 0, "NO"),
        ("lower", (0, -1, 1), 0, "UNDECIDED"),
        ("higher", (2, 1, 3), 0, "YES"),
        ("higher", (2, 1, 3), 5, "NO"),
        ("level", (2, 1, 3), 0, "NO"),
        ("level", (0, -1, 1), 0, "YES"),
        ("no loss", (-0.05, -0.2, 0.1), 0.1, "UNDECIDED"),
        ("no loss", (-0.3, -0.4, -0.2), 0.1, "NO"),
        ("no loss", (-0.0, -0.05, 0.1), 0.1, "YES"),
    ],
)
def test_verdicts_follow_from_intervals(
    claims: Any, rule: str, interval: tuple[float, float, float], limit: float, expected: str
) -> None:
    found = claims.Found(claims.ConfidenceInterval(*interval), [])
    assert claims.RULES[rule](found, limit) == getattr(claims, expected)


@pytest.mark.parametrize(
    ("interval", "failing", "expected"),
    [((-0.1, -0.7, 0.6), 5, "NO"), ((-20, -30, -12), 50, "YES"), ((-1, -3, 1), 10, "UNDECIDED")],
)
def test_a_third_of_the_paper_s_repair_is_asked(
    claims: Any, interval: Any, failing: float, expected: str
) -> None:
    found = claims.Found(claims.ConfidenceInterval(*interval), [], {"reference": failing})
    assert claims.RULES["repaired"](found, 1 / 3) == getattr(claims, expected)


def test_the_best_rule_is_one_that_reads_no_more_ahead(claims: Any, results: Path) -> None:
    record = next(claim for claim in claims.read_claims() if claim.statistic == "seeds")
    record = dataclasses.replace(record, rows=("agents, 30 nats",), statistic="best rule")
    path = results / record.file
    # Wait-2 has fewer errors than wait-3, but reads more ahead than the agents.
    assert claims.judged(record)[0].values[1:] == ["wait-3-steps", "0.55", "0.57"]
    changed(path, "wait-2-steps", "d_T", value={"wait-2-steps": 0.56})
    assert claims.judged(record)[0].values[1:] == ["wait-2-steps", "0.56", "0.57"]
    # A hair more is no more.
    changed(path, "wait-2-steps", "d_T", value={"wait-2-steps": 0.58})
    assert claims.judged(record)[0].values[1:] == ["wait-2-steps", "0.58", "0.57"]


def test_every_claim_says_what_would_refute_it_and_has_a_verdict(claims: Any) -> None:
    records = claims.read_claims()
    assert all(claim.refuted and claim.where and claim.theirs for claim in records)
    rows = list(claims.rows(""))
    assert len(rows) == len(records) == sum(len(list(claims.rows(paper))) for paper in claims.NAMES)
    assert all(len(row) == 6 and all(row) for row in rows)
    known = (claims.YES, claims.NO, claims.UNDECIDED)
    assert all(row[-1] in known or row[-1].startswith(f"{claims.NO_TEST}: ") for row in rows)


def test_the_results_behind_every_claim_have_their_command(claims: Any) -> None:
    places = (BENCHMARKS, BENCHMARKS.parent / "recipes")
    files = [
        path for place in places for kind in ("toml", "py") for path in place.rglob(f"*.{kind}")
    ]
    told = " ".join(path.read_text(encoding="utf-8") for path in files)
    for claim in claims.read_claims():
        folder = claim.file.rpartition("/")[0]
        written = re.search(rf"lab/benchmarks/results/({claim.file}|{folder}[\s\"])", told)
        assert written, claim.file


def test_few_speakers_are_said_in_the_row(claims: Any) -> None:
    claim = claims.read_claims()[0]
    found = claims.Found(claims.ConfidenceInterval(0, 0, 0), [])
    cells = [
        claims.counted(dataclasses.replace(claim, speakers=number), found) for number in (1, 3, 4)
    ]
    assert cells == ["1 (this one) x 1", "3 (these) x 1", "4 x 1"]


def test_speakers_are_drawn_before_seeds(claims: Any) -> None:
    apart = {"a, seed 0": 0.0, "a, seed 1": 0.0, "b, seed 0": 1.0, "b, seed 1": 1.0}
    one = claims.nested(apart, 0.0)
    assert (one.value, one.low, one.high) == (0.5, 0.0, 1.0)


def test_an_unknown_key_or_rule_is_an_error(claims: Any, tmp_path: Path) -> None:
    text = claims.CLAIMS_FILE.read_text(encoding="utf-8")
    path = tmp_path / "claims.toml"
    path.write_text(text.replace("refuted =", "refutes =", 1), encoding="utf-8")
    with pytest.raises(ConfigError, match="did you mean 'refuted'"):
        claims.read_claims(path)
    path.write_text(text.replace('rule = "lower"', 'rule = "below"', 1), encoding="utf-8")
    with pytest.raises(KeyError, match="below"):
        claims.read_claims(path)
