"""Phonemes of words at their place in a sentence."""

from __future__ import annotations

import pytest

from sayahead import Voice
from sayahead.text import sounds
from sayahead.text.reading.stream import new_reader
from sayahead.text.saying.english.phonemizer import PAUSES, EnglishPhonemizer
from sayahead.types import Word


def words(text: str) -> list[Word]:
    normalizer = new_reader()
    return [*normalizer.push(text), *normalizer.flush()]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("water", 5),
        ("about", 4),
        ("He", 2),
        ("clerk,", 5),
        ("(stop)!", 4),
        ("understanding", 12),
        ("—", 0),
        ("1,000", 9),
    ],
)
def test_phonemes_are_counted_without_stress_length_and_marks(
    heart: Voice, text: str, count: int
) -> None:
    phonemizer = EnglishPhonemizer(heart.config.phonemes, stand_in="people")
    assert sum(map(phonemizer.phonemes, words(text))) == count


@pytest.mark.parametrize(
    ("phonemes", "count"),
    [("wˈɔːtɚ", 4), ("lˌoʊkə", 5), ("pʰa", 2), ("tʲa, ", 2), ("ɑ̃", 1), ("a˥˩", 1), ("", 0)],
)
def test_sounds_are_letters_that_are_no_prosody(phonemes: str, count: int) -> None:
    assert sounds(phonemes) == count


@pytest.mark.parametrize(
    "text", ["However, he (the clerk) said: no; go home!", "“Well,” she said, “yes?”"]
)
def test_without_inner_punctuation_only_the_last_word_keeps_its_own(
    heart: Voice, text: str
) -> None:
    table = heart.config.phonemes
    pauses = {table[symbol] for symbol in PAUSES.strip() if symbol in table}
    whole = EnglishPhonemizer(table, stand_in="people").phonemize(words(text), left=())
    bare = EnglishPhonemizer(table, stand_in="people", inner_punctuation=False).phonemize(
        words(text), left=()
    )
    assert any(pauses & set(word.ids.tolist()) for word in whole[:-1])
    assert not any(pauses & set(word.ids.tolist()) for word in bare[:-1])
    assert pauses & set(bare[-1].ids.tolist())
    for full, stripped in zip(whole, bare, strict=True):
        spoken = stripped.ids[stripped.first : stripped.end]
        assert [i for i in full.ids if i not in pauses and i != table[" "]] == spoken.tolist()
