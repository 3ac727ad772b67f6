"""Quality: word and character error rates by a speech recogniser, predicted opinion scores, and their differences."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.eval.listeners import (
    WHISPER,
    Rater,
    Transcriber,
    at_16khz,
    load_distillmos,
    load_dnsmos,
    load_normalizer,
    load_whisper,
    missing,
    missing_folder,
)
from sayahead.types import Floats

COLUMNS = ("wer", "cer", "distillmos", "dnsmos")
ROUNDS = 10_000
"""Draws of a bootstrap or of a sign-flip test."""
SHORTEST_S = 0.1


@dataclass(frozen=True, slots=True)
class Utterance:
    """What is to be listened to."""

    name: str
    """What it is called; the same in every condition."""
    reference: str
    """What it should say."""
    samples: Floats
    """(S,) what was made of it."""
    sample_rate: int
    """Samples per second."""


@dataclass(frozen=True, slots=True)
class Errors:
    """A count of errors over a reference, the fewest that turn it into the hypothesis."""

    words: int
    """Words of the reference."""
    substitutions: int
    """Words heard as others."""
    deletions: int
    """Words not heard."""
    insertions: int
    """Words heard that are not there."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float:
        """Word error rate ``(S + D + I) / N``; nan for an empty reference."""
        return self.total / self.words if self.words else math.nan


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance's scores; what was not asked for is none."""

    name: str
    """What it is called."""
    duration_s: float
    """Its length."""
    reference: str
    """What it should say: normalised, if it was transcribed."""
    hypothesis: str | None = None
    """What was heard, normalised."""
    errors: Errors | None = None
    """By words."""
    characters: int | None = None
    """Characters of the reference, spaces included."""
    character_errors: int | None = None
    """Least number of changed characters between reference and hypothesis."""
    distillmos: float | None = None
    """DistillMOS, 1 to 5."""
    dnsmos: float | None = None
    """DNSMOS P.835, overall, 1 to 5."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval over sentences (nan for fewer than two sentences)."""

    value: float
    """The figure."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end."""
    sentences: int
    """How many it rests on."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of one condition less that of another over the same sentences, with its 95 % interval."""

    value: float
    """The difference."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end."""
    p: float
    """Two-sided p-value of the sign-flip test."""
    sentences: int
    """How many it rests on."""


class Listeners:
    """Recogniser and raters, each loaded when first used; ConfigError then where something is missing.

    ``whisper`` is a faster-whisper model folder (default: what SAYAHEAD_WHISPER names), ``threads`` the processor cores
    that it may use. The other arguments stand in for the models.
    """

    def __init__(
        self,
        whisper: str | Path | None = None,
        *,
        threads: int = 2,
        transcriber: Transcriber | None = None,
        normalizer: Callable[[str], str] | None = None,
        distillmos: Rater | None = None,
        dnsmos: Rater | None = None,
    ) -> None:
        self._folder = whisper or os.environ.get(WHISPER) or None
        self._threads = threads
        self._given = (transcriber, normalizer, distillmos, dnsmos)

    def available(self) -> dict[str, str | None]:
        """For each column (wer, cer, distillmos, dnsmos) none if it can be computed, otherwise what is missing."""
        transcriber, normalizer, distillmos, dnsmos = self._given
        heard = None if transcriber else missing("whisper") or missing_folder(self._folder)
        words = heard or (None if normalizer else missing("normalizer"))
        return {
            "wer": words,
            "cer": words,
            "distillmos": None if distillmos else missing("distillmos"),
            "dnsmos": None if dnsmos else missing("dnsmos"),
        }

    def transcribe(self, samples: Floats, rate: int) -> str:
        """The words heard in samples (S,), as the recogniser writes them."""
        return self._transcriber(at_16khz(samples, rate))

    def normalize(self, text: str) -> str:
        """The text as Whisper's English normalizer writes it: lower case, no punctuation, numbers as digits."""
        return self._normalizer(text)

    def distillmos(self, samples: Floats, rate: int) -> float:
        """DistillMOS of samples (S,), 1 to 5 (Stahl and Gamper 2025)."""
        return self._distillmos(at_16khz(samples, rate))

    def dnsmos(self, samples: Floats, rate: int) -> float:
        """DNSMOS P.835 of samples (S,), overall, 1 to 5 (Reddy et al. 2022)."""
        return self._dnsmos(at_16khz(samples, rate))

    def score(self, items: Iterable[Utterance], columns: Sequence[str] = COLUMNS) -> list[Row]:
        """A row for each utterance; ``columns`` says what is computed (wer and cer come together)."""
        for column in columns:
            if column not in COLUMNS:
                raise ConfigError(f"There is no column {column!r}{nearest(column, COLUMNS)}.")
        return [self._row(item, columns) for item in items]

    def _row(self, item: Utterance, columns: Sequence[str]) -> Row:
        duration_s = len(item.samples) / item.sample_rate
        if duration_s < SHORTEST_S:
            raise ConfigError(f"Utterance {item.name!r} lasts {duration_s:.3f} s: too short to be listened to.")
        heard = at_16khz(item.samples, item.sample_rate)
        scores: dict[str, Any] = {"reference": item.reference}
        if "wer" in columns or "cer" in columns:
            reference, hypothesis = (self._normalizer(text) for text in (item.reference, self._transcriber(heard)))
            scores = {
                "reference": reference,
                "hypothesis": hypothesis,
                "errors": word_errors(reference, hypothesis),
                "characters": len(reference.strip()),
                "character_errors": distance(reference.strip(), hypothesis.strip()),
            }
        if "distillmos" in columns:
            scores["distillmos"] = self._distillmos(heard)
        if "dnsmos" in columns:
            scores["dnsmos"] = self._dnsmos(heard)
        return Row(name=item.name, duration_s=duration_s, **scores)

    @cached_property
    def _transcriber(self) -> Transcriber:
        return self._given[0] or load_whisper(self._folder, threads=self._threads)

    @cached_property
    def _normalizer(self) -> Callable[[str], str]:
        return self._given[1] or load_normalizer()

    @cached_property
    def _distillmos(self) -> Rater:
        return self._given[2] or load_distillmos()

    @cached_property
    def _dnsmos(self) -> Rater:
        return self._given[3] or load_dnsmos()


def summarize(rows: Sequence[Row], *, seed: int = 0) -> dict[str, Estimate]:
    """Each column's figure over the whole set, with its 95 % bootstrap interval over sentences.

    ``wer`` and ``cer`` are all errors over all words or characters, the others means. A column that no row has is
    absent; ConfigError for one that only some rows have.
    """
    return {column: estimate(parts, wholes, seed=seed) for column, (parts, wholes) in by_column(rows).items()}


def compare(rows: Sequence[Row], base: Sequence[Row], *, seed: int = 0) -> dict[str, Difference]:
    """How ``rows`` differ from ``base``, by column: the figure of the first less that of the second.

    Paired by name: both must hold the same sentences. The interval is a bootstrap's over sentences; p is that of the
    sign-flip test: how often, were the two conditions exchanged at random in each sentence, the difference would be at
    least as far from 0 (for WER and CER that of the sentences' error counts).
    """
    named = {row.name: row for row in base}
    if len(named) != len(base) or named.keys() != {row.name for row in rows} or len(rows) != len(base):
        raise ConfigError("The two conditions to compare do not have the same sentences, each once.")
    paired = [named[row.name] for row in rows]
    for row, other in zip(rows, paired, strict=True):
        if row.reference != other.reference:
            raise ConfigError(f"Sentence {row.name!r} has another reference in the two conditions to compare.")
    ours, theirs = by_column(rows), by_column(paired)
    return {
        column: difference(ours[column][0] - theirs[column][0], ours[column][1], seed=seed)
        for column in ours
        if column in theirs
    }


Column = tuple[NDArray[np.float64], NDArray[np.float64]]


def by_column(rows: Sequence[Row]) -> dict[str, Column]:
    """For each column that the rows have, numerators (N,) and denominators (N,) of its figure: N sentences."""
    values: dict[str, list[tuple[float, float] | None]] = {
        "wer": [(row.errors.total, row.errors.words) if row.errors else None for row in rows],
        "cer": [
            None if row.character_errors is None or row.characters is None else (row.character_errors, row.characters)
            for row in rows
        ],
        "distillmos": [None if row.distillmos is None else (row.distillmos, 1) for row in rows],
        "dnsmos": [None if row.dnsmos is None else (row.dnsmos, 1) for row in rows],
        "duration_s": [(row.duration_s, 1) for row in rows],
    }
    columns = {}
    for name, pairs in values.items():
        known = [pair for pair in pairs if pair is not None]
        if known and len(known) < len(pairs):
            raise ConfigError(f"Only {len(known)} of {len(pairs)} sentences have the column {name!r}.")
        if known:
            parts, wholes = np.array(known, np.float64).T
            columns[name] = parts, wholes
    return columns


def estimate(parts: NDArray[np.float64], wholes: NDArray[np.float64], *, seed: int = 0) -> Estimate:
    """``sum(parts) / sum(wholes)`` over sentences (N,) with its 95 % percentile-bootstrap interval (Efron 1979)."""
    low, high = interval(parts, wholes, seed=seed)
    return Estimate(quotient(parts, wholes), low, high, len(parts))


def difference(parts: NDArray[np.float64], wholes: NDArray[np.float64], *, seed: int = 0) -> Difference:
    """``sum(parts) / sum(wholes)`` over sentences (N,), where parts are paired differences, with interval and p-value.

    The p-value counts the observed difference as one of the draws, so it is at least 1 / 10001.
    """
    low, high = interval(parts, wholes, seed=seed)
    draw = np.random.default_rng([seed, 1])
    # Counts and scores are added in another order in each draw: what differs by rounding is equal.
    observed = abs(float(parts.sum())) - 1e-9
    further = sum(abs(float(parts @ draw.choice((-1.0, 1.0), len(parts)))) >= observed for _ in range(ROUNDS))
    return Difference(quotient(parts, wholes), low, high, (1 + further) / (1 + ROUNDS), len(parts))


def interval(parts: NDArray[np.float64], wholes: NDArray[np.float64], *, seed: int) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of the quotient over draws of sentences; nan for fewer than two sentences."""
    if len(parts) < 2 or not wholes.any():
        return math.nan, math.nan
    draw = np.random.default_rng([seed, 0])
    drawn = (draw.integers(len(parts), size=len(parts)) for _ in range(ROUNDS))
    quotients = [quotient(parts[places], wholes[places]) for places in drawn]
    low, high = np.nanpercentile(quotients, (2.5, 97.5))
    return float(low), float(high)


def quotient(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> float:
    """Sum over sum, nan for a share of nothing."""
    whole = float(wholes.sum())
    return float(parts.sum()) / whole if whole else math.nan


def word_errors(reference: str, hypothesis: str) -> Errors:
    """The errors of the least-cost alignment by words, which are what white space separates."""
    return counted(align(reference.split(), hypothesis.split()), len(reference.split()))


def by_quarter(reference: str, hypothesis: str, *, parts: int = 4) -> list[Errors]:
    """The errors in each quarter of a text's words, first to last: drift shows as a rate that grows.

    An error belongs to its reference word's quarter; an inserted word to that of the reference word that follows it, or
    of the last one. Both texts are normalised ones. Over several texts add the counts up, quarter by quarter.
    """
    words = reference.split()
    steps = align(words, hypothesis.split())
    # Reference word i of N is in part i * parts // N.
    part_of = [min(at, len(words) - 1) * parts // max(1, len(words)) for _, at in steps]
    sizes = [sum(at * parts // len(words) == part for at in range(len(words))) for part in range(parts)]
    return [
        counted([step for step, place in zip(steps, part_of, strict=True) if max(0, place) == part], sizes[part])
        for part in range(parts)
    ]


def counted(steps: Sequence[tuple[str, int]], words: int) -> Errors:
    """How many of each kind the alignment holds."""
    kinds = [kind for kind, _ in steps]
    return Errors(words, kinds.count("substitute"), kinds.count("delete"), kinds.count("insert"))


def align(reference: Sequence[str], hypothesis: Sequence[str]) -> list[tuple[str, int]]:
    """The steps of a least-cost alignment (Levenshtein), in order: equal, substitute, delete or insert.

    Beside each the index of the reference's item, for an insertion that of the one it stands before. Where alignments
    cost the same, that is taken which pairs items, and otherwise deletes, as late as possible.
    """
    rows = list(costs(reference, hypothesis))
    i, j = len(reference), len(hypothesis)
    steps = []
    while i or j:
        here = rows[i][j]
        if i and j and here == rows[i - 1][j - 1] + (reference[i - 1] != hypothesis[j - 1]):
            i, j = i - 1, j - 1
            steps.append(("equal" if reference[i] == hypothesis[j] else "substitute", i))
        elif i and here == rows[i - 1][j] + 1:
            i -= 1
            steps.append(("delete", i))
        else:
            j -= 1
            steps.append(("insert", i))
    return steps[::-1]


def distance(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    """The Levenshtein distance: the fewest items to substitute, delete and insert."""
    last = deque(costs(reference, hypothesis), maxlen=1)
    return int(last[0][-1])


def costs(reference: Sequence[str], hypothesis: Sequence[str]) -> Iterable[NDArray[np.int32]]:
    """The rows of the Levenshtein matrix: row i holds the distances of the first i items to all beginnings (H + 1,)."""
    known = {item: number for number, item in enumerate(dict.fromkeys(hypothesis))}
    items = np.array([known[item] for item in hypothesis], np.int32)
    columns = np.arange(len(hypothesis) + 1, dtype=np.int32)
    row = columns
    yield row
    for item in reference:
        paired = row[:-1] + (items != known.get(item, -1))
        best = np.minimum(row + 1, np.concatenate([row[:1] + 1, paired]))
        # An insertion costs one more than the place before it: a running minimum once the slope is taken away.
        row = (np.minimum.accumulate(best - columns) + columns).astype(np.int32)
        yield row
