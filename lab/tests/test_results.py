"""What measurements share: options, tables, and what is printed is also in the file."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from sayahead_lab import results

SCRIPTS = Path(__file__).parents[1] / "benchmarks"


def test_options_are_common_or_named_with_their_defaults(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = results.options("About.", "texts", "out", count=20, per_s=2.5, dark=False)
    given = parser.parse_args(["--texts", "a.csv", "-o", "b", "--per-s", "3", "--dark"])
    assert (given.texts, given.out) == (Path("a.csv"), Path("b"))
    assert (given.count, given.per_s, given.dark) == (20, 3.0, True)
    with pytest.raises(SystemExit):
        parser.parse_args(["--out", "b"])
    assert "--texts" in capsys.readouterr().err
    assert "(default: 20)" in parser.format_help()


def test_arguments_are_named_in_capitals_and_types_are_options_without_defaults() -> None:
    kinds = {"runs": ..., "row": [str], "levels": (1, 2), "sounds": Path}
    parser = results.options(None, "FOLDER", "FILES...", "[OUT]", **kinds)
    given = parser.parse_args("a b c --runs r --row x --row y --levels 3 4".split())
    assert (given.folder, given.files, given.out) == (Path("a"), [Path("b"), Path("c")], None)
    assert (given.runs, given.row, given.sounds) == (Path("r"), ["x", "y"], None)
    assert given.levels == [3, 4]
    with pytest.raises(SystemExit):
        parser.parse_args(["a", "b"])
    with pytest.raises(KeyError, match="txets"):
        results.options(None, "txets")


def test_columns_of_figures_are_on_the_right() -> None:
    assert results.table("a|b|c", [["x", "y", "1"]], words=2) == [
        "| a | b | c |",
        "| --- | --- | ---: |",
        "| x | y | 1 |",
    ]


def test_a_table_is_told_and_kept_in_a_folder_that_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "table.md"
    results.tell(["| a |", "| 1 |"], path)
    assert capsys.readouterr().out == path.read_text() == "| a |\n| 1 |\n"
    results.tell(["| a |"], None)
    assert capsys.readouterr().out == "| a |\n"


def test_figures_lie_below_their_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "all.md"
    assert results.kept(path) == {}
    results.publish(path, ["| a |"], {"a": 1})
    assert capsys.readouterr().out == "| a |\n"
    assert path.read_text().startswith("| a |\n\n```json\n{")
    assert results.load_text(path) == "| a |"
    assert results.kept(path) == {"a": 1}
    results.publish(None, ["| b |"], {"b": 1})
    assert results.kept(path) == {"a": 1}


def test_a_voice_is_measured_without_the_graph_that_it_was_added_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.csv").write_text("a|Hello there.\n")
    given = ["heart", "--texts", str(tmp_path / "texts.csv"), "--count", "1", "--tries", "1"]
    monkeypatch.setattr(
        sys, "argv", ["speed.py", *given, "--results", str(tmp_path / "speed.json")]
    )
    script = runpy.run_path(str(SCRIPTS / "vits" / "speed.py"))
    script["main"]()
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((tmp_path / "speed.json").read_text())
    assert told["command"] == "python lab/benchmarks/vits/speed.py heart --texts test.csv --count 1"
    assert set(told["figures"]) == set(script["WAYS"])
