"""The simulated fleet: what must be true of it whatever a word costs."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``capacity`` of that folder."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "capacity", raising=False)
    return importlib.import_module("capacity")


def test_alone_a_listener_waits_for_two_words_and_one_step(script: Any) -> None:
    word_s = 0.001
    tally = script.Fleet(script.Way("one"), word_s, 1, 1, 0).run()
    text_s = 2 * script.TOKENS_PER_WORD / script.TOKENS_PER_S
    assert tally.turns == len(tally.first_s) >= 1
    assert text_s < min(tally.first_s) <= max(tally.first_s) < text_s + 0.01
    assert tally.stalls == 0
    assert script.passes(tally, 2)


def test_more_than_processors_can_make_does_not_pass(script: Any) -> None:
    word_s = 0.1
    tally = script.Fleet(script.Way("full"), word_s, 1, 40, 0).run()
    assert tally.stalls > 0
    assert tally.busy_s > 0.95 * 2 * script.LISTENED_S
    assert not script.passes(tally, 2)


def test_nobody_falls_silent_where_replicas_fail(script: Any) -> None:
    word_s = 0.002
    calm = script.Fleet(script.Way("calm"), word_s, 8, 200, 1).run()
    failed = script.Fleet(script.Way("failed", lost=0.5), word_s, 8, 200, 1).run()
    assert failed.sound_s == pytest.approx(calm.sound_s, rel=0.1)
    assert failed.turns == pytest.approx(calm.turns, rel=0.1)
