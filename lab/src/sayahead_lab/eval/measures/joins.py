"""Seams: the audible and the merely measurable effects where chunks of sound meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sayahead.errors import ConfigError
from sayahead.sound.pcm import AUDIBLE
from sayahead.types import Floats

WINDOW_S = 0.020
"""Reach to each side of a seam within which sound is compared with the seam's own."""
NEAR_S = 0.005
"""Reach to each side of a seam within which its click may lie; also the least gap that is
audible."""
ORDER = 3
DEVIATIONS = 8.0
PERCENTILE = 99.0
FLOOR = 2.0**-15
"""One step of 16-bit sound: anything smaller is neither a jump nor a click."""
ELSEWHERE = 200
"""Random places for the rate elsewhere."""


def jumps(samples: Floats, at: int, rate: int) -> bool:
    """Whether ``|x[at] - x[at-1]|`` is over the 99th percentile of the sample jumps within 20 ms to
    each side.

    By chance that is so at one place in a hundred. The jump itself is not among those it is
    compared with."""
    reach = round(WINDOW_S * rate)
    first = max(0, at - 1 - reach)
    steps = np.abs(np.diff(samples[first : at + reach].astype(np.float64)))
    step = steps[at - 1 - first]
    others = np.delete(steps, at - 1 - first)
    return bool(len(others) and step > max(float(np.percentile(others, PERCENTILE)), FLOOR))


def clicks(samples: Floats, at: int, rate: int) -> bool:
    """Whether a third-order linear prediction fails within 5 ms of the seam as it does not fail
    around it.

    The predictor ``x[n] = a1 x[n-1] + a2 x[n-2] + a3 x[n-3]`` is the least-squares one over the
    samples within 20 ms to each side that are not within 5 ms; over those same samples are taken
    the median and the *standard deviation* of the residual's absolute value. A click is a residual
    above median + 8 standard deviations. (The standard deviation and not the median absolute
    deviation: a voice's glottal pulses are outliers too, and on clean speech the latter calls three
    times as many of them clicks without detecting more of the inserted ones.)"""
    reach = round(WINDOW_S * rate)
    near = round(NEAR_S * rate)
    where = np.arange(max(ORDER, at - reach), min(len(samples), at + reach))
    close = (where >= at - near) & (where < at + near)
    if close.all() or not close.any():
        return False
    past = np.stack([samples[where - lag] for lag in range(1, ORDER + 1)], axis=1).astype(
        np.float64
    )
    present = samples[where].astype(np.float64)
    predictor = np.linalg.lstsq(past[~close], present[~close], rcond=None)[0]
    residual = np.abs(present - past @ predictor)
    around = residual[~close]
    bound = float(np.median(around)) + DEVIATIONS * float(around.std())
    return bool(residual[close].max() > max(bound, FLOOR))


def silence_s(samples: Floats, at: int, rate: int, *, reach_s: float = NEAR_S) -> float:
    """Seconds of the longest run of samples under -50 dBFS of which some lie within ``reach_s`` of
    a place."""
    reach = round(reach_s * rate)
    first = max(0, at - reach)
    end = min(len(samples), at + reach)
    # Half a second to each side is more than any silence inside a word; a pause is only known to be
    # at least that.
    start = max(0, first - rate // 2)
    quiet = np.abs(samples[start : end + rate // 2]) < AUDIBLE
    edges = np.flatnonzero(np.diff(np.concatenate([[False], quiet, [False]]).astype(np.int8)))
    begins = edges[::2] + start
    ends = edges[1::2] + start
    touching = (begins < end) & (ends > first)
    return float((ends - begins)[touching].max(initial=0)) / rate


def corresponding(
    places: Sequence[int], words: Sequence[tuple[int, int]], whole: Sequence[tuple[int, int]]
) -> list[int]:
    """Where the places (samples) of one rendering lie in another: linear between the words' onsets
    and offsets.

    ``words`` and ``whole`` are the onsets and offsets of the same words in the one and in the
    other, in samples."""
    if len(words) != len(whole):
        raise ConfigError(
            f"The two renderings have {len(words)} and {len(whole)} words, but must have the same."
        )
    if not words:
        return list(places)
    edges = np.array(words, np.float64).ravel()
    whole_edges = np.array(whole, np.float64).ravel()
    inside = np.interp(places, edges, whole_edges)
    # Before the first word and after the last both run at the same pace.
    before = np.minimum(0, np.asarray(places) - edges[0])
    after = np.maximum(0, np.asarray(places) - edges[-1])
    return [round(float(at)) for at in inside + before + after]


def seams(
    samples: Floats,
    boundaries: Sequence[int],
    rate: int,
    *,
    full: Floats | None = None,
    full_boundaries: Sequence[int] | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """Counts of the effects at the boundaries (first samples of chunks) of one utterance (S,).

    ``full`` is the voice's full-sentence rendering of the same text and ``full_boundaries`` the
    same places in it (see ``corresponding``; where absent they are equal): silence at a seam that
    is longer than there is a gap. Without ``full`` there are no gaps to count. Places at or outside
    the ends are no seams. Keys:

    - ``seams``; ``jumps`` and ``clicks`` among them (see the functions of those names);
      ``silence_total_s``, the sum of the silences at them (see ``silence_s``);
    - ``gaps``: seams at which the silence exceeds by 5 ms or more that of the full sentence, whose
      longest within 20 ms of the same place counts; ``compared``: seams that were compared with it;
    - ``elsewhere``, ``jumps_elsewhere``, ``clicks_elsewhere``: the same at up to 200 random places,
      none of them nearer than 25 ms to a seam or an end;
    - ``jumps_whole``, ``clicks_whole``: the same at the places of the full sentence that correspond
      to the seams, where chunks never met: seams lie at particular places of words, which may be
      rougher or smoother than others."""
    matched = list(boundaries) if full_boundaries is None else list(full_boundaries)
    if len(matched) != len(boundaries):
        raise ConfigError(
            f"seams(): {len(boundaries)} boundaries, but {len(matched)} places in the full"
            " sentence."
        )
    pairs = [
        (at, same) for at, same in zip(boundaries, matched, strict=True) if 0 < at < len(samples)
    ]
    places = [at for at, _ in pairs]
    random = random_places(len(samples), places, rate, seed=seed)
    silences = [silence_s(samples, at, rate) for at in places]
    # The full sentence at the same places; a place mapped onto one of its ends is moved inside.
    full = np.zeros(0, np.float32) if full is None else full
    same = [min(max(1, place), len(full) - 1) for _, place in pairs] if len(full) > 1 else []
    allowed = [silence_s(full, place, rate, reach_s=WINDOW_S) for place in same]
    counts: dict[str, float] = {
        "seams": len(places),
        "elsewhere": len(random),
        "compared": len(same),
        "gaps": sum(
            silence - other >= NEAR_S for silence, other in zip(silences, allowed, strict=False)
        ),
        "silence_total_s": sum(silences),
    }
    for suffix, sound, at in (
        ("", samples, places),
        ("_elsewhere", samples, random),
        ("_whole", full, same),
    ):
        counts[f"jumps{suffix}"] = sum(jumps(sound, place, rate) for place in at)
        counts[f"clicks{suffix}"] = sum(clicks(sound, place, rate) for place in at)
    return counts


def random_places(
    length: int, seams: Sequence[int], rate: int, *, number: int = ELSEWHERE, seed: int = 0
) -> list[int]:
    """Up to ``number`` different places at least 25 ms away from every seam and from both ends: the
    control."""
    away = round((WINDOW_S + NEAR_S) * rate)
    free = np.zeros(length, np.bool_)
    free[away : max(away, length - away)] = True
    for at in seams:
        free[max(0, at - away) : at + away] = False
    allowed = np.flatnonzero(free)
    choice = np.random.default_rng(seed).permutation(len(allowed))[:number]
    return [int(at) for at in allowed[choice]]
