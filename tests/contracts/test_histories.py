"""Random histories of whole sessions hold what every session promises, at all speeds, voices and
policies.

What ever failed is kept in ``histories.txt``, a voice and a seed a line, and is told again each
time. Full size: ``SAYAHEAD_TESTS=full``, or ``python -m support.histories --count 20000`` in
``tests``."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.effort import FULL
from support.histories import SLOW, tell

CORPUS = [
    line.split()
    for line in Path(__file__).with_name("histories.txt").read_text().splitlines()
    if line
]
VOICES = ("toy", "heart", "heart-low", "heart-bright")


@pytest.mark.parametrize(("voice", "seed", "speeds"), CORPUS)
def test_what_failed_once_holds(voice: str, seed: str, speeds: str) -> None:
    if speeds == "slow":
        tell(voice, int(seed), speeds=SLOW)
    else:
        tell(voice, int(seed))


@pytest.mark.timeout(3600 if FULL else 300)
@pytest.mark.parametrize("voice", VOICES)
def test_any_history_says_every_word_once_at_its_time(voice: str) -> None:
    """At speeds below 1, one text in eight that was full of marks had times of its words'
    neighbours."""
    count = 5000 if FULL else 100 if voice == "toy" else 6
    for seed in range(count):
        tell(voice, seed)


@pytest.mark.timeout(3600 if FULL else 300)
def test_slow_speech_gives_every_word_its_own_time() -> None:
    for seed in range(10_000 if FULL else 10):
        tell("heart", seed, speeds=SLOW)
