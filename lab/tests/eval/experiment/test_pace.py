"""Conditions whose sound depends on how the text arrives: spoken on a clock of their own, and timed
on it alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sayahead import ConfigError, KeepUp
from sayahead.research import LookaheadK
from support.toy import toy_session

from sayahead_lab.eval.experiment.clock import ReadingClock, Typist
from sayahead_lab.eval.experiment.conditions import Condition, load_matrix, recorded_condition
from sayahead_lab.eval.experiment.folder import write_experiment
from sayahead_lab.eval.experiment.run import run
from sayahead_lab.eval.experiment.trace import read_traces, timed_trace
from sayahead_lab.eval.listening.quality import Listeners
from sayahead_lab.eval.listening.score import score
from sayahead_lab.eval.measures.latency import stalls_s, word_lags_s
from sayahead_lab.eval.report.report import report
from sayahead_lab.scripts import read_texts
from sayahead_lab.workers import Local

MATRIX = """
[[conditions]]
name = "plain"
policy = "wait-all"
[[conditions]]
name = "quick"
keep_up = { lag_s = 0.2, max_speed = 1.8 }
clock = "fast"
[[conditions]]
name = "what is there"
policy = "opportunistic:most=2"
clock = "slow"
[[clocks]]
name = "slow"
kind = "typist:words_per_min=300"
[[clocks]]
name = "fast"
kind = "reader:words_per_min=400"
"""
TEXT = "The river was high, and the old bridge shook under the carts that crossed it."


def test_they_are_spoken_and_timed_on_their_own_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The figures are drawn in the report's own tests.
    monkeypatch.setattr("sayahead_lab.eval.report.report.save", lambda figure, path: path.touch())
    (tmp_path / "pace.toml").write_text(MATRIX, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(f"a|{TEXT}\n", encoding="utf-8")
    matrix = load_matrix(tmp_path / "pace.toml")
    texts = read_texts(tmp_path / "texts.csv")
    out = tmp_path / "out"
    run(matrix, texts, out)
    made = {
        (name, clock): list(read_traces(out / name / f"{clock}.jsonl"))
        for name in ("plain", "quick", "what is there")
        for clock in ("slow", "fast")
    }
    assert [len(traces) for traces in made.values()] == [1, 1, 0, 1, 1, 0]
    assert made["quick", "fast"][0].duration_s < 0.9 * made["plain", "fast"][0].duration_s
    assert [word.text for word in made["what is there", "slow"][0].words] == TEXT.split()
    # Continued, nothing is spoken again; scored and reported, each has the one clock that it has.
    run(matrix, texts, out, progress=lambda line: pytest.fail(line))
    write_experiment(out, matrix, [condition.name for condition in matrix.conditions], 1, Local())
    notes = score(out, Listeners(), without=["distillmos", "dnsmos", "wer", "cer", "utmos"])
    assert not [note for note in notes if "one-shot" in note]
    report(out, tmp_path / "report", page=False)
    tables = (tmp_path / "report" / "tables.md").read_text(encoding="utf-8")
    assert "Traces of" not in tables
    assert "Latency of" not in tables


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('clock = "fast"', ""), "its sound depends on how the text arrives: name a clock"),
        (('clock = "slow"', ""), "its sound depends on how the text arrives: name a clock"),
        (('clock = "fast"', 'clock = "fats"'), "there is no clock 'fats' .did you mean 'fast'"),
        (("lag_s = 0.2", "lag = 0.2"), "unknown option 'lag'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "pace.toml").write_text(MATRIX.replace(*change, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_matrix(tmp_path / "pace.toml")


def test_a_condition_is_recorded_with_all_that_it_keeps_up_by() -> None:
    condition = Condition("quick", keep_up="lag_s=3", clock="fast")
    assert condition.keep_up == "lag_s=3.0,max_speed=1.8,min_pause=0.4,gather=5,stretch=1.4"
    settings = {
        "name": "quick",
        "keep_up": condition.keep_up,
        "clock": "fast",
        "policy": condition.policy,
    }
    assert recorded_condition(settings, "here") == condition


def test_the_player_of_a_trace_tells_how_far_it_is() -> None:
    text = " ".join([TEXT] * 6)
    clock = ReadingClock(900.0).arrivals(text)
    plain, _ = timed_trace(toy_session(), clock)
    quick, sound = timed_trace(toy_session(keep_up=KeepUp(0.5, 2.0)), clock)
    again, same = timed_trace(toy_session(keep_up=KeepUp(0.5, 2.0)), clock)
    assert word_lags_s(plain, ideal=True)[-1] > 2 * word_lags_s(quick, ideal=True)[-1]
    # On the ideal clock, so computing changes nothing.
    assert np.array_equal(sound, same)
    assert [chunk.ideal_s for chunk in quick.chunks] == [chunk.ideal_s for chunk in again.chunks]
    slow = Typist(40.0).arrivals(TEXT)
    every, _ = timed_trace(toy_session(LookaheadK(0)), slow)
    phrases, _ = timed_trace(toy_session(LookaheadK(0), keep_up=KeepUp()), slow)
    # All words at once behind a silence, and the end of each phrase before the next one.
    assert sum(stalls_s(phrases, ideal=True) > 0) < 0.6 * sum(stalls_s(every, ideal=True) > 0)
