"""What the ratings of a listening page say: means, differences, preferences, and how many raters
they need."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sayahead.errors import ConfigError

from sayahead_lab.eval.listening.blind_test import ANCHOR

PREFERENCES = (0.0, 0.5, 1.0)
SCALES = {"mushra": (0.0, 100.0), "mos": (1.0, 5.0), "ab": (0.0, 1.0)}
"""The lowest and the highest score of each design."""
TOLD = 0.1 / 4
"""The difference that raters are counted for, as a share of the scale: 0.1 of opinions from 1 to
5."""
SURE = 1.96 + 0.84
"""Standard errors that a difference must be from 0 to be found at 5 % in four experiments of
five."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's score of one sample, or choice between two."""

    rater: str
    """Who."""
    sentence: str
    """The utterance's name."""
    condition: str
    """The condition that spoke it."""
    score: float
    """0 to 100, or 1 to 5; where there is another: 1 it is better, 0 the other is, 0.5 neither."""
    against: str = ""
    """The other of two conditions."""


def paired(better: Iterable[Rating], worse: Iterable[Rating]) -> list[Rating]:
    """The ratings of one condition less another's of the same rater and sentence."""
    other = {(rating.rater, rating.sentence): rating.score for rating in worse}
    return [
        replace(rating, score=rating.score - other[rating.rater, rating.sentence])
        for rating in better
        if (rating.rater, rating.sentence) in other
    ]


def listening_statistics(
    files: Sequence[Path], *, seed: int = 0, draws: int = 2000
) -> dict[str, Any]:
    """Statistics of one page's saved ratings over all raters; a page with one scale and one of
    pairs may be combined.

    ``conditions``: by name, best first, the ``mean`` score, its 95 % interval ``low`` to ``high``,
    and ``n`` ratings. ``differences``: for every two conditions (``condition`` rated better than
    ``against``) the mean paired difference over the samples that a rater gave both for, its
    interval, and a two-sided bootstrap ``p``, not corrected for the number of pairs; ``raters`` is
    how many raters of these sentences a difference of 0.1 of opinions from 1 to 5 (2.5 of 100)
    would need to be found at 5 % with a power of 80 %, by how much raters differ here.
    ``preferences``, of pages that compare two at a time: the share of answers in which
    ``condition`` is better than ``against``, from 0.5 to 1, "no difference" being half of one;
    ``p`` is that it is 0.5. Further ``scale`` (mushra or mos), ``raters``, ``sentences``,
    ``ratings``, and ``left_out``: raters who gave the anchor no less than everything else, whose
    answers count nowhere. Intervals come from resampling raters and sentences alike, so they speak
    for other raters and other sentences; with one rater for sentences only. nan where there is
    nothing to resample. A rater's file counts once even if listed twice; the later rating of a
    sample wins."""
    scale, everything = read_ratings(files)
    left_out = unheard(everything)
    everything = [rating for rating in everything if rating.rater not in left_out]
    ratings = [rating for rating in everything if not rating.against]
    by_condition: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_condition.setdefault(rating.condition, []).append(rating)
    means = {
        name: math.fsum(r.score for r in rated) / len(rated) for name, rated in by_condition.items()
    }
    best_first = sorted(means, key=lambda name: -means[name])
    differences = []
    for better, worse in itertools.combinations(best_first, 2):
        if pairs := paired(by_condition[better], by_condition[worse]):
            summary, p = interval(pairs, seed, draws)
            needed = raters_needed(pairs, TOLD * (SCALES[scale][1] - SCALES[scale][0]))
            differences.append(
                {"condition": better, "against": worse, **summary, "p": p, "raters": needed}
            )
    return {
        "scale": scale,
        "left_out": sorted(left_out),
        "raters": len({rating.rater for rating in everything}),
        "sentences": len({rating.sentence for rating in everything}),
        "ratings": len(everything),
        "conditions": {name: interval(by_condition[name], seed, draws)[0] for name in best_first},
        "differences": differences,
        "preferences": preferences(
            [rating for rating in everything if rating.against], seed, draws
        ),
    }


def unheard(ratings: Sequence[Rating]) -> set[str]:
    """Raters who gave the anchor, which is worse than anything, on average no less than the
    rest."""
    anchors = dict[str, list[float]]()
    others = dict[str, list[float]]()
    for rating in ratings:
        if not rating.against:
            kept = anchors if rating.condition == ANCHOR else others
            kept.setdefault(rating.rater, []).append(rating.score)
    both = anchors.keys() & others.keys()
    return {
        rater for rater in both if float(np.mean(anchors[rater])) >= float(np.mean(others[rater]))
    }


def raters_needed(pairs: Sequence[Rating], difference: float) -> float:
    """How many raters find a mean difference, (SURE s / difference)^2 with s the standard deviation
    of the raters' own means; nan with fewer than two."""
    means = dict[str, list[float]]()
    for pair in pairs:
        means.setdefault(pair.rater, []).append(pair.score)
    if len(means) < 2:
        return math.nan
    deviation = float(np.std([np.mean(own) for own in means.values()], ddof=1))
    return max(2.0, math.ceil((SURE * deviation / difference) ** 2))


def preferences(answers: Sequence[Rating], seed: int, draws: int) -> list[dict[str, Any]]:
    """The share of answers that prefer the better of each two conditions; see
    ``listening_statistics``."""
    pairs: dict[tuple[str, str], list[Rating]] = {}
    for one in answers:
        first, second = sorted((one.condition, one.against))
        # From -0.5 for the second to 0.5 for the first, so that 0 is no preference.
        lean = one.score - 0.5 if one.condition == first else 0.5 - one.score
        pairs.setdefault((first, second), []).append(replace(one, score=lean))
    rows = []
    for (first, second), leans in pairs.items():
        if math.fsum(one.score for one in leans) < 0:
            first, second = second, first
            leans = [replace(one, score=-one.score) for one in leans]
        summary, p = interval(leans, seed, draws)
        share = {key: value + 0.5 for key, value in summary.items() if key != "n"}
        rows.append({"condition": first, "against": second, **share, "n": summary["n"], "p": p})
    return sorted(rows, key=lambda one: -one["mean"])


def read_ratings(files: Sequence[Path]) -> tuple[str, list[Rating]]:
    """The design of the scores that are no preferences (mushra if there are none), and all ratings
    of the files.

    ConfigError for a file without ratings, or of another page of the same design, and for two
    scales."""
    ratings = dict[tuple[str, ...], Rating]()
    pages = dict[tuple[str, str], Path]()
    for path in files:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            design = str(data.get("design", "mushra"))
            low, high = SCALES[design]
            pages.setdefault((design, str(data["page"])), path)
            for rating in ratings_of(data):
                if rating.against and rating.score not in PREFERENCES:
                    raise ConfigError(
                        f"{path}: a preference of {rating.score:g} is not 0, 0.5 or 1."
                    )
                if not low <= rating.score <= high:
                    raise ConfigError(
                        f"{path}: a score of {rating.score:g} is not between {low:g} and {high:g}."
                    )
                both = sorted((rating.condition, rating.against))
                ratings[rating.rater, rating.sentence, *both] = rating
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{path} is not a file of ratings that the listening page saved ({error!r})."
            ) from error
    for designs in (("mushra", "mos"), ("ab",)):
        files_of = [str(path) for (design, _), path in pages.items() if design in designs]
        if len(files_of) > 1:
            raise ConfigError(
                f"Ratings of different pages do not go together: {' and '.join(files_of)}."
            )
    if not ratings:
        raise ConfigError("There are no ratings in these files.")
    return "mos" if any(design == "mos" for design, _ in pages) else "mushra", list(
        ratings.values()
    )


def ratings_of(data: Mapping[str, Any]) -> Iterator[Rating]:
    """The ratings in one saved file."""
    for one in data["ratings"]:
        against = str(one["against"]) if data.get("design") == "ab" else ""
        yield Rating(
            str(data["rater"]),
            str(one["sentence"]),
            str(one["condition"]),
            float(one["score"]),
            against,
        )


def interval(ratings: Sequence[Rating], seed: int, draws: int) -> tuple[dict[str, float], float]:
    """Mean with its 95 % interval, and the two-sided p that it is 0, from resampled raters and
    sentences.

    A draw gives each rater and each sentence the number of times that it was drawn, and a rating
    both numbers' product as its weight, so some ratings may be missing.
    """
    scores = np.array([rating.score for rating in ratings])
    raters = numbers([r.rater for r in ratings])
    sentences = numbers([r.sentence for r in ratings])
    draw = np.random.default_rng(seed)
    means = list[float]()
    for _ in range(draws):
        weight = draw_counts(draw, raters) * draw_counts(draw, sentences)
        if weight.any():
            means.append(float(weight @ scores / weight.sum()))
    summary = {
        "mean": float(scores.mean()),
        "low": math.nan,
        "high": math.nan,
        "n": float(len(scores)),
    }
    if raters.max() == sentences.max() == 0:
        return summary, math.nan
    values = np.array(means)
    summary["low"], summary["high"] = map(float, np.percentile(values, (2.5, 97.5)))
    tail = min(float((values <= 0).mean()), float((values >= 0).mean()))
    return summary, min(1.0, max(2 * tail, 1 / draws))


def numbers(names: Sequence[str]) -> NDArray[np.int64]:
    """Each name's number, from 0 in order of first appearance."""
    places = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([places[name] for name in names], np.int64)


def draw_counts(draw: np.random.Generator, items: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each rating's item comes up in a draw of all items with replacement."""
    many = int(items.max()) + 1
    return np.bincount(draw.integers(0, many, many), minlength=many)[items]
