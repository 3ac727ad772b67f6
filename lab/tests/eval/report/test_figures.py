"""Figures in documents come from results, also from the tables of an evaluation's report."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sayahead_lab.eval.report.report import DIFFERENCES, QUALITY, columns_of_latency

ROOT = Path(__file__).parents[3]
DOCUMENT = "Before.\n<!-- figures:lookahead -->\nold\n<!-- /figures -->\nAfter.\n"
TABLE = """|  | WER, % | DistillMOS | FIRST, 50 tokens/s | FIRST, 180 words/min | word lag, s, 180 words/min |
| --- | ---: | ---: | ---: | ---: | ---: |
| full | 3.40 (2.61 to 4.28) | 4.57 (4.55 to 4.59) | 573 | 5706 | 5.08 (4.71 to 5.48) |
| k = 0, true | 3.50 (2.70 to 4.40) | – | 49 | 294 | 0.59 (0.53 to 0.64) |""".replace(  # noqa: E501
    "FIRST", "first sound, ms"
)

COLUMNS = (
    ("WER, %", "quality", "WER, %"),
    ("DistillMOS", "quality", "DistillMOS"),
    ("first sound, ms, 50 tokens/s", "latency-1", "first audible sample p50, ms", 0),
    ("first sound, ms, 180 words/min", "latency-2", "first audible sample p50, ms", 0),
    ("word lag, s, 180 words/min", "latency-2", "word lag mean, s"),
)


@pytest.fixture
def figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, with one document and one report, both in a folder of their own."""
    spec = importlib.util.spec_from_file_location("figures", ROOT / "benchmarks" / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "figures", script)
    spec.loader.exec_module(script)
    for name, value in (
        ("ROOT", tmp_path),
        ("RESULTS", tmp_path / "results"),
        ("DOCUMENTS", ("doc.md",)),
    ):
        monkeypatch.setattr(f"figures.{name}", value)
    monkeypatch.setitem(script.PLACES, "lookahead", script.Report("lookahead", COLUMNS))
    shutil.copytree(Path(__file__).parent / "data", tmp_path / "results" / "lookahead")
    (tmp_path / "doc.md").write_text(DOCUMENT, encoding="utf-8")
    return script


def test_a_report_s_tables_come_into_the_document(
    figures: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "doc.md"
    assert figures.main(["--check"]) == 1
    assert "Figures differ from the results in: doc.md" in capsys.readouterr().err
    assert document.read_text(encoding="utf-8") == DOCUMENT
    assert figures.main([]) == 0
    assert document.read_text(encoding="utf-8") == DOCUMENT.replace("old", TABLE)
    assert figures.main(["--check"]) == 0
    # A figure that somebody has made better, and a result that has changed.
    document.write_text(DOCUMENT.replace("old", TABLE.replace("3.40", "3.30")), encoding="utf-8")
    assert figures.main(["--check"]) == 1
    document.write_text(DOCUMENT.replace("old", TABLE), encoding="utf-8")
    path = tmp_path / "results" / "lookahead" / "tables.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("5706.2", "5800"), encoding="utf-8")
    assert figures.main(["--check"]) == 1


def test_what_a_report_does_not_have_is_said(figures: Any, tmp_path: Path) -> None:
    folder = tmp_path / "results" / "lookahead"
    lookahead = figures.PLACES["lookahead"]
    figures.PLACES["lookahead"] = replace(lookahead, rows={"two words": "k = 2"})
    with pytest.raises(SystemExit, match="has no condition 'k = 2' in quality: measure it"):
        figures.main(["--check"])
    figures.PLACES["lookahead"] = lookahead
    tables = (folder / "tables.csv").read_text(encoding="utf-8")
    (folder / "tables.csv").write_text(tables.replace("DistillMOS", "MOS"), encoding="utf-8")
    with pytest.raises(SystemExit, match="has no column 'DistillMOS' in quality"):
        figures.main([])
    (folder / "tables.csv").unlink()
    with pytest.raises(SystemExit, match=r"tables\.csv is missing: write the report anew"):
        figures.main([])
    assert (tmp_path / "doc.md").read_text(encoding="utf-8") == DOCUMENT


def test_the_columns_are_those_that_a_report_writes(figures: Any) -> None:
    known = {
        "quality": {column.title for column in (*QUALITY, *DIFFERENCES)},
        "latency": {column.title for column in columns_of_latency()},
    }
    reports = [place for place in figures.PLACES.values() if isinstance(place, figures.Report)]
    asked = [figure for report in reports for figure in report.figures]
    asked = [(table.partition("-")[0], column) for _, table, column, *_ in asked]
    assert {table for table, _ in asked} >= set(known)
    for table, column in asked:
        assert column in known.get(table, {column})


def test_a_place_may_show_some_rows_and_columns_of_a_table(figures: Any, tmp_path: Path) -> None:
    (tmp_path / "results" / "two.md").write_text(
        "Before.\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n| a | b | c |\n|---|--:|--:|\n"
        "| x | 1 | 2 |\n| y | 3 | 4 |\n| y | 5 | 6 |\n",
        encoding="utf-8",
    )
    one = figures.Table("two.md", rows=("x", "y, 5"), columns=(0, 2), number=1)
    assert one() == "| a | c |\n| --- | --: |\n| x | 2 |\n| y | 6 |"
    with pytest.raises(ValueError, match="there is no row z"):
        figures.Table("two.md", rows=("z",))()
