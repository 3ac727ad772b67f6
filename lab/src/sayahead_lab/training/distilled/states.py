"""Hidden states of a language model as what a student of context reads, in place of word vectors
(LLM2Speech)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sayahead.contexts.hidden_states import HiddenConfig, StatesModel, states_of
from sayahead.contexts.language_model import TransformersModel
from sayahead.errors import ConfigError
from torch import Tensor

from sayahead_lab.training.distilled.export import student_graph
from sayahead_lab.training.distilled.task import stacked
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.voice_parts import Written

Halves = NDArray[np.float16]


@dataclass(frozen=True)
class ReadStates:
    """Keys of [data]: which states are read. Without slots: tasks add it to other keys."""

    lm: str = ""
    """The causal language model, by its hub name or its folder."""
    layer: int = -1
    """Which of its states: 0 its input embeddings, -1 those before its logits."""
    most: int = 32
    """States at the end of the sentence that are read."""


class States:
    """The states after words, each prefix's of one pass over the longest text that it begins."""

    def __init__(self, about: ReadStates, width: int) -> None:
        """``width``: the channels that the student reads. ConfigError where no language model is
        named."""
        if not about.lm or about.most < 1:
            raise ConfigError(
                "[data] lm must name a causal language model, and most be at least 1."
            )
        self.about = about
        self.width = width
        self._known = dict[tuple[str, ...], Halves]()

    @functools.cached_property
    def language(self) -> StatesModel:
        """Loaded when it is first wanted: exporting needs none."""
        return TransformersModel(self.about.lm)

    def of(self, words: tuple[str, ...]) -> Halves:
        """(N, D) the last states after words; kept, as those after each first part of them."""
        if words not in self._known:
            vectors, ends = states_of(self.language, words, self.about.layer)
            if vectors.shape[1:] != (self.width,):
                raise ConfigError(
                    f"[model] vectors is {self.width}, but the states of {self.about.lm} have"
                    f" {vectors.shape[-1]} channels."
                )
            short = vectors.astype(np.float16)
            for number, end in enumerate(ends, 1):
                self._known.setdefault(words[:number], short[max(0, end - self.about.most) : end])
        return self._known[words]

    def read(self, texts: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """States (B, N, D) of the words so far, padded, and how many each has (B,), at least 1."""
        return stacked([self.of(tuple(words)) for words in texts], self.width)


def write_states(run: Trained[Any, Any], folder: Path) -> Written:
    """Write a network of hidden states; its path, and what voice.json says of it under
    ``hidden``."""
    states: States = run.task.states
    # Where a folder lay on the machine of the training says nothing to others.
    lm = Path(states.about.lm)
    name = lm.name if lm.is_dir() else states.about.lm
    about = HiddenConfig("hidden.onnx", states.width, name, states.about.layer, states.about.most)
    student_graph(run.model.student).save(str(folder / about.graph))
    return [folder / about.graph], asdict(about)
