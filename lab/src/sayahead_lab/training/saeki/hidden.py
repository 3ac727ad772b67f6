"""A student that reads a language model's hidden states in place of word vectors (LLM2Speech).

One forward pass over the words so far, and no sampling, as input of the network that says what will follow. It learns
as Saeki-b's student does: the teacher's embedding of the true future, or of a guess, and the frames.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sayahead.config import from_mapping
from sayahead.contexts.hidden_states import HiddenConfig, StatesModel, states_of
from sayahead.contexts.language_model import TransformersModel
from sayahead.errors import ConfigError
from torch import Tensor

from sayahead_lab.training.corpus.segments import Piece
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.distilled.export import student_graph
from sayahead_lab.training.distilled.futures import choose
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.saeki.futures import Prefix
from sayahead_lab.training.saeki.student import StudentTask, Teaching
from sayahead_lab.training.voice_parts import Written

Halves = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class HiddenData(Teaching):
    """Its training data."""

    lm: str = ""
    """The causal language model, by its hub name or its folder."""
    layer: int = -1
    """Which of its states: 0 its input embeddings, -1 those before its logits."""
    most: int = 32
    """States at the end of the sentence that are read."""
    drawn: int = 4
    """Prefixes of each sentence that are learned from where ``truth`` makes futures needless: ``futures`` is empty."""


class HiddenTask(StudentTask):
    """Distillation from a language model's states; ``[model] vectors`` is the width of the language model's states."""

    data: HiddenData

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.data = from_mapping(HiddenData, data, where="[data]")
        if not self.data.lm or self.data.most < 1 or self.data.drawn < 1:
            raise ConfigError("[data] lm must name a causal language model, and most and drawn be at least 1.")
        if not self.data.futures and not self.data.truth:
            raise ConfigError("[data] futures is empty: name a file of sayahead train futures, or set truth = true.")
        self.teach(model, self.data, corpus)
        self.most = self.data.most
        self.check(self.data.distil_weight, self.config.vectors, self.speaking.config.context.embedding)
        self._known = dict[tuple[str, ...], Halves]()

    @functools.cached_property
    def language(self) -> StatesModel:
        """Loaded when it is first wanted: exporting needs none."""
        return TransformersModel(self.data.lm)

    def prefixes(self, split: str, items: Sequence[Item]) -> list[Prefix]:
        """Some of each sentence's, without anything expected, where the truth teaches."""
        if self.data.futures:
            return super().prefixes(split, items)
        texts = [(number, tuple(item.text.split())) for number, item in enumerate(items)]
        # Where the front end says several words for one of the text, it is not known which phonemes are whose.
        complete = [(number, words) for number, words in texts if len(words) == len(items[number].words)]
        return [
            Prefix(number, words[: last + 1], ())
            for number, words in complete
            for last in choose(len(words), self.data.drawn, seed=number)
        ]

    def taught(self, split: str) -> tuple[list[Prefix], list[Piece], Tensor]:
        """The states of the longest prefixes have those of the others in them."""
        lessons = super().taught(split)
        for prefix in sorted(lessons[0], key=lambda one: -len(one.words)):
            self.states(prefix.words)
        return lessons

    def states(self, words: tuple[str, ...]) -> Halves:
        """(N, D) the last states after words; kept, as those after each first part of them."""
        if words not in self._known:
            vectors, ends = states_of(self.language, words, self.data.layer)
            if vectors.shape[1:] != (self.config.vectors,):
                raise ConfigError(
                    f"[model] vectors is {self.config.vectors}, but the states of {self.data.lm} have "
                    f"{vectors.shape[-1]} channels."
                )
            short = vectors.astype(np.float16)
            for number, end in enumerate(ends, 1):
                self._known.setdefault(words[:number], short[max(0, end - self.most) : end])
        return self._known[words]

    def read(self, texts: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """States (B, N, D) of the words so far, padded, and how many each has (B,), at least 1."""
        rows = [self.states(tuple(words)) for words in texts]
        padded = np.zeros((len(rows), max(1, *map(len, rows)), self.config.vectors), np.float32)
        for at, row in enumerate(rows):
            padded[at, : len(row)] = row
        return torch.from_numpy(padded), torch.tensor([max(1, len(row)) for row in rows])


def write_hidden(run: Trained[Any, Any], folder: Path) -> Written:
    """Write a network of hidden states; its path, and what voice.json says of it under ``hidden``."""
    task: HiddenTask = run.task
    # Where a folder lay on the machine of the training says nothing to others.
    name = Path(task.data.lm).name if Path(task.data.lm).is_dir() else task.data.lm
    about = HiddenConfig("hidden.onnx", task.config.vectors, name, task.data.layer, task.most)
    student_graph(run.model.student).save(str(folder / about.graph))
    return [folder / about.graph], asdict(about)
