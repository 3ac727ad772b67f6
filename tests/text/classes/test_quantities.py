"""Measures and money, over all units and currencies of the languages that have rules."""

from __future__ import annotations

import random

import pytest

from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.stream import TokenReader

LANGUAGES = ("de", "es", "fr", "it", "nl", "pt", "pt-br", "pl", "sv")
TEXTS = (
    "12,50 €/kg",
    "$3-5 M",
    "R$ 1,85 M",
    "10–15kg",
    "3 mg/kg/min",
    "5 l/100 km",
    "-250,30 €",
    "$1,250.50",
    "+49 171 5550123",
    "a@b-c.de/x?y=1",
    "IBAN DE89 3704 0044 0532 0130 00",
    "C3PO A4 12A 1.2.3 x.py:12",
)


def spoken(language: Language, text: str, sizes: random.Random | None = None) -> str:
    """What is said for a text that comes whole or in pieces."""
    reader = TokenReader(language)
    words = []
    place = 0
    while place < len(text):
        step = sizes.randint(1, 4) if sizes else len(text)
        words += reader.push(text[place : place + step])
        place += step
    return " ".join(word.text for word in [*words, *reader.flush()])


@pytest.mark.parametrize("tag", LANGUAGES)
def test_pieces_do_not_matter(tag: str) -> None:
    language = language_of(tag)
    sizes = random.Random(1)
    for text in TEXTS:
        whole = spoken(language, f"x {text} y.")
        assert all(spoken(language, f"x {text} y.", sizes) == whole for _ in range(5)), text


@pytest.mark.parametrize("tag", LANGUAGES)
def test_no_figure_is_left(tag: str) -> None:
    language = language_of(tag)
    for text in TEXTS:
        assert not any(map(str.isdecimal, spoken(language, text))), text


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("gap", ["", " "])
def test_each_unit_reads_as_its_noun_after_a_number(tag: str, gap: str) -> None:
    language = language_of(tag)
    record = language.record
    for name, noun in record.units.items():
        is_letter = len(name) == 1 and name in "ABCFHJT"
        if is_letter or name in record.scales or name in record.currency_words:
            continue
        many = record.many_units.get(name, noun).many
        assert spoken(language, f"250{gap}{name}").rstrip(".").endswith(many), name


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("form", ["{c} 1,85 {k}", "{c} 3 {k}", "1,85 {k} {c}", "{c} 2,5 {k}"])
def test_a_scale_stands_before_its_currency(tag: str, form: str) -> None:
    language = language_of(tag)
    record = language.record
    for sign in ("€", "$", "£"):
        for name, scale in record.scales.items():
            if not scale.gender or "." in name or name == "M":
                continue
            main = record.currencies[sign].main
            said = spoken(language, form.format(c=sign, k=name)).rstrip(".")
            assert said.endswith(tuple(f"{noun} {record.of(main.many)}" for noun in scale.forms)), (
                said
            )


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("form", ["{c}{n}", "{c} {n}", "{n}{c}", "{n} {c}"])
def test_hundredths_are_said_wherever_the_sign_stands(tag: str, form: str) -> None:
    language = language_of(tag)
    record = language.record
    for sign in ("€", "$", "£"):
        said = {spoken(language, form.format(c=sign, n=n)) for n in ("12,85", "12.85")}
        assert len(said) == 1, said
        assert record.currencies[sign].main.many in said.pop()
