"""Seams: nothing is found where nothing is, and everything that was put in."""

from __future__ import annotations

import numpy as np
import pytest
from sayahead.errors import ConfigError
from sayahead.types import Floats

from sayahead_lab.eval.measures.joins import (
    clicks,
    corresponding,
    jumps,
    random_places,
    seams,
    silence_s,
)
from sayahead_lab.eval.measures.streaming_effects import one_shot_difference

RATE = 24000


def sine(seconds: float = 2.0, hertz: float = 210.0) -> Floats:
    return (0.3 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)).astype(
        np.float32
    )


def noise(seconds: float = 4.0) -> Floats:
    """White noise through a resonance at 700 Hz."""
    white = np.random.default_rng(1).normal(size=round(seconds * RATE))
    length = 400
    radius = 0.97
    n = np.arange(length)
    out = np.convolve(white, radius**n * np.cos(2 * np.pi * 700 / RATE * n))[: len(white)]
    return np.asarray(0.3 * out / np.abs(out).max(), np.float32)


def boundaries(samples: Floats, number: int = 150) -> list[int]:
    return sorted(random_places(len(samples), [], RATE, number=number, seed=3))


@pytest.mark.parametrize("sound", [sine(), noise()], ids=["sine", "noise"])
def test_clean_sound_has_no_seams_above_chance(sound: Floats) -> None:
    found = seams(sound, boundaries(sound), RATE, full=sound)
    assert found["seams"] == 150
    assert found["clicks"] == 0
    # The chance of a jump over the 99th percentile is 1 %.
    assert found["jumps"] <= 0.04 * 150
    assert found["gaps"] == 0


def test_a_click_is_found_where_it_is_and_not_elsewhere() -> None:
    sound = noise()
    at = RATE
    sound[at] += 0.3
    found = seams(sound, [at], RATE)
    assert (found["jumps"], found["clicks"]) == (1, 1)
    assert found["elsewhere"] == 200
    assert found["clicks_elsewhere"] == 0
    # The same place of the sound as it was before has none.
    before = seams(sound, [at], RATE, full=noise())
    assert (before["compared"], before["jumps_whole"], before["clicks_whole"]) == (1, 0, 0)
    # 5 ms reach to each side, as defined.
    assert clicks(sound, at + 100, RATE)
    assert not clicks(sound, at + 200, RATE)


def test_a_phase_jump_is_found() -> None:
    part = sine(0.5)
    # A quarter of a period is missing: from a peak to the next zero.
    joined = np.concatenate([part[:6029], part[6029 + 29 :]])
    assert jumps(joined, 6029, RATE)
    assert clicks(joined, 6029, RATE)
    # Turned over between two samples to each side of a zero: no jump of the samples, but one of
    # their slope.
    part = np.sin(2 * np.pi / 120 * (np.arange(12000) + 0.5)).astype(np.float32)
    turned = np.concatenate([part[:6000], -part[6000:]])
    assert not jumps(turned, 6000, RATE)
    assert clicks(turned, 6000, RATE)


@pytest.mark.parametrize(("milliseconds", "gaps"), [(4, 0), (6, 1), (8, 1)])
def test_a_gap_over_5_ms_is_found(milliseconds: int, gaps: int) -> None:
    whole = noise()
    at = RATE
    length = round(milliseconds / 1000 * RATE)
    # The boundary lies at a loud sample, so that the gap is all the silence there is.
    whole[at - 1 : at + 1] = 0.1
    split = np.concatenate([whole[:at], np.zeros(length, np.float32), whole[at:]])
    found = seams(split, [at + length], RATE, full=whole, full_boundaries=[at])
    assert found["gaps"] == gaps
    assert found["silence_total_s"] == pytest.approx(milliseconds / 1000, abs=0.0005)
    # Without the full sentence nothing is compared.
    alone = seams(split, [at + length], RATE)
    assert (alone["compared"], alone["gaps"]) == (0, 0)


def test_silence_that_the_full_sentence_has_too_is_no_gap() -> None:
    whole = noise()
    whole[RATE : RATE + 1200] = 0
    # The same pause 2 ms later, and the seam in its middle.
    moved = np.concatenate([whole[:RATE], np.full(48, 0.1, np.float32), whole[RATE:]])
    assert silence_s(moved, RATE + 600, RATE) == pytest.approx(0.05, abs=0.002)
    assert seams(moved, [RATE + 648], RATE, full=whole, full_boundaries=[RATE + 600])["gaps"] == 0


def test_silence_is_neither_a_jump_nor_a_click() -> None:
    found = seams(np.zeros(RATE, np.float32), [5000, 9000], RATE)
    assert (found["jumps"], found["clicks"], found["clicks_elsewhere"]) == (0, 0, 0)


def test_ends_are_no_seams_and_short_sounds_no_error() -> None:
    sound = sine(0.01)
    found = seams(sound, [0, 3, 120, len(sound) - 1, len(sound), 9999], RATE)
    assert found["seams"] == 3
    assert found["elsewhere"] == 0
    assert seams(sound[:0], [], RATE)["seams"] == 0


def test_random_places_keep_away_from_seams_and_repeat() -> None:
    places = random_places(RATE, [12000], RATE)
    assert places == random_places(RATE, [12000], RATE)
    assert places != random_places(RATE, [12000], RATE, seed=1)
    assert min(abs(at - 12000) for at in places) >= 600
    assert min(places) >= 600
    assert max(places) < RATE - 600


def test_places_correspond_by_the_words() -> None:
    words = [(100, 200), (300, 400)]
    whole = [(110, 310), (310, 400)]
    assert corresponding([50, 100, 150, 250, 350, 420], words, whole) == [
        60,
        110,
        210,
        310,
        355,
        420,
    ]
    assert corresponding([7], [], []) == [7]
    with pytest.raises(ConfigError, match="2 and 1 words"):
        corresponding([1], words, whole[:1])
    with pytest.raises(ConfigError, match="1 boundaries, but 2 places"):
        seams(sine(), [100], RATE, full=sine(), full_boundaries=[1, 2])


def test_one_shot_difference() -> None:
    sound = sine(0.1)
    assert one_shot_difference(sound, sound.copy()) == (0.0, True)
    other = sound.copy()
    other[7] += 0.25
    largest, equal = one_shot_difference(other, sound)
    assert largest == pytest.approx(0.25)
    assert not equal
    # What is longer differs even by silence, and by as much as it goes on.
    assert one_shot_difference(np.append(sound, np.float32(0)), sound) == (0.0, False)
    assert one_shot_difference(sound, np.append(sound, np.float32(0.5))) == (0.5, False)
    assert one_shot_difference(sound[:0], sound[:0]) == (0.0, True)
