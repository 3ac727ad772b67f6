"""Context predictors: what stands in for the future."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.toy import toy_session

from sayahead import ConfigError
from sayahead.contexts.baselines import common_words
from sayahead.research import LanguageModel, LookaheadK, NoContext, Prediction, RandomWords, Truth


def test_no_context_predicts_nothing() -> None:
    assert NoContext().predict(["hello"]) == Prediction()


def test_random_words_depend_on_seed_and_text_alone() -> None:
    one = RandomWords(5, seed=1).predict(["a", "b"])
    assert len(one.words) == 5
    assert set(one.words) <= set(common_words())
    assert one == RandomWords(5, seed=1).predict(["a", "b"])
    assert one != RandomWords(5, seed=2).predict(["a", "b"])
    assert one != RandomWords(5, seed=1).predict(["a", "c"])
    with pytest.raises(ConfigError, match="count is -1, but must be a whole number from 0 to 1000"):
        RandomWords(-1)
    assert len(common_words()) == len(set(common_words())) == 1000


def test_the_truth_is_what_follows_up_to_the_sentence_end() -> None:
    truth = Truth.of("Mr. Fox paid $5 million for it. He, he said\n\nThen left,", 3)
    first = ["Mr", "Fox", "paid", "five million dollars"]
    assert [word.text for word in truth.words][:4] == first
    assert truth.predict([]).words == ("Mr", "Fox", "paid")
    assert truth.predict(first[:1]).words == ("Fox", "paid", "five million dollars")
    assert truth.predict(first).words == ("for", "it.")
    # Sentences that a paragraph or the text's end closes show it.
    assert truth.predict([*first, "for", "it."]).words == ("He,", "he", "said.")
    assert truth.predict(["Then"]).words == ("left.",)
    # A session that forgot the first words; one that says something else; the end.
    assert truth.predict(["it.", "He,"]).words == ("he", "said.")
    assert truth.predict(["Mr", "Wolf"]) == truth.predict(["Then", "left,"]) == Prediction()


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_true_future_is_as_good_as_lookahead(count: int) -> None:
    text = "The cat, the cat, sat. It sat on the mat, the other one, that was there. " * 5
    sounds = []
    for session in (
        toy_session(LookaheadK(count)),
        toy_session(LookaheadK(0), Truth.of(text, count)),
    ):
        session.push(text)
        session.finish()
        sounds.append(np.concatenate([chunk.samples for chunk in session.chunks()]))
    assert np.array_equal(sounds[0], sounds[1])


class Fixed:
    """Always expects the same words, and notes what it was asked."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.asked = list[tuple[str, ...]]()

    def predict(self, words: Sequence[str]) -> Prediction:
        self.asked.append(tuple(words))
        return Prediction(self.words)


def test_predicted_words_are_seen_but_never_spoken() -> None:
    text = "one two three. "
    plain = toy_session(LookaheadK(0))
    seeing = toy_session(LookaheadK(0), Fixed("zebra", "tree"))
    for session in (plain, seeing):
        session.push(text)
        session.finish()
    a = list(plain.chunks())
    b = list(seeing.chunks())
    assert (
        [w.text for c in a for w in c.words]
        == [w.text for c in b for w in c.words]
        == ["one", "two", "three."]
    )
    one, two = (np.concatenate([chunk.samples for chunk in chunks]) for chunks in (a, b))
    assert not np.array_equal(one, two)


def test_the_predictor_sees_all_words_so_far_and_is_not_asked_at_an_end() -> None:
    fixed = Fixed("x")
    session = toy_session(LookaheadK(1), fixed)
    session.push("one two three. four five ")
    list(session.chunks())
    assert fixed.asked == [("one", "two"), ("one", "two", "three.", "four", "five")]


class Parrot:
    """A language model that goes through a list of tokens, certain of each."""

    end: int | None = 0

    def __init__(self, *tokens: str) -> None:
        self.tokens = ("<end>", *tokens)
        self.steps = 0

    def encode(self, text: str) -> list[int]:
        self.asked = text
        return [1]

    def decode(self, ids: list[int]) -> str:
        return "".join(self.tokens[i] for i in ids)

    def next(self, ids: list[int], cache: Any) -> tuple[NDArray[np.float64], Any]:
        step = cache or 0
        logits = np.zeros(len(self.tokens))
        logits[(step + 1) % len(self.tokens)] = 5.0
        return logits, step + 1


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((" the", " big", " cat", " sat", " on", " a", " mat"), ("the", "big", "cat", "sat", "on")),
        ((" rain", "bow", " now", "."), ("rainbow", "now.")),
        (("s", " and", " more", "!"), ("and", "more!")),
        ((" only",), ("only",)),
    ],
)
def test_a_language_model_continues_in_whole_words(
    tokens: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    parrot = Parrot(*tokens)
    model = LanguageModel("any", load=lambda name: parrot)
    assert model.predict(["I", "saw"]).words == expected
    assert parrot.asked == "I saw"
    assert model.predict([]) == Prediction()


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((" only",), ("only",) * 5),
        ((" rain", "bow", " now", ".", " the", " sky"), ("rainbow", "now.", "the", "sky", "rain")),
    ],
)
def test_without_a_stop_at_the_end_a_continuation_is_always_as_long(
    tokens: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    model = LanguageModel("any", stop_at_end=False, load=lambda name: Parrot(*tokens))
    assert model.predict(["I", "saw"]).words == expected


def test_sampling_from_the_top_is_fixed_by_the_seed() -> None:
    tokens = (" a", " b", " c", " d", " e", " f", " g")
    futures = {
        seed: LanguageModel("any", top_k=8, seed=seed, load=lambda name: Parrot(*tokens)).predict(
            ["x"]
        )
        for seed in range(20)
    }
    assert len({prediction.words for prediction in futures.values()}) > 3
    again = LanguageModel("any", top_k=8, seed=7, load=lambda name: Parrot(*tokens)).predict(["x"])
    assert again == futures[7]


def test_a_model_that_is_not_there_is_named(tmp_path: object) -> None:
    with pytest.raises(ConfigError, match="no-such-model"):
        LanguageModel(f"{tmp_path}/no-such-model")
