"""Scoring and the evaluation's command line, from a matrix to scores; listeners are stand-ins."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sayahead.cli import main
from sayahead.eval.quality import Listeners
from sayahead.eval.score import score
from sayahead.types import Floats

MATRIX = """
count = 2
[[conditions]]
name = "full"
policy = "wait-all"
[[conditions]]
name = "k = 1"
[[clocks]]
name = "llm"
kind = "tokens"
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "matrix.toml").write_text(MATRIX, encoding="utf-8")
    (tmp_path / "texts.csv").write_text("a|Hello there, my friend.\nb|How are you?\n", encoding="utf-8")
    out = tmp_path / "out"
    texts = str(tmp_path / "texts.csv")
    assert main(["eval", "run", str(tmp_path / "matrix.toml"), "--texts", texts, "-o", str(out)]) == 0
    return out


class Counting:
    """Hears the same words in all sound, and counts how often it listens."""

    def __init__(self) -> None:
        self.heard = 0

    def __call__(self, heard: Floats) -> str:
        self.heard += 1
        return "hello there my friend"


def rate(heard: Floats) -> float:
    return float(np.clip(1 + len(heard) / 16000, 1, 5))


def plain(text: str) -> str:
    return text.lower().strip("?.").replace(",", "")


def test_scores_come_from_the_folder_alone_and_are_not_made_twice(experiment: Path) -> None:
    about = json.loads((experiment / "experiment.json").read_text(encoding="utf-8"))
    assert about["conditions"] == ["full", "k = 1"]
    assert about["settings"]["k = 1"]["k"] == 1
    ear = Counting()
    listeners = Listeners(transcriber=ear, normalizer=plain, distillmos=rate, dnsmos=rate, utmos=rate)
    for _ in range(2):
        assert score(experiment, listeners=listeners) == []
    assert ear.heard == 4
    quality = json.loads((experiment / "k = 1" / "quality.json").read_text(encoding="utf-8"))
    # "how are you" was heard as "hello there my friend": four errors in seven words.
    assert quality["summary"]["wer"]["value"] == pytest.approx(4 / 7)
    assert quality["against"]["wer"]["value"] == 0
    assert {row["name"] for row in quality["rows"]} == {"a", "b"}
    latency = json.loads((experiment / "k = 1" / "latency" / "llm.json").read_text(encoding="utf-8"))
    whole = json.loads((experiment / "full" / "latency" / "llm.json").read_text(encoding="utf-8"))
    assert latency["ideal_first_audible_s"]["mean"] < whole["ideal_first_audible_s"]["mean"]
    (experiment / "full" / "wav" / "a.wav").unlink()
    (experiment / "full" / "quality.json").unlink()
    assert main(["eval", "report", str(experiment / "nowhere")]) == 2


def test_listeners_that_are_missing_are_named(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "score", str(experiment), "--whisper", str(experiment / "no-model")]) == 0
    said = capsys.readouterr().err
    assert "no-model" in said or "pip install" in said
    assert (experiment / "full" / "latency" / "llm.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "sore", "x"], "'sore' is not known (did you mean 'score'?)"),
        (["eval", "score", "x", "--jobs", "2"], "--jobs belongs to sayahead eval run"),
        (["eval", "run", "missing.toml"], "needs --out"),
        (["eval", "score", "nowhere"], "nowhere is no folder of an experiment"),
    ],
)
def test_wrong_calls_say_what_is_wrong(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(arguments)
    except SystemExit as end:
        code = int(str(end.code))
    assert code == 2
    assert message in capsys.readouterr().err


def test_an_unknown_peer_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.toml").write_text(MATRIX, encoding="utf-8")
    (tmp_path / "t.csv").write_text("a|Hi.\n", encoding="utf-8")
    run = ["eval", "run", str(tmp_path / "m.toml"), "--texts", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o")]
    assert main([*run, "--peers", "hibary"]) == 2
    assert "'hibary' is not known (did you mean 'hibari'?)" in capsys.readouterr().err
