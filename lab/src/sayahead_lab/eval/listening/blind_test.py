"""A blind listening test in one HTML file, and statistics of its ratings.

Two designs. ``mushra``: the same sentence from several conditions beside each other, in a new random order for every
sentence, rated from 0 to 100 as in MUSHRA (ITU-R BS.1534), but without its reference and anchors unless they are
conditions. ``ab``: two at a time, the first condition against each other one, and which sounds better, if either. All
sounds of a page are made equally loud (see ``loudness``). Ratings stay in the browser and are saved as a JSON
file, which alone names the conditions.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sayahead.errors import ConfigError
from sayahead.sound.files import read_wav, wav_header
from sayahead.sound.pcm import to_pcm16

from sayahead_lab.eval.experiment.folder import wav_path
from sayahead_lab.eval.experiment.trace import Trace, read_traces
from sayahead_lab.eval.listening.loudness import matched
from sayahead_lab.scripts import strided

K = TypeVar("K")
MOST = 9
"""Conditions that the number keys can play."""
DESIGNS = ("mushra", "ab")
PREFERENCES = (0.0, 0.5, 1.0)


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
    """0 to 100; where there is another: 1 it is better, 0 the other is, 0.5 neither."""
    against: str = ""
    """The other of two conditions."""


def listening_page(
    out: Path, target: Path, conditions: Sequence[str], count: int, seed: int = 0, *, design: str = "mushra"
) -> None:
    """Write a page with ``count`` sentences of an experiment, evenly spaced, by each of the conditions.

    ``out`` is the experiment's folder, ``target`` the HTML file. The sounds are embedded as 16-bit PCM WAV at one
    loudness. The seed fixes the order. ConfigError where there is nothing to compare or a sound is missing.
    """
    if not 2 <= len(set(conditions)) == len(conditions) <= MOST:
        raise ConfigError(f"A listening page compares 2 to {MOST} different conditions, not {', '.join(conditions)}.")
    if count < 1:
        raise ConfigError(f"A listening page needs at least 1 sentence, not {count}.")
    traces = strided(utterances(out / conditions[0]), count)
    paths = {(trace.name, name): wav_path(out / name, trace.name) for trace in traces for name in conditions}
    sounds = equally_loud(paths)
    draw, sentences, key = np.random.default_rng(seed), [], []
    for trace in traces:
        for group in groups(conditions, design, draw):
            samples = [sounds[trace.name, name] for name in group]
            sentences.append({"text": trace.source, "samples": samples})
            key.append({"name": trace.name, "conditions": group})
    lengths = [len(sample) for sentence in sentences for sample in sentence["samples"]]
    page = hashlib.sha256(json.dumps([key, lengths]).encode()).hexdigest()[:12]
    secret = base64.b64encode(json.dumps(key).encode()).decode()
    data = {"page": page, "design": design, "sentences": sentences, "key": secret}
    # A text with "</script>" in it must not end the block.
    block = json.dumps(data).replace("<", "\\u003c")
    template = resources.files("sayahead_lab.eval.listening").joinpath("blind_test.html").read_text(encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(template.replace("/*DATA*/", block), encoding="utf-8")


def groups(conditions: Sequence[str], design: str, draw: np.random.Generator) -> list[list[str]]:
    """The conditions to compare for a sentence, group by group, each in an order of its own."""
    together = [list(conditions)] if design == "mushra" else [[conditions[0], other] for other in conditions[1:]]
    shuffled = [[group[at] for at in draw.permutation(len(group))] for group in together]
    return [shuffled[at] for at in draw.permutation(len(shuffled))] if len(shuffled) > 1 else shuffled


def utterances(folder: Path) -> list[Trace]:
    """The traces of a condition on whichever clock there is, by number."""
    for path in sorted(folder.glob("*.jsonl")):
        if traces := sorted(read_traces(path), key=lambda trace: trace.index):
            return traces
    raise ConfigError(f"{folder} has no traces: run the experiment first, or choose another condition.")


def equally_loud(paths: Mapping[K, Path]) -> dict[K, str]:
    """WAV files at one loudness, in base64; ConfigError where one is missing or not 16-bit mono."""
    sounds = [read_wav(path) for path in paths.values()]
    encoded = {}
    for key, samples, (_, rate) in zip(paths, matched(sounds), sounds, strict=True):
        pcm = to_pcm16(samples).tobytes()
        encoded[key] = base64.b64encode(wav_header(rate, len(pcm)) + pcm).decode()
    return encoded


def listening_statistics(files: Sequence[Path], *, seed: int = 0, draws: int = 2000) -> dict[str, Any]:
    """Statistics of one page's saved ratings over all raters; a page of each design may be combined.

    ``conditions``: by name, best first, the ``mean`` score, its 95 % interval ``low`` to ``high``, and ``n`` ratings.
    ``differences``: for every two conditions (``condition`` rated better than ``against``) the mean paired difference
    over the samples that a rater gave both for, its interval, and a two-sided bootstrap ``p``, not corrected for the
    number of pairs. ``preferences``, of pages that compare two at a time: the share of answers in which ``condition``
    is better than ``against``, from 0.5 to 1, "no difference" being half of one; ``p`` is that it is 0.5. Further
    ``raters``, ``sentences``, ``ratings``. Intervals come from resampling raters and sentences alike, so they speak for
    other raters and other sentences; with one rater for sentences only. nan where there is nothing to resample. A
    rater's file counts once even if listed twice; the later rating of a sample wins.
    """
    everything = read_ratings(files)
    ratings = [rating for rating in everything if not rating.against]
    by_condition: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_condition.setdefault(rating.condition, []).append(rating)
    means = {name: math.fsum(r.score for r in rated) / len(rated) for name, rated in by_condition.items()}
    best_first = sorted(means, key=lambda name: -means[name])
    differences = []
    for better, worse in itertools.combinations(best_first, 2):
        other = {(r.rater, r.sentence): r.score for r in by_condition[worse]}
        pairs = [
            replace(r, score=r.score - other[r.rater, r.sentence])
            for r in by_condition[better]
            if (r.rater, r.sentence) in other
        ]
        if pairs:
            summary, p = interval(pairs, seed, draws)
            differences.append({"condition": better, "against": worse, **summary, "p": p})
    return {
        "raters": len({rating.rater for rating in everything}),
        "sentences": len({rating.sentence for rating in everything}),
        "ratings": len(everything),
        "conditions": {name: interval(by_condition[name], seed, draws)[0] for name in best_first},
        "differences": differences,
        "preferences": preferences([rating for rating in everything if rating.against], seed, draws),
    }


def preferences(answers: Sequence[Rating], seed: int, draws: int) -> list[dict[str, Any]]:
    """The share of answers that prefer the better of each two conditions; see ``listening_statistics``."""
    pairs: dict[tuple[str, str], list[Rating]] = {}
    for one in answers:
        first, second = sorted((one.condition, one.against))
        # From -0.5 for the second to 0.5 for the first, so that 0 is no preference.
        lean = one.score - 0.5 if one.condition == first else 0.5 - one.score
        pairs.setdefault((first, second), []).append(replace(one, score=lean))
    rows = []
    for (first, second), leans in pairs.items():
        if math.fsum(one.score for one in leans) < 0:
            first, second, leans = second, first, [replace(one, score=-one.score) for one in leans]
        summary, p = interval(leans, seed, draws)
        share = {key: value + 0.5 for key, value in summary.items() if key != "n"}
        rows.append({"condition": first, "against": second, **share, "n": summary["n"], "p": p})
    return sorted(rows, key=lambda one: -one["mean"])


def read_ratings(files: Sequence[Path]) -> list[Rating]:
    """All ratings of the files; ConfigError for a file without ratings, or of another page of the same design."""
    ratings, pages = dict[tuple[str, ...], Rating](), dict[tuple[str, str], Path]()
    for path in files:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            pages.setdefault((str(data.get("design", "mushra")), str(data["page"])), path)
            for rating in ratings_of(data):
                if rating.against and rating.score not in PREFERENCES:
                    raise ConfigError(f"{path}: a preference of {rating.score:g} is not 0, 0.5 or 1.")
                if not 0 <= rating.score <= 100:
                    raise ConfigError(f"{path}: a score of {rating.score:g} is not between 0 and 100.")
                both = sorted((rating.condition, rating.against))
                ratings[rating.rater, rating.sentence, *both] = rating
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"{path} is not a file of ratings that the listening page saved ({error!r}).") from error
    for design in DESIGNS:
        files_of = [str(path) for (page_design, _), path in pages.items() if page_design == design]
        if len(files_of) > 1:
            raise ConfigError(f"Ratings of different pages do not go together: {' and '.join(files_of)}.")
    if not ratings:
        raise ConfigError("There are no ratings in these files.")
    return list(ratings.values())


def ratings_of(data: Mapping[str, Any]) -> Iterator[Rating]:
    """The ratings in one saved file."""
    for one in data["ratings"]:
        against = str(one["against"]) if data.get("design") == "ab" else ""
        yield Rating(str(data["rater"]), str(one["sentence"]), str(one["condition"]), float(one["score"]), against)


def interval(ratings: Sequence[Rating], seed: int, draws: int) -> tuple[dict[str, float], float]:
    """Mean with its 95 % interval, and the two-sided p that it is 0, from resampled raters and sentences.

    A draw gives each rater and each sentence the number of times that it was drawn, and a rating both numbers' product
    as its weight, so some ratings may be missing.
    """
    scores = np.array([rating.score for rating in ratings])
    raters, sentences = numbers([r.rater for r in ratings]), numbers([r.sentence for r in ratings])
    draw, means = np.random.default_rng(seed), list[float]()
    for _ in range(draws):
        weight = draw_counts(draw, raters) * draw_counts(draw, sentences)
        if weight.any():
            means.append(float(weight @ scores / weight.sum()))
    summary = {"mean": float(scores.mean()), "low": math.nan, "high": math.nan, "n": float(len(scores))}
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
