"""Dates: the same day is said in the same words however it is written."""

from __future__ import annotations

import pytest
from support.spoken import LANGUAGES, spoken

from sayahead.text.reading.language import language_of

DAYS = ((1, 5), (3, 2), (12, 6), (24, 12), (31, 10))
CUE = {"de": "am", "es": "el", "fr": "le", "it": "il", "nl": "op", "pt": "dia", "pt-br": "dia"}
ROMANCE = ("es", "fr", "it", "pt", "pt-br")
SPLITS = (
    "24.12.1985, 3/5/2024 2024-05-03 15-Feb-2025.",
    "3. Dez. 2024 el 4 mar. 2024 3 mayo 2024 20 dic.-3 ene. Mo-Fr 2024/25 Mo., 3. Feb.",
    "Am 5.-7. Mai, 24./25.12., 01.–15.08.2026 bis 3. 5. 2024.",
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_date_is_said_alike_in_any_figures(language: str) -> None:
    for day, month in DAYS:
        forms = [f"{day}{mark}{month}{mark}2024" for mark in "./-"]
        forms += [
            f"{day:02}.{month:02}.2024",
            f"{day:02}/{month:02}/24",
            f"2024-{month:02}-{day:02}",
        ]
        assert len({spoken(language, f"{CUE[language]} {form}") for form in forms}) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_short_month_is_said_in_full(language: str) -> None:
    record = language_of(language).record
    for name, month in record.months.items() - record.day_months.items():
        of = f"{record.date_of} " if record.date_of else ""
        day = "3." if record.dot_ordinals else "3"
        assert spoken(language, f"{CUE[language]} {day} {name} bla").endswith(
            f"{of}{record.month_names[month - 1]} bla |"
        )


@pytest.mark.parametrize("language", ROMANCE)
def test_a_day_and_a_month_are_a_date_after_a_word_that_says_so(language: str) -> None:
    for day, month in DAYS:
        dated = spoken(language, f"{CUE[language]} {day}-{month}-2024").split()
        assert (
            dated[: len(spoken(language, f"{CUE[language]} {day}/{month}").split()) - 1]
            == (spoken(language, f"{CUE[language]} {day}/{month}").split()[:-1])
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_weekdays_in_short_are_said_in_full_from_one_to_another(language: str) -> None:
    record = language_of(language).record
    for first, one in record.table("weekdays").items():
        for last, other in record.table("weekdays").items():
            assert spoken(language, f"{first}-{last}, bla") == spoken(
                language, f"{first}.–{last}., bla"
            )
            assert spoken(language, f"{first}-{last}") == f"{one} {record.until} {other} |"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", SPLITS)
def test_any_split_gives_the_same_dates(language: str, text: str) -> None:
    whole = spoken(language, text)
    assert all(spoken(language, text, size=size) == whole for size in (1, 2, 3, 5))


@pytest.mark.parametrize("figures", ["31.13.2024", "32.12.2024", "0.5.2024"])
def test_what_is_no_day_is_no_date(figures: str) -> None:
    months = language_of("de").record.month_names
    assert not set(spoken("de", figures).split()) & set(months)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_time_stamp_is_a_date_and_a_time(language: str) -> None:
    date = spoken(language, "2024-05-03").removesuffix(" |")
    time = spoken(language, "14:30").removesuffix(" |")
    assert spoken(language, "2024-05-03T14:30") == f"{date} {time} |"
