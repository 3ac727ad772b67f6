"""Words that are written short: a beginning is read as the word, and a word is never taken for a beginning."""

from __future__ import annotations

import pytest
from support import other_readings

from sayahead.text.english import tables
from sayahead.text.english.normalizer import normalize
from sayahead.text.languages import record_of
from sayahead.text.shared.shortened import CutWords

LANGUAGES = ("de", "es", "fr", "it", "pt")
WORDS = CutWords(("antibiótico+s", "bustina+-e", "alérgico/-a", "gasto+s", "Umleitung+en", "planta+s"), {"plan"})


@pytest.mark.parametrize(
    ("form", "one", "many"),
    [
        ("antib", "antibiótico", "antibióticos"),
        ("Antib", "Antibiótico", "Antibióticos"),
        ("antibiot", "antibiótico", "antibióticos"),
        ("bust", "bustina", "bustine"),
        ("gtos", "gastos", "gastos"),
        ("Umleitg", "Umleitung", "Umleitungen"),
    ],
)
def test_a_form_is_its_word(form: str, one: str, many: str) -> None:
    cut = WORDS.of(form)
    assert cut is not None
    assert (cut.one, cut.many) == (one, many)


@pytest.mark.parametrize("form", ["plan", "gasto", "antibi", "antibiótic", "an", "ANTIB", "xyz", "bústin", "gs"])
def test_what_is_a_word_or_ends_like_one_stays(form: str) -> None:
    assert WORDS.of(form) is None


def test_before_a_comma_a_word_may_be_a_form() -> None:
    assert WORDS.of("plan", sure=True) == ("planta", "plantas", "")


def test_a_capital_makes_another_word_where_nouns_have_one() -> None:
    assert CutWords(("voraussichtlich",), (), capital_nouns=True).of("Voraus") is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_at_the_end_of_a_sentence_stay_words(language: str) -> None:
    record = record_of(language)
    explained = {
        form.rstrip(".").lower() for form in (*record.abbreviations, *record.units, *record.scales, *record.plain)
    }
    explained |= {*record.weekdays, *record.short_months, *record.suffixes}
    ends = tuple(end.rstrip(".") for end in record.suffixes)
    for word in sorted(record.whole):
        if word not in explained and not word.endswith(ends or ("\n",)):
            said = other_readings.sentences(other_readings.words_of(language, f"Xx yy {word}."))
            assert said == [f"xx yy {word}"], word


def test_english_words_at_the_end_of_a_sentence_stay_words() -> None:
    for word in sorted(tables.words("whole")):
        assert tables.CUT.of(word) is None
    for word in ("depends", "directors", "occupy", "directs", "pat", "finals"):
        assert [said.text for said in normalize(f"He saw it {word}. Then he left.")][3] == f"{word}."
