"""Characters of odd kinds: figures in circles, Roman numerals of one character, powers as programs
write them."""

from __future__ import annotations

import pytest

from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.stream import TokenReader

LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pt", "pt-br", "pl", "sv")


def spoken(language: Language, text: str) -> str:
    """What is said for a text."""
    reader = TokenReader(language)
    return " ".join(word.text for word in [*reader.push(text), *reader.flush()]).rstrip(".")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize(
    ("char", "number"), [("①", 1), ("⑫", 12), ("❷", 2), ("➂", 3), ("⑷", 4), ("⒌", 5)]
)
def test_figures_in_circles_are_numbers(tag: str, char: str, number: int) -> None:
    language = language_of(tag)
    assert language.record.numbers is not None
    name = language.record.numbers.cardinal(number)
    assert spoken(language, f"x {char} x") == f"x {name} x"
    assert spoken(language, f"ab{char}").endswith(f" {name}")
    assert spoken(language, f"0{char}") == f"{language.record.numbers.cardinal(0)} {name}"


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize(
    ("char", "letters"), [("Ⅷ", "VIII"), ("ⅳ", "iv"), ("Ⅻ", "XII"), ("Ⅱ", "II"), ("ⅺ", "xi")]
)
def test_roman_numerals_of_one_character_are_those_of_letters(
    tag: str, char: str, letters: str
) -> None:
    language = language_of(tag)
    assert spoken(language, f"x {char} x") == spoken(language, f"x {letters} x")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("text", ["CO₂-ab", "CO₂-Ab", "H₂O-ab", "N₂O-ab", "CH₄-ab"])
def test_lowered_figures_are_read_before_a_hyphen_too(tag: str, text: str) -> None:
    language = language_of(tag)
    assert spoken(language, text).split()[:-1] == spoken(language, text[:-3]).split()
    assert "₂" not in spoken(language, text)


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("text", ["2**{}", "2 ** {}", "x**{}", "(a+b)**{}", "(a + b) ** {}"])
def test_two_stars_between_numbers_are_a_power(tag: str, text: str) -> None:
    """The first text had one star as a product's, the other as emphasis."""
    language = language_of(tag)
    caret = text.replace("**", "^").replace(" ^ ", "^")
    assert spoken(language, text.format("4")) == spoken(language, caret.format("4"))
