"""The default voice's distilled context: it learns from words what the context network reads in
phonemes."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.sentences import ITEMS, PAD, PHONEMES
from lab_support.tiny_training import lessons
from sayahead.contexts.word_vectors import WordVectors, tokens_of
from sayahead.engine.onnx import OnnxGraph
from sayahead.errors import ConfigError
from sayahead.voice import load_voice
from sayahead.voices.locations import located
from support.states import WIDTH, ToyStates

from sayahead_lab.training.heart.student import Expecting, HeartHidden, HeartStudent
from sayahead_lab.training.heart.task import HeartPrefixes
from sayahead_lab.training.loop import saved_run
from sayahead_lab.training.loop.recipe import Recipe
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.loop.task import TrainSettings
from sayahead_lab.training.voice import extend_voice

RECIPES = Path(__file__).parents[2] / "recipes"
MODEL = {"vectors": 8, "recurrent": 6, "wide": 10, "embedding": 64}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A task on two sentences, whose teacher was not trained."""
    corpus: Any = SimpleNamespace(
        info=SimpleNamespace(phonemes=PHONEMES, punctuation="all", pad=PAD), path=tmp_path
    )
    torch.manual_seed(0)
    speaking = HeartPrefixes({}, {}, corpus)
    teacher = SimpleNamespace(task=speaking, model=speaking.model().eval())
    monkeypatch.setattr(saved_run, "load_trained", lambda *_, **__: teacher)
    words = sorted({token for item in ITEMS for token in tokens_of(item.text.split())})
    table = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    listed = {word: row for row, word in enumerate(words)}
    WordVectors.of(listed, table, buckets=0, shortest=3, longest=6).save(tmp_path / "words.npz")
    return lambda weight: HeartStudent(
        MODEL, {"vectors": str(tmp_path), "distil_weight": weight}, corpus
    )


@pytest.mark.parametrize(
    ("weight", "steps", "left"),
    [(1.0, 20, 0.5), (0.5, 3, 0.95), pytest.param(0.5, 20, 0.5, marks=pytest.mark.slow)],
)
def test_it_learns_what_the_context_network_says(
    made: Any, weight: float, steps: int, left: float
) -> None:
    task = made(weight)
    torch.manual_seed(1)
    model = task.model()
    draw = np.random.default_rng(0)
    batch = task.batch(ITEMS, [[task.one(item, draw) for _ in range(3)] for item in ITEMS])
    found = lessons(task, model, [batch] * steps, 1e-2)
    assert found[-1]["distil"] < left * found[0]["distil"]
    assert ("durations" in found[0]) == (weight < 1)
    assert all(parameter.grad is None for parameter in model.voice.parameters())


def test_the_words_that_are_read_are_those_seen(made: Any) -> None:
    task = made(1.0)
    cut = task.cutter.at(ITEMS[0], 1, 1, source=1)
    batch = task.batch(ITEMS[:1], [[(cut, 3)]])
    assert batch["tokens"].tolist() == [3]
    expected = task.vectors(tokens_of(["The", "quick", "brown"]))
    assert np.array_equal(batch["vectors"][0].numpy(), expected)


def test_a_student_of_another_size_is_refused(made: Any, tmp_path: Path) -> None:
    task = made(1.0)
    assert isinstance(task.model(), Expecting)
    with pytest.raises(ConfigError, match="32"):
        HeartStudent({**MODEL, "embedding": 32}, {"vectors": str(tmp_path)}, task.corpus)


def test_states_of_a_language_model_teach_by_a_voice_itself(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = ToyStates()
    monkeypatch.setattr(
        "sayahead_lab.training.distilled.states.TransformersModel", lambda name: language
    )
    corpus = made(1.0).corpus
    sizes = {**MODEL, "vectors": WIDTH}
    more = {
        "teacher": "heart",
        "ranges": str(RECIPES / "heart" / "ranges.json"),
        "lm": "toy",
        "most": 6,
    }
    task = HeartHidden(sizes, more, corpus)
    draw = np.random.default_rng(0)
    batch = task.batch(ITEMS, [[task.one(item, draw) for _ in range(3)] for item in ITEMS])
    # One pass of the language model a sentence, whatever its prefixes.
    assert len(language.asked) == len(ITEMS)
    assert batch["vectors"].shape[2] == WIDTH
    assert int(batch["tokens"].max()) == 6
    # The teacher is the voice's own context network.
    ids = ITEMS[0].ids[:9].astype(np.int64)
    meant = (
        task.voice.expect(torch.from_numpy(ids)[None], torch.tensor([len(ids)]))[0].detach().numpy()
    )
    assert np.allclose(
        meant, OnnxGraph(located("heart") / "expect.onnx")(ids=ids)["context"], atol=1e-4
    )
    model = task.model()
    found = lessons(task, model, [batch] * 3, 1e-2)
    assert found[-1]["distil"] < found[0]["distil"]
    shutil.copytree(located("heart"), tmp_path / "voice")
    run: Any = Trained(
        task, model.eval(), Recipe("one", "heart-hidden", TrainSettings(1, 1)), corpus, 1
    )
    extend_voice(tmp_path / "voice", student=run)
    monkeypatch.setattr("sayahead.contexts.hidden_states.TransformersModel", lambda name: language)
    extended = load_voice(tmp_path / "voice")
    sounds = [
        extended.synthesize("Hello there, proud team.", context=name) for name in ("hidden", "none")
    ]
    assert len(sounds[0]) != len(sounds[1]) or not np.array_equal(sounds[0], sounds[1])
    with pytest.raises(ConfigError, match="no context network"):
        HeartHidden(sizes, {**more, "teacher": "ma-lj"}, corpus)
