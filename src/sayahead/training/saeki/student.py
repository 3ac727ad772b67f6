"""Distillation of the context prediction (Saeki-b, 4.1): from word vectors to the teacher's embedding of a guess."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead.config import from_mapping
from sayahead.contexts.word_vectors import WordVectors, tokens_of
from sayahead.errors import ConfigError
from sayahead.training.corpus.segments import Piece, texts_of
from sayahead.training.distilled.network import Student, StudentConfig
from sayahead.training.loop.task import Batch
from sayahead.training.saeki.futures import Expected, Prefix, last_segment, read_prefixes
from sayahead.training.saeki.network import Decoded, Tacotron, Taught, Texts
from sayahead.training.saeki.task import SaekiTask, Speaking, inputs, target_loss
from sayahead.types import Floats

if TYPE_CHECKING:
    from sayahead.training.corpus.store import Corpus


@dataclass(frozen=True, slots=True)
class StudentData:
    """What a student learns from."""

    teacher: str = "runs/guided-small"
    """Run of the teacher: a Tacotron, or one whose context network was fine-tuned."""
    vectors: str = "vectors/lj"
    """Folder of ``sayahead train vectors``."""
    futures: str = "futures/train.jsonl"
    """What a language model expects behind prefixes of the train split."""
    val_futures: str = "futures/val.jsonl"
    """The same for the val split."""
    distil_weight: float = 1.0
    """Lambda of Saeki-b, Eq. 9: 1 is the teacher's embedding alone, 0 the frames alone."""
    truth: bool = False
    """Whether the teacher sees the true future in place of the language model's (Saeki-b, 4.3: w/o GPT2)."""
    words: int = 2
    """Words of a segment (N)."""


class Learning(nn.Module):
    """A student, with the teacher's Tacotron where frames count."""

    def __init__(self, config: StudentConfig, speaking: Speaking | None) -> None:
        super().__init__()
        self.student = Student(config)
        self.tacotron: Tacotron | None = None if speaking is None else speaking.tacotron.requires_grad_(False)

    def train(self, mode: bool = True) -> Learning:
        """As of any module; what does not move stays as it is."""
        super().train(mode)
        if self.tacotron is not None:
            self.tacotron.train(False)
        return self

    def forward(
        self, vectors: Tensor, lengths: Tensor, segment: tuple[Texts, Tensor, Tensor, Taught] | None
    ) -> tuple[Tensor, Decoded | None]:
        """Embeddings (B, E), and the frames of a segment (see Tacotron.forward) spoken under them."""
        found = self.student(vectors, lengths)
        if self.tacotron is None or segment is None:
            return found, None
        texts, frames, spoken, taught = segment
        return found, self.tacotron(texts, found, frames, spoken, taught)


class StudentTask:
    """See Task."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        from sayahead.training.loop.trained import load_trained

        self.data = from_mapping(StudentData, data, where="[data]")
        self.corpus, self.teacher = corpus, load_trained(Path(self.data.teacher), corpus=corpus.path)
        speaking: Any = self.teacher.task
        if not isinstance(speaking, SaekiTask):
            raise ConfigError(f"[data] teacher: {self.data.teacher} is no run of Saeki et al.'s Tacotron.")
        self.speaking = speaking
        self.vectors, self.axes = read_table(Path(self.data.vectors))
        config = from_mapping(StudentConfig, model, where="[model]")
        wide = speaking.config.context.embedding
        if config.vectors != self.axes.shape[1] or config.embedding != wide:
            raise ConfigError(
                f"[model] vectors and embedding are {config.vectors} and {config.embedding}, but the files' are "
                f"{self.axes.shape[1]} and {wide}."
            )
        if not 0 <= self.data.distil_weight <= 1:
            raise ConfigError(f"[data] distil_weight is {self.data.distil_weight}, but must be from 0 to 1.")
        self.config, self.expected = config, Expected(corpus)
        self._taught = dict[str, tuple[list[Prefix], list[Piece], Tensor]]()

    def model(self) -> nn.Module:
        """See Task."""
        if self.data.distil_weight == 1:
            return Learning(self.config, None)
        speaking = Speaking(self.speaking.config)
        tacotron: Any = self.teacher.model
        speaking.tacotron.load_state_dict(tacotron.tacotron.state_dict())
        return Learning(self.config, speaking)

    def taught(self, split: str) -> tuple[list[Prefix], list[Piece], Tensor]:
        """Prefixes of a split, their last segments, and the teacher's embeddings (I, E); made once."""
        if split not in self._taught:
            file = self.data.futures if split == "train" else self.data.val_futures
            items = self.corpus.split(split)
            found = [
                (one, last_segment(self.speaking.cutter, items[one.item], len(one.words), words=self.data.words))
                for one in read_prefixes(Path(file), items)
            ]
            kept = [(one, piece) for one, piece in found if piece.frames and tokens_of(list(one.words))]
            prefixes, pieces = [one for one, _ in kept], [piece for _, piece in kept]
            if not self.data.truth:
                pieces = [
                    replace(piece, future=self.expected.ids(one)) for one, piece in zip(prefixes, pieces, strict=True)
                ]
            model: Any = self.teacher.model
            self._taught[split] = prefixes, pieces, embeddings(model.tacotron, pieces)
        return self._taught[split]

    def batches(self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int) -> Iterator[Batch]:
        """See Task: a pass has each prefix once."""
        prefixes, pieces, meant = self.taught(split)
        order = np.random.default_rng([seed, 31]).permutation(len(prefixes))
        for at in range(rank * batch_size, len(order) - ranks * batch_size + 1, ranks * batch_size):
            chosen = [int(i) for i in order[at : at + batch_size]]
            draw = np.random.default_rng([seed, at]) if split == "train" else None
            vectors, lengths = self.read([prefixes[i].words for i in chosen])
            items, own = self.corpus.split(split), [(prefixes[i].item, pieces[i]) for i in chosen]
            # Frames cost more than all the rest: they are read where they count.
            spoken = self.speaking.batch(own, items, draw) if self.data.distil_weight < 1 else {}
            yield {**spoken, "vectors": vectors, "tokens": lengths, "meant": meant[chosen]}

    def read(self, words: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """Vectors (B, N, D) of observed words, padded, and how many tokens they are (B,)."""
        made = [self.vectors(tokens_of(list(own))) @ self.axes for own in words]
        lengths = [len(own) for own in made]
        out = np.zeros((len(made), max(lengths), self.axes.shape[1]), np.float32)
        for row, own in enumerate(made):
            out[row, : len(own)] = own
        return torch.from_numpy(out), torch.tensor(lengths)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """See Task: (1 - lambda) L_target + lambda L_distil (Eq. 9)."""
        weight, segment = self.data.distil_weight, None
        if weight < 1:
            texts, _, _, frames, spoken, where = inputs(batch)
            segment = texts, frames, spoken, where
        found, made = model(batch["vectors"], batch["tokens"], segment)
        parts = {"distil": functional.mse_loss(found.float(), batch["meant"])}
        parts["similarity"] = functional.cosine_similarity(found.float(), batch["meant"]).mean()
        total = weight * parts["distil"]
        if made is not None:
            target, more = target_loss(made, batch, self.speaking.data, taught=self.speaking.config.taught)
            total, parts = total + (1 - weight) * target, {**parts, **more, "target": target}
        return total, {name: float(part.detach()) for name, part in parts.items()}

    def samples(self, model: nn.Module, folder: Path) -> None:
        """See Task; an embedding has no sound."""


def read_table(folder: Path) -> tuple[WordVectors, Floats]:
    """Word vectors of a folder, and the axes (K, D) that give them all their dimensions; ConfigError where none are."""
    try:
        axes: Floats = np.load(folder / "axes.npy", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder} holds no word vectors: {error}. Make them with sayahead train vectors.") from error
    return WordVectors.load(folder / "words.npz"), axes


@torch.no_grad()
def embeddings(model: Tacotron, pieces: Sequence[Piece], *, size: int = 128) -> Tensor:
    """(I, E) contextual embeddings of pieces' pasts and futures."""
    made = []
    for at in range(0, len(pieces), size):
        own = pieces[at : at + size]
        past, future = (
            Texts(*(torch.from_numpy(part) for part in texts_of(ids)))
            for ids in ([piece.past for piece in own], [piece.future for piece in own])
        )
        made.append(model.embedding(past, future).float())
    return torch.cat(made)
