"""Phonemes of words at their place in a sentence."""

from __future__ import annotations

import pytest

from sayahead import Voice
from sayahead.text.english.normalizer import Normalizer
from sayahead.text.english.phonemizer import PAUSES, EnglishPhonemizer
from sayahead.types import Word


def words(text: str) -> list[Word]:
    normalizer = Normalizer()
    return [*normalizer.push(text), *normalizer.flush()]


@pytest.mark.parametrize("text", ["However, he (the clerk) said: no; go home!", "“Well,” she said, “yes?”"])
def test_without_inner_punctuation_only_the_last_word_keeps_its_own(heart: Voice, text: str) -> None:
    table = heart.config.phonemes
    pauses = {table[symbol] for symbol in PAUSES.strip() if symbol in table}
    whole = EnglishPhonemizer(table, stand_in="people").phonemize(words(text), left=())
    bare = EnglishPhonemizer(table, stand_in="people", inner_punctuation=False).phonemize(words(text), left=())
    assert any(pauses & set(word.ids.tolist()) for word in whole[:-1])
    assert not any(pauses & set(word.ids.tolist()) for word in bare[:-1])
    assert pauses & set(bare[-1].ids.tolist())
    for full, stripped in zip(whole, bare, strict=True):
        spoken = stripped.ids[stripped.first : stripped.end]
        assert [i for i in full.ids if i not in pauses and i != table[" "]] == spoken.tolist()
