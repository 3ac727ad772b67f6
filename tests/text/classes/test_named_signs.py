"""Signs have names of the text's own language, or are silent and told."""

from __future__ import annotations

import pytest
from support.other_readings import SPACED

from sayahead.text.languages import READ
from sayahead.text.languages.signs import name_of
from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.stream import TokenReader

SIGNS = "⇌☆⌈⌊⊂∧∨⊥⇄↦¬≡≅∘⊗♭♯♀"
NAMELESS = "⍟⎈⑁⎇⏧"
ENGLISH = {
    "and",
    "with",
    "not",
    "right",
    "rightwards",
    "left",
    "up",
    "square",
    "white",
    "heavy",
    "sign",
}


def spoken(language: Language, text: str) -> tuple[str, TokenReader]:
    """What is said for a text, and what has read it."""
    reader = TokenReader(language)
    return " ".join(word.text for word in [*reader.push(text), *reader.flush()]), reader


@pytest.mark.parametrize("tag", READ)
@pytest.mark.parametrize("sign", SIGNS)
def test_no_sign_is_named_in_another_language(tag: str, sign: str) -> None:
    said, reader = spoken(language_of(tag), f"x {sign} x")
    name = said.removeprefix("x ").removesuffix(" x")
    assert ENGLISH.isdisjoint(name.split())
    assert name_of(sign) != name
    assert name
    assert not reader.skipped


@pytest.mark.parametrize("tag", READ)
@pytest.mark.parametrize("sign", NAMELESS)
def test_a_sign_without_a_name_is_silent_and_told(tag: str, sign: str) -> None:
    said, reader = spoken(language_of(tag), f"x {sign} x")
    assert said == "x x"
    assert [text for _, _, text in reader.skipped] == [sign]


@pytest.mark.parametrize("tag", [*READ, "en"])
@pytest.mark.parametrize(
    ("text", "plain"), [("ℝ", "R"), ("𝐱", "x"), ("ℕ", "N"), ("𝑎", "a"), ("𝒵", "Z")]
)
def test_letters_of_mathematics_are_letters(tag: str, text: str, plain: str) -> None:
    language = language_of(tag)
    assert spoken(language, f"so {text}, so")[0] == spoken(language, f"so {plain}, so")[0]


@pytest.mark.parametrize("tag", [*READ, "en"])
@pytest.mark.parametrize(
    ("text", "plain"), [("Sᵗ", "St"), ("1ᵉʳ", "1er"), ("Mᵐᵉ", "Mme"), ("1ˢᵗ", "1st"), ("2ᵉ", "2e")]
)
def test_raised_letters_are_those_of_the_line(tag: str, text: str, plain: str) -> None:
    language = language_of(tag)
    assert spoken(language, f"so {text} Ott")[0] == spoken(language, f"so {plain} Ott")[0]


@pytest.mark.parametrize("tag", [*SPACED, "en"])
def test_two_signs_of_sections_are_several_sections(tag: str) -> None:
    language = language_of(tag)
    one = spoken(language, "§ 5")[0].split()[0]
    for text in ("§§ 5-7", "§§ 5, 6", "§§5–7"):
        words = spoken(language, text)[0].lower().split()
        assert words[0] != one.lower()
        assert words[0][:5] == one[:5].lower()
        assert words[1] != one


@pytest.mark.parametrize("tag", [*READ, "en"])
@pytest.mark.parametrize(("command", "sign"), [("ceil", "⌈"), ("floor", "⌊")])
@pytest.mark.parametrize("inside", ["x", "n", "x + 1"])
def test_rounding_of_latex_is_said(tag: str, command: str, sign: str, inside: str) -> None:
    language = language_of(tag)
    said = spoken(language, rf"so $\l{command} {inside} \r{command}$")[0].lower()
    assert said.startswith(f"so {language.record.sign(sign)} {inside[0]}")
