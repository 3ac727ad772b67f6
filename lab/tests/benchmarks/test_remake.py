"""The commands at the heads of the papers' experiments, and the claims that are made of their results."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def remake() -> dict[str, Any]:
    return runpy.run_path(str(BENCHMARKS / "papers" / "remake.py"))


def test_a_head_gives_its_commands(remake: dict[str, Any]) -> None:
    lines = ["# About it.", "#", "#   sayahead eval run a.toml \\", "#       --peers b", "#   python c.py FOLDER"]
    head = [*lines, "#", "# sayahead is meant.", "count = 1", "#   sayahead no more"]
    assert remake["commands"]("\n".join(head)) == ["sayahead eval run a.toml --peers b", "python c.py FOLDER"]


def test_names_of_the_documents_become_files(remake: dict[str, Any]) -> None:
    line = "sayahead eval run out.toml --texts test.csv -o out && sayahead eval score out --whisper FOLDER"
    made = remake["filled"](line, Path("made/x"), Path("my texts/test.csv"), Path("w"))
    assert made == (
        "sayahead eval run out.toml --texts 'my texts/test.csv' -o made/x && sayahead eval score made/x --whisper w"
    )


def test_what_is_remade_by_one_command_runs_scores_and_reports(remake: dict[str, Any]) -> None:
    for paper, names in remake["USUAL"].items():
        for name in names:
            head = (BENCHMARKS / paper / f"{name}.toml").read_text(encoding="utf-8")
            found = " ".join(remake["commands"](head))
            steps = ("segments.py",) if name == "students" else ("eval run", "eval score", "eval report")
            assert all(step in found for step in steps), (paper, name)
            assert f"lab/benchmarks/results/{paper}/{name}" in found


def test_verdicts_follow_from_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import claims

    interval = claims.Interval
    assert claims.lower(interval(-2, -3, -1)) == claims.YES
    assert claims.lower(interval(2, 1, 3)) == claims.NO
    assert claims.lower(interval(0, -1, 1)) == claims.UNDECIDED
    assert claims.higher(interval(2, 1, 3)) == claims.YES
    assert claims.level(interval(2, 1, 3)) == claims.NO
    assert claims.level(interval(0, -1, 1)) == claims.level(interval(-2, -3, -1)) == claims.YES
    assert claims.no_loss(interval(-0.05, -0.2, 0.1)) == claims.UNDECIDED
    assert claims.no_loss(interval(-0.3, -0.4, -0.2)) == claims.NO
    assert claims.repaired(interval(-0.1, -0.7, 0.6), 5) == claims.NO
    assert claims.repaired(interval(-20, -30, -12), 50) == claims.YES
    assert claims.repaired(interval(-1, -3, 1), 10) == claims.UNDECIDED
    assert [name for name in sys.modules if name == "claims"]


def test_every_claim_has_a_figure_and_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import claims

    rows = list(claims.rows(""))
    assert len(rows) == len(claims.CLAIMS) == sum(len(list(claims.rows(paper))) for paper in claims.NAMES)
    assert all(len(row) == 6 and all(row) for row in rows)
    verdicts = (claims.YES, claims.NO, claims.UNDECIDED, "no test: any words do as well")
    assert {row[-1] for row in rows} <= set(verdicts)
