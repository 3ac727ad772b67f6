"""Statistics that several measurements share. Loads no numpy: a benchmark chooses its processor
core before that."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values lies, interpolated linearly; nan without
    values."""
    if not values:
        return math.nan
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def regress(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Least-squares slope of y over x with its 95 % interval (Student's t, n - 2 degrees of
    freedom).

    The slope is nan under two values or where all x are the same, its interval under three values.
    """
    if len(x) < 2 or min(x) == max(x):
        return math.nan, math.nan, math.nan
    slope, intercept = statistics.linear_regression(x, y)
    free = len(x) - 2
    if not free:
        return slope, math.nan, math.nan
    rest = sum((b - slope * a - intercept) ** 2 for a, b in zip(x, y, strict=True)) / free
    mean = statistics.fmean(x)
    error = (rest / sum((a - mean) ** 2 for a in x)) ** 0.5
    t = student_t(free)
    return slope, slope - t * error, slope + t * error


def student_t(free: int, share: float = 0.95) -> float:
    """Half the width, in standard errors, of the interval that holds that share of Student's t with
    ``free`` degrees.

    The share inside +-t, with t = sqrt(free) tan(angle), is a finite series in the angle's sine and
    cosine (Abramowitz and Stegun, 26.7.3 and 26.7.4); the angle is found by bisection."""
    low = 0.0
    high = math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        # Odd degrees sum the odd powers of the cosine, even degrees the even ones.
        term, total = (math.cos(angle), 0.0) if free % 2 else (1.0, 0.0)
        for power in range(1 + free % 2, free, 2):
            total += term
            term *= power / (power + 1) * math.cos(angle) ** 2
        inside = math.sin(angle) * total
        inside = 2 / math.pi * (angle + inside) if free % 2 else inside
        low, high = (angle, high) if inside < share else (low, angle)
    return math.sqrt(free) * math.tan(low)
