"""Figures over utterances, with 95 % bootstrap intervals and paired tests.

A figure is computed from sums over utterances: a word error rate from all errors and all words, a
correlation from the sums of products. So a draw of utterances only weights each utterance's parts
of those sums differently. Where several trainings said the same sentences, a draw takes speakers at
random, then trainings (seeds) of each drawn speaker, then sentences: seeds of one speaker resemble
each other, and three speakers with three seeds are not nine speakers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS = 10_000
"""Draws of a bootstrap or of a permutation test."""
BLOCK = 500
"""Draws weighted at a time, so that long experiments fit in memory."""

Values = NDArray[np.float64]
Figure = Callable[[Values], Values]
"""From sums (..., K) to figures (...,); nan for a division by 0."""


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A figure with its 95 % interval (nan where there is none)."""

    value: float
    """The figure."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end."""

    @classmethod
    def spread(cls, values: Sequence[float]) -> ConfidenceInterval:
        """The mean of values, with the least and the greatest of several."""
        ends = (min(values), max(values)) if len(values) > 1 else (math.nan, math.nan)
        return ConfidenceInterval(float(np.mean(values)), *ends)

    def __format__(self, spec: str) -> str:
        """The figure and the ends of its interval, each in the same form: ``f"{one:+.2f}"``."""
        number = format(self.value, spec)
        if not math.isfinite(self.low):
            return number
        return f"{number} ({self.low:{spec}} to {self.high:{spec}})"

    def times(self, factor: float) -> ConfidenceInterval:
        """The same in another unit."""
        return ConfidenceInterval(factor * self.value, factor * self.low, factor * self.high)


@dataclass(frozen=True, slots=True)
class Estimate(ConfidenceInterval):
    """A figure with its 95 % interval over sentences (nan for fewer than two sentences)."""

    sentences: int
    """Number of utterances that it is computed from."""


@dataclass(frozen=True, slots=True)
class Difference(Estimate):
    """A figure of one condition less that of another over the same sentences, with its 95 %
    interval."""

    p: float
    """Two-sided p-value of the permutation test."""


def estimate(parts: Values, figure: Figure, *, seed: int = 0) -> Estimate:
    """The figure of parts (N, K) of N sentences with its percentile-bootstrap interval (Efron
    1979)."""
    values = [figure(weights @ parts) for weights in resampled(len(parts), seed)]
    return Estimate(float(figure(parts.sum(axis=0))), *interval(values), len(parts))


def estimate_trained(
    parts: Values, figure: Figure, *, speakers: Sequence[str] = (), seed: int = 0
) -> Estimate:
    """The figure of parts (R, N, K) of R trainings that said the same N sentences.

    ``speakers`` (R,) names the speaker of each training (default: all are of one). The interval is
    over speakers, trainings and sentences, as far as there are several of each."""
    values = [figure(sums) for sums in drawn(parts, speakers, seed)]
    return Estimate(float(figure(parts.sum(axis=(0, 1)))), *interval(values), parts.shape[1])


def difference_trained(
    one: Values, other: Values, figure: Figure, *, speakers: Sequence[str] = (), seed: int = 0
) -> Estimate:
    """The figure of ``one`` (R, N, K) less that of ``other``, paired by training and by sentence.

    ``other`` may have a single training (1, N, K), such as a rule: it is then paired with each of
    ``one``."""
    other = np.broadcast_to(other, one.shape)
    pairs = zip(drawn(one, speakers, seed), drawn(other, speakers, seed), strict=True)
    values = [figure(first) - figure(second) for first, second in pairs]
    value = float(figure(one.sum(axis=(0, 1))) - figure(other.sum(axis=(0, 1))))
    return Estimate(value, *interval(values), one.shape[1])


def drawn(parts: Values, speakers: Sequence[str], seed: int) -> Iterator[Values]:
    """Blocks (B, K) of the sums of draws of speakers, trainings and sentences from parts (R, N,
    K)."""
    trainings = blocks(nested_weights(tuple(speakers) or ("",) * len(parts), seed))
    for chosen, weights in zip(trainings, sentences(parts.shape[1], seed), strict=True):
        yield np.einsum("br,bn,rnk->bk", chosen, weights, parts, optimize=True)


def sentences(count: int, seed: int) -> Iterator[Values]:
    """Blocks (B, N) of how often each of N sentences is drawn; a single one always is."""
    return blocks(bootstrap_weights(count, seed))


def difference(one: Values, other: Values, figure: Figure, *, seed: int = 0) -> Difference:
    """The figure of ``one`` (N, K) less that of ``other`` (N, K), the same N sentences in the same
    order.

    The p-value is that of a permutation test: how often, were the two exchanged at random in each
    sentence, the figures would lie at least as far apart. It counts the observed difference as one
    of the draws, so it is at least 1 / 10001."""
    value = float(figure(one.sum(axis=0)) - figure(other.sum(axis=0)))
    values = [
        figure(weights @ one) - figure(weights @ other) for weights in resampled(len(one), seed)
    ]
    draws = flipped if figure is quotient and (one[:, 1] != other[:, 1]).any() else swapped
    # Each draw sums in another order: values within rounding are equal.
    observed = abs(value) * (1 - 1e-9) - 1e-12
    further = sum(
        int((np.abs(apart) >= observed).sum()) for apart in draws(one, other, figure, seed)
    )
    p = math.nan if math.isnan(value) else (1 + further) / (1 + ROUNDS)
    return Difference(value, *interval(values), len(one), p)


def swapped(one: Values, other: Values, figure: Figure, seed: int) -> Iterator[Values]:
    """Blocks (B,) of differences after exchanging the parts of random sentences."""
    first = one.sum(axis=0)
    second = other.sum(axis=0)
    apart = one - other
    for exchange in exchanged(len(one), seed):
        moved = exchange @ apart
        yield figure(first - moved) - figure(second + moved)


def flipped(one: Values, other: Values, _: Figure, seed: int) -> Iterator[Values]:
    """Blocks (B,) of differences of two rates whose denominators differ, such as segments of two
    lengths.

    Exchanging whole sentences would exchange the denominators, too, and so test something else. A
    sentence's share in the difference is what it has beyond the pooled rate; under equal rates its
    sign is random. With equal denominators this is ``swapped``.
    """
    pooled = quotient(one.sum(axis=0) + other.sum(axis=0))
    shares = [(parts[:, 0] - pooled * parts[:, 1]) / parts[:, 1].sum() for parts in (one, other)]
    apart = shares[0] - shares[1]
    for exchange in exchanged(len(one), seed):
        yield (1 - 2 * exchange) @ apart


def interval(values: list[Values]) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of the drawn figures; nan without any."""
    figures = np.concatenate(values) if values else np.zeros(0)
    finite = figures[np.isfinite(figures)]
    if not len(finite):
        return math.nan, math.nan
    low, high = np.percentile(finite, (2.5, 97.5))
    return float(low), float(high)


def resampled(count: int, seed: int) -> Iterator[Values]:
    """Blocks (B, N) of how often each of N sentences is drawn, ``ROUNDS`` rows in all; none below
    two sentences."""
    if count > 1:
        yield from blocks(bootstrap_weights(count, seed))


def exchanged(count: int, seed: int) -> Iterator[Values]:
    """Blocks (B, N), 1 for the sentences to exchange, ``ROUNDS`` rows in all."""
    yield from blocks(permutations(count, seed))


def blocks(rows: NDArray[np.uint16]) -> Iterator[Values]:
    """The rows as floats, some at a time."""
    for first in range(0, len(rows), BLOCK):
        yield rows[first : first + BLOCK].astype(np.float64)


@functools.lru_cache(maxsize=8)
def bootstrap_weights(count: int, seed: int) -> NDArray[np.uint16]:
    """(ROUNDS, N) how often each of N sentences is drawn; all figures over the same sentences share
    the draws."""
    draw = np.random.default_rng([seed, 0])
    return draw.multinomial(count, np.full(count, 1 / count), size=ROUNDS).astype(np.uint16)


@functools.lru_cache(maxsize=8)
def nested_weights(speakers: tuple[str, ...], seed: int) -> NDArray[np.uint16]:
    """(ROUNDS, R) how often each of R trainings is drawn, ``speakers`` (R,) being theirs: a
    speaker, then its seeds."""
    draw = np.random.default_rng([seed, 2])
    names = list(dict.fromkeys(speakers))
    chosen = draw.multinomial(len(names), np.full(len(names), 1 / len(names)), size=ROUNDS)
    weights = np.zeros((ROUNDS, len(speakers)), np.uint16)
    for number, name in enumerate(names):
        own = [at for at, speaker in enumerate(speakers) if speaker == name]
        weights[:, own] = draw.multinomial(
            chosen[:, number] * len(own), np.full(len(own), 1 / len(own))
        )
    return weights


@functools.lru_cache(maxsize=8)
def permutations(count: int, seed: int) -> NDArray[np.uint16]:
    """(ROUNDS, N) of 0 and 1."""
    return np.random.default_rng([seed, 1]).integers(2, size=(ROUNDS, count), dtype=np.uint16)


def quotient(sums: Values) -> Values:
    """``a / b`` of sums (..., 2)."""
    return over(sums[..., 0], sums[..., 1])


def excess(sums: Values) -> Values:
    """``a / b - c / d`` of sums (..., 4): a rate here over that elsewhere."""
    return over(sums[..., 0], sums[..., 1]) - over(sums[..., 2], sums[..., 3])


def growth(sums: Values) -> Values:
    """``c / d - a / b`` of sums (..., 4): a rate at the end over that at the beginning."""
    return -excess(sums)


# Moments of pairs (x, y): n, sum x, sum y, sum x^2, sum y^2, sum x y.
def moments(x: Values, y: Values) -> tuple[float, ...]:
    """The six sums for RMSE and correlation of pairs x (N,), y (N,); those of parts add up."""
    return float(len(x)), float(x.sum()), float(y.sum()), float(x @ x), float(y @ y), float(x @ y)


def rmse(sums: Values) -> Values:
    """``sqrt(mean((x - y)^2))`` from moments (..., 6)."""
    n, _, _, xx, yy, xy = np.moveaxis(sums, -1, 0)
    return np.sqrt(np.maximum(over(xx + yy - 2 * xy, n), 0))


def correlation(sums: Values) -> Values:
    """Pearson's r from moments (..., 6); nan for fewer than two pairs or where x or y is constant
    (to rounding)."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    one = xx - over(x * x, n)
    other = yy - over(y * y, n)
    spread = (one > 1e-12 * np.abs(xx)) & (other > 1e-12 * np.abs(yy)) & (n > 1)
    return over(
        np.where(spread, xy - over(x * y, n), np.nan), np.sqrt(np.where(spread, one * other, 1.0))
    )


def over(part: Values, whole: Values) -> Values:
    """Their quotient, nan for a division by 0."""
    out: Values = np.divide(
        part, whole, out=np.full(np.shape(part), np.nan), where=np.asarray(whole) != 0
    )
    return out
