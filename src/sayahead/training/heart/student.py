"""The default voice's distilled context (Saeki-b, 4.1): from the words so far to the embedding of what will follow.

The teacher is the context network of a voice taught on prefixes, reading what really follows, or a language model's
continuation of it. The student reads word vectors alone; the voice itself does not move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead.config import from_mapping
from sayahead.contexts.word_vectors import WordVectors, tokens_of
from sayahead.errors import ConfigError
from sayahead.training.distilled.network import Student, StudentConfig
from sayahead.training.heart.network import Heart
from sayahead.training.heart.prefixes import MODEL, TRUE, Cut, Cutter, continuations
from sayahead.training.heart.task import HeartPrefixes
from sayahead.training.loop.task import Batch

if TYPE_CHECKING:
    from sayahead.training.corpus.store import Corpus, Item

FEW = 8
"""Sentences whose cuts are spoken in a batch; the embeddings of the others cost next to nothing."""


@dataclass(frozen=True, slots=True)
class HeartStudentData:
    """What the student learns from."""

    teacher: str = "runs/heart-prefixes"
    """Run of the voice."""
    vectors: str = "vectors/lm"
    """Folder of ``sayahead train vectors``."""
    futures: str = ""
    """A language model's continuations, where they are what the teacher reads; empty: the true future."""
    distil_weight: float = 0.5
    """Lambda of Saeki-b, Eq. 9: 1 is the teacher's embedding alone, 0 the voice's durations, pitch and sound alone."""
    cuts: int = 4
    """Cuts of each sentence in a batch."""
    lookahead: int = 1
    """Most real words behind those spoken."""
    most: int = 32
    """Tokens of the open sentence that are read."""


class Expecting(nn.Module):
    """A student, and the voice that speaks by its embeddings."""

    def __init__(self, config: StudentConfig, voice: Heart) -> None:
        super().__init__()
        self.student, self.voice = Student(config), voice.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> Expecting:
        """As of any module; the voice stays as it is."""
        super().train(mode)
        self.voice.train(False)
        return self

    def forward(self, vectors: Tensor, tokens: Tensor, cuts: Mapping[str, Tensor] | None) -> dict[str, Tensor]:
        """Embeddings (B, C) under ``found``, and what the voice says of cuts (see Heart.forward) by the first."""
        found = self.student(vectors, tokens)
        if cuts is None:
            return {"found": found}
        out = self.voice({**cuts, "context": found[: len(cuts["ids"])]})
        return {**out, "found": found}


class HeartStudent:
    """See Task."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        from sayahead.training.loop.trained import load_trained

        self.data, self.corpus = from_mapping(HeartStudentData, data, where="[data]"), corpus
        if not 0 <= self.data.distil_weight <= 1:
            raise ConfigError(f"[data] distil_weight is {self.data.distil_weight}, but must be from 0 to 1.")
        teacher = load_trained(Path(self.data.teacher), corpus=corpus.path)
        speaking: Any = teacher.task
        if not isinstance(speaking, HeartPrefixes) or not isinstance(teacher.model, Heart):
            raise ConfigError(f"[data] teacher: {self.data.teacher} is no run of the task heart.")
        self.speaking, self.voice = speaking, teacher.model
        self.vectors = WordVectors.load(Path(self.data.vectors) / "words.npz")
        self.config = from_mapping(StudentConfig, model, where="[model]")
        wanted = self.vectors.channels, speaking.config.context
        if (self.config.vectors, self.config.embedding) != wanted:
            raise ConfigError(
                f"[model] vectors and embedding are {self.config.vectors} and {self.config.embedding}, but those of "
                f"{self.data.vectors} and {self.data.teacher} are {wanted[0]} and {wanted[1]}."
            )
        self._cutter: Cutter | None = None

    def model(self) -> Expecting:
        """See Task."""
        voice = Heart(self.speaking.config)
        voice.load_state_dict(self.voice.state_dict())
        return Expecting(self.config, voice)

    @property
    def cutter(self) -> Cutter:
        """Made when it is first wanted."""
        if self._cutter is None:
            futures = {}
            if self.data.futures:
                from sayahead.training.corpus.teacher import load_reader
                from sayahead.training.distilled.futures import read_futures

                expected = {item.name: item.futures for item in read_futures(Path(self.data.futures))}
                items = [
                    (name, text) for shard in self.corpus.split("train").shards
                    for name, text in zip(shard.names, shard.texts, strict=True)
                ]  # fmt: skip
                futures = continuations(items, expected, load_reader(True))
            self._cutter = Cutter(self.speaking.data, space=self.corpus.info.phonemes[" "], futures=futures)
        return self._cutter

    def batches(self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int) -> Iterator[Batch]:
        """See Task: ``batch_size`` sentences, each cut ``cuts`` times where it goes on."""
        items = self.corpus.split(split)
        order, each = np.random.default_rng([seed, 37]).permutation(len(items)), batch_size * ranks
        for begin in range(0, len(order) - each + 1, each):
            draw = np.random.default_rng([seed, begin, rank, 37])
            mine = order[begin + rank * batch_size : begin + (rank + 1) * batch_size]
            chosen = [items[int(i)] for i in mine]
            chosen = [item for item in chosen if len(item.words) > self.data.lookahead + 1]
            yield self.batch(chosen, [[self.one(item, draw) for _ in range(self.data.cuts)] for item in chosen])

    def one(self, item: Item, draw: np.random.Generator) -> tuple[Cut, int]:
        """A cut, and the number of words that are seen."""
        ahead = int(draw.integers(self.data.lookahead + 1))
        word = int(draw.integers(len(item.words) - 1 - ahead))
        continued = self.cutter.futures.get(item.name, {})
        if len(continued) and draw.random() < 0.5:
            seen = int(draw.choice(list(continued)))
            ahead = min(ahead, seen - 1)
            return self.cutter.at(item, seen - ahead - 1, ahead, source=MODEL), seen
        return self.cutter.at(item, word, ahead, source=TRUE), word + ahead + 1

    def batch(self, items: list[Item], cuts: list[list[tuple[Cut, int]]]) -> dict[str, Tensor]:
        """The cuts (``HeartPrefixes.batch``) of the first few sentences, and all that the student reads."""
        words = [item.text.split()[:seen] for item, own in zip(items, cuts, strict=True) for _, seen in own]
        read = [self.vectors(tokens_of(own)[-self.data.most :]) for own in words]
        vectors = np.zeros((len(read), max(1, *(len(own) for own in read)), self.vectors.channels), np.float32)
        for row, one in zip(vectors, read, strict=True):
            row[: len(one)] = one
        every = self.speaking.batch(items, [[cut for cut, _ in own] for own in cuts])
        future = {f"all_{name}": every[name] for name in ("future", "future_lengths")}
        few = FEW if self.data.distil_weight < 1 else 1
        some = self.speaking.batch(items[:few], [[cut for cut, _ in own] for own in cuts[:few]])
        tokens = torch.tensor([max(1, len(own)) for own in read])
        return {**some, **future, "vectors": torch.from_numpy(vectors), "tokens": tokens}

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """See Task: (1 - lambda) L_target + lambda L_distil (Saeki-b, Eq. 9)."""
        weight, cuts, target = self.data.distil_weight, None, None
        if weight < 1:
            cuts, target = self.speaking.targets(batch)
        with torch.no_grad():
            self.voice.to(batch["vectors"].device)
            meant = self.voice.expect(batch["all_future"], batch["all_future_lengths"]).float()
        out = model(batch["vectors"], batch["tokens"], cuts)
        found = out["found"].float()
        parts = {"distil": functional.mse_loss(found, meant)}
        total = weight * parts["distil"]
        if cuts is not None and target is not None:
            errors = self.speaking.errors(out, cuts, target)
            own = torch.stack([getattr(self.speaking.data, name) * value for name, value in errors.items()]).sum()
            parts |= errors
            total = total + (1 - weight) * own
        similarity = functional.cosine_similarity(found, meant).mean()
        return total, {name: float(part.detach()) for name, part in {**parts, "similarity": similarity}.items()}

    def samples(self, model: nn.Module, folder: Path) -> None:
        """See Task; an embedding has no sound."""
        folder.mkdir(parents=True, exist_ok=True)
