"""Forms that published suites of text normalization have, in sentences of our own."""

from __future__ import annotations

import pytest
from support.forms import said

FORMS = {
    "en": (
        ("Meet me on 2024.03.05", "meet me on march fifth twenty twenty four"),
        ("At 1:59 p.m.est it rang", "at one fifty nine p.m e s t it rang"),
        ("Francis I--the king--won", "francis the first the king won"),
        ("We know that 7- 4 = 3", "we know that seven minus four equals three"),
        ("It needs 16 gb and 50 usd", "it needs sixteen gigabytes and fifty u.s dollars"),
        ("It is 45º C outside", "it is forty five degrees celsius outside"),
        ("Mail ann@example.com/12-b now", "mail ann at example dot com slash twelve dash b now"),
    ),
    "de": (
        ("Am 2024-3-5 kam er", "am fünften märz zweitausendvierundzwanzig kam er"),
        ("Es sind 50 /km² dort", "es sind fünfzig pro quadratkilometer dort"),
        ("Geben Sie <Vorschläge> ein", "geben sie vorschläge ein"),
        ("Das war's. Wie geht's.", "das war's wie geht's"),
        ("Das ist <b>sehr</b> gut", "das ist sehr gut"),
        ("Ihr 100. Geburtstag ist morgen", "ihr einhundertster geburtstag ist morgen"),
        ("Der 121te Besucher", "der einhunderteinundzwanzigste besucher"),
        ("Es hat 16 gb und kostet 50 eur", "es hat sechzehn gigabyte und kostet fünfzig euro"),
    ),
    "es": (
        ("Son las 14:30:05", "son las catorce horas treinta minutos y cinco segundos"),
        ("Llame al 123-456-7890", "llame al uno dos tres cuatro cinco seis siete ocho nueve cero"),
        ("Nació el 31 marzo", "nació el treinta y uno de marzo"),
        ("Es del siglo xix", "es del siglo diecinueve"),
        ("Son 3/5 m de tela", "son tres quintos de metro de tela"),
        ("Tiene 120/80 mmHg", "tiene ciento veinte sobre ochenta milímetros de mercurio"),
        ("Abre a las 12.30 p.m. del lunes", "abre a las doce treinta p m del lunes"),
        ("El 1 000.º visitante", "el milésimo visitante"),
        ("Quedan -1/3 hoy", "quedan menos un tercio hoy"),
        ("Vale ₡ 3 hoy", "vale tres colones hoy"),
        ("A las 20:00 gmt-3", "a las veinte horas gmt menos tres"),
        ("Vive en Pza. Mayor 5", "vive en plaza mayor cinco"),
    ),
    "fr": (
        ("Le salon dure les 17/18/19 mars", "le salon dure les dix sept dix huit et dix neuf mars"),
    ),
    "it": (("Sono 3/4 km da qui", "sono tre quarti di chilometro da qui"),),
    "pt": (
        ("São 14:30:05 agora", "são catorze horas trinta minutos e cinco segundos agora"),
        ("(11) 99999-8888", "onze nove nove nove nove nove oito oito oito oito"),
        ("No dia 03/15/2024 saiu", "no dia quinze de março de dois mil e vinte e quatro saiu"),
    ),
}


@pytest.mark.parametrize(
    ("language", "text", "words"), [(key, *pair) for key, pairs in FORMS.items() for pair in pairs]
)
def test_forms(language: str, text: str, words: str) -> None:
    assert said(language, text) == words


FORMULAS = {
    "en": "x equals minus b plus or minus square root of b squared minus four a c divided by two a",
    "de": "x gleich minus b plus minus wurzel b quadrat minus vier a c geteilt durch zwei a",
    "es": "x igual a menos b más menos raíz de b al cuadrado menos cuatro a c entre dos a",
}


@pytest.mark.parametrize("language", FORMULAS)
def test_no_minus_is_lost_in_a_formula(language: str) -> None:
    assert (
        said(language, r"$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$").replace("4ac", "")
        == FORMULAS[language]
    )
