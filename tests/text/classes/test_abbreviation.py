"""Abbreviations and the ends of sentences, in every language that rules read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.other_readings import LANGUAGES, SPACED

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.types import Word

UNKNOWN = (
    "Unterl",
    "üb",
    "mgmt",
    "chs",
    "orig",
    "verantw",
    "fin",
    "subj",
    "agg",
    "xyz",
    "Dgm",
    "b",
    "kpl",
)
"""Forms that no table has, or most have not."""
NAMES = ("Max", "Sam", "Ben", "Pat", "Bill", "Dom", "Matt", "Reg", "Bal", "Anna", "Cora")
CLOSERS = ("", ")", '"', "”", "*")


def read(language: str, text: str) -> list[Word]:
    reader = TokenReader(language_of(language))
    return reader.push(text) + reader.flush()


def ends(language: str, text: str) -> list[str]:
    """Words after which a sentence ends."""
    return [word.text for word in read(language, text) if word.ends]


def spoken(language: str, text: str) -> str:
    return " ".join(word.text for word in read(language, text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_in_the_tables_is_said_in_full_and_ends_nothing_before_a_small_letter(
    language: str,
) -> None:
    record = language_of(language).record
    for form, words in record.abbreviations.items():
        if (
            " " in words
            or not form.endswith(".")
            or form in record.table("before_small")
            or len(form) < 4
        ):
            continue
        text = f"Aaa xyzxyzx {form} zzz."
        said = spoken(language, text)
        assert any(f" {one.lower()}" in said.lower() for one in words.split("/")), (form, said)
        assert len(ends(language, text)) == 1, form


@pytest.mark.parametrize("language", SPACED)
@pytest.mark.parametrize("closer", CLOSERS)
def test_a_short_form_that_nobody_knows_ends_nothing_before_a_small_letter_or_a_figure(
    language: str, closer: str
) -> None:
    for form in set(UNKNOWN) - language_of(language).common:
        for after in ("zzz", "15"):
            assert len(ends(language, f"Aaa {form}.{closer} {after} yyyyyyy.")) == 1, (form, after)


@pytest.mark.parametrize("language", SPACED)
def test_a_word_ends_its_sentence_whatever_comes_next(language: str) -> None:
    common = sorted(word for word in language_of(language).common if len(word) > 2)

    @settings(max_examples=examples(100))
    @given(st.sampled_from(common), st.sampled_from(["zzz", "Zzz", "La"]))
    def check(word: str, after: str) -> None:
        record = language_of(language).record
        tables = (
            record.abbreviations,
            record.table("before_small"),
            record.table("before_number"),
            record.table("weekdays"),
            record.units,
        )
        known = {form.lower().rstrip(".") for table in tables for form in table}
        if word not in known:
            assert ends(language, f"Aaa {word}. {after} yyyyyyy.")[0] == f"{word}."

    check()


@pytest.mark.parametrize("language", SPACED)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_guessed_to_be_short_for_another_word(language: str, name: str) -> None:
    opener = min(language_of(language).record.table("starters"))
    assert ends(language, f"Aaa {name}. {opener} yyyyyyy.") == [f"{name}.", "yyyyyyy."]


@pytest.mark.parametrize("language", LANGUAGES)
def test_initials_belong_to_a_name(language: str) -> None:
    for text in ("J. R. Zzzzzz.", "Aaaaaaa J. Zzzzzz.", "J.R. Zzzzzz."):
        assert ends(language, text) == ["Zzzzzz."], text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Aaaaaaa?! Bbbbbbb", "Aaaaaaa?| Bbbbbbb|"),
        ("Aaaaaaa!!! Bbbbbbb", "Aaaaaaa!| Bbbbbbb|"),
        ("aaaaaaa.Bbbbbbb.Ccccccc", "aaaaaaa.| Bbbbbbb.| Ccccccc|"),
        ("Aaaaaaa... bbbbbbb", "Aaaaaaa… bbbbbbb|"),
        ("Aaaaaaa … bbbbbbb", "Aaaaaaa … bbbbbbb|"),
        ('"Aaaaaaa.", bbbbbbb', "Aaaaaaa, bbbbbbb|"),
        ("(Aaaaaaa babbaba.) Ccccccc", "(Aaaaaaa babbaba).| Ccccccc|"),
        ("aaaaaaa (bbbbbbb ccccccc), ddddddd", "aaaaaaa (bbbbbbb ccccccc), ddddddd|"),
        ("aaaaaaa (bbbbbbb) ccccccc", "aaaaaaa (bbbbbbb) ccccccc|"),
        ("aaaaaaa) bbbbbbb ( ccccccc", "aaaaaaa bbbbbbb (ccccccc|"),
        ("aaaaaaa[1][2] bbbbbbb.[3] Ccccccc", "aaaaaaa bbbbbbb.| Ccccccc|"),
        ("aaaaaaa – bbbbbbb", "aaaaaaa — bbbbbbb|"),
        ("aaaaaaa - bbbbbbb", "aaaaaaa — bbbbbbb|"),
        ("aaaaaaa—bbbbbbb", "aaaaaaa— bbbbbbb|"),
        ("aaaaaaa--bbbbbbb", "aaaaaaa— bbbbbbb|"),
        ("aaaaaaa-bbbbbbb's", "aaaaaaa-bbbbbbb's|"),
        ("aaaaaaa´s bbbbbbb`s", "aaaaaaa's bbbbbbb's|"),
        ("aaaaaaa / bbbbbbb/ccccccc", "aaaaaaa , bbbbbbb ccccccc|"),
        ("¿Aaaaaaa? «Bbbbbbb» “ccccccc”", "Aaaaaaa?| Bbbbbbb ccccccc|"),
        ("aaaaaaa \" ' _ bbbbbbb ccccccc", "aaaaaaa bbbbbbb ccccccc|"),
        ("Aaaaaaa\n\nbbbbbbb", "Aaaaaaa| bbbbbbb|"),
    ],
)
def test_marks(language: str, text: str, expected: str) -> None:
    said = " ".join(word.text + "|" * word.ends for word in read(language, text))
    assert said == expected


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "heute o. morgen", "heute oder morgen"),
        ("de", "3 o. 4 Tage", "drei oder vier Tage"),
        ("de", "aus Gl. (7) folgt", "aus Gleichung (sieben) folgt"),
        ("de", "nach S. 3 DSGVO gilt", "nach Satz drei DSGVO gilt"),
        ("de", "auf S. 3 steht", "auf Seite drei steht"),
        ("de", "offen bis Fr. dann zu", "offen bis Freitag dann zu"),
        ("de", "mit Fr. Meier dort", "mit Frau Meier dort"),
        ("de", "Nutzer*innen und Schüler/-innen", "Nutzer innen und Schüler innen"),
        ("de", "Ein-/Ausgang", "Ein und Ausgang"),
        ("es", "c/ 8 h o c/15 min", "cada ocho horas o cada quince minutos"),
        ("es", "C/ Mayor s/n, hoy", "calle Mayor sin número, hoy"),
        ("fr", "selon Petit et al. (voir", "selon Petit et alii (voir"),
        ("fr", "à St-Étienne", "à Saint-Étienne"),
        ("fr", "l'art. 5 dit", "l'article cinq dit"),
        ("it", "il dir. gen. parla", "il direttore generale parla"),
        ("it", "in C.so Roma", "in corso Roma"),
        ("nl", "een man van 67 jr. oud", "een man van zevenenzestig jaar oud"),
        ("nl", "kaas e.d. Ze", "kaas en dergelijke. Ze"),
        ("pl", "w 44 r. p.n.e. Potem", "w czterdziestym czwartym roku przed naszą erą. Potem"),
    ],
)
def test_what_stands_beside_an_abbreviation_tells_what_it_means(
    language: str, text: str, said: str
) -> None:
    assert spoken(language, text) == said
