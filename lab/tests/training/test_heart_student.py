"""The default voice's distilled context: it learns from words what the context network reads in phonemes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.sentences import ITEMS, PAD, PHONEMES
from lab_support.tiny_training import lessons
from sayahead.contexts.word_vectors import WordVectors, tokens_of
from sayahead.errors import ConfigError

from sayahead_lab.training.heart.student import Expecting, HeartStudent
from sayahead_lab.training.heart.task import HeartPrefixes
from sayahead_lab.training.loop import saved_run

MODEL = {"vectors": 8, "recurrent": 6, "wide": 10, "embedding": 64}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A task on two sentences, whose teacher was not trained."""
    corpus: Any = SimpleNamespace(info=SimpleNamespace(phonemes=PHONEMES, punctuation="all", pad=PAD), path=tmp_path)
    torch.manual_seed(0)
    speaking = HeartPrefixes({}, {}, corpus)
    teacher = SimpleNamespace(task=speaking, model=speaking.model().eval())
    monkeypatch.setattr(saved_run, "load_trained", lambda *_, **__: teacher)
    words = sorted({token for item in ITEMS for token in tokens_of(item.text.split())})
    table = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    listed = {word: row for row, word in enumerate(words)}
    WordVectors.of(listed, table, buckets=0, shortest=3, longest=6).save(tmp_path / "words.npz")
    return lambda weight: HeartStudent(MODEL, {"vectors": str(tmp_path), "distil_weight": weight}, corpus)


@pytest.mark.parametrize(
    ("weight", "steps", "left"), [(1.0, 20, 0.5), (0.5, 3, 0.95), pytest.param(0.5, 20, 0.5, marks=pytest.mark.slow)]
)
def test_it_learns_what_the_context_network_says(made: Any, weight: float, steps: int, left: float) -> None:
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
