"""Language-model-guided fine-tuning (Saeki-a, III-C): the context network learns to read a language
model's futures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.corpus.batches import Share, shuffled
from sayahead_lab.training.corpus.segments import Numbers
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.loop.saved_run import load_run_of
from sayahead_lab.training.loop.task import Batch, logged
from sayahead_lab.training.saeki.embedding import ContextEmbedding
from sayahead_lab.training.saeki.futures import Expected, Prefix, last_segment, read_prefixes
from sayahead_lab.training.saeki.network import TacotronOutput, Taught, Texts
from sayahead_lab.training.saeki.task import (
    HasTacotron,
    PartlyTrained,
    SaekiTask,
    TacotronTraining,
    inputs,
    target_loss,
    texts_of,
)


@dataclass(frozen=True, slots=True)
class GuidedData:
    """The data of the fine-tuning."""

    teacher: str = "runs/tacotron-small"
    """Run of the Tacotron, whose recipe has the weights of the errors."""
    futures: str = "futures/train.jsonl"
    """What a language model expects after prefixes of the train split (``sayahead train
    futures``)."""
    val_futures: str = "futures/val.jsonl"
    """The same for the val split."""
    similarity_weight: float = 1e-3
    """Weight of the cosine loss (Saeki-a, Eq. 5: alpha_sim)."""
    fixed_target: bool = False
    """Whether the cosine loss leads to the true future's embedding by the network before the
    fine-tuning.

    The papers do not say; by default it is the embedding of the network as it is, whose side has no
    gradient. """
    words: int = 2
    """Words of a segment (N)."""


class Guided(PartlyTrained):
    """A trained Tacotron of which the contextual embedding network alone moves."""

    def __init__(self, speaking: TacotronTraining) -> None:
        super().__init__(speaking.tacotron, ("contextual",))
        self.fixed = ContextEmbedding(
            speaking.tacotron.config.context, speaking.tacotron.config.embedding
        )
        self.fixed.load_state_dict(speaking.tacotron.contextual.state_dict())
        self.fixed.requires_grad_(False)

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        self.fixed.train(False)
        return self

    def forward(
        self,
        texts: Texts,
        past: Texts,
        pseudo: Texts,
        future: Texts,
        frames: Tensor,
        lengths: Tensor,
        taught: Taught,
    ) -> tuple[TacotronOutput, Tensor, Tensor, Tensor]:
        """Return the Tacotron's output given the pseudo future, and three context embeddings (B,
        E).

        The embeddings are those of the pseudo future, of the true future, and of the true future by
        the network before the fine-tuning; only the first has a gradient."""
        encoder = self.tacotron.encoder
        pseudo_embedding = self.tacotron.embedding(past, pseudo)
        with torch.no_grad():
            true_embedding = self.tacotron.embedding(past, future)
            initial_embedding = self.fixed(
                encoder(past), past.lengths, encoder(future), future.lengths
            )
        output = self.tacotron(texts, pseudo_embedding, frames, lengths, taught)
        return output, pseudo_embedding, true_embedding, initial_embedding


class GuidedTask(SaekiTask):
    """Fine-tuning of a trained Tacotron's context network on a language model's futures."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        """``[model]`` is empty: the model is the teacher's."""
        if model:
            raise ConfigError(
                "[model] must be empty: the model is that of the run named by [data] teacher."
            )
        self.guided = from_mapping(GuidedData, data, where="[data]")
        self._teacher = load_run_of(SaekiTask, HasTacotron, Path(self.guided.teacher), corpus.path)
        super().__init__(
            self._teacher.recipe.model, self._teacher.recipe.data, self._teacher.corpus
        )
        self.expected = Expected.of(corpus)
        self._prefixes = dict[str, list[Prefix]]()
        self._ids = dict[Prefix, Numbers]()

    def model(self) -> Guided:
        speaking = TacotronTraining(self.config, self.corpus)
        speaking.load_state_dict(self._teacher.model.state_dict())
        return Guided(speaking)

    def prefixes(self, split: str) -> list[Prefix]:
        """What the split has futures of."""
        if split not in self._prefixes:
            file = self.guided.futures if split == "train" else self.guided.val_futures
            self._prefixes[split] = read_prefixes(Path(file), self.corpus.split(split))
        return self._prefixes[split]

    def pseudo(self, prefix: Prefix) -> Numbers:
        """Ids of a prefix's expected future, read once."""
        if prefix not in self._ids:
            self._ids[prefix] = self.expected.ids(prefix)
        return self._ids[prefix]

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """A pass has the last segment of each prefix once."""
        items = self.corpus.split(split)
        prefixes = self.prefixes(split)
        order = np.random.default_rng([seed, 29])
        for first, numbers in shuffled(len(prefixes), order, Share(batch_size, rank, ranks)):
            rests = (
                np.random.default_rng([seed, first + rank * batch_size])
                if split == "train"
                else None
            )
            yield self.prefix_batch([prefixes[int(i)] for i in numbers], items, rests)

    def prefix_batch(
        self, prefixes: Sequence[Prefix], items: Sequence[Item], draw: np.random.Generator | None
    ) -> dict[str, Tensor]:
        """As ``SaekiTask.batch``, with ``pseudo`` (B, P) and their lengths."""
        segments = [
            (one, last_segment(self.cutter, items, one, words=self.guided.words))
            for one in prefixes
        ]
        pairs = [(one, piece) for one, piece in segments if piece.frames]
        pseudo = texts_of([self.pseudo(one) for one, _ in pairs])
        batch = self.batch([(one.item, piece) for one, piece in pairs], items, draw)
        return {**batch, "pseudo": pseudo.ids, "pseudo_lengths": pseudo.lengths}

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        texts, past, future, frames, lengths, taught = inputs(batch)
        pseudo = Texts(batch["pseudo"], batch["pseudo_lengths"])
        decoded, guessed, meant, fixed = model(texts, past, pseudo, future, frames, lengths, taught)
        total, parts = target_loss(decoded, batch, self.data, taught=self.config.taught)
        parts["similarity"] = functional.cosine_similarity(guessed.float(), meant.float()).mean()
        # The same network makes both sides, so both change; beside it, a side that does not.
        parts["similarity_fixed"] = functional.cosine_similarity(
            guessed.float(), fixed.float()
        ).mean()
        aim = parts["similarity_fixed" if self.guided.fixed_target else "similarity"]
        total = total + self.guided.similarity_weight * (1 - aim)
        return total, logged(parts)
