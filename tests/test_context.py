"""Context predictors: what stands in for the future."""

from __future__ import annotations

import numpy as np
import pytest
from toy import toy_session

from sayahead import ConfigError, LanguageModel, LookaheadK, NoContext, Prediction, RandomWords
from sayahead.text.common_words import COMMON_WORDS


def test_no_context_predicts_nothing() -> None:
    assert NoContext().predict(["hello"]) == Prediction()


def test_random_words_depend_on_seed_and_text_alone() -> None:
    one = RandomWords(5, seed=1).predict(["a", "b"])
    assert len(one.words) == 5
    assert set(one.words) <= set(COMMON_WORDS)
    assert one == RandomWords(5, seed=1).predict(["a", "b"])
    assert one != RandomWords(5, seed=2).predict(["a", "b"])
    assert one != RandomWords(5, seed=1).predict(["a", "c"])
    assert len(COMMON_WORDS) == len(set(COMMON_WORDS)) == 1000


class Fixed:
    """Always expects the same words, and notes what it was asked."""

    def __init__(self, *words: str) -> None:
        self.words, self.asked = words, list[tuple[str, ...]]()

    def predict(self, words: list[str]) -> Prediction:
        self.asked.append(tuple(words))
        return Prediction(self.words)


def test_predicted_words_are_seen_but_never_spoken() -> None:
    text = "one two three. "
    plain, seeing = toy_session(LookaheadK(0)), toy_session(LookaheadK(0), Fixed("apple", "tree"))
    for session in (plain, seeing):
        session.push(text)
        session.finish()
    a, b = list(plain.chunks()), list(seeing.chunks())
    assert [w.text for c in a for w in c.words] == [w.text for c in b for w in c.words] == ["one", "two", "three."]
    one, two = (np.concatenate([chunk.samples for chunk in chunks]) for chunks in (a, b))
    assert not np.array_equal(one, two)


def test_the_predictor_sees_all_words_so_far_and_is_not_asked_at_an_end() -> None:
    fixed = Fixed("x")
    session = toy_session(LookaheadK(1), fixed)
    session.push("one two three. four five ")
    list(session.chunks())
    assert fixed.asked == [("one", "two"), ("one", "two", "three.", "four", "five")]


def test_a_model_that_is_not_there_is_named(tmp_path: object) -> None:
    with pytest.raises(ConfigError, match="no-such-model"):
        LanguageModel(f"{tmp_path}/no-such-model")
