"""SimulEval's metrics: its own answers from a file (see make_simuleval_oracle.py), and some worked
out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sayahead_lab.eval.experiment.trace import Trace, TracedChunk, TracedFragment
from sayahead_lab.eval.measures import latency, simuleval

ORACLE: list[dict[str, Any]] = json.loads(
    (Path(__file__).with_name("simuleval_oracle.json")).read_text(encoding="utf-8")
)["cases"]


def case_trace(case: dict[str, Any]) -> Trace:
    """A trace whose log is the case, a sample a millisecond."""
    text = " ".join(["w"] * case["words"])
    starts = np.cumsum([0, *case["durations"]])
    rows = zip(starts, case["durations"], case["delays"], case["elapsed"], strict=False)
    chunks = [
        TracedChunk(int(at), d, ideal / 1000, ready / 1000, 0.0, len(text))
        for at, d, ideal, ready in rows
    ]
    read = TracedFragment(0, len(text), case["source_length"] / 1000)
    return Trace(0, text, 1000, (read,), tuple(chunks), ())


@pytest.mark.parametrize("number", range(len(ORACLE)))
def test_simuleval_says_the_same(number: int) -> None:
    case = ORACLE[number]
    made = case_trace(case)
    theirs = case["simuleval"]
    ours = simuleval.simuleval(made)
    for name, value in ours.items():
        if "_BOW" in name:
            continue
        assert value == pytest.approx(
            theirs[name.removesuffix("_ms").removesuffix("_simuleval")]
        ), name
    aware = simuleval.simuleval(made, ideal=False)
    for name in ("AL", "LAAL", "AP", "DAL", "StartOffset"):
        assert aware.get(name, aware.get(f"{name}_ms")) == pytest.approx(theirs[f"{name}_CA"]), name
    on_clock = latency.on_clock(made, ideal=True)
    assert on_clock["stalls"] == theirs["DiscontinuityNum"]
    assert 1000 * on_clock["stall_sum_s"] == pytest.approx(theirs["DiscontinuitySum"])
    assert 1000 * on_clock["stall_mean_s"] == pytest.approx(theirs["DiscontinuityAve"])


def test_lagging_by_hand() -> None:
    # Wait for one of four, then one for one: a step behind, and the last one with the source's end.
    delays = [200.0, 300, 400, 400]
    assert simuleval.average_lagging(delays, 400, 4) == pytest.approx(200)
    assert simuleval.average_lagging([500.0, 600], 400, 4) == 500
    assert simuleval.average_lagging([100.0, 200], 400, 4) == pytest.approx(100)
    assert simuleval.length_adaptive_average_lagging(delays, 400, 2) == pytest.approx(200)
    assert simuleval.average_proportion(delays, 400, 4) == pytest.approx(1300 / 1600)
    assert simuleval.differentiable_average_lagging(delays, 400) == pytest.approx(200)
    assert math.isnan(simuleval.average_lagging(delays, 400, 0))
    # 600 ms read, 450 said: tokens end at 900 and 1050, their sources at 300 and 600.
    assert simuleval.average_token_delay([600.0], [450.0]) == pytest.approx((600 + 450) / 2)
    assert simuleval.average_token_delay([600.0], [450.0], ready=[700.0]) == pytest.approx(
        (700 + 550) / 2
    )


@given(
    st.lists(st.integers(0, 3000).map(float), min_size=1, max_size=12).map(sorted),
    st.integers(1, 3000).map(float),
    st.integers(1, 12),
    st.integers(0, 500).map(float),
)
def test_proportions_and_lags_grow_with_delays(
    delays: list[float], source: float, target: int, more: float
) -> None:
    inside = [min(delay, source) for delay in delays]
    share = simuleval.average_proportion(inside, source, len(inside))
    assert 0 <= share <= 1 + 1e-12
    assert simuleval.average_proportion([source] * target, source, target) == pytest.approx(1)
    assert simuleval.differentiable_average_lagging(delays, source) >= delays[0] - 1e-9
    durations = [100.0] * len(delays)
    later = [delay + more for delay in delays]
    plain = simuleval.average_token_delay(delays, durations)
    assert simuleval.average_token_delay(delays, durations, ready=later) == pytest.approx(
        plain + more
    )
    assume(target <= len(delays))
    assert simuleval.length_adaptive_average_lagging(
        delays, source, target
    ) == simuleval.average_lagging(delays, source, len(delays))


def test_yaal_counts_what_comes_before_the_end() -> None:
    yaal = simuleval.yet_another_average_lagging
    # A word each 250 ms of 1,000: the third is 300 late, the fourth comes at the end and does not
    # count.
    assert yaal([250.0, 500.0, 800.0, 1000.0], 1000.0, 4) == pytest.approx((250 + 250 + 300) / 3)
    assert yaal([250.0, 500.0, 800.0, 1000.0], 1000.0, 8) == pytest.approx((250 + 375 + 550) / 3)
    assert math.isnan(yaal([1000.0], 1000.0, 1))
    assert math.isnan(yaal([], 1000.0, 1))


def test_yaal_is_that_of_omnisteval() -> None:
    scoring = pytest.importorskip(
        "omnisteval.scoring", reason="needs OmniSTEval: pip install omnisteval"
    )
    from omnisteval.data import Instance

    draw = np.random.default_rng(3)
    for _ in range(50):
        delays = sorted(draw.uniform(0, 3000, int(draw.integers(1, 12))).tolist())
        told = Instance(emission_cu=delays, source_length=2500.0, reference="a " * 7)
        scorer = scoring.YAALScorer()
        _, source, target = scorer.get_delays_lengths(told)
        expected = scorer.compute(told)
        found = simuleval.yet_another_average_lagging(delays, source, target)
        assert found == pytest.approx(math.nan if expected is None else expected, nan_ok=True)
