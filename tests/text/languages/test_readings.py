"""Readings in every language that has a data file, against those a person accepts, and what no rule
may break."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.other_readings import LANGUAGES, canonical, cases_of, right, sentences, words_of

from sayahead.text import front_end
from sayahead.text.languages import record_of

NUMBERS = st.integers(0, 999) | st.integers(1100, 10**9)
UNITS = ("km", "kg", "€", "%", "m²", "°C", "h", "km/h", "GB")


def spoken(language: str, text: str) -> str:
    return " ".join(word.text for word in words_of(language, text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_case_is_read_as_a_person_accepts(language: str) -> None:
    cases = cases_of(language)
    assert len(cases) >= 100
    wrong = [
        f"{case.text!r}: {spoken(language, case.text)}"
        for case in cases
        if not right(language, case)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_read_worse_than_as_it_stands(language: str) -> None:
    """What is right without a normalizer stays right: plain words are those of the text."""
    plain = [
        reading for case in cases_of(language) for reading in case.accepted if "/" not in reading
    ]
    for text in plain:
        assert " ".join(sentences(words_of(language, text))) == canonical(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_split_reads_the_same(language: str) -> None:
    text = " ".join(case.text for case in cases_of(language))
    whole = words_of(language, text)
    normalizer = front_end(language).normalizer()
    assert [word for char in text for word in normalizer.push(char)] + normalizer.flush() == whole

    @settings(max_examples=examples(25))
    @given(st.data())
    def split(data: st.DataObject) -> None:
        case = data.draw(st.sampled_from(cases_of(language)))
        cuts = sorted(data.draw(st.lists(st.integers(0, len(case.text)), max_size=6)))
        normalizer = front_end(language).normalizer()
        places = [0, *cuts, len(case.text)]
        parts = [case.text[a:b] for a, b in itertools.pairwise(places)]
        assert [
            word for part in parts for word in normalizer.push(part)
        ] + normalizer.flush() == words_of(language, case.text)

    split()


TOKENS = st.one_of(
    NUMBERS.map(str),
    st.integers(1000, 10**9).map(lambda n: f"{n:,}".replace(",", ".")),
    st.tuples(st.integers(0, 9999), st.integers(0, 99)).map(lambda t: f"{t[0]},{t[1]:02}"),
    st.tuples(st.integers(0, 999), st.sampled_from(UNITS)).map(lambda t: f"{t[0]}{t[1]}"),
    st.tuples(st.sampled_from("$€£"), st.integers(1, 9999)).map(lambda t: f"{t[0]}{t[1]}"),
    st.tuples(st.integers(1, 99), st.integers(1, 99)).map(lambda t: f"{t[0]}-{t[1]}"),
    st.tuples(st.integers(1, 31), st.integers(1, 12), st.integers(1900, 2100)).map(
        lambda t: f"{t[0]}.{t[1]}.{t[2]}"
    ),
    st.tuples(st.integers(0, 23), st.integers(10, 59)).map(lambda t: f"{t[0]}:{t[1]}"),
    st.from_regex(r"\A[A-Z]{1,3}-?[0-9]{1,4}[A-Z]?\Z"),
    st.from_regex(r"\A[0-9]{1,3}([./x:+-][0-9]{1,3}){1,3}\Z"),
    st.from_regex(r"\A[a-z]{1,6}[+=&@#%$€§][a-z0-9]{1,6}\Z"),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_figure_and_no_sign_goes_unsaid(language: str) -> None:
    """What is said changes with every figure but zeros that is taken out, and with every sign; no
    figure is left."""

    @settings(max_examples=examples(200))
    @given(TOKENS)
    def check(token: str) -> None:
        whole = spoken(language, f"xx {token} yy")
        assert not re.search(r"[0-9]", whole), whole
        for i, char in enumerate(token):
            heard = char in "123456789" or (char in "+=&@#%$€§£" and 0 < i < len(token) - 1)
            if heard and token[i + 1 : i + 2] != char:
                assert spoken(language, f"xx {token[:i]}{token[i + 1 :]} yy") != whole, (
                    token,
                    char,
                    whole,
                )

    check()


ODD = "0123456789.,:;-–/()'\"%€$£°ºª²½①٣xXhIVeErR &@+<>=*_#~|\n\u00a0«»¿!?…—äéñ"


@pytest.mark.parametrize("language", [*LANGUAGES, "ru", "zh", "ar", "pl"])
def test_any_text_is_taken(language: str) -> None:
    """No text raises, words keep their order in it, and one fragment or many are the same."""

    @settings(max_examples=examples(150))
    @given(st.text(st.sampled_from(ODD), max_size=30) | st.text(max_size=20))
    def check(text: str) -> None:
        whole = words_of(language, text)
        if language in LANGUAGES:
            assert not re.search(r"[0-9]", " ".join(word.text for word in whole))
        assert all(0 <= word.start <= word.end <= len(text) for word in whole)
        assert all(a.end <= b.start or b.start == b.end for a, b in itertools.pairwise(whole))
        normalizer = front_end(language).normalizer()
        assert [
            word for char in text for word in normalizer.push(char)
        ] + normalizer.flush() == whole

    check()


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_wait_only_where_the_record_needs_it(language: str) -> None:
    """Plain words are handed out with the white space behind them, numbers of one form within a
    character more."""
    normalizer = front_end(language).normalizer()
    assert [word.text for word in normalizer.push("xyz ")] == ["xyz"]
    assert normalizer.push("45 ") == []
    assert len(normalizer.push("a")) == 1


@pytest.mark.parametrize(
    ("language", "text", "waits"),
    [
        ("de", "am 3. ", True),
        ("fr", "vers 21 ", True),
        ("fr", "vers 21 h", True),
        ("fr", "vers 22 h", False),
        ("it", "alle 21 o", False),
        ("it", "per 1 o", True),
        ("es", "unas 200 p", True),
        ("es", "unas 100 p", False),
        ("pt", "umas 2 p", True),
        ("pt", "umas 3 p", False),
        ("de", "z. ", True),
        ("de", "za ", False),
    ],
)
def test_what_waits_is_what_the_next_word_may_change(language: str, text: str, waits: bool) -> None:
    normalizer = front_end(language).normalizer()
    words = normalizer.push(text)
    done = sum(word.end - word.start > 0 for word in words) == len(text.split()) - (
        not text.endswith(" ")
    )
    assert done is not waits


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_name_what_they_say(language: str) -> None:
    record = record_of(language)
    assert record.numbers is not None
    assert [record.months[name.lower()] for name in record.month_names] == list(range(1, 13))
    assert all(
        unit.one and unit.many and (unit.gender in ("", "m", "f", "n", "e", "s", "liang"))
        for unit in record.units.values()
    )
    assert all(not re.search(r"[0-9]", said) for said in record.signs.values())
    assert set("+-×÷<>≤≥&@#%§°/") <= record.signs.keys() | {"="}


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("es-MX", "1,250.50 pesos", "mil doscientos cincuenta pesos con cincuenta"),
        ("es-MX", "$5.50", "cinco pesos con cincuenta"),
        ("pt-BR", "16 reais", "dezesseis reais"),
        ("pt-BR", "5 km", "cinco quilômetros"),
        ("pt-PT", "16 euros", "dezasseis euros"),
    ],
)
def test_countries(language: str, text: str, said: str) -> None:
    assert spoken(language, text) == said
