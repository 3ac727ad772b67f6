"""Ma et al.'s rows over several trainings: which belong together, and what is compared."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sayahead_lab.eval.listening.quality import Row
from sayahead_lab.eval.measures.word_errors import Errors

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "ma" / "trainings.py"


@pytest.fixture
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def said(wrong: int, rated: float, count: int = 12) -> list[Row]:
    """Sentences of ten words, some of them wrong; opinions differ from sentence to sentence."""
    errors = Errors(words=10, substitutions=wrong, deletions=0, insertions=0)
    return [Row(f"s{n:02}", 1.0, "", errors=errors, distillmos=rated + n / 12) for n in range(count)]


def run(script: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, read: dict[str, list[Row]]) -> Any:
    inside = script["main"].__globals__
    monkeypatch.setitem(inside, "read_experiment", lambda _: {"conditions": list(read)})
    monkeypatch.setitem(inside, "read_rows", lambda folder: (read[folder.name], None))
    script["main"](["out", "-o", str(tmp_path)])
    return json.loads((tmp_path / "trainings.json").read_text(encoding="utf-8"))


def test_differences_are_paired_by_training(
    script: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read = dict[str, list[Row]]()
    for speaker, rated in (("a", 2.0), ("b", 3.0)):
        read |= {
            f"{speaker}, seed 0: full sentence": said(1, rated),
            f"{speaker}, seed 0: lookahead-1": said(3, rated - 0.25),
        }
    kept = run(script, monkeypatch, tmp_path, read)
    assert kept["lookahead-1"]["DistillMOS"]["difference"] == pytest.approx([-0.25] * 3)
    assert kept["lookahead-1"]["WER, %"]["difference"] == pytest.approx([20.0] * 3)
    value, low, high = kept["full sentence"]["DistillMOS"]["value"]
    assert low < 2.6 < value < 3.4 < high
    assert kept["sentences"]["count"] == 12
    lines = (tmp_path / "trainings.md").read_text(encoding="utf-8").splitlines()
    assert lines[3].startswith("| lookahead-1 | 2 | 30.00")
    assert len({line.count(" | ") for line in lines}) == 1
    each = (tmp_path / "each.md").read_text(encoding="utf-8").splitlines()
    assert [line.split(" | ")[0] for line in each[2:]] == ["| a, seed 0"] * 2 + ["| b, seed 0"] * 2


def test_trainings_that_disagree_widen_the_interval(
    script: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read = dict[str, list[Row]]()
    for seed, less in ((0, 0.5), (1, -0.5)):
        read |= {f"a, seed {seed}: full sentence": said(1, 3.0), f"a, seed {seed}: lookahead-1": said(1, 3.0 - less)}
    kept = run(script, monkeypatch, tmp_path, read)["lookahead-1"]["DistillMOS"]
    assert kept["difference"] == pytest.approx([0.0, -0.5, 0.5])
    assert kept["differences"]["a, seed 0"] == pytest.approx([-0.5] * 3)


def test_what_was_not_heard_has_no_column(
    script: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [replace(row, errors=None) for row in said(1, 3.0)]
    kept = run(script, monkeypatch, tmp_path, {"a, seed 0: full sentence": rows, "b, seed 0: full sentence": rows})
    assert list(kept["full sentence"]) == ["DistillMOS"]


def test_conditions_of_other_sentences_are_not_compared(script: dict[str, Any]) -> None:
    read = {"a, seed 0: full sentence": said(1, 3.0), "a, seed 0: lookahead-1": said(1, 3.0, 11)}
    with pytest.raises(ValueError, match="the same sentences"):
        script["trainings"](read, script["opinion"])
