"""Shared statistics: tables' values, and results worked out by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from sayahead_lab.eval.measures.statistics import quantile, regress, student_t


def test_statistics() -> None:
    assert [student_t(free) for free in (1, 2, 5, 10, 40)] == pytest.approx(
        [12.7062, 4.30265, 2.57058, 2.22814, 2.02108], rel=1e-5
    )
    assert student_t(100_000) == pytest.approx(1.95999, rel=1e-4)
    assert student_t(10, 0.99) == pytest.approx(3.16927, rel=1e-5)
    # By hand: slope 0.6, residuals' variance 0.8, sum of squares 10.
    slope, low, high = regress([1, 2, 3, 4, 5], [2, 4, 5, 4, 5])
    assert (slope, low, high) == pytest.approx(
        (0.6, 0.6 - 3.18245 * 0.08**0.5, 0.6 + 3.18245 * 0.08**0.5), rel=1e-5
    )
    assert regress([1, 2], [1, 3])[0] == 2
    assert math.isnan(regress([1, 2], [1, 3])[1])
    assert math.isnan(regress([1, 1, 1], [1, 2, 3])[0])
    assert quantile([3, 1, 2], 0.5) == 2
    assert math.isnan(quantile([], 0.5))
    assert all(a < b for a, b in pairwise(student_t(f) for f in (40, 10, 5, 2, 1)))
