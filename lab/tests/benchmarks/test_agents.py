"""The frontier of Mohan et al.'s agents: seeds of a unit together, differences paired by
sentence."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from sayahead_lab.eval.report.scores import SCORES, read_lines
from sayahead_lab.results import load_figures, load_text

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "mohan"
NAMES = [
    "ground truth",
    "wait-2-steps",
    "wait-3-steps",
    "agent, 30 nats, seed 0",
    "agent, 30 nats, seed 1",
]
WRONG = {
    "ground truth": [0, 0, 0],
    "wait-2-steps": [0, 1, 0],
    "wait-3-steps": [2, 3, 1],
    "agent, 30 nats, seed 0": [0, 1, 1],
    "agent, 30 nats, seed 1": [0, 3, 1],
}
"""Words wrong, of ten, in each of three sentences."""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``frontier`` of that folder."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "frontier", raising=False)
    return importlib.import_module("frontier")


def experiment(out: Path) -> Path:
    """A scored experiment's folder, as far as it is read."""
    for name in NAMES:
        rows = [
            {
                "name": f"s{number}",
                "duration_s": 1.0,
                "reference": "",
                "errors": {"words": 10, "substitutions": wrong, "deletions": 0, "insertions": 0},
                "distillmos": 4.0 + 0.1 * number,
            }
            for number, wrong in enumerate(WRONG[name])
        ]
        (out / name).mkdir(parents=True)
        (out / name / "quality.json").write_text(json.dumps({"rows": rows, "listeners": {}}))
    (out / "experiment.json").write_text(json.dumps({"conditions": NAMES, "clocks": ["50 tokens"]}))
    areas = {name: {"d_T": 0.5 + 0.1 * number} for number, name in enumerate(NAMES[1:])}
    (out / "proportion.json").write_text(json.dumps({"rows": areas}))
    return out


def test_seeds_of_a_unit_are_one_row_and_differ_from_rules_by_sentence(
    script: Any, tmp_path: Path
) -> None:
    out = experiment(tmp_path / "out")
    script.main([str(out), "--proportion", str(out / "proportion.json"), "-o", str(tmp_path)])
    made = load_figures(tmp_path / "frontier.md")
    assert list(made) == ["ground truth", "wait-2-steps", "wait-3-steps", "agents, 30 nats"]
    agents = made["agents, 30 nats"]
    # Six of sixty words, where wait-3 has six of thirty and wait-2 one.
    assert agents["WER, %"]["value"] == pytest.approx(10.0)
    assert agents["WER, %"]["seeds"] == pytest.approx([100 * 2 / 30, 100 * 4 / 30])
    assert agents["WER, %, less wait-3-steps's"]["value"] == pytest.approx(-10.0)
    assert agents["WER, %, less wait-2-steps's"]["value"] == pytest.approx(10 - 100 / 30)
    low, high = (agents["WER, %, less wait-3-steps's"][end] for end in ("low", "high"))
    # Seeds are drawn, too: the worse one alone has as many errors as wait-3 in a sentence.
    assert low == pytest.approx(-20.0)
    assert high >= 0.0
    assert {line["row"] for line in read_lines(tmp_path / SCORES)} == set(NAMES)
    assert agents["d_T"] == {"agent, 30 nats, seed 0": 0.7, "agent, 30 nats, seed 1": 0.8}
    table = load_text(tmp_path / "frontier.md").splitlines()
    assert table[-1].startswith("| agents, 30 nats | 2 | 0.750 (0.700 to 0.800) | 10.00 (")
    assert table[2].startswith("| ground truth | 1 | – | 0.00 (")
    assert table[3].startswith("| wait-2-steps | 1 | 0.500 | 3.33 (")


def test_words_alone_are_a_frontier_where_nobody_rated(script: Any, tmp_path: Path) -> None:
    out = experiment(tmp_path / "out")
    for name in NAMES:
        path = out / name / "quality.json"
        data = json.loads(path.read_text())
        rows = [{**row, "distillmos": None} for row in data["rows"]]
        path.write_text(json.dumps({**data, "rows": rows}))
    script.main([str(out), "--proportion", str(out / "proportion.json"), "-o", str(tmp_path)])
    made = load_figures(tmp_path / "frontier.md")
    assert set(made["wait-2-steps"]) == {"d_T", "WER, %"}
    assert "DistillMOS" not in (tmp_path / "frontier.md").read_text()


def test_seeds_that_said_other_sentences_are_an_error(script: Any, tmp_path: Path) -> None:
    out = experiment(tmp_path / "out")
    path = out / NAMES[-1] / "quality.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "rows": data["rows"][:2]}))
    with pytest.raises(ValueError, match="did not all say the same sentences"):
        script.main([str(out), "--proportion", str(out / "proportion.json"), "-o", str(tmp_path)])
