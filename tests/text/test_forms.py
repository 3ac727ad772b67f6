"""What must hold of the reading of any value in any place, without a reference:
``support.forms``."""

from __future__ import annotations

from random import Random

import pytest
from support import forms
from support.effort import FULL
from support.form_values import KINDS

# As it stands after a word that ends: "2/3 naranja" agrees with its noun. A percent is a unit like
# others.
PROSE = {
    "en": (
        "Take 5 μg of D3 & wait ≥ 20 s; α → β, 3 ★, ₿2, 10 kΩ, 5 °C, a² + b² = c², @me, C₆H₁₂O₆, ⌘"
        " + R, ½ of 7 ‰."
    ),
    "de": (
        "Nimm 5 μg von D3 & warte ≥ 20 s; α → β, 3 ★, 2 ₿, 10 kΩ, 5 °C, a² + b² = c², @ich,"
        " C₆H₁₂O₆, ⌘ + R, 7 ‰."
    ),
    "es": (
        "Tome 5 μg de D3 & espere ≥ 20 s; α → β, 3 ★, 2 ₿, 10 kΩ, 5 °C, a² + b² = c², @yo, C₆H₁₂O₆,"
        " ⌘ + R, 7 ‰."
    ),
    "fr": (
        "Prenez 5 μg de D3 & 20 s ≥ 3 ; α → β, 3 ★, 2 ₿, 10 kΩ, 5 °C, a² + b² = c², @moi, C₆H₁₂O₆,"
        " ⌘ + R, 7 ‰."
    ),
    "it": (
        "Prenda 5 μg di D3 & 20 s ≥ 3; α → β, 3 ★, 2 ₿, 10 kΩ, 5 °C, a² + b² = c², @io, C₆H₁₂O₆, ⌘"
        " + R, 7 ‰."
    ),
    "pt": (
        "Tome 5 μg de D3 & 20 s ≥ 3; α → β, 3 ★, 2 ₿, 10 kΩ, 5 °C, a² + b² = c², @eu, C₆H₁₂O₆, ⌘ +"
        " R, 7 ‰."
    ),
    "nl": (
        "Neem 5 μg van D3 & wacht ≥ 20 s; α → β, 3 ★, 2 ₿, 10 kΩ, 5 °C, a² + b² = c², @ik, C₆H₁₂O₆,"
        " ⌘ + R, 7 ‰."
    ),
}
MICROGRAMS = {
    "de": "mikrogramm",
    "es": "microgramos",
    "fr": "microgrammes",
    "it": "microgrammi",
    "pt": "microgramas",
    "nl": "microgram",
}


ROUNDS = 75 if FULL else 2
"""How many values of each kind; each is read in about thirty texts, so that a full run reads
100,000 a language."""


@pytest.mark.parametrize("language", forms.LANGUAGES)
def test_a_value_is_read_alike_wherever_it_stands(language: str) -> None:
    random = Random(35)
    found = [
        one for kind in KINDS for _ in range(ROUNDS) for one in forms.broken(language, kind, random)
    ]
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("language", forms.LANGUAGES)
def test_no_letter_figure_or_sign_is_lost_in_silence(language: str) -> None:
    assert list(forms.losses(language, PROSE[language])) == []


@pytest.mark.parametrize("language", MICROGRAMS)
@pytest.mark.parametrize("micro", ["\u00b5", "\u03bc"])
@pytest.mark.parametrize("space", ["", " ", "\u00a0"])
def test_a_dose_keeps_its_micro(language: str, micro: str, space: str) -> None:
    assert MICROGRAMS[language] in forms.said(language, f"5{space}{micro}g")


def test_a_check_finds_what_is_broken() -> None:
    """A sign that is dropped, were it heard by the list, is told."""
    assert [one.rule for one in forms.losses("en", "a\u2063\u0378b")] == []
    assert not forms.counts("https://example.com", 4)
    assert forms.counts("5μg", 1)
