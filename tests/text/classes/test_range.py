"""What stands between two numbers, and fractions."""

from __future__ import annotations

import pytest
from support.spoken import LANGUAGES, spoken

from sayahead.text.classes.verbalize import cardinal, over
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
        spoken(language, f"y 3{sign}2 y")
        == f"y {cardinal('3', words)} {over(sign, words)} {cardinal('2', words)} y |"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fraction_with_a_name_is_said_by_it(language: str) -> None:
    numbers = language_of(language).numbers
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


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["10 - 4 = 6", "10-4=6", "10-4 = 6", "$50 - $20 = $30", "10 - 4 - 2 = 4", "9 – 5 = 4"]
)
def test_before_an_equals_sign_a_dash_is_a_minus(language: str, text: str) -> None:
    record = language_of(language).record
    said = spoken(language, f"bla {text}").split()
    assert said.count(record.sign("-")) == len([char for char in text if char in "-–"])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["1-0-1", "1-0-1-0", "2-2-2", "1-1-0-1-0"])
def test_a_series_is_no_range(language: str, text: str) -> None:
    words = language_of(language)
    assert (
        spoken(language, f"bla {text} bla")
        == f"bla {' '.join(cardinal(one, words) for one in text.split('-'))} bla |"
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("low", "high"), [("D19", "D23"), ("A1", "A4"), ("B7", "B12")])
def test_codes_of_a_kind_go_from_one_to_another(language: str, low: str, high: str) -> None:
    words = language_of(language)
    sides = [f"{code[0]} {cardinal(code[1:], words)}" for code in (low, high)]
    assert (
        spoken(language, f"bla {low}-{high} bla")
        == f"bla {f' {words.record.until} '.join(sides)} bla |"
    )
    assert words.record.until not in spoken(language, f"bla {high}-{low} bla").split()


HALVES = {
    "de": ("2½ Stunden", "zweieinhalb"),
    "es": ("2½ tazas", "dos y media"),
    "fr": ("2½ heures", "deux et demie"),
    "it": ("2½ ore", "due e mezza"),
    "pt": ("2½ horas", "duas e meia"),
    "pt-br": ("2½ horas", "duas e meia"),
}


@pytest.mark.parametrize("language", HALVES)
def test_a_half_more_agrees_with_its_noun(language: str) -> None:
    text, words = HALVES[language]
    for form in (text, text.replace("½", " ½"), text.replace("½", " 1/2")):
        assert spoken(language, f"bla {form} bla").startswith(f"bla {words}")


ORDERS = {
    "de": "Bestellung",
    "es": "pedido",
    "fr": "dossier",
    "it": "ordine",
    "nl": "bestelling",
    "pt": "pedido",
}


@pytest.mark.parametrize("language", ORDERS)
@pytest.mark.parametrize("number", ["45-1190", "2025-0173", "12-34567", "7-0042", "45020-5"])
def test_the_number_of_an_order_is_no_range(language: str, number: str) -> None:
    said = spoken(language, f"bla {ORDERS[language]} {number} bla").split()
    assert language_of(language).record.until not in said


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["5-7", "45-90", "10–15", "900-1.200", "1990-2010", "8-12", "0-100"]
)
def test_like_numbers_that_grow_are_a_range(language: str, text: str) -> None:
    assert language_of(language).record.until in spoken(language, f"bla {text} bla").split()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("end", ["", ".", ", bla", ")", " bla", "!"])
def test_a_range_is_one_whatever_follows(language: str, end: str) -> None:
    words = language_of(language)
    said = f"{cardinal('1200', words)} {words.record.until} {cardinal('1300', words)}"
    assert said in spoken(language, f"bla 1.200-1.300{end}")
