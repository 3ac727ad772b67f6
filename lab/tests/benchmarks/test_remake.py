"""The commands at the heads of the papers' experiments."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def remake() -> dict[str, Any]:
    return runpy.run_path(str(BENCHMARKS / "papers" / "remake.py"))


def test_a_head_gives_its_commands(remake: dict[str, Any]) -> None:
    lines = [
        "# About it.",
        "#",
        "#   sayahead eval run a.toml \\",
        "#       --peers b",
        "#   python c.py FOLDER",
    ]
    head = [*lines, "#", "# sayahead is meant.", "count = 1", "#   sayahead no more"]
    assert remake["commands"]("\n".join(head)) == [
        "sayahead eval run a.toml --peers b",
        "python c.py FOLDER",
    ]


def test_names_of_the_documents_become_files(remake: dict[str, Any]) -> None:
    line = (
        "sayahead eval run out.toml --texts test.csv -o out && sayahead eval score out --whisper"
        " FOLDER"
    )
    made = remake["filled"](line, Path("made/x"), Path("my texts/test.csv"), Path("w"))
    assert (
        made
        == "sayahead eval run out.toml --texts 'my texts/test.csv' -o made/x && sayahead eval score"
        " made/x --whisper w"
    )


def test_a_trial_has_few_sentences_in_every_step(remake: dict[str, Any]) -> None:
    few = remake["counted"]
    assert few("sayahead eval run a.toml --texts t", 2) == (
        "sayahead eval run a.toml --set count=2 --texts t"
    )
    assert few("python segments.py a.toml --texts t --count 200 -o b", 2) == (
        "python segments.py a.toml --texts t --count 200 -o b --count 2"
    )
    assert few("python plots.py -o b", 2) == "python plots.py -o b"


def test_a_remake_leaves_the_committed_results_alone(
    remake: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = {}
    for more in ([], ["--results", "elsewhere"]):
        monkeypatch.setattr("sys.argv", ["remake.py", "ma", "--list", "--out", "remade", *more])
        assert remake["main"]() == 0
        listed[bool(more)] = capsys.readouterr().out
    assert not any("lab/benchmarks/results" in text for text in listed.values())
    assert "-o remade/results/ma/quality" in listed[False]
    assert "-o elsewhere/ma/quality" in listed[True]
    assert "# speakers: needs more" in listed[False]


def test_what_is_remade_by_one_command_runs_scores_and_reports(remake: dict[str, Any]) -> None:
    for paper, names in remake["USUAL"].items():
        for name in names:
            head = (BENCHMARKS / paper / f"{name}.toml").read_text(encoding="utf-8")
            found = " ".join(remake["commands"](head))
            steps = (
                ("segments.py",)
                if name == "students"
                else ("eval run", "eval score", "eval report")
            )
            assert all(step in found for step in steps), (paper, name)
            assert f"lab/benchmarks/results/{paper}/{name}" in found
