"""``sayahead measure``: every script is registered, with what it answers and writes."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest
from sayahead.cli import Parser
from sayahead.errors import ConfigError

from sayahead_lab.cli import measure

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "lab" / "benchmarks"
MAX_FILES = 250
"""Files of ``lab/benchmarks`` with its results. Lower it when they become fewer."""
MAX_NODES = 79_900
"""Nodes of the scripts' syntax trees. Lower it when they become fewer."""


def measured(*given: str) -> int:
    """What the command returns with these arguments."""
    parser = Parser()
    measure.add_arguments(parser)
    return measure.run(parser.parse_all(given))


def test_every_script_is_registered() -> None:
    registered = {name for group in measure.read(SCRIPTS).values() for name in group}
    runnable = {
        str(path.relative_to(SCRIPTS).with_suffix(""))
        for path in SCRIPTS.rglob("*.py")
        if "\nif __name__ ==" in path.read_text(encoding="utf-8")
    }
    assert registered == runnable


def test_what_a_measurement_writes_is_committed() -> None:
    for group in measure.read(SCRIPTS).values():
        for name, one in group.items():
            assert one.answers, name
            assert one.takes, name
            assert not one.writes or (ROOT / one.writes).exists(), name


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert measured("--list") == 0
    shown = capsys.readouterr().out
    assert "how much memory does a session take? (10 minutes) -> lab/" in shown
    assert measured() == 0
    assert capsys.readouterr().out == shown


def test_a_script_gets_its_own_options(capfd: pytest.CaptureFixture[str]) -> None:
    assert measured("figures", "--", "--help") == 0
    assert "--check" in capfd.readouterr().out


def test_an_unknown_name_is_an_error_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no measurement .core. \(did you mean .cores.\?\)"):
        measured("core")


def test_outside_a_checkout_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measure, "INSTALLED", tmp_path)
    with pytest.raises(ConfigError, match="in a checkout"):
        measured("--list")


def test_the_notebook_does_not_grow() -> None:
    listed = subprocess.check_output(["git", "ls-files", str(SCRIPTS)], cwd=ROOT, text=True)
    assert len(listed.splitlines()) <= MAX_FILES
    nodes = sum(
        sum(1 for _ in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in SCRIPTS.rglob("*.py")
    )
    assert nodes <= MAX_NODES
