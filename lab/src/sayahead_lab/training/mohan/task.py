"""Training of Mohan et al.'s modified Tacotron 2: spelled sentences, and where in time their
characters are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.text import Speller, front_end
from torch import Tensor, nn

from sayahead_lab.training.corpus.batches import Share, by_length, decoder_steps, padded, tensors
from sayahead_lab.training.corpus.store import Corpus, CorpusInfo, Item, check_mels, language_of
from sayahead_lab.training.loop.pictures import examples, write_sample
from sayahead_lab.training.loop.schedule import Sampling
from sayahead_lab.training.loop.task import Batch, Task, logged
from sayahead_lab.training.losses import average, stop_error
from sayahead_lab.training.mohan.network import (
    ModifiedTacotron,
    ModifiedTacotronConfig,
    SpokenSteps,
    generate,
)

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MohanData(Sampling):
    """Its training data, and the weights of its errors; the defaults are Tacotron 2's."""

    l1_weight: float = 0.0
    """Weight of the frames' absolute error, in units of each band's deviation."""
    l2_weight: float = 1.0
    """Weight of their squared error."""
    stop_weight: float = 1.0
    """Weight of the stop's binary cross-entropy."""
    stop_positive: float = 1.0
    """Weight of a last step in it over the others."""
    alignment_weight: float = 0.0
    """Weight of the attention's divergence from where it should look, by durations; not of the
    paper."""
    meant: tuple[float, ...] = (0.05, 0.35, 0.25, 0.15, 0.1, 0.1)
    """Where it should look: shares of the character before the spoken one, of this one, and of
    those after it, as far as they are of its word and in view."""
    at_once: bool = False
    """Whether attention is taken to have looked there, so that all steps are made at once; not of
    the paper."""
    scope_share: float = 0.0
    """Share of sentences whose steps see only some characters after the spoken one; not of the
    paper."""
    scope_margins: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12)
    """How many, of which one is drawn for each of these sentences."""
    longest: int = 0
    """Frames over which an item is left out; 0: none is."""
    samples: int = 2
    """Validation sentences that are spoken for listening."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A sentence as characters in time."""

    ids: Numbers
    """(P,) characters: words, a space between any two, a mark after the last."""
    edges: Numbers
    """(P + 1,) first frame of each, and T."""
    groups: Numbers
    """(P, 2) first and last place that belong to each one's word: the space before it, and what
    follows it."""


def spelling(item: Item, speller: Speller) -> Spelling | None:
    """An item's characters, each with its share of its word's frames; None where the text does not
    fit the words.

    A word's phonemes are shared out among its letters evenly, each with its own duration.
    """
    tokens = item.text.split()
    letters = [speller.spelled(token) for token in tokens]
    if len(tokens) != len(item.words) or not any(letters):
        return None
    id_edges = np.concatenate([[0], np.cumsum(item.durations, dtype=np.int64)])
    text = ""
    ended = 0
    edges = list[int]()
    groups = list[tuple[int, int]]()
    for word, (first, end) in zip(letters, item.words.astype(np.int64) + 1, strict=True):
        if not word:
            continue
        begin = len(text)
        if text:
            text += " "
            edges.append(ended)
        places = np.linspace(first, end, len(word) + 1)
        starts = np.rint(np.interp(places, np.arange(len(id_edges)), id_edges)).astype(np.int64)
        edges += starts[:-1].tolist()
        text = text + word
        ended = int(starts[-1])
        groups += [(begin, len(text))] * (len(text) - begin)
    text += speller.final_mark(tokens[-1])
    groups.append((len(text) - 1, len(text) - 1))
    edges += [ended, len(item.mel)]
    edges[0] = 0
    return Spelling(speller.ids(text), np.array(edges, np.int64), np.array(groups, np.int64))


Row = tuple[int, Item, Spelling]
"""An item's number in its split, the item, and its characters."""


class MohanTask(Task[ModifiedTacotron]):
    """Training of the modified Tacotron: characters in, mel out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.speller = front_end(language_of(corpus.info)).speller()
        self.config = from_mapping(
            ModifiedTacotronConfig,
            {"characters": len(self.speller.alphabet), **model},
            where="[model]",
        )
        self.data = from_mapping(MohanData, data, where="[data]")
        self.corpus = corpus
        check_mels(corpus.info, self.config.n_mels)
        if self.data.at_once and len(self.config.window) != 2:
            raise ConfigError(
                "[data] at_once needs [model] window: the characters that attention can look at."
            )
        if not self.data.scope_margins or min(self.data.scope_margins) < 1:
            raise ConfigError(
                f"[data] scope_margins is {list(self.data.scope_margins)}: at least 1 character is"
                " seen."
            )
        self._spelled: dict[tuple[str, int], Spelling | None] = {}

    def model(self) -> ModifiedTacotron:
        return ModifiedTacotron(self.config).scaled(self.corpus.info)

    def carried(
        self, learned: Mapping[str, Tensor], before: CorpusInfo | None, fresh: Mapping[str, Tensor]
    ) -> Mapping[str, Tensor]:
        """Of a run in another language, a letter that it did not know begins as those it is spelled
        with there."""
        name = "embedding.weight"
        former = self.speller if before is None else front_end(language_of(before)).speller()
        if former.alphabet == self.speller.alphabet:
            return learned
        rows = [
            learned[name][former.ids(former.spelled(c) or c)].mean(0) for c in self.speller.alphabet
        ]
        return {**learned, name: torch.stack(rows)}

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """Items of like length together; all but what does not go into equal shares is there
        once."""
        items = self.corpus.split(split)
        draw = np.random.default_rng([seed, 31])
        share = Share(batch_size, rank, ranks)
        for number, numbers in by_length(items.lengths, draw, share, longest=self.data.longest):
            scopes = np.random.default_rng([seed, number, rank]) if split == "train" else None
            rows = self.rows(split, numbers)
            if rows:
                yield self.batch(rows, scopes)

    def rows(self, split: str, numbers: Iterable[int]) -> list[Row]:
        """Items of a split by their numbers, but for those whose text does not fit their words."""
        items = self.corpus.split(split)
        triples = (
            (int(i), items[int(i)], self.spelled(split, int(i), items[int(i)])) for i in numbers
        )
        return [
            (number, item, spelling) for number, item, spelling in triples if spelling is not None
        ]

    def spelled(self, split: str, number: int, item: Item) -> Spelling | None:
        """An item's spelling, kept."""
        if (split, number) not in self._spelled:
            self._spelled[split, number] = spelling(item, self.speller)
        return self._spelled[split, number]

    def batch(self, rows: list[Row], draw: np.random.Generator | None) -> Batch:
        """Tensors of items with their numbers.

        ids (B, P), frames (B, S, F) normalized, counts (B, S * r) frames that are to be learned,
        ends (B, S) 1 at the last step, learned (B, S) steps that are to be learned, own (B, S) the
        spoken character, group (B, S, 2) the places of its word, scope (B, S) characters that may
        be seen."""
        r = self.config.reduction
        steps = decoder_steps([item.mel for _, item, _ in rows], self.corpus.info, r)
        ids, lengths = padded([spelling.ids for _, _, spelling in rows])
        ends = np.zeros_like(steps.learned)
        places = np.zeros(steps.learned.shape, np.int64)
        group = np.zeros((*steps.learned.shape, 2), np.int64)
        scope = np.zeros_like(places)
        for row, (_, item, spelling) in enumerate(rows):
            ends[row, int(steps.learned[row].sum()) - 1] = 1
            middles = np.minimum(np.arange(steps.learned.shape[1]) * r + r // 2, len(item.mel) - 1)
            places[row] = np.clip(
                np.searchsorted(spelling.edges, middles, side="right") - 1, 0, lengths[row] - 1
            )
            group[row] = spelling.groups[places[row]]
            scope[row] = lengths[row]
            if draw is not None and draw.random() < self.data.scope_share:
                scope[row] = np.minimum(
                    places[row] + 1 + int(draw.choice(self.data.scope_margins)), lengths[row]
                )
        texts = tensors(items=[number for number, _, _ in rows], ids=ids)
        return {
            **texts,
            **tensors(**steps._asdict(), ends=ends, own=places, group=group, scope=scope),
        }

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        data = self.data
        share = self.data.sampling(step) if model.training else 0.0
        meant = self.meant(batch)
        decoded: SpokenSteps = model(
            batch["ids"], batch["scope"], batch["frames"], share, meant if data.at_once else None
        )
        counts = batch["counts"]
        learned = batch["learned"]
        wrong = (decoded.frames.float() - batch["frames"].view(decoded.frames.shape)) * counts[
            ..., None
        ]
        total = counts.sum() * self.config.n_mels
        apart = (meant * (meant.clamp(min=1e-9).log() - decoded.weights.clamp(min=-20))).sum(-1)
        parts = {
            "l1": wrong.abs().sum() / total,
            "l2": wrong.square().sum() / total,
            "stop": stop_error(decoded.stop, batch["ends"], learned, positive=data.stop_positive),
            "alignment": average(apart, learned),
        }
        weights = (data.l1_weight, data.l2_weight, data.stop_weight, data.alignment_weight)
        loss = torch.stack(
            [weight * part for weight, part in zip(weights, parts.values(), strict=True)]
        ).sum()
        return loss, logged(parts)

    def meant(self, batch: Batch) -> Tensor:
        """(B, S, P) where attention should look in each step."""
        own = batch["own"]
        group = batch["group"]
        scope = batch["scope"]
        places = torch.arange(batch["ids"].shape[1], device=own.device)
        shares = own.new_tensor([0.0, *self.data.meant, 0.0], dtype=torch.float32)
        target = shares[(places - own[..., None] + 2).clamp(0, len(shares) - 1)]
        inside = (
            (places >= group[..., :1]) & (places <= group[..., 1:]) & (places < scope[..., None])
        )
        target = target * inside
        return target / target.sum(-1, keepdim=True)

    @torch.no_grad()
    def samples(self, model: ModifiedTacotron, folder: Path) -> None:
        """Validation sentences spoken freely, with the attention's weights."""
        numbers = [number for number, _ in examples(self.corpus.split("val"), self.data.samples)]
        for _, item, spelling in self.rows("val", numbers):
            ids = torch.from_numpy(spelling.ids).to(model.mean.device)
            mel, weights = (part.float().cpu().numpy() for part in generate(model, ids))
            write_sample(
                folder, item.name, self.corpus.info.front_end, item.mel, mel=mel, alignment=weights
            )
