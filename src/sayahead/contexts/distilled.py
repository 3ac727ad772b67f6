"""The distilled context predictor at run time (Saeki-b): from the words so far to an embedding of
what will follow.

A network over word vectors replaces a language model and everything that reads its words: one
graph, no sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sayahead.contexts.word_vectors import WordVectors, tokens_of
from sayahead.engine.context import NOTHING, Prediction
from sayahead.engine.files import Borrowed
from sayahead.engine.onnx import OnnxGraph

CLOSING = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class DistilledConfig:
    """What voice.json says about its predictor under ``distilled``; both files are the voice's own,
    or another's."""

    graph: str
    """File of the graph: ``vectors`` (N, K) of tokens -> ``embedding`` (D,)."""
    vectors: str
    """File of the word vectors (``WordVectors.save``)."""
    most: int = 64
    """Tokens at the end of the open sentence that the network sees."""
    borrowed: Borrowed | None = None
    """The voice that both files lie with, if not this one."""


class Distilled:
    """An embedding for the segment, no words (Saeki-b, Eq. 7: G(v))."""

    taught = True

    def __init__(self, graph: OnnxGraph, vectors: WordVectors, *, most: int) -> None:
        self._graph = graph
        self._vectors = vectors
        self._most = most

    @classmethod
    def load(cls, folder: Path, model: DistilledConfig, *, threads: int = 1) -> Distilled:
        """Load the predictor from a voice's folder. VoiceError if its files cannot be read."""
        graph = OnnxGraph(folder / model.graph, threads=threads)
        return cls(graph, WordVectors.load(folder / model.vectors), most=model.most)

    def predict(self, words: Sequence[str]) -> Prediction:
        """Return the embedding of what follows the open sentence; nothing before its first word."""
        tokens = tokens_of(open_sentence(words))[-self._most :]
        if not tokens:
            return NOTHING
        return Prediction(embedding=self._graph(vectors=self._vectors(tokens))["embedding"])


def open_sentence(words: Sequence[str]) -> list[str]:
    """Return the words after the last one that ends a sentence."""
    for number in range(len(words), 0, -1):
        if words[number - 1].rstrip("\"')”’")[-1:] in CLOSING:
            return list(words[number:])
    return list(words)
