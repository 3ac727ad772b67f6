"""The speed benchmark: figures of a short run, and what is refused before anything is measured."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from sayahead.cli import main
from sayahead.voice import Voice

from sayahead_lab.eval.experiment.machine import pin
from sayahead_lab.eval.speed import bench

SHORT = (3, 5, 8)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, heart: Voice) -> None:
    """The fixture's voice, short sentences, and no binding of the process that runs the tests."""
    monkeypatch.setattr(bench, "LENGTHS", SHORT)
    monkeypatch.setattr(bench, "PARTS_WORDS", 5)
    monkeypatch.setattr("sayahead.voice.load_voice", lambda name: heart)
    monkeypatch.setattr("sayahead_lab.eval.experiment.machine.pin", lambda core: core)


@pytest.mark.usefixtures("quick")
def test_the_command_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "bench.json"
    assert main(["bench", "--rounds", "1", "--no-cold", "-k", "1", "--json", str(target)]) == 0
    figures = json.loads(target.read_text(encoding="utf-8"))
    assert figures["lookahead"] == 1
    assert figures["sentences"] == {"lengths": list(SHORT), "of_each": 1}
    assert 0 < figures["first_audio_ms"]["p50"] <= figures["first_audio_ms"]["p95"]
    assert 0 < figures["word_ms"]["p50"] <= figures["word_ms"]["p99"]
    assert all(0 < ratio < math.inf for ratio in figures["rtf"].values())
    assert all(0 < ratio < math.inf for ratio in figures["ratio"].values())
    parts = figures["parts_ms"]
    assert {
        "text",
        "prosody",
        "decoder",
        "source and filter",
        "phonemes",
        "rest",
        "all",
    } <= parts.keys()
    assert sum(parts.values()) == pytest.approx(2 * parts["all"])
    shown = capsys.readouterr().out
    assert " times hibari-tts's cost for a listener, " in shown.splitlines()[0]
    assert "first audible sample   p50" in shown
    assert main(["bench", "--rounds", "1", "--no-cold", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["rtf"].keys() == figures["rtf"].keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rounds", "0"], "'0' must be a whole number of at least 1"),
        (["--rounds", "2.5"], "'2.5' must be a whole number"),
        (["-k", "-1"], "'-1' must be a whole number of at least 0"),
        (["--core", "-1"], "'-1' must be a whole number of at least 0"),
        (["--core", "9999"], "no processor core 9999 for this process: choose one of"),
        (["--json", "no/such/folder/bench.json"], "there is no folder no/such/folder"),
        (["--voice", "mohan-lj"], "The voice mohan-lj reads characters"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "--core" not in options:
        monkeypatch.setattr("sayahead_lab.eval.experiment.machine.pin", lambda core: core)
    assert exit_code("bench", "--no-cold", *options) == 2
    assert message in capsys.readouterr().err


def exit_code(*words: str) -> object:
    """The command's exit code, whether argparse ends it or main does."""
    try:
        return main(words)
    except SystemExit as end:
        return end.code


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="needs a system that binds processes to cores"
)
def test_a_process_is_kept_on_one_core() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        assert pin(None) == max(allowed)
        assert os.sched_getaffinity(0) == {max(allowed)}
    finally:
        os.sched_setaffinity(0, allowed)


def test_where_processes_cannot_be_bound_none_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr("os.sched_setaffinity", raising=False)
    assert pin(None) is None
    assert main(["bench", "--core", "0"]) == 2
    assert "leave --core out" in capsys.readouterr().err


@pytest.mark.slow
def test_memory_and_cold_start_are_those_of_new_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < bench.cold_start("heart") < 60
    memory = bench.child_memory("heart")
    assert memory is not None
    assert 20 < memory < 2000
    monkeypatch.setattr("sys.executable", "false")
    assert bench.child_memory("heart") is None
