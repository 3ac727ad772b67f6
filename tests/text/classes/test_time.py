"""Times of day and lengths of time."""

from __future__ import annotations

import pytest
from support.spoken import LANGUAGES, spoken

from sayahead.text.reading.language import language_of

TIMES = ((7, 5), (9, 0), (14, 30), (18, 45), (23, 59))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_time_is_said_alike_with_any_sign(language: str) -> None:
    record = language_of(language).record
    for hour, minute in TIMES:
        forms = {
            spoken(language, f"bla {hour}{sign}{minute:02} bla")
            for sign in (":", *record.hour_signs)
        }
        forms |= {
            spoken(language, f"bla {hour}:{minute:02} {word} bla")
            for word in record.table("hour_words").keys() - record.table("lasting").keys()
        }
        forms |= {
            spoken(language, f"bla {hour}.{minute:02} {word} bla")
            for word in record.table("hour_words")
        }
        assert len(forms) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_span_of_times_is_its_two_times(language: str) -> None:
    until = language_of(language).record.until
    for hour, minute in TIMES:
        first = spoken(language, f"bla {hour}:{minute:02} bla").split()[1:-2]
        both = spoken(language, f"bla {hour}:{minute:02}–{hour}:{minute:02} bla").split()[1:-2]
        assert both == [*first, until, *first]


@pytest.mark.parametrize("language", LANGUAGES)
def test_before_a_unit_it_is_a_length_of_time(language: str) -> None:
    for name in language_of(language).record.table("lasting"):
        assert spoken(language, f"2:15 {name}").split()[1] != spoken(language, "2:15").split()[1]


@pytest.mark.parametrize("figures", ["25:10", "9:60", "7:5"])
def test_what_is_no_time_is_a_ratio(figures: str) -> None:
    assert language_of("de").record.between[":"] in spoken("de", figures).split()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text",
    ["um 14.30 Uhr, 14h30 9h-18h 8:30–18:00 Uhr.", "2h30min 1h05 10:30 min 3:02:01 12h02m00s"],
)
def test_any_split_gives_the_same_times(language: str, text: str) -> None:
    whole = spoken(language, text)
    assert all(spoken(language, text, size=size) == whole for size in (1, 2, 3, 5))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_time_with_a_point_is_one_beside_another(language: str) -> None:
    words = language_of(language)
    for link in ("-", *(f" {word} " for word in words.vocabularies["until_words"])):
        last = next(iter(sorted(words.record.table("hour_words"))), "")
        said = spoken(language, f"bla 8.30{link}17.45 {last}".strip())
        assert words.record.dot not in said.split()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sign", ["s", "''", "″"])
def test_hundredths_follow_seconds(language: str, sign: str) -> None:
    noun = language_of(language).record.units["s"].many
    assert spoken(language, f"bla 49{sign}87 bla").split().count(noun) == 1
