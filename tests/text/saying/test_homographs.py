"""Readings of homographs."""

from __future__ import annotations

import pytest

from sayahead.text.saying.english.homographs import chooser
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer, names


@pytest.fixture(scope="module")
def phonemizer() -> EnglishPhonemizer:
    return EnglishPhonemizer({}, stand_in="people")


@pytest.mark.parametrize(
    ("text", "word", "phonemes"),
    [
        ("I have read", "read", "ɹˈɛd"),
        ("Please read", "read", "ɹˈid"),
        ("where you live", "live", "lˈɪv"),
        ("We are live", "live", "lˈIv"),
        ("a lead pipe", "lead", "lˈɛd"),
        ("This may lead to", "lead", "lˈid"),
        ("We record it", "record", "ɹəkˈɔɹd"),
        ("the record is", "record", "ɹˈɛkəɹd"),
        ("She speaks Polish", "Polish", "pˈOlɪʃ"),
        ("I polish my", "polish", "pˈɑlɪʃ"),
    ],
)
def test_a_homograph_is_chosen_by_its_neighbours(
    phonemizer: EnglishPhonemizer, text: str, word: str, phonemes: str
) -> None:
    tokens = phonemizer.tokens(text)
    assert next(token.phonemes for token in tokens if token.text == word) == phonemes


@pytest.mark.parametrize("word", chooser().readings)
def test_a_homograph_has_several_readings_and_weights_for_each(word: str) -> None:
    readings = chooser().readings[word]
    assert len(set(readings.values())) == len(readings) > 1
    known = {name for _, name in chooser().weights}
    assert known & {*readings, *(f"{word}.{name}" for name in readings)}


def test_every_weight_belongs_to_a_reading() -> None:
    readings = chooser().readings
    own = {f"{word}.{name}" for word, named in readings.items() for name in named}
    kinds = {name for named in readings.values() for name in named}
    assert {name for _, name in chooser().weights} <= own | kinds
    assert not readings.keys() & names().keys()
