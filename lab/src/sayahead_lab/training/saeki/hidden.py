"""A student that reads a language model's hidden states in place of word vectors (LLM2Speech).

One forward pass over the words so far, and no sampling, as input of the network that says what will
follow. It learns as Saeki-b's student does: the teacher's embedding of the true future, or of a
guess, and the frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from torch import Tensor

from sayahead_lab.training.corpus.segments import Piece
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.distilled.futures import choose
from sayahead_lab.training.distilled.states import ReadStates, States
from sayahead_lab.training.saeki.futures import Prefix
from sayahead_lab.training.saeki.student import StudentTask, Teaching


@dataclass(frozen=True, slots=True)
class HiddenData(Teaching, ReadStates):
    """Its training data."""

    drawn: int = 4
    """Prefixes of each sentence that are learned from where ``truth`` makes futures needless:
    ``futures`` is empty."""


class HiddenTask(StudentTask):
    """Distillation from a language model's states; ``[model] vectors`` is the width of the language
    model's states."""

    data: HiddenData

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.data = from_mapping(HiddenData, data, where="[data]")
        if self.data.drawn < 1:
            raise ConfigError("[data] drawn must be at least 1.")
        if not self.data.futures and not self.data.truth:
            raise ConfigError(
                "[data] futures is empty: name a file of sayahead train futures, or set truth ="
                " true."
            )
        self.teach(model, self.data, corpus)
        self.states = States(self.data, self.config.vectors)
        self.check(
            self.data.distil_weight, self.config.vectors, self.speaking.config.context.embedding
        )

    def prefixes(self, split: str, items: Sequence[Item]) -> list[Prefix]:
        """Some of each sentence's, without anything expected, where the truth teaches."""
        if self.data.futures:
            return super().prefixes(split, items)
        texts = [(number, tuple(item.text.split())) for number, item in enumerate(items)]
        # Where the front end says several words for one of the text, it is not known which phonemes
        # are whose.
        complete = [
            (number, words) for number, words in texts if len(words) == len(items[number].words)
        ]
        return [
            Prefix(number, words[: last + 1], ())
            for number, words in complete
            for last in choose(len(words), self.data.drawn, seed=number)
        ]

    def taught(self, split: str) -> tuple[list[Prefix], list[Piece], Tensor]:
        """The states of the longest prefixes have those of the others in them."""
        lessons = super().taught(split)
        for prefix in sorted(lessons[0], key=lambda one: -len(one.words)):
            self.states.of(prefix.words)
        return lessons

    def read(self, texts: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """States (B, N, D) of the words so far, padded, and how many each has (B,), at least 1."""
        return self.states.read(texts)
