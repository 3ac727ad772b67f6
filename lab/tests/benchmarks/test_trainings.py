"""Rows over several trainings: which belong together, and what is compared."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SAEKI = Path(__file__).parents[2] / "benchmarks" / "saeki"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SAEKI))
    return importlib.import_module("trainings")


def rows(repairs: float, spread: float) -> dict[str, Any]:
    """Sums of 20 sentences of four trainings: what fails without a future, and less of it with the true one."""
    draw, made = np.random.default_rng(0), dict[str, Any]()
    for number in range(4):
        share = 30 + spread * number + draw.random(20)
        for name, less in (("unicontext", 0.0), ("bicontext, truth", repairs), ("bicontext, random words", 0.0)):
            sums = np.stack([10 * (share - less), np.full(20, 10.0)], 1)
            made[f"speaker {number % 2}, seed {number // 2}: {name}"] = sums
    return made


def test_what_the_future_repairs_is_paired_by_training(script: Any) -> None:
    written, figures = script.table({"WER, %": script.trainings(rows(5.0, 10.0).items())})
    truth = figures["bicontext, truth"]["WER, %"]
    assert truth["less unicontext's"] == pytest.approx([-5.0, -5.0, -5.0])
    value, low, high = truth["value"]
    assert high - low > 10
    assert low < value < high
    assert len(truth["trainings"]) == 4
    assert written.splitlines()[2].startswith("| unicontext | 4 | ")
    assert len({line.count(" | ") for line in written.splitlines()}) == 1


def test_trainings_that_disagree_widen_the_interval(script: Any) -> None:
    parts = rows(0.0, 0.0)
    for name in parts:
        if name.endswith("bicontext, truth"):
            parts[name] = parts[name] + (100.0 if "seed 0" in name else -100.0, 0.0)
    _, figures = script.table({"WER, %": script.trainings(parts.items())})
    value, low, high = figures["bicontext, truth"]["WER, %"]["less unicontext's"]
    assert value == pytest.approx(0.0, abs=1e-9)
    assert low == pytest.approx(-10.0)
    assert high == pytest.approx(10.0)


def test_a_row_that_a_training_lacks_is_an_error(script: Any) -> None:
    parts = rows(1.0, 0.0)
    del parts["speaker 1, seed 1: unicontext"]
    with pytest.raises(KeyError, match="speaker 1, seed 1"):
        script.table({"WER, %": script.trainings(parts.items())})
