"""Traces: what happened, when, and that a file keeps it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead import ConfigError
from sayahead.research import LookaheadK, Policy, WaitAll
from support.toy import RATE, ToyAcoustic, toy_session

from sayahead_lab.eval.experiment.clock import AllAtOnce, ReadingClock, TextClock, Tokens, Typist
from sayahead_lab.eval.experiment.trace import (
    STOPWATCHES,
    measure,
    read_traces,
    retime,
    seconds,
    timed_trace,
    write_traces,
)
from sayahead_lab.eval.measures.latency import real_time_factor

TEXT = "one two three four. Five six seven."


def test_a_trace_says_what_was_read_spoken_and_when() -> None:
    clock = ReadingClock(60)
    trace, samples = timed_trace(
        toy_session(LookaheadK(1)), clock.arrivals(TEXT), name="a", clock="60 wpm"
    )
    assert trace.source == TEXT
    assert trace.sample_rate == RATE
    assert [f.at_s for f in trace.fragments] == [a.at_s for a in clock.arrivals(TEXT)]
    assert "".join(TEXT[f.start : f.end] for f in trace.fragments) == TEXT
    assert [TEXT[w.start : w.end] for w in trace.words] == TEXT.split()
    assert sum(chunk.samples for chunk in trace.chunks) == len(samples)
    assert trace.duration_s == len(samples) / RATE
    for chunk in trace.chunks:
        assert chunk.ideal_s <= chunk.ready_s
        assert chunk.ideal_s in [f.at_s for f in trace.fragments]
        assert chunk.generation_s >= 0
    # The first chunk comes with the second word, and text that has not arrived is not in it.
    assert trace.chunks[0].ideal_s == trace.fragments[1].at_s
    assert trace.chunks[0].read == len("one two ")
    assert trace.chunks[0].audible is not None


def test_the_clock_changes_times_and_nothing_else() -> None:
    fast, a = timed_trace(toy_session(WaitAll()), AllAtOnce().arrivals(TEXT))
    slow, b = timed_trace(toy_session(WaitAll()), ReadingClock(30).arrivals(TEXT))
    assert np.array_equal(a, b)
    assert fast.words == slow.words
    assert slow.chunks[0].ready_s > fast.chunks[0].ready_s + 5


@pytest.mark.parametrize("clock", [AllAtOnce(), ReadingClock(100), Tokens(20), Typist()], ids=repr)
@pytest.mark.parametrize("policy", [LookaheadK(0), LookaheadK(2), WaitAll()], ids=repr)
def test_one_measurement_gives_the_traces_of_all_clocks(clock: TextClock, policy: Policy) -> None:
    measured, a = measure(toy_session(policy), TEXT, name="x")
    direct, b = timed_trace(toy_session(policy), clock.arrivals(TEXT), name="x", clock="c")
    derived = retime(measured, clock.arrivals(TEXT), clock="c")
    assert np.array_equal(a, b)
    assert (derived.fragments, derived.words, derived.name) == (
        direct.fragments,
        direct.words,
        direct.name,
    )
    for one, two in zip(derived.chunks, direct.chunks, strict=True):
        assert (one.start, one.samples, one.ideal_s, one.read) == (
            two.start,
            two.samples,
            two.ideal_s,
            two.read,
        )
        assert one.ready_s >= one.ideal_s + one.generation_s - seconds(one.before) - 1e-9
    with pytest.raises(ConfigError, match="not those of its text"):
        retime(measured, clock.arrivals("other"))


class Ticking:
    """A clock that stands still but for the computing that is counted: a second for each step of
    the synthesizer."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.steps = 0

    def perf_counter(self) -> float:
        return self.now_s

    def slow(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.now_s, self.steps = self.now_s + 1, self.steps + 1
            return step(*arguments, **options)

        return counted


@pytest.mark.parametrize("k2", [0, 1, 2])
def test_computing_that_yields_no_sound_is_counted(
    monkeypatch: pytest.MonkeyPatch, k2: int
) -> None:
    ticking = Ticking()
    monkeypatch.setattr("sayahead_lab.eval.experiment.trace.time", ticking)
    monkeypatch.setattr(ToyAcoustic, "step", ticking.slow(ToyAcoustic.step))
    measured, _ = measure(toy_session(LookaheadK(1), k2=k2), TEXT)
    assert (
        sum(chunk.generation_s for chunk in measured.chunks) + measured.closing_s == ticking.steps
    )
    assert real_time_factor(measured) == pytest.approx(ticking.steps / measured.duration_s)
    # The first sound needs k2 steps more than one, whether its text comes at once or in pieces.
    together, _ = timed_trace(toy_session(LookaheadK(1), k2=k2), AllAtOnce().arrivals(TEXT))
    assert together.chunks[0].ready_s == k2 + 1
    timed = retime(measured, AllAtOnce().arrivals(TEXT))
    assert [chunk.ready_s for chunk in timed.chunks] == [chunk.ready_s for chunk in together.chunks]
    # Paced slowly, what yields no sound is done while the engine waits for text.
    paced = retime(measured, ReadingClock(6).arrivals(TEXT))
    assert paced.chunks[0].ready_s == paced.chunks[0].ideal_s + 1
    direct, _ = timed_trace(toy_session(LookaheadK(1), k2=k2), ReadingClock(6).arrivals(TEXT))
    assert [chunk.ready_s for chunk in paced.chunks] == [chunk.ready_s for chunk in direct.chunks]


def test_text_without_words_leaves_an_empty_trace() -> None:
    trace, samples = timed_trace(toy_session(), AllAtOnce().arrivals(" \n"))
    assert not trace.chunks
    assert not trace.words
    assert not len(samples)
    assert timed_trace(toy_session(), [])[0].fragments == ()


def test_a_file_keeps_traces_and_speaks_simuleval(tmp_path: Path) -> None:
    traces = [
        timed_trace(toy_session(), ReadingClock().arrivals(TEXT), index=i, condition="k = 1")[0]
        for i in range(2)
    ]
    path = tmp_path / "traces.jsonl"
    write_traces(path, traces[:1])
    write_traces(path, traces[1:])
    assert list(read_traces(path)) == traces
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert (
        len(first["delays"])
        == len(first["elapsed"])
        == len(first["durations"])
        == len(traces[0].chunks)
    )
    assert first["source_length"] == pytest.approx(1000 * traces[0].fragments[-1].at_s)
    assert first["prediction_length"] == pytest.approx(sum(first["durations"]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: not a trace"),
        ("{}", "line 1: the key 'index' is missing"),
    ],
)
def test_a_line_that_is_no_trace_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        list(read_traces(path))


def test_processor_time_leaves_out_what_waiting_took(monkeypatch: pytest.MonkeyPatch) -> None:
    step = ToyAcoustic.step

    def waiting(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.03)
        return step(*arguments, **options)

    monkeypatch.setattr(ToyAcoustic, "step", waiting)
    (wall, _), (processor, _) = (
        measure(toy_session(WaitAll()), TEXT, computing=kind) for kind in STOPWATCHES
    )
    assert all(chunk.generation_s > 0.03 for chunk in wall.chunks)
    assert all(0 < chunk.generation_s < 0.02 for chunk in processor.chunks)
