"""English by its own rules: labels, streets, plurals, attributive amounts, and any split of a text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.readings import cases

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader

LANGUAGE = language_of("en")
GOLDEN = [case.text for case in cases(Path(__file__).parents[1] / "readings.tsv")]


def spoken(text: str) -> str:
    reader = TokenReader(LANGUAGE)
    return " ".join(word.text for word in reader.push(text) + reader.flush())


@given(st.integers(100, 999))
def test_three_figures_after_a_label_are_one_and_two(value: int) -> None:
    first, rest = divmod(value, 100)
    numbers = LANGUAGE.record.numbers
    assert numbers is not None
    two = "hundred" if not rest else f"oh {numbers.cardinal(rest)}" if rest < 10 else numbers.cardinal(rest)
    assert spoken(f"room {value}") == f"room {numbers.cardinal(first)} {two}"
    assert spoken(f"It has {value} rooms.").split()[2] != "oh"


@pytest.mark.parametrize(("short", "whole"), [("St", "Street"), ("Dr", "Drive")])
def test_a_road_stands_after_its_name_and_a_title_before_one(short: str, whole: str) -> None:
    assert spoken(f"on Oak {short}.") == f"on Oak {whole}."
    assert whole not in spoken(f"with {short}. Oak")


@pytest.mark.parametrize("before", ["a", "my", "the"])
def test_an_amount_before_what_is_paid_has_no_plural(before: str) -> None:
    assert spoken(f"pay {before} $54 water bill") == f"pay {before} fifty-four dollar water bill"


@given(st.sampled_from(GOLDEN), st.data())
def test_any_split_gives_the_same_words(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    reader = TokenReader(LANGUAGE)
    split = reader.push(text[:at]) + reader.push(text[at:]) + reader.flush()
    reader = TokenReader(LANGUAGE)
    assert split == reader.push(text) + reader.flush()
