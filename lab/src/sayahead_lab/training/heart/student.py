"""The default voice's distilled context (Saeki-b, 4.1): from the words so far to the embedding of
the future.

The teacher is the context network of a voice taught on prefixes, reading what really follows, or a
language model's continuation of it. The student reads word vectors alone, or a language model's
hidden states (LLM2Speech); the voice itself does not move.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.contexts.word_vectors import WordVectors
from sayahead.errors import ConfigError
from sayahead.voices import read_config
from sayahead.voices.locations import located
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.corpus.batches import Share, shuffled
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.distilled.network import Student, StudentConfig
from sayahead_lab.training.distilled.states import ReadStates, States
from sayahead_lab.training.distilled.task import DistilTask, HasStudent
from sayahead_lab.training.heart.from_voice import load_shipped
from sayahead_lab.training.heart.network import Heart
from sayahead_lab.training.heart.prefixes import MODEL, TRUE, Cut, PrefixCutter
from sayahead_lab.training.heart.quantization import load_ranges
from sayahead_lab.training.heart.task import HeartPrefixes, make_cutter
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.loop.saved_run import load_run_of
from sayahead_lab.training.loop.task import Batch, logged

FEW = 8
"""Sentences whose cuts are spoken in a batch; the embeddings of the others cost next to nothing."""


@dataclass(frozen=True, slots=True)
class ContextTeaching:
    """The training data of a network of context, whatever it reads."""

    teacher: str = "runs/heart-prefixes"
    """Run of the voice, or the voice itself, by its name or folder."""
    ranges: str = ""
    """File of the ranges that the voice was written with, where the teacher is a voice; none:
    without any."""
    futures: str = ""
    """A language model's continuations, where they are what the teacher reads; empty: the true
    future."""
    distil_weight: float = 0.5
    """Lambda of Saeki-b, Eq. 9: 1 is the teacher's embedding alone, 0 the voice's durations, pitch
    and sound alone."""
    cuts: int = 4
    """Cuts of each sentence in a batch."""
    lookahead: int = 1
    """Most real words after those spoken."""


@dataclass(frozen=True, slots=True)
class HeartStudentData(ContextTeaching):
    """The student's training data."""

    vectors: str = "vectors/lm"
    """Folder of ``sayahead train vectors``."""
    most: int = 32
    """Tokens of the open sentence that are read."""


@dataclass(frozen=True, slots=True)
class HeartHiddenData(ContextTeaching, ReadStates):
    """The training data of what reads a language model's states."""


class Expecting(HasStudent):
    """A student, and the voice that speaks by its embeddings."""

    def __init__(self, config: StudentConfig, voice: Heart) -> None:
        super().__init__()
        self.student = Student(config)
        self.voice = voice.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> Expecting:
        """As of any module; the voice stays as it is."""
        super().train(mode)
        self.voice.train(False)
        return self

    def forward(
        self, vectors: Tensor, tokens: Tensor, cuts: Mapping[str, Tensor] | None
    ) -> dict[str, Tensor]:
        """Embeddings (B, C) under ``embedding``, and what the voice says of cuts (see
        Heart.forward) by the first."""
        embedding = self.student(vectors, tokens)
        if cuts is None:
            return {"embedding": embedding}
        out = self.voice({**cuts, "context": embedding[: len(cuts["ids"])]})
        return {**out, "embedding": embedding}


class HeartStudent(DistilTask[Expecting]):
    """Training of the student that predicts the default voice's context embedding."""

    data: ContextTeaching

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        read = from_mapping(HeartStudentData, data, where="[data]")
        self.teach(model, read, corpus)
        self.vectors = WordVectors.load(Path(read.vectors) / "words.npz")
        self.most = read.most
        self.check(read.distil_weight, self.vectors.channels, self.speaking.config.context)

    def teach(self, model: Mapping[str, Any], data: ContextTeaching, corpus: Corpus) -> None:
        """Have a configuration and a teacher; nothing that the network reads."""
        self.data = data
        self.corpus = corpus
        self.config = from_mapping(StudentConfig, model, where="[model]")
        folder = located(data.teacher)
        if (folder / "voice.json").is_file():
            self.speaking, self.voice = spoken_by(folder, data.ranges, corpus)
        else:
            teacher = load_run_of(HeartPrefixes, Heart, Path(data.teacher), corpus.path)
            self.speaking = teacher.task
            self.voice = teacher.model

    def model(self) -> Expecting:
        voice = Heart(self.speaking.config)
        voice.load_state_dict(self.voice.state_dict())
        return Expecting(self.config, voice)

    @functools.cached_property
    def cutter(self) -> PrefixCutter:
        """Loaded at first use."""
        return make_cutter(self.speaking.data, self.corpus, self.data.futures)

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """``batch_size`` sentences, each cut ``cuts`` times where it goes on."""
        items = self.corpus.split(split)
        order = np.random.default_rng([seed, 37])
        for first, numbers in shuffled(len(items), order, Share(batch_size, rank, ranks)):
            draw = np.random.default_rng([seed, first, rank, 37])
            sentences = [items[int(i)] for i in numbers]
            sentences = [item for item in sentences if len(item.words) > self.data.lookahead + 1]
            yield self.batch(
                sentences,
                [[self.one(item, draw) for _ in range(self.data.cuts)] for item in sentences],
            )

    def one(self, item: Item, draw: np.random.Generator) -> tuple[Cut, int]:
        """A cut, and the number of words that are seen."""
        ahead = int(draw.integers(self.data.lookahead + 1))
        word = int(draw.integers(len(item.words) - 1 - ahead))
        continued = self.cutter.futures.get(item.name, {})
        if len(continued) and draw.random() < 0.5:
            words = int(draw.choice(list(continued)))
            ahead = min(ahead, words - 1)
            return self.cutter.at(item, words - ahead - 1, ahead, source=MODEL), words
        return self.cutter.at(item, word, ahead, source=TRUE), word + ahead + 1

    def batch(self, items: list[Item], cuts: list[list[tuple[Cut, int]]]) -> dict[str, Tensor]:
        """The cuts (``HeartPrefixes.batch``) of the first few sentences, and all that the student
        reads."""
        pairs = zip(items, cuts, strict=True)
        vectors, tokens = self.read(
            [item.text.split()[:count] for item, group in pairs for _, count in group]
        )
        bare = [[cut for cut, _ in group] for group in cuts]
        every = self.speaking.batch(items, bare)
        future = {f"all_{name}": every[name] for name in ("future", "future_lengths")}
        few = FEW if self.data.distil_weight < 1 else 1
        return {
            **self.speaking.batch(items[:few], bare[:few]),
            **future,
            "vectors": vectors,
            "tokens": tokens,
        }

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """(1 - lambda) L_target + lambda L_distil (Saeki-b, Eq. 9)."""
        weight = self.data.distil_weight
        cuts = None
        target = None
        if weight < 1:
            cuts, target = self.speaking.targets(batch)
        with torch.no_grad():
            self.voice.to(batch["vectors"].device)
            meant = self.voice.expect(batch["all_future"], batch["all_future_lengths"]).float()
        out = model(batch["vectors"], batch["tokens"], cuts)
        embedding = out["embedding"].float()
        parts = {"distil": functional.mse_loss(embedding, meant)}
        total = weight * parts["distil"]
        if cuts is not None and target is not None:
            errors = self.speaking.errors(out, cuts, target)
            parts |= errors
            total = total + (1 - weight) * self.speaking.weighed(errors)
        parts["similarity"] = functional.cosine_similarity(embedding, meant).mean()
        return total, logged(parts)


class HeartHidden(HeartStudent):
    """The same from a language model's states; ``[model] vectors`` is their width."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        read = from_mapping(HeartHiddenData, data, where="[data]")
        self.teach(model, read, corpus)
        self.states = States(read, self.config.vectors)
        self.check(read.distil_weight, self.config.vectors, self.speaking.config.context)

    def batch(self, items: list[Item], cuts: list[list[tuple[Cut, int]]]) -> dict[str, Tensor]:
        """As before; the states of whole sentences have those of their prefixes in them."""
        for item in items:
            self.states.of(tuple(item.text.split()))
        return super().batch(items, cuts)

    def read(self, texts: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """States (B, N, D) of the words so far, padded, and how many each has (B,), at least 1."""
        return self.states.read(texts)


def spoken_by(folder: Path, ranges: str, corpus: Corpus) -> tuple[HeartPrefixes, Heart]:
    """A trained voice as a teacher of context; ConfigError for one of another kind, or without
    future tokens."""
    config = read_config(folder)
    if config.kind != "heart" or not config.model.get("context"):
        raise ConfigError(f"[data] teacher: the voice {config.name} has no context network.")
    sizes = {"futures": len(config.model["futures"]), "context": config.model["context"]}
    speaking = HeartPrefixes(sizes, {}, corpus)
    voice = speaking.model()
    load_shipped(voice, folder, heart_weights(), load_ranges(Path(ranges)) if ranges else None)
    return speaking, voice.eval()
