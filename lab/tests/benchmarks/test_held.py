"""Every attack that the page of abuse has names tests that there are."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


def test_every_attack_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    held = importlib.import_module("held")
    rows = held.attacks()
    assert len(rows) > 60
    assert held.places({name for row in rows for name in row.tests})
