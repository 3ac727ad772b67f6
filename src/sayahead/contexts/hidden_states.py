"""Hidden states of a language model as context (LLM2Speech): one forward pass over the words so
far, without sampling.

A small network that the voice has learned turns the states of the open sentence into an embedding
of what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from sayahead.contexts.distilled import open_sentence
from sayahead.contexts.language_model import TransformersModel
from sayahead.engine.context import NOTHING, Prediction
from sayahead.engine.files import inside
from sayahead.engine.onnx import OnnxGraph
from sayahead.errors import ConfigError
from sayahead.types import Floats

LONGEST = 256
"""Most words of an open sentence that the language model reads."""


@dataclass(frozen=True, slots=True)
class HiddenConfig:
    """What voice.json says about its network of hidden states under ``hidden``; the graph is listed
    under ``files``."""

    graph: str
    """File of the graph: ``vectors`` (N, width) -> ``embedding`` (E,)."""
    width: int
    """Channels of the language model's states."""
    model: str
    """The language model that it was trained with: a hub name, or how its folder was called."""
    layer: int = -1
    """Which of its states: 0 its input embeddings, -1 those before its logits."""
    most: int = 32
    """States at the end of the open sentence that the network sees."""


class StatesModel(Protocol):
    """What this needs from a causal language model."""

    def encode(self, text: str) -> list[int]: ...

    def states(self, ids: list[int], layer: int) -> Floats:
        """Return the states (N, D) of a layer after each token."""
        ...


class Hidden:
    """An embedding for the segment, no words."""

    taught = True
    served = False

    def __init__(self, graph: OnnxGraph, config: HiddenConfig, model: StatesModel) -> None:
        self._graph = graph
        self._config = config
        self._model = model

    def predict(self, words: Sequence[str]) -> Prediction:
        """Return the embedding of what follows the open sentence; nothing before its first word."""
        sentence = open_sentence(words)[-LONGEST:]
        if not sentence:
            return NOTHING
        states, _ = states_of(self._model, sentence, self._config.layer)
        if not len(states):
            return NOTHING
        if states.shape[1] != self._config.width:
            raise ConfigError(
                f"context 'hidden': the language model's states have {states.shape[1]} channels,"
                f" but the voice learned with those of {self._config.model}, which have"
                f" {self._config.width}: name that one."
            )
        return Prediction(embedding=self._graph(vectors=states[-self._config.most :])["embedding"])


def states_of(model: StatesModel, words: Sequence[str], layer: int) -> tuple[Floats, list[int]]:
    """Return the states (N, D) of words, and the number of tokens up to the end of each word.

    Words are encoded one by one, so that the states of the first ones do not depend on what
    follows.
    """
    tokens = [model.encode((" " if number else "") + word) for number, word in enumerate(words)]
    ids = [token for word in tokens for token in word]
    ends = np.cumsum([len(word) for word in tokens]).tolist()
    return (model.states(ids, layer) if ids else np.zeros((0, 0), np.float32)), ends


def hidden_maker(folder: Path, config: HiddenConfig, *, threads: int = 1) -> Callable[..., Hidden]:
    """Return a maker of a voice's predictor. VoiceError if its graph cannot be read."""
    graph = OnnxGraph(inside(folder, config.graph), threads=threads)

    def hidden(model: str | Path = "") -> Hidden:
        return Hidden(graph, config, TransformersModel(str(model or config.model)))

    return hidden
