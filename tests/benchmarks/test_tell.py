"""What scripts end with: it is printed, and the same is in the file."""

from __future__ import annotations

import importlib
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
def test_a_table_is_told_and_kept_in_a_folder_that_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell: Any = importlib.import_module("tell")
    tell.tell(["| a |", "| 1 |"], tmp_path / "new" / "table.md")
    assert capsys.readouterr().out == (tmp_path / "new" / "table.md").read_text() == "| a |\n| 1 |\n"
    tell.tell(["| a |"], None)
    assert capsys.readouterr().out == "| a |\n"
