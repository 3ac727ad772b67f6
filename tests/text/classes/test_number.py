"""Numbers: every value in words, in the form of what it counts, whatever stands around it."""

from __future__ import annotations

import pytest
from support.spoken import LANGUAGES, spoken

from sayahead.text.classes.verbalize import cardinal
from sayahead.text.reading.language import language_of

VALUES = (0, 2, 7, 14, 22, 39, 80, 95, 100, 343, 999, 1000, 2024, 70_000, 65_432, 5_000_004)
NOUNS = {
    "es": (
        ("niño", "niños", "un", "veintiún", "doscientos"),
        ("niña", "niñas", "una", "veintiuna", "doscientas"),
    ),
    "pt": (
        ("menino", "meninos", "um", "vinte e um", "duzentos"),
        ("menina", "meninas", "uma", "vinte e uma", "duzentas"),
    ),
    "fr": (
        ("chat", "chats", "un", "vingt et un", "deux-cents"),
        ("femme", "femmes", "une", "vingt et une", "deux-cents"),
    ),
}
"""Nouns of both genders, and one, twenty-one and two hundred before them."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_in_figures_is_said_in_words(language: str) -> None:
    words = language_of(language)
    for value in VALUES:
        name = "year" if 1100 <= value < 2000 and words.numbers.has("year") else "cardinal"
        assert spoken(language, f"{value}") == f"{words.numbers.in_words(name, value)} |"


@pytest.mark.parametrize("language", LANGUAGES)
def test_groups_of_three_figures_are_one_number(language: str) -> None:
    million = spoken(language, "1000000")
    assert spoken(language, "1.000.000") == spoken(language, "1 000 000") == million


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sign_belongs_to_the_number_behind_it(language: str) -> None:
    words = language_of(language)
    for sign in "+-±−":
        said = spoken(language, f"bla {sign}5,25")
        assert (
            said == f"bla {words.record.sign(sign.replace('−', '-'))} {cardinal('5,25', words)} |"
        )


@pytest.mark.parametrize("language", NOUNS)
def test_numbers_agree_with_their_noun(language: str) -> None:
    for one, many, first, twenty_one, two_hundred in NOUNS[language]:
        assert spoken(language, f"1 {one}, 21 {many}; 200 {many}.") == (
            f"{first} {one}, {twenty_one} {many}; {two_hundred.replace('-', ' ')} {many}. |"
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_scale_goes_on_with_its_number(language: str) -> None:
    record = language_of(language).record
    for name, noun in record.scales.items():
        said = spoken(language, f"2,5 {name} bla")
        assert said == f"{cardinal('2,5', language_of(language))} {noun.many} bla |"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["21 x, -3,5 y 1.200 Mio. 007", "200 c 1 d 31 Tage 5k ±2 1 000 000 z"]
)
def test_any_split_gives_the_same_numbers(language: str, text: str) -> None:
    whole = spoken(language, text)
    assert all(spoken(language, text, size=size) == whole for size in (1, 2, 3, 5))


@pytest.mark.parametrize("language", ["es", "pt"])
def test_thousands_agree_with_the_noun_behind_them(language: str) -> None:
    (_, masculine, *_, many), (_, feminine, *_, other) = NOUNS[language]
    assert spoken(language, f"200 mil {masculine}").startswith(many)
    assert spoken(language, f"200 mil {feminine}").startswith(other)


@pytest.mark.parametrize("language", ["es", "pt", "fr"])
def test_numbers_with_a_sign_agree_too(language: str) -> None:
    minus = language_of(language).record.sign("-")
    for one, many, first, twenty_one, _ in NOUNS[language]:
        assert (
            spoken(language, f"-1 {one}, -21 {many}")
            == f"{minus} {first} {one}, {minus} {twenty_one} {many} |"
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_many_figures_behind_a_point_are_said_one_by_one(language: str) -> None:
    words = language_of(language)
    figures = " ".join(words.numbers.cardinal(int(figure)) for figure in "52298725")
    said = f"{words.numbers.cardinal(0)} {words.record.dot} {figures}"
    assert spoken(language, "0.52298725") == f"{said} |"
    assert spoken(language, "-0.52298725") == f"{words.record.sign('-')} {said} |"
