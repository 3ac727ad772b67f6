"""Hidden states of a language model as context: what is read, how often, and whose it must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.states import WIDTH, ToyStates
from support.toy_voices import TOYS, toy

from sayahead import ConfigError
from sayahead.contexts import context
from sayahead.contexts import hidden_states as module
from sayahead.contexts.hidden_states import Hidden, HiddenConfig, hidden_maker, states_of
from sayahead.engine.onnx import OnnxGraph
from sayahead.research import Prediction

FOLDER = TOYS / "contexts"
CONFIG = HiddenConfig("hidden.onnx", WIDTH, "toy", most=4)


def test_one_forward_pass_a_prediction_over_the_open_sentence_alone() -> None:
    model = ToyStates()
    predictor = Hidden(OnnxGraph(FOLDER / "hidden.onnx"), CONFIG, model)
    made = predictor.predict(["It", "rained.", "The", "sea"])
    assert made.words == ()
    assert made.embedding is not None
    assert made.embedding.shape == (5,)
    assert [len(ids) for ids in model.asked] == [len("The") + len(" sea")]
    same = predictor.predict(["The", "sea"])
    assert same.embedding is not None
    assert np.array_equal(made.embedding, same.embedding)
    other = predictor.predict(["A", "sea"])
    assert other.embedding is not None
    # The last states are read alone, but have read all before them.
    assert not np.allclose(made.embedding, other.embedding)
    assert predictor.predict([]) == predictor.predict(["Done."]) == Prediction()


def test_states_of_first_words_do_not_depend_on_what_follows() -> None:
    long, ends = states_of(ToyStates(), ["The", "sea", "was"], -1)
    short, _ = states_of(ToyStates(), ["The", "sea"], -1)
    assert ends == [3, 7, 11]
    assert np.allclose(long[:7], short)


def test_another_language_model_than_the_trained_one_is_an_error() -> None:
    predictor = Hidden(OnnxGraph(FOLDER / "hidden.onnx"), CONFIG, ToyStates(WIDTH + 1))
    with pytest.raises(
        ConfigError, match="states have 8 channels, but the voice learned with those of toy"
    ):
        predictor.predict(["Hello"])


def test_a_voice_names_the_model_and_a_caller_may_name_a_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = list[str]()

    def load(name: str) -> ToyStates:
        named.append(name)
        return ToyStates()

    monkeypatch.setattr(module, "TransformersModel", load)
    makers: dict[str, Any] = {"hidden": hidden_maker(FOLDER, CONFIG)}
    for spec in ("hidden", "hidden:model=here"):
        assert context(spec, makers).predict(["Hello"]).embedding is not None
    assert named == ["toy", "here"]
    with pytest.raises(ConfigError, match="unknown option 'modle'"):
        context("hidden:modle=x", makers)
    with pytest.raises(ConfigError, match="has no context 'hidden'"):
        toy("ma").context("hidden")
