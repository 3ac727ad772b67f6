"""What stands between two numbers, and fractions."""

from __future__ import annotations

import pytest
from support.spoken import LANGUAGES, spoken

from sayahead.text.classes.verbalize import cardinal, numbers_of, over
from sayahead.text.reading.language import language_of

PAIRS = (("5", "7"), ("10", "20"), ("6", "12"), ("2,5", "3"), ("900", "1.200"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("dash", ["-", "–", "—", " - ", " – "])
def test_a_dash_between_two_numbers_goes_from_one_to_the_other(language: str, dash: str) -> None:
    words = language_of(language)
    for low, high in PAIRS:
        said = f"bla {cardinal(low, words)} {words.record.until} {cardinal(high, words)} bla |"
        assert spoken(language, f"bla {low}{dash}{high} bla") == said


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", ["45-1190", "7-2345", "12-4500"])
def test_what_grows_by_two_figures_is_no_range(language: str, code: str) -> None:
    assert language_of(language).record.until not in spoken(language, f"bla {code} bla").split()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sign", [":", "*", "·"])
def test_a_sign_between_two_numbers_has_its_name_there(language: str, sign: str) -> None:
    words = language_of(language)
    assert (
        spoken(language, f"y 3{sign}2 y") == f"y {cardinal('3', words)} {over(sign, words)} {cardinal('2', words)} y |"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fraction_with_a_name_is_said_by_it(language: str) -> None:
    numbers = numbers_of(language_of(language))
    for below in numbers.parts.keys() - {2}:
        assert spoken(language, f"bla 2/{below} bla") == f"bla {numbers.part(2, below)} bla |"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("sign", "typed"), [("½", "1/2"), ("¾", "3/4"), ("⅔", "2/3"), ("2½", "2 1/2"), ("3¼", "3 1/4")]
)
def test_a_fraction_in_one_sign_is_the_same(language: str, sign: str, typed: str) -> None:
    assert spoken(language, f"bla {sign} bla") == spoken(language, f"bla {typed} bla")


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_split_gives_the_same_ranges(language: str) -> None:
    text = "5-7 km, 3:2 4 x 6 x 8 cm 1 1/2 TL, 2 ½ tazas 7,5/10 24/7 10 – 20 3x"
    whole = spoken(language, text)
    assert all(spoken(language, text, size=size) == whole for size in (1, 2, 3, 5))
