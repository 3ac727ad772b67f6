"""Hidden states of a language model as context: what is read, how often, and whose it must be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sayahead_lab.training.distilled.export import student_graph
from sayahead_lab.training.distilled.network import Student, StudentConfig
from support.states import WIDTH, ToyStates

from sayahead import ConfigError, Prediction, load_voice
from sayahead.contexts import context
from sayahead.contexts import hidden_states as module
from sayahead.contexts.hidden_states import Hidden, HiddenConfig, hidden_maker, states_of
from sayahead.contexts.language_model import TransformersModel
from sayahead.engine.onnx import OnnxGraph

CONFIG = HiddenConfig("hidden.onnx", WIDTH, "toy", most=4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    student = Student(StudentConfig(vectors=WIDTH, recurrent=6, wide=8, embedding=5)).eval()
    student_graph(student).save(str(tmp_path / "hidden.onnx"))
    return tmp_path


def test_one_forward_pass_a_prediction_over_the_open_sentence_alone(folder: Path) -> None:
    model = ToyStates()
    predictor = Hidden(OnnxGraph(folder / "hidden.onnx"), CONFIG, model)
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


def test_another_language_model_than_the_trained_one_is_an_error(folder: Path) -> None:
    predictor = Hidden(OnnxGraph(folder / "hidden.onnx"), CONFIG, ToyStates(WIDTH + 1))
    with pytest.raises(ConfigError, match="states have 8 channels, but the voice learned with those of toy"):
        predictor.predict(["Hello"])


def test_a_voice_names_the_model_and_a_caller_may_name_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = list[str]()

    def load(name: str) -> ToyStates:
        named.append(name)
        return ToyStates()

    monkeypatch.setattr(module, "TransformersModel", load)
    makers: dict[str, Any] = {"hidden": hidden_maker(folder, CONFIG)}
    for spec in ("hidden", "hidden:model=here"):
        assert context(spec, makers).predict(["Hello"]).embedding is not None
    assert named == ["toy", "here"]
    with pytest.raises(ConfigError, match="unknown option 'modle'"):
        context("hidden:modle=x", makers)
    with pytest.raises(ConfigError, match="has no context 'hidden'"):
        load_voice("ma-lj").context("hidden")


def test_transformers_states_are_those_of_a_layer_in_one_pass() -> None:
    class Model:
        base_model = staticmethod(
            lambda input_ids, output_hidden_states: type(
                "Out", (), {"hidden_states": [torch.full((1, input_ids.shape[1], 3), float(at)) for at in range(3)]}
            )
        )

    language: Any = object.__new__(TransformersModel)
    language.torch, language.model = torch, Model()
    assert language.states([5, 6], -1).tolist() == [[2.0] * 3] * 2
    assert language.states([5, 6], 1).tolist() == [[1.0] * 3] * 2
    with pytest.raises(ConfigError, match="states of 3 layers, but not of layer 3"):
        language.states([5, 6], 3)
