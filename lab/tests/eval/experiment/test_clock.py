"""Text clocks: the text arrives whole, in order, at the pace they say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sayahead import ConfigError

from sayahead_lab.eval.experiment.clock import (
    AllAtOnce,
    ReadingClock,
    TextClock,
    Tokens,
    Typist,
    WordEnds,
)

TEXT = "The quick brown fox jumps over the lazy dog, and nobody at all minded it. "
CLOCKS: list[TextClock] = [
    AllAtOnce(),
    Tokens(),
    Tokens(7.5, letters=1, jitter=0),
    ReadingClock(),
    Typist(),
    Typist(90, 0, 1),
]


@pytest.mark.parametrize("clock", CLOCKS, ids=repr)
@given(
    text=st.text(max_size=60) | st.sampled_from([TEXT, " leading", "trailing \n", "", " ", "one"])
)
def test_the_text_arrives_whole_and_time_does_not_go_back(clock: TextClock, text: str) -> None:
    arrivals = clock.arrivals(text)
    assert "".join(arrival.text for arrival in arrivals) == text
    assert all(arrival.text for arrival in arrivals)
    assert all(a.at_s <= b.at_s for a, b in pairwise(arrivals))
    assert arrivals == clock.arrivals(text)


def test_tokens_have_the_space_in_front_and_the_pace_on_average() -> None:
    arrivals = Tokens(50, jitter=0.3).arrivals(TEXT * 40)
    assert [arrival.text for arrival in arrivals[:6]] == ["The", " quic", "k", " brow", "n", " fox"]
    assert len(arrivals) / arrivals[-1].at_s == pytest.approx(50, rel=0.05)
    steady = Tokens(50, jitter=0).arrivals(TEXT)
    assert np.allclose(np.diff([a.at_s for a in steady]), 0.02)


def test_a_reader_takes_as_long_as_the_words_a_minute_say() -> None:
    arrivals = ReadingClock(180).arrivals(TEXT)
    assert arrivals[-1].at_s == pytest.approx(60 * len(TEXT.split()) / 180)
    assert [arrival.text for arrival in arrivals[:2]] == ["The ", "quick "]


def test_a_typist_loses_time_by_pauses_and_corrections() -> None:
    text = TEXT * 20
    plain, paused, clumsy = (
        Typist(40, pause_s, corrections).arrivals(text)[-1].at_s
        for pause_s, corrections in ((0, 0), (1, 0), (0, 0.5))
    )
    assert plain == pytest.approx(len(text) / 5 / 40 * 60, rel=0.1)
    assert paused > plain + 10
    assert 1.5 * plain < clumsy < 2.5 * plain


def test_word_ends_of_a_recording() -> None:
    assert [a.at_s for a in WordEnds((0.5, 0.9)).arrivals("one two")] == [0.5, 0.9]
    with pytest.raises(ConfigError, match="2 times for a text of 3 words"):
        WordEnds((0.5, 0.9)).arrivals("one two three")
    with pytest.raises(ConfigError, match="go back"):
        WordEnds((0.9, 0.5)).arrivals("one two")


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ConfigError, match="per_s is 0"):
        Tokens(0)
    with pytest.raises(ConfigError, match="words_per_min is -3"):
        ReadingClock(-3)
    with pytest.raises(ConfigError, match="corrections between 0 and 1"):
        Typist(corrections=2)
    with pytest.raises(ConfigError, match="jitter"):
        Tokens(jitter=-1)
