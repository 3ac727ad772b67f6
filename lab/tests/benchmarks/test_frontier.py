"""The frontier of fixed settings, and how far a point lies beyond it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead.research import READ, Speak, View, Word

FRONTIER = Path(__file__).parents[2] / "benchmarks" / "frontier"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The modules ``conditions`` and ``report``."""
    monkeypatch.syspath_prepend(str(FRONTIER))
    for name in ("conditions", "report"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("conditions"), importlib.import_module("report")


@pytest.mark.parametrize(
    ("at", "lost"),
    [(0.0, 1.0), (-1.0, 1.0), (0.5, 0.75), (1.0, 0.5), (2.0, 0.4), (3.0, 0.3), (9.0, 0.3)],
)
def test_mixtures_of_points_draw_their_lower_hull(
    scripts: tuple[Any, Any], at: float, lost: float
) -> None:
    _, report = scripts
    lags = np.array([3.0, 0.5, 0.0, 1.0, 4.0])
    points = np.array([0.3, 0.9, 1.0, 0.5, 0.8])
    assert report.hull(lags, points, at) == pytest.approx(lost)


def measured(scripts: tuple[Any, Any], lag_s: float, lost: float) -> Any:
    conditions, report = scripts
    words = np.full(40, 10.0)
    spread = np.random.default_rng(0).normal(1.0, 0.2, 40)
    spread /= spread.mean()
    condition = conditions.conditions()[0]
    return report.Measured(
        condition,
        np.stack([lost * words * spread, words], axis=1),
        np.zeros((40, 4)),
        words,
        lag_s * spread,
        words,
    )


def test_a_point_below_the_line_is_beyond_it_and_one_on_it_is_not(scripts: tuple[Any, Any]) -> None:
    _, report = scripts
    others = [measured(scripts, 0.2, 1.0), measured(scripts, 1.2, 0.5)]
    below, on = (report.beyond(measured(scripts, 0.7, lost), others) for lost in (0.6, 0.75))
    assert below["value"] == pytest.approx(-0.15)
    assert below["high"] < 0
    assert on["value"] == pytest.approx(0.0, abs=1e-9)
    assert on["low"] <= 1e-9
    assert on["high"] >= -1e-9


def count(word: Word) -> int:
    return len(word.text)


def test_the_control_knows_places_and_no_words(scripts: tuple[Any, Any]) -> None:
    conditions, _ = scripts
    two = (Word("a", 0, 1), Word("b", 2, 3))
    control = conditions.FirstFast(1)
    assert control.decide(View(two[:1], True, count)) == Speak(1, 0)
    assert control.decide(View(two[:1], False, count, past=("x",))) == READ
    assert control.decide(View(two, False, count, past=("x",))) == Speak(1, 1)


def test_every_condition_has_a_file_of_its_own(scripts: tuple[Any, Any]) -> None:
    conditions, _ = scripts
    files = [conditions.file_of(Path("out"), condition) for condition in conditions.conditions()]
    assert len(set(files)) == len(files)
    assert all(file.parent == Path("out") for file in files)
