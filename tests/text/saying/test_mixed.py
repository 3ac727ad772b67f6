"""English words in texts of other languages are said as English, those that only look so are
not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sayahead.text import front_end
from sayahead.text.saying.clauses import ClausePhonemizer
from sayahead.text.saying.english.inflected import inflected
from sayahead.text.saying.mixed import MixedSounds
from sayahead.types import Word

HERE = Path(__file__).parent
TAGS = {"de": "de-DE", "es": "es-ES", "fr": "fr-FR", "it": "it-IT", "pt": "pt-BR"}
SYMBOLS = {chr(code): code for code in range(0x20, 0x2000)}
PROSODY = re.compile("[ˈˌː]")


def rows(file: str) -> list[list[str]]:
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def phonemizer(language: str) -> ClausePhonemizer:
    made = front_end(TAGS[language]).phonemizer(SYMBOLS)
    assert isinstance(made, ClausePhonemizer)
    return made


def words_of(language: str, sentence: str) -> list[Word]:
    normalizer = front_end(TAGS[language]).normalizer()
    return [*normalizer.push(sentence), *normalizer.flush()]


@pytest.mark.parametrize(("language", "sentence", "accepted"), rows("mixed.tsv"))
def test_english_words_are_said_as_a_speaker_accepts_them(
    language: str, sentence: str, accepted: str
) -> None:
    texts = [word.text for word in words_of(language, sentence)]
    said = {
        text.strip(".,:!?"): PROSODY.sub("", sounds)
        for text, (sounds, _) in zip(texts, phonemizer(language).read(texts), strict=True)
    }
    wanted = dict(pair.split("=") for pair in accepted.split())
    missed = {
        word: said[word]
        for word, pattern in wanted.items()
        if not re.fullmatch(pattern, said[word])
    }
    assert not missed


@pytest.mark.parametrize(("language", "sentence"), rows("unmixed.tsv"))
def test_words_that_only_look_english_stay_as_they_are(language: str, sentence: str) -> None:
    sounds = phonemizer(language)._sounds
    assert isinstance(sounds, MixedSounds)
    texts = [word.text.strip(".,!?") for word in words_of(language, sentence)]
    assert [text for text in texts if sounds.is_english(text)] == []
    assert language != "de" or [text for text in texts if inflected(text)] == []
