"""Capitals are letters only where they are no word of the lexicon or of the language's table."""

from __future__ import annotations

import re

import pytest

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer

PHONEMIZER = EnglishPhonemizer({}, stand_in="people")
FRAMES = (
    ("We", "it"),
    ("She saw", "there"),
    ("The", "is here"),
    ("He said", "twice"),
    ("A", "came"),
)


def sound(before: str, word: str, behind: str) -> str:
    """A word's phonemes between others, without stress."""
    reader = TokenReader(language_of("en"))
    words = [*reader.push(f"{before} {word} {behind}"), *reader.flush()]
    texts = [one.text for one in words]
    count = len(before.split())
    return re.sub("[ˈˌ]", "", PHONEMIZER._read(texts)[count])


@pytest.mark.parametrize(
    "word", ["looked", "started", "make", "kids", "went", "was", "should", "begs", "books", "might"]
)
@pytest.mark.parametrize(("before", "behind"), FRAMES)
def test_a_word_in_capitals_is_the_word(before: str, word: str, behind: str) -> None:
    """Where the tagger took them for names, all of these were spelled."""
    assert sound(before, word.upper(), behind) == sound(before, word, behind)


@pytest.mark.parametrize("name", ["Abbott", "Elsa", "Kevin", "Ashton", "Zelda", "Steve", "Denied"])
@pytest.mark.parametrize(("before", "behind"), FRAMES)
def test_a_name_in_capitals_is_the_name(before: str, name: str, behind: str) -> None:
    assert sound(before, name.upper(), behind) == sound(before, name, behind)


@pytest.mark.parametrize("letters", ["FBI", "NCAA", "EMS", "DOD", "ESPN", "HTML", "USSR"])
@pytest.mark.parametrize(("before", "behind"), FRAMES[1:3])
def test_letters_stay_letters(before: str, letters: str, behind: str) -> None:
    spelled = re.sub("[ˈˌ ]", "", PHONEMIZER._read([" ".join(f"{c}." for c in letters)])[0])
    assert sound(before, letters, behind).replace(" ", "").rstrip(".") == spelled.rstrip(".")


@pytest.mark.parametrize("pair", ["DEN to SEA", "SEA-LAX", "SIN to DEL", "OAK–DEN", "MAN to PIT"])
def test_airports_whose_letters_are_words_are_letters_beside_another(pair: str) -> None:
    reader = TokenReader(language_of("en"))
    said = " ".join(one.text for one in [*reader.push(f"Fly {pair} now"), *reader.flush()])
    first, last = re.findall("[A-Z]{3}", pair)
    expected = f"Fly {' '.join(first)} to {' '.join(last)} now"
    assert said.replace("A.", "A") == expected


def test_no_common_word_is_spelled_by_a_rule() -> None:
    language = language_of("en")
    words = sorted(language.common)[::40]
    for word in words:
        if word.upper() in language.record.vocabularies["acronyms"]:
            continue
        reader = TokenReader(language)
        read = [*reader.push(f"We saw {word.upper()} there"), *reader.flush()]
        assert read[2].text.lower() == word
