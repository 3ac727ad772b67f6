"""Ordinals, with a full stop or with letters behind their figures, and Roman numerals."""

from __future__ import annotations

import pytest
from support.spoken import LANGUAGES, spoken

from sayahead.text.classes.roman import value_of
from sayahead.text.reading.language import language_of

NUMERALS = {
    1: "I",
    4: "IV",
    9: "IX",
    14: "XIV",
    18: "XVIII",
    20: "XX",
    21: "XXI",
    40: "XL",
    1999: "MCMXCIX",
}
ENDINGS = {"am": "en", "der": "e", "wurde": "er", "vom": "en", "seinem": "en", "das": "e"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_with_a_suffix_are_ordinals(language: str) -> None:
    record = language_of(language).record
    for suffix, form in record.table("ordinal_suffixes").items():
        for value in (2, 3, 11):
            ordinal = language_of(language).numbers.ordinal(value, form)
            assert spoken(language, f"bla {value}{suffix} bla") == f"bla {ordinal} bla |"


@pytest.mark.parametrize("language", ["es", "it", "pt"])
@pytest.mark.parametrize("text", ["bla 21°", "max 31°, bla", "bla 180°", "bla 21° {place} x"])
def test_degrees_are_no_ordinals(language: str, text: str) -> None:
    record = language_of(language).record
    if text.startswith("max") and record.cues.get("max") != "degrees":
        pytest.skip("no cue")
    place = sorted(record.table("places"))[0]
    assert record.units["°"].many in spoken(language, text.format(place=place))


@pytest.mark.parametrize("language", ["es", "it", "pt"])
@pytest.mark.parametrize("text", ["bla 3° bla", "bla 90º bla", "{article} 21º", "bla 5°"])
def test_ordinals_are_no_degrees(language: str, text: str) -> None:
    record = language_of(language).record
    article = next(word for word in record.table("articles") if word not in record.cues)
    assert record.units["°"].many not in spoken(language, text.format(article=article))


@pytest.mark.parametrize("value", [1, 3, 7, 8, 20, 31])
@pytest.mark.parametrize("word", ENDINGS)
def test_a_german_full_stop_makes_an_ordinal_of_the_right_case(word: str, value: int) -> None:
    stem = language_of("de").numbers.ordinal(value).removesuffix("e")
    assert spoken("de", f"Er {word} {value}. kam") == f"Er {word} {stem}{ENDINGS[word]} kam |"


@pytest.mark.parametrize("first", ["am", "die", "wurde"])
def test_two_ordinals_have_the_same_case(first: str) -> None:
    one, _, other = spoken("de", f"Er {first} 1. und 3. kam").split()[2:5]
    assert one.removeprefix("erst") == other.removeprefix("dritt")


@pytest.mark.parametrize("starter", ["Die", "Es", "Dann", "Wir"])
def test_a_number_at_the_end_of_its_sentence_is_no_ordinal(starter: str) -> None:
    assert (
        spoken("de", f"Es waren 7. {starter} gingen.") == f"Es waren sieben. | {starter} gingen. |"
    )


@pytest.mark.parametrize("language", ["es", "it", "pt"])
@pytest.mark.parametrize("century", ["XVIII", "XXI"])
def test_a_century_needs_no_noun_after_an_article(language: str, century: str) -> None:
    for article, gender in language_of(language).record.table("articles").items():
        for text in (f"bla {article} {century}.", f"bla {article} {century} y bla"):
            assert gender == "f" or century not in spoken(language, text)


@pytest.mark.parametrize("value", NUMERALS)
def test_roman_numerals_have_their_value(value: int) -> None:
    assert value_of(NUMERALS[value]) == value


@pytest.mark.parametrize("language", LANGUAGES)
def test_monarchs_are_counted_and_words_are_not(language: str) -> None:
    for name in sorted(language_of(language).record.table("names")):
        assert spoken(language, f"{name} IV") != f"{name} IV |"
        assert spoken(language, f"{name} MIX") == f"{name} MIX |"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["Am 3. und 4. Mai, der 1. FC", "la 3ª vez, 1er XXe s. Louis XIV. Der II. Weltkrieg"]
)
def test_any_split_gives_the_same_ordinals(language: str, text: str) -> None:
    whole = spoken(language, text)
    assert all(spoken(language, text, size=size) == whole for size in (1, 2, 3, 5))
