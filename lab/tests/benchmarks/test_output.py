"""What scripts end with: it is printed, and the same is in the file."""

from __future__ import annotations

import importlib
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts find their helpers, and what they add to Python's path is gone afterwards."""
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])


@pytest.mark.usefixtures("paths")
def test_a_table_is_told_and_kept_in_a_folder_that_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output: Any = importlib.import_module("output")
    output.tell(["| a |", "| 1 |"], tmp_path / "new" / "table.md")
    assert (
        capsys.readouterr().out == (tmp_path / "new" / "table.md").read_text() == "| a |\n| 1 |\n"
    )
    output.tell(["| a |"], None)
    assert capsys.readouterr().out == "| a |\n"


@pytest.mark.usefixtures("paths")
def test_a_voice_is_measured_without_the_graph_that_it_was_added_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.csv").write_text("a|Hello there.\n")
    given = ["heart", "--texts", str(tmp_path / "texts.csv"), "--count", "1", "--tries", "1"]
    monkeypatch.setattr(
        sys, "argv", ["speed.py", *given, "--results", str(tmp_path / "speed.json")]
    )
    script = runpy.run_path(str(SCRIPTS / "vits" / "speed.py"))
    assert script["main"]() == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((tmp_path / "speed.json").read_text())
    assert told["command"] == "python lab/benchmarks/vits/speed.py heart --texts test.csv --count 1"
    assert set(told["figures"]) == set(script["WAYS"])
