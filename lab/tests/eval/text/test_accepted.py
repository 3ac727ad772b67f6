"""Accepted readings with choices in braces."""

from __future__ import annotations

import pytest
from sayahead.errors import ConfigError

from sayahead_lab.eval.text.accepted import distance, is_accepted, parse


@pytest.mark.parametrize(
    "said", ["At five.", "at oh-five", "at oh six", "By five o'clock!", "at five hundred and two"]
)
def test_a_choice_is_accepted(said: str) -> None:
    readings = "at {five|oh {five|six}} | by five oclock | at {five|} hundred and two"
    assert is_accepted(said, parse(readings))
    assert distance(said, parse(readings)) == 0


@pytest.mark.parametrize(
    "said", ["B.P. is five", "BP is five", "b p is five", "blood pressure is five"]
)
def test_letters_are_alike_however_they_are_parted(said: str) -> None:
    assert distance(said, parse("{b p|blood pressure} is five")) == 0


def test_and_in_a_number_is_left_to_the_reader() -> None:
    assert distance("one hundred five", parse("one hundred and five")) == 0
    assert distance("one hundred and five", parse("one hundred and five")) == 0


def test_wrong_words_are_those_to_the_nearest_reading() -> None:
    assert distance("at six in town", parse("at {five|seven} in {the|} town")) == 1
    assert distance("at town", parse("at {five|seven} in {the|} town")) == 2


@pytest.mark.parametrize("reading", ["at {five", "at five} o"])
def test_braces_are_closed(reading: str) -> None:
    with pytest.raises(ConfigError):
        parse(reading)
