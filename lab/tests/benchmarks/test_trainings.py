"""Rows over several trainings: which belong together, and what is compared."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sayahead_lab.eval.listening.quality import Row
from sayahead_lab.eval.measures.word_errors import Errors
from sayahead_lab.eval.report.scores import SCORES, read_lines
from sayahead_lab.results import load_figures

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "trainings.py"
FULL = "full sentence"
NEAR = "lookahead-1"


@pytest.fixture
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def said(wrong: int, rated: float, count: int = 12) -> list[Row]:
    """Sentences of ten words, some of them wrong; opinions differ from sentence to sentence."""
    errors = Errors(words=10, substitutions=wrong, deletions=0, insertions=0)
    return [
        Row(f"s{n:02}", 1.0, "", errors=errors, distillmos=rated + n / 12) for n in range(count)
    ]


def test_differences_are_paired_by_training(
    script: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read = dict[str, list[Row]]()
    for speaker, rated in (("a", 2.0), ("b", 3.0)):
        read |= {
            f"{speaker}, seed 0: {FULL}": said(1, rated),
            f"{speaker}, seed 0: {NEAR}": said(3, rated - 0.25),
        }
    inside = script["main"].__globals__
    monkeypatch.setitem(inside, "read_experiment", lambda _: {"conditions": list(read)})
    monkeypatch.setitem(inside, "read_rows", lambda folder: (read[folder.name], None))
    failures = {
        name: {"any": [[1 + ("1" in name), 4]] * 6}
        for name in (f"a, seed 0: {FULL}", f"a, seed 0: {NEAR}")
    }
    (tmp_path / "failures.json").write_text(json.dumps(failures), encoding="utf-8")
    segments = f"segments that fail, %={tmp_path / 'failures.json'}"
    script["main"](
        ["--heard", "out", "--segments", segments, "--against", FULL, "-o", str(tmp_path)]
    )
    kept = load_figures(tmp_path / "trainings.md")
    assert kept[NEAR]["DistillMOS"][f"less {FULL}"] == pytest.approx([-0.25] * 3)
    assert kept[NEAR]["WER, %"][f"less {FULL}"] == pytest.approx([20.0] * 3)
    assert kept[NEAR]["segments that fail, %"]["value"][0] == pytest.approx(50)
    value, low, high = kept[FULL]["DistillMOS"]["value"]
    assert low < 2.6 < value < 3.4 < high
    for name, columns in (("trainings.md", 6), ("each.md", 5)):
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        assert {line.count(" | ") for line in lines if line.startswith("|")} == {columns - 1}
    assert "these 2 speakers" in (tmp_path / "trainings.md").read_text(encoding="utf-8")
    assert {line["training"] for line in read_lines(tmp_path / SCORES)} == {
        "a, seed 0",
        "b, seed 0",
    }
    assert "| WER, % | a, seed 0 | lookahead-1 | 30.00" in (tmp_path / "each.md").read_text(
        encoding="utf-8"
    )


def test_trainings_that_disagree_widen_the_interval(script: dict[str, Any]) -> None:
    read = dict[str, list[Row]]()
    for seed, less in ((0, 0.5), (1, -0.5)):
        read |= {
            f"a, seed {seed}: {FULL}": said(1, 3.0),
            f"a, seed {seed}: {NEAR}": said(1, 3.0 - less),
        }
    _, lines, figures = script["tables"](script["heard"](read), [FULL])
    each = "\n".join(lines)
    assert figures[NEAR]["DistillMOS"][f"less {FULL}"] == pytest.approx([0.0, -0.5, 0.5])
    assert (
        "| DistillMOS | a, seed 0 | lookahead-1 | 2.96 (2.79 to 3.12) | -0.50 (-0.50 to -0.50) |"
        in each
    )


def test_a_row_may_have_fewer_trainings_than_others(script: dict[str, Any]) -> None:
    read = {f"a, seed {seed}: {FULL}": said(1, 3.0) for seed in (0, 1, 2)}
    read |= {f"a, seed {seed}: {NEAR}": said(2, 2.5) for seed in (1, 2)}
    _, lines, figures = script["tables"](script["heard"](read), [FULL])
    each = "\n".join(lines)
    assert figures[NEAR]["DistillMOS"][f"less {FULL}"] == pytest.approx([-0.5] * 3)
    assert "a, seed 1 | lookahead-1 |" in each
    assert "a, seed 0 | lookahead-1 |" not in each


def test_what_was_not_heard_has_no_line(script: dict[str, Any]) -> None:
    rows = [replace(row, errors=None) for row in said(1, 3.0)]
    assert list(script["heard"]({f"a, seed 0: {FULL}": rows, f"b, seed 0: {FULL}": rows})) == [
        "DistillMOS"
    ]


def test_rows_that_do_not_fit_are_errors(script: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the same sentences"):
        script["heard"](
            {f"a, seed 0: {FULL}": said(1, 3.0), f"a, seed 0: {NEAR}": said(1, 3.0, 11)}
        )
    lacking = script["heard"](
        {f"a, seed 0: {FULL}": said(1, 3.0), f"b, seed 0: {NEAR}": said(1, 3.0)}
    )
    with pytest.raises(KeyError, match="b, seed 0"):
        script["tables"](lacking, [FULL])
