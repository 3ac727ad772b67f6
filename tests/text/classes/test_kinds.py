"""Kinds of failures that users met, in every language that has rules: units or letters, rates,
formulas."""

from __future__ import annotations

import pytest

from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.stream import TokenReader

LANGUAGES = ("de", "es", "fr", "it", "nl", "pt", "pt-br", "pl", "sv", "da")


def spoken(language: Language, text: str) -> str:
    """What is said for a text."""
    reader = TokenReader(language)
    return " ".join(word.text for word in [*reader.push(text), *reader.flush()]).rstrip(".")


def nouns(language: Language, name: str) -> tuple[str, str]:
    """What a unit is called, one and many."""
    noun = language.record.units[name]
    return noun.one, noun.many


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("letter", list("ABCFT"))
def test_a_capital_after_a_small_whole_number_is_a_letter(tag: str, letter: str) -> None:
    language = language_of(tag)
    for number in (7, 12, 14, 23):
        for gap in ("", " "):
            assert spoken(language, f"x {number}{gap}{letter}").endswith(f" {letter}")


@pytest.mark.parametrize("tag", LANGUAGES)
def test_an_ampere_has_decimals_or_an_electrical_word(tag: str) -> None:
    language = language_of(tag)
    word = language.vocabularies["electrical"][0]
    for text in (f"1{language.record.decimal}5 A", "230 V, 16 A", f"{word} 16 A", f"x 16 A {word}"):
        assert any(noun in spoken(language, text) for noun in nouns(language, "A")), text


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("above", ["mg", "€", "km", "g", "MB"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_rates_of_any_depth(tag: str, above: str, depth: int) -> None:
    language = language_of(tag)
    below = ("kg", "min", "m²")[:depth]
    said = spoken(language, f"12 {above}/{'/'.join(below)}")
    one, many = (
        (language.record.currencies[above].main.one, language.record.currencies[above].main.many)
        if above in language.record.currencies
        else nouns(language, above)
    )
    place = min(at for at in (said.find(one), said.find(many)) if at >= 0)
    for unit in below:
        name = language.meaning("per", unit) or nouns(language, unit)[0]
        assert said.find(name, place + 1) > place >= 0, said
        place = said.find(name, place + 1)


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "signs", "letters"),
    [
        ("3x² − 2", "² −", "x"),
        ("a² + b² = c²", "² + ² = ²", "a b c"),
        ("10 - 4 = 6", "- =", ""),
        ("a - b = c", "- =", "a b c"),
        ("2x + 3y = 7", "+ =", "x y"),
        ("n ≤ 10", "≤", "n"),
        ("x^2", "²", "x"),
    ],
)
def test_formulas_lose_neither_signs_nor_letters(
    tag: str, text: str, signs: str, letters: str
) -> None:
    language = language_of(tag)
    said = f" {spoken(language, text)} "
    place = 0
    for sign in signs.split():
        name = f" {language.record.sign(sign)} "
        if language.record.signs.get(sign):
            assert said.find(name, place) >= place, (said, name)
            place = said.find(name, place) + len(name) - 1
    assert all(f" {letter} " in said for letter in letters.split()), said
    assert not any(char.isdecimal() for char in said)


@pytest.mark.parametrize("tag", LANGUAGES)
def test_figures_of_notes_are_silent(tag: str) -> None:
    language = language_of(tag)
    for text, bare in (
        ("Word¹ ended", "Word ended"),
        ("word.² Next", "word. Next"),
        ("(word)³ next", "(word) next"),
    ):
        assert spoken(language, text) == spoken(language, bare), text


@pytest.mark.parametrize("tag", LANGUAGES)
def test_each_form_of_a_telephone_number_has_all_its_figures_one_by_one_or_in_pairs(
    tag: str,
) -> None:
    language = language_of(tag)
    numbers = language.record.numbers
    assert numbers is not None
    for text in (
        "+49 171 5550123",
        "0171/5550123",
        "0171 555 01 23",
        "(0171) 5550123",
        "0171-5550123",
        "415-555-0123",
    ):
        said = spoken(language, text).split()
        if not language.record.pairs:
            assert len([word for word in said if word]) >= sum(map(str.isdecimal, text)), said
        assert numbers.cardinal(1000) not in " ".join(said)


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize(
    ("short", "unit"),
    [("60s", "s"), ("250ms", "ms"), ("10min", "min"), ("12px", "px"), ("16GB", "GB")],
)
def test_what_is_set_to_an_amount_has_its_unit(tag: str, short: str, unit: str) -> None:
    language = language_of(tag)
    for text in (f"TTL={short}", f"ttl={short}", f"wait = {short}"):
        assert spoken(language, text).endswith(nouns(language, unit)[1]), text


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("text", ["./build/*", "src/lib/*", "a/*.txt", "../x/*", "~/notes/*"])
def test_stars_of_paths_are_said(tag: str, text: str) -> None:
    language = language_of(tag)
    assert f" {language.record.sign('*')}" in spoken(language, f"x {text} x")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("unit", ["mmol/l", "µmol/l", "mOsm/kg", "mg/kg", "mmol/kg"])
def test_units_of_medicine(tag: str, unit: str) -> None:
    language = language_of(tag)
    above, below = unit.split("/")
    said = spoken(language, f"x 5 {unit}")
    assert unit not in said
    assert above not in said.split()
    assert below not in said.split()
    assert (below == "l") == (nouns(language, "l")[0] in said)


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("number", [2, 5, 12, 30, 250])
def test_thousands_of_euros(tag: str, number: int) -> None:
    language = language_of(tag)
    numbers = language.record.numbers
    assert numbers is not None
    euros = language.record.currencies["€"].main.many
    said = spoken(language, f"x {number} k€ x").split()
    assert euros in said
    assert not {"k", "kilo", "K"} & set(said)


@pytest.mark.parametrize("tag", LANGUAGES)
def test_forms_with_full_stops_are_known_with_a_capital(tag: str) -> None:
    language = language_of(tag)
    table = language.record.abbreviations
    forms = [
        form
        for form in table
        if form.count(".") > 1 and form[0].islower() and form[0].upper() + form[1:] not in table
    ]
    for form in forms:
        said = spoken(language, f"{form[0].upper()}{form[1:]} xx")
        assert said.lower() == spoken(language, f"{form} xx").lower(), form


EXPIRING = {
    "de": ("gültig bis", "Ablaufdatum"),
    "en": ("expires", "exp"),
    "es": ("caduca", "válida hasta"),
    "fr": ("expire", "expiration"),
    "it": ("scade", "valida fino al"),
    "nl": ("verloopt", "geldig tot"),
    "pt": ("vence", "validade"),
}


@pytest.mark.parametrize("tag", EXPIRING)
@pytest.mark.parametrize("card", ["05/27", "12/28", "01/30", "9/26", "10/31"])
def test_what_expires_has_a_month_and_a_year(tag: str, card: str) -> None:
    language = language_of(tag)
    numbers = language.record.numbers
    assert numbers is not None
    month, year = map(int, card.split("/"))
    for cue in EXPIRING[tag]:
        for text in (f"{cue} {card}", f"{cue}: {card}"):
            said = spoken(language, text)
            assert numbers.months[month - 1] in said, text
            assert said.endswith(numbers.year(2000 + year)), text


STRETCHED = {
    "de": "sooo=so Jaaa=Ja guuut=gut neiiin=nein Halloooo=Hallo",
    "en": "sooo=so Nooo=No heyyy=hey wowww=wow Whaaat=What pleeease=please",
    "es": "Nooo=No muuuy=muy holaaa=hola bueno=bueno síííí=sí",
    "fr": "Ouiii=Oui nooon=non trèèès=très mercii=mercii saluuut=salut",
    "it": "ciaooo=ciao nooo=no beneee=bene siiii=si tantooo=tanto",
    "nl": "Jaaa=Ja zooo=zo hallooo=hallo heeel=heel doeiiii=doei",
    "pt": "Nãooo=Não simmm=sim muuuito=muito olááá=olá bommm=bom",
}


@pytest.mark.parametrize(
    ("tag", "pair"), [(tag, pair) for tag, pairs in STRETCHED.items() for pair in pairs.split()]
)
def test_stretched_words_are_the_words(tag: str, pair: str) -> None:
    written, word = pair.split("=")
    assert spoken(language_of(tag), written) == word


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("text", ["ExX", "XxX", "X x X", "A x X x X", "XxXxX"])
def test_letters_that_are_crosses_are_no_sides(tag: str, text: str) -> None:
    """These raised: an X was taken for a cross, with nothing beside it."""
    assert spoken(language_of(tag), text)


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("code", ["45-1190", "12-3456", "7-1234", "99-10234", "23-4051"])
def test_parts_of_a_code_are_no_range_and_no_one_number(tag: str, code: str) -> None:
    language = language_of(tag)
    numbers = language.record.numbers
    assert numbers is not None
    first = int(code.split("-")[0])
    said = spoken(language, f"x {code} xx").removeprefix("x ").removesuffix(" xx")
    assert said.split(", ")[0] == numbers.cardinal(first)
    assert language.record.until not in said.split()


@pytest.mark.parametrize("tag", [*LANGUAGES, "en"])
@pytest.mark.parametrize("numeral", ["II", "III", "IV", "XII", "XIV"])
def test_a_numeral_alone_on_its_line_is_a_number(tag: str, numeral: str) -> None:
    language = language_of(tag)
    said = spoken(language, f"{numeral}\n\nXx")
    assert numeral not in said
    assert said == spoken(language, f"## {numeral}\n\nXx")
