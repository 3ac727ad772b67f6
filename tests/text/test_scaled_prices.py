"""Prices in thousands, millions and more, whatever the number of their decimals; and prices without
them."""

from __future__ import annotations

import pytest
from support.forms import said

SCALED = {
    "en": (
        ("It made £4.99 million.", "it made four point nine nine million pounds"),
        ("It made $3.27 billion.", "it made three point two seven billion dollars"),
        ("It made $12.00 million.", "it made twelve point zero zero million dollars"),
        ("It costs £4.99 more.", "it costs four pounds and ninety nine pence more"),
    ),
    "de": (
        (
            "Es kostet € 2,35 Mrd. im Jahr.",
            "es kostet zwei komma drei fünf milliarden euro im jahr",
        ),
        ("Es kostet €2,99 Mio. im Jahr.", "es kostet zwei komma neun neun millionen euro im jahr"),
        ("Es kostet €2,35 im Jahr.", "es kostet zwei euro fünfunddreißig im jahr"),
    ),
    "es": (
        ("Costó $3.27 millones.", "costó tres coma veintisiete millones de dólares"),
        ("Costó $3,27 millones.", "costó tres coma veintisiete millones de dólares"),
        ("Costó €2,35 al mes.", "costó dos euros con treinta y cinco al mes"),
    ),
    "fr": (
        (
            "Il coûte €3,27 millions par an.",
            "il coûte trois virgule vingt sept millions d'euros par an",
        ),
        ("Il coûte €3,27 par mois.", "il coûte trois euros vingt sept par mois"),
    ),
    "it": (
        ("Costa $3,27 mln oggi.", "costa tre virgola ventisette milioni di dollari oggi"),
        ("Costa €3,27 oggi.", "costa tre euro e ventisette oggi"),
    ),
    "pt-br": (
        ("Custa R$ 1,85 bilhão hoje.", "custa um vírgula oitenta e cinco bilhões de reais hoje"),
        ("Custa R$ 1,85 hoje.", "custa um real e oitenta e cinco centavos hoje"),
    ),
    "nl": (
        ("Het kost € 1,85 miljard nu.", "het kost één komma vijfentachtig miljard euro nu"),
        ("Het kost € 1,85 nu.", "het kost één euro vijfentachtig nu"),
    ),
}


@pytest.mark.parametrize(
    ("language", "text", "words"), [(key, *pair) for key, pairs in SCALED.items() for pair in pairs]
)
def test_a_price_and_its_scale(language: str, text: str, words: str) -> None:
    assert said(language, text) == words
