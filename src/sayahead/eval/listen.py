"""A blind listening test in one HTML file, and what its ratings say.

The page has the same sentences from several conditions beside each other, in an order drawn anew for every sentence,
rated from 0 to 100 as in MUSHRA (ITU-R BS.1534), but without its reference and anchors unless they are conditions. Its
ratings are kept in the browser and saved as a JSON file, which alone names the conditions.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.errors import ConfigError
from sayahead.eval.trace import Trace, read_traces

MOST = 9
"""Conditions that the number keys can play."""


@dataclass(frozen=True, slots=True)
class Rating:
    """How good one rater found one sample."""

    rater: str
    """Who."""
    sentence: str
    """The utterance's name."""
    condition: str
    """What spoke it."""
    score: float
    """0 to 100."""


def listening_page(out: Path, target: Path, conditions: Sequence[str], count: int, seed: int = 0) -> None:
    """Write a page with ``count`` sentences of an experiment, evenly spaced, by each of the conditions.

    ``out`` is the experiment's folder, ``target`` the HTML file. The sounds are put in as they are, 16-bit PCM WAV. The
    seed fixes the order within each sentence. ConfigError where there is nothing to compare or a sound is missing.
    """
    if not 2 <= len(set(conditions)) == len(conditions) <= MOST:
        raise ConfigError(f"A listening page compares 2 to {MOST} different conditions, not {', '.join(conditions)}.")
    if count < 1:
        raise ConfigError(f"A listening page needs at least 1 sentence, not {count}.")
    made = utterances(out / conditions[0])
    made = made[:: max(1, len(made) // count)][:count]
    draw, sentences, key = np.random.default_rng(seed), [], []
    for one in made:
        order = [conditions[at] for at in draw.permutation(len(conditions))]
        samples = [encoded(out / condition / "wav" / f"{one.name}.wav") for condition in order]
        sentences.append({"text": one.source, "samples": samples})
        key.append({"name": one.name, "conditions": order})
    secret = json.dumps(key)
    page = hashlib.sha256(json.dumps([key, [len(s) for x in sentences for s in x["samples"]]]).encode()).hexdigest()[
        :12
    ]
    data = {"page": page, "sentences": sentences, "key": base64.b64encode(secret.encode()).decode()}
    # A text with "</script>" in it must not end the block.
    block = json.dumps(data).replace("<", "\\u003c")
    template = resources.files("sayahead.eval").joinpath("listen.html").read_text(encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(template.replace("/*DATA*/", block), encoding="utf-8")


def utterances(folder: Path) -> list[Trace]:
    """The traces of a condition on whichever clock there is, by number."""
    for path in sorted(folder.glob("*.jsonl")):
        if made := sorted(read_traces(path), key=lambda one: one.index):
            return made
    raise ConfigError(f"{folder} has no traces: run the experiment first, or choose another condition.")


def encoded(path: Path) -> str:
    """A WAV file in base64; ConfigError where it is missing or not 16-bit PCM."""
    try:
        with wave.open(str(path)) as sound:
            bits = 8 * sound.getsampwidth()
    except (OSError, wave.Error, EOFError) as error:
        raise ConfigError(f"{path} cannot be read as a WAV file of 16-bit PCM: {error}.") from error
    if bits != 16:
        raise ConfigError(f"{path} has {bits} bits a sample, but the listening page takes 16-bit PCM only.")
    return base64.b64encode(path.read_bytes()).decode()


def listening_statistics(files: Sequence[Path], *, seed: int = 0, draws: int = 2000) -> dict[str, Any]:
    """What the saved ratings of one page say, over all raters.

    ``conditions``: by name, best first, the ``mean`` score, its 95 % interval ``low`` to ``high``, and ``n`` ratings.
    ``differences``: for every two conditions (``condition`` rated better than ``against``) the mean paired difference
    over the samples that a rater gave both for, its interval, and a two-sided bootstrap ``p``, not corrected for the
    number of pairs. Further ``raters``, ``sentences``, ``ratings``. Intervals come from resampling raters and sentences
    alike, so they speak for other raters and other sentences; with one rater for sentences only. nan where there is
    nothing to resample. A rater's file that is given twice counts once, the later rating of a sample wins.
    """
    ratings = read_ratings(files)
    by_condition: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_condition.setdefault(rating.condition, []).append(rating)
    means = {name: math.fsum(r.score for r in kept) / len(kept) for name, kept in by_condition.items()}
    best_first = sorted(means, key=lambda name: -means[name])
    conditions = {name: interval(by_condition[name], seed, draws)[0] for name in best_first}
    differences = []
    for better, worse in itertools.combinations(best_first, 2):
        other = {(r.rater, r.sentence): r.score for r in by_condition[worse]}
        pairs = [
            Rating(r.rater, r.sentence, "", r.score - other[r.rater, r.sentence])
            for r in by_condition[better]
            if (r.rater, r.sentence) in other
        ]
        if pairs:
            summary, p = interval(pairs, seed, draws)
            differences.append({"condition": better, "against": worse, **summary, "p": p})
    return {
        "raters": len({rating.rater for rating in ratings}),
        "sentences": len({rating.sentence for rating in ratings}),
        "ratings": len(ratings),
        "conditions": conditions,
        "differences": differences,
    }


def read_ratings(files: Sequence[Path]) -> list[Rating]:
    """All ratings of the files; ConfigError for a file that is none, or that comes from another page than the first."""
    kept, pages = dict[tuple[str, str, str], Rating](), dict[str, Path]()
    for path in files:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            pages.setdefault(str(data["page"]), path)
            for one in data["ratings"]:
                score = float(one["score"])
                if not 0 <= score <= 100:
                    raise ConfigError(f"{path}: a score of {score:g} is not between 0 and 100.")
                rating = Rating(str(data["rater"]), str(one["sentence"]), str(one["condition"]), score)
                kept[rating.rater, rating.sentence, rating.condition] = rating
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{path} is not a file of ratings that the listening page saved ({error!r}).") from error
    if len(pages) > 1:
        raise ConfigError(f"Ratings of different pages do not go together: {' and '.join(map(str, pages.values()))}.")
    if not kept:
        raise ConfigError("There are no ratings in these files.")
    return list(kept.values())


def interval(ratings: Sequence[Rating], seed: int, draws: int) -> tuple[dict[str, float], float]:
    """Mean with its 95 % interval, and the two-sided p that it is 0, from resampled raters and sentences.

    A draw gives each rater and each sentence the number of times that it was drawn, and a rating both numbers' product
    as its weight, so ratings may be missing.
    """
    scores = np.array([rating.score for rating in ratings])
    raters, sentences = numbers([r.rater for r in ratings]), numbers([r.sentence for r in ratings])
    draw, means = np.random.default_rng(seed), list[float]()
    for _ in range(draws):
        weight = drawn(draw, raters) * drawn(draw, sentences)
        if weight.any():
            means.append(float(weight @ scores / weight.sum()))
    summary = {"mean": float(scores.mean()), "low": math.nan, "high": math.nan, "n": float(len(scores))}
    if raters.max() == sentences.max() == 0:
        return summary, math.nan
    made = np.array(means)
    summary["low"], summary["high"] = map(float, np.percentile(made, (2.5, 97.5)))
    tail = min(float((made <= 0).mean()), float((made >= 0).mean()))
    return summary, min(1.0, max(2 * tail, 1 / draws))


def numbers(names: Sequence[str]) -> NDArray[np.int64]:
    """Each name's number, from 0 in order of first appearance."""
    places = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([places[name] for name in names], np.int64)


def drawn(draw: np.random.Generator, items: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each rating's item comes up where as many items as there are are drawn with replacement."""
    many = int(items.max()) + 1
    return np.bincount(draw.integers(0, many, many), minlength=many)[items]
