"""Spanish by rules: letters, stress, neighbours; the same sounds streamed as whole."""

from __future__ import annotations

import pytest

from sayahead.text.saying.romance import sounds_of


def said(text: str, voice: str = "es", *, closed: bool = True) -> str:
    return " ".join(sounds_of(voice, "casa").clause(text.split(), closed=closed))


@pytest.mark.parametrize(
    ("word", "sounds"),
    [
        ("casa", "kˈasa"),
        ("corazón", "kˌoɾaθˈon"),
        ("reloj", "relˈox"),
        ("guitarra", "ɡitˈara"),
        ("quiere", "kjˈeɾe"),
        ("cigüeña", "θˌiɣuˈeɲa"),
        ("hueco", "wˈeko"),
        ("hierba", "jˈeɾβa"),
        ("ciudad", "θjuðˈad"),
        ("cuidado", "kwiðˈaðo"),
        ("cliente", "kliˈɛnte"),
        ("prioridad", "pɾiˌoɾiðˈad"),
        ("país", "paˈis"),
        ("búho", "bˈuo"),
        ("rey", "rˈeɪ"),
        ("muy", "mˈuj"),
        ("envidia", "embˈiðja"),
        ("objeto", "oβxˈeto"),
        ("obtener", "ˌobtenˈeɾ"),
        ("rápidamente", "rˈapiðamˈente"),
        ("actualizaciones", "ˌaktwalˌiθaθjˈones"),
        ("basándose", "basˈandose"),
        ("HTML", "ˌatʃetˌeˌemeˈɛle"),
        ("dpkg", "dˌepˌekˌaxˈe"),
        ("LibreOffice", "lˈiβɾe ˈofis"),
        ("apt-get", "ˈapːtxˈet"),
    ],
)
def test_spelling_and_stress(word: str, sounds: str) -> None:
    assert said(word) == sounds


def test_words_lean_on_their_neighbours() -> None:
    assert said("un barco de vela") == "ˈum bˈaɾko ðe βˈela"
    assert said("un gato y un vaso en el sofá") == "ˈuŋ ɡˈato i ˈum bˈaso en el sofˈa"
    assert said("la verdad es otra verdad") == "la βeɾðˈað ˈes ˈotɾa βeɾðˈad"
    assert said("no sé de qué") == "nˈo sˈe ðe kˈe"


def test_a_word_that_leans_on_others_is_stressed_where_a_clause_ends() -> None:
    assert said("para") == "pˈaɾa"
    assert said("para", closed=False) == "pˌaɾa"
    assert said("lo que") == "lo kˈe"


def test_spanish_of_america_does_not_lisp() -> None:
    assert said("la llave del corazón", "es-419") == "la ʝˈaβe ðel kˌoɾasˈon"
    assert said("Fuzzy", "es-419") == said("Fuzzy").replace("θ", "s")
