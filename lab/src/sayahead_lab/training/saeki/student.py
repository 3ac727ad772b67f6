"""Distillation of the context prediction (Saeki-b, 4.1): from word vectors to the teacher's
embedding of a guess."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.contexts.word_vectors import WordVectors, tokens_of
from sayahead.errors import ConfigError
from sayahead.types import Floats
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.corpus.batches import Share, shuffled
from sayahead_lab.training.corpus.segments import Piece
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.distilled.network import Student, StudentConfig
from sayahead_lab.training.distilled.task import DistilTask, HasStudent
from sayahead_lab.training.loop.saved_run import load_run_of
from sayahead_lab.training.loop.task import Batch, logged
from sayahead_lab.training.saeki.futures import Expected, Prefix, last_segment, read_prefixes
from sayahead_lab.training.saeki.network import Tacotron, TacotronOutput, Taught, Texts
from sayahead_lab.training.saeki.task import HasTacotron, SaekiTask, inputs, target_loss, texts_of


@dataclass(frozen=True, slots=True)
class Teaching:
    """The training data of a network of context, whatever its input."""

    teacher: str = "runs/guided-small"
    """Run of the teacher: a Tacotron, or one whose context network was fine-tuned."""
    futures: str = "futures/train.jsonl"
    """What a language model expects after prefixes of the train split."""
    val_futures: str = "futures/val.jsonl"
    """The same for the val split."""
    distil_weight: float = 1.0
    """Lambda of Saeki-b, Eq. 9: 1 is the teacher's embedding alone, 0 the frames alone."""
    truth: bool = False
    """Whether the teacher sees the true future in place of the language model's (Saeki-b, 4.3: w/o
    GPT2)."""
    words: int = 2
    """Words of a segment (N)."""


@dataclass(frozen=True, slots=True)
class StudentData(Teaching):
    """A student's training data."""

    vectors: str = "vectors/lj"
    """Folder of ``sayahead train vectors``."""


class StudentTraining(HasStudent):
    """A student, with the teacher's Tacotron where frames count."""

    def __init__(self, config: StudentConfig, tacotron: Tacotron | None) -> None:
        super().__init__()
        self.student = Student(config)
        self.tacotron = None if tacotron is None else tacotron.requires_grad_(False)

    def train(self, mode: bool = True) -> StudentTraining:
        """As of any module; what does not move stays as it is."""
        super().train(mode)
        if self.tacotron is not None:
            self.tacotron.train(False)
        return self

    def forward(
        self, vectors: Tensor, lengths: Tensor, segment: tuple[Texts, Tensor, Tensor, Taught] | None
    ) -> tuple[Tensor, TacotronOutput | None]:
        """Embeddings (B, E), and the frames of a segment (see Tacotron.forward) spoken under
        them."""
        embedding = self.student(vectors, lengths)
        if self.tacotron is None or segment is None:
            return embedding, None
        texts, frames, frame_counts, taught = segment
        return embedding, self.tacotron(texts, embedding, frames, frame_counts, taught)


class StudentTask(DistilTask[StudentTraining]):
    """Training of a student that predicts a Tacotron's context embedding."""

    data: Teaching

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        read = from_mapping(StudentData, data, where="[data]")
        self.teach(model, read, corpus)
        self.vectors, self.axes = read_table(Path(read.vectors))
        self.check(read.distil_weight, self.axes.shape[1], self.speaking.config.context.embedding)

    def teach(self, model: Mapping[str, Any], data: Teaching, corpus: Corpus) -> None:
        """Have a configuration, a teacher and what it says; nothing that the network reads."""
        self.data = data
        self.corpus = corpus
        self.config = from_mapping(StudentConfig, model, where="[model]")
        self.teacher = load_run_of(SaekiTask, HasTacotron, Path(data.teacher), corpus.path)
        self.speaking = self.teacher.task
        self.expected = Expected.of(corpus)
        self._taught = dict[str, tuple[list[Prefix], list[Piece], Tensor]]()

    def model(self) -> StudentTraining:
        if self.data.distil_weight == 1:
            return StudentTraining(self.config, None)
        tacotron = Tacotron(self.speaking.config)
        tacotron.load_state_dict(self.teacher.model.tacotron.state_dict())
        return StudentTraining(self.config, tacotron)

    def prefixes(self, split: str, items: Sequence[Item]) -> list[Prefix]:
        """The prefixes of a split's items that are learned from."""
        return read_prefixes(
            Path(self.data.futures if split == "train" else self.data.val_futures), items
        )

    def taught(self, split: str) -> tuple[list[Prefix], list[Piece], Tensor]:
        """Prefixes of a split, their last segments, and the teacher's embeddings (I, E); computed
        once."""
        if split not in self._taught:
            items = self.corpus.split(split)
            cutter = self.speaking.cutter
            segments = [
                (one, last_segment(cutter, items, one, words=self.data.words))
                for one in self.prefixes(split, items)
            ]
            pairs = [
                (one, piece)
                for one, piece in segments
                if piece.frames and tokens_of(list(one.words))
            ]
            if not self.data.truth:
                pairs = [
                    (one, replace(piece, future=self.expected.ids(one))) for one, piece in pairs
                ]
            prefixes = [one for one, _ in pairs]
            pieces = [piece for _, piece in pairs]
            self._taught[split] = prefixes, pieces, embeddings(self.teacher.model.tacotron, pieces)
        return self._taught[split]

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """A pass has each prefix once."""
        prefixes, pieces, meant = self.taught(split)
        items = self.corpus.split(split)
        order = np.random.default_rng([seed, 31])
        for first, numbers in shuffled(len(prefixes), order, Share(batch_size, rank, ranks)):
            rests = (
                np.random.default_rng([seed, first + rank * batch_size])
                if split == "train"
                else None
            )
            vectors, lengths = self.read([prefixes[i].words for i in numbers])
            # Frames cost more than all the rest: they are read where they count.
            some = (
                [(prefixes[i].item, pieces[i]) for i in numbers]
                if self.data.distil_weight < 1
                else []
            )
            batch = self.speaking.batch(some, items, rests) if some else {}
            yield {**batch, "vectors": vectors, "tokens": lengths, "meant": meant[numbers]}

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """(1 - lambda) L_target + lambda L_distil (Eq. 9)."""
        weight = self.data.distil_weight
        segment = None
        if weight < 1:
            texts, _, _, frames, lengths, taught = inputs(batch)
            segment = texts, frames, lengths, taught
        embedding, decoded = model(batch["vectors"], batch["tokens"], segment)
        parts = {"distil": functional.mse_loss(embedding.float(), batch["meant"])}
        parts["similarity"] = functional.cosine_similarity(embedding.float(), batch["meant"]).mean()
        total = weight * parts["distil"]
        if decoded is not None:
            target, more = target_loss(
                decoded, batch, self.speaking.data, taught=self.speaking.config.taught
            )
            total = total + (1 - weight) * target
            parts = {**parts, **more, "target": target}
        return total, logged(parts)


def read_table(folder: Path) -> tuple[WordVectors, Floats]:
    """Word vectors of a folder, and the axes (K, D) that give them all their dimensions;
    ConfigError where none are."""
    try:
        axes: Floats = np.load(folder / "axes.npy", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{folder} holds no word vectors: {error}. Make them with sayahead train vectors."
        ) from error
    return WordVectors.load(folder / "words.npz"), axes


@torch.no_grad()
def embeddings(model: Tacotron, pieces: Sequence[Piece], *, size: int = 128) -> Tensor:
    """(I, E) contextual embeddings of pieces' pasts and futures."""
    groups = [pieces[at : at + size] for at in range(0, len(pieces), size)]
    sides = [
        (texts_of([one.past for one in group]), texts_of([one.future for one in group]))
        for group in groups
    ]
    return torch.cat([model.embedding(past, future).float() for past, future in sides])
