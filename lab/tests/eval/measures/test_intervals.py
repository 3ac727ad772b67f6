"""Intervals over speakers, seeds and sentences, and tests of rates with unequal denominators."""

from __future__ import annotations

import numpy as np
import pytest

from sayahead_lab.eval.measures.intervals import (
    ConfidenceInterval,
    Values,
    difference,
    difference_trained,
    estimate_trained,
    flipped,
    nested_weights,
    quotient,
    swapped,
)


def rated(*opinions: float, sentences: int = 8) -> Values:
    """(R, N, 2) trainings whose sentences all have the same opinion."""
    return np.array([[(opinion, 1.0)] * sentences for opinion in opinions])


def width(trainings: Values, speakers: tuple[str, ...]) -> float:
    one = estimate_trained(trainings, quotient, speakers=speakers)
    return one.high - one.low


def test_seeds_of_a_speaker_are_no_further_speakers() -> None:
    trainings = rated(1.0, 1.0, 1.0, 3.0, 3.0, 3.0)
    nested = width(trainings, ("a", "a", "a", "b", "b", "b"))
    assert nested == pytest.approx(2.0)
    assert width(trainings, ("a", "b", "c", "d", "e", "f")) < nested


def test_seeds_are_drawn_within_their_speaker() -> None:
    weights = nested_weights(("a", "b", "b"), 0)
    assert set(weights[:, 0]) == {0, 1, 2}
    assert (weights[:, 1:].sum(axis=1) % 2 == 0).all()
    assert {tuple(row) for row in weights[:, 1:].tolist()} >= {(2, 0), (1, 1), (0, 2)}


def test_a_rule_is_paired_with_every_seed() -> None:
    less = difference_trained(rated(2.0, 3.0), rated(1.0), quotient)
    assert (less.value, less.low, less.high) == pytest.approx((1.5, 1.0, 2.0))


def test_one_failure_in_one_sentence_decides_nothing() -> None:
    """With twice as many segments beside it, exchanging whole sentences would call that p <
    0.001."""
    many = np.array([(0.0, 20.0)] * 30)
    few = np.array([(1.0, 10.0), *[(0.0, 10.0)] * 29])
    assert difference(few, many, quotient).p > 0.2


def test_with_equal_denominators_the_test_is_that_of_exchanged_sentences() -> None:
    draw = np.random.default_rng(1)
    one, other = (
        np.column_stack([draw.integers(0, 4, 40), np.full(40, 10)]).astype(float) for _ in range(2)
    )
    pairs = zip(swapped(one, other, quotient, 0), flipped(one, other, quotient, 0), strict=True)
    assert all(np.allclose(exchanged, signed) for exchanged, signed in pairs)


def test_rates_that_differ_everywhere_are_told_apart_with_unequal_denominators() -> None:
    one = np.array([(5.0, 10.0)] * 20)
    other = np.array([(2.0, 20.0)] * 20)
    assert difference(one, other, quotient).p < 0.001


def test_an_interval_is_written_in_one_form() -> None:
    one = ConfidenceInterval(0.5, 0.25, 0.75)
    assert f"{one:.2f}" == "0.50 (0.25 to 0.75)"
    assert f"{one.times(100):+.0f}" == "+50 (+25 to +75)"
    assert f"{ConfidenceInterval.spread([1.0, 3.0]):.1f}" == "2.0 (1.0 to 3.0)"
    assert f"{ConfidenceInterval.spread([1.0]):.1f}" == "1.0"
