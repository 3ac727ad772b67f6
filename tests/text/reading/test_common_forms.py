"""Words that are short forms, too: the word where a sentence ends, the short form elsewhere."""

from __future__ import annotations

import pytest
from support.spoken import words_of

from sayahead.text.reading import check
from sayahead.text.reading.language import language_of

LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pt", "pl", "sv", "da")
CASES = {
    "de": {
        "So. Jetzt los.": "So.",
        "Du. Und ich.": "Du.",
        "Wo. Am See.": "Wo.",
        "Da. Ein Haus.": "Da.",
    },
    "pl": {"Dałem im. Potem ona.": "im.", "Mam lek. Teraz tak.": "lek.", "To lek.": "lek."},
    "sv": {"Han är ung. Hon är äldre.": "ung.", "Hon är ung.": "ung.", "Så ung. Ja.": "ung."},
    "en": {"I am Max. How are you?": "Max.", "She is a temp. She left.": "temp."},
}
SHORT = {
    "de": {"Sa. und So. zu": "Sonntag", "So. 14 Uhr": "Sonntag"},
    "pl": {"szkoła im. Kopernika": "imienia", "lek. Jan Nowak": "lekarz"},
    "sv": {"ung. 5 personer": "ungefär", "det är ung. så": "ungefär"},
    "en": {"temp. 40 degrees": "temperature", "Rep. Jones spoke": "Representative"},
}


@pytest.mark.parametrize("tag", LANGUAGES)
def test_no_common_word_is_a_short_form(tag: str) -> None:
    assert not list(check._common_forms(language_of(tag)))


@pytest.mark.parametrize("tag", CASES)
def test_the_word_ends_its_sentence(tag: str) -> None:
    for text, word in CASES[tag].items():
        assert word in [one.text for one in words_of(tag, text) if one.ends], text


@pytest.mark.parametrize("tag", SHORT)
def test_elsewhere_it_is_short(tag: str) -> None:
    for text, said in SHORT[tag].items():
        assert said in " ".join(one.text for one in words_of(tag, text)), text
        assert sum(one.ends for one in words_of(tag, text)) == 1
