"""Training of Mohan et al.'s modified Tacotron 2: spelled sentences, and where in time their characters are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.text.english.spelling import final_mark, ids, spelled
from sayahead.training.loop.schedule import risen
from sayahead.training.loop.task import Batch
from sayahead.training.mohan.network import Decoded, ModifiedTacotron, ModifiedTacotronConfig, generate

if TYPE_CHECKING:
    from sayahead.training.corpus.store import Corpus, Item

Numbers = NDArray[np.int64]
POOL = 20
"""Batches that are sorted by length together."""


@dataclass(frozen=True, slots=True)
class MohanData:
    """What it is trained on, and what errors weigh; the defaults are Tacotron 2's."""

    l1_weight: float = 0.0
    """Weight of the frames' absolute error, in units of each band's deviation."""
    l2_weight: float = 1.0
    """Weight of their squared error."""
    stop_weight: float = 1.0
    """Weight of the stop's binary cross-entropy."""
    stop_positive: float = 1.0
    """What a last step counts in it over the others."""
    alignment_weight: float = 0.0
    """Weight of the attention's divergence from where it should look, by durations; not of the paper."""
    meant: tuple[float, ...] = (0.05, 0.35, 0.25, 0.15, 0.1, 0.1)
    """Where it should look: shares of the character before the spoken one, of this one, and of those behind, as far as
    they are of its word and in view."""
    at_once: bool = False
    """Whether attention is taken to have looked there, so that all steps are made at once; not of the paper."""
    scope_share: float = 0.0
    """Share of sentences whose steps see only some characters behind the spoken one; not of the paper."""
    scope_margins: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12)
    """How many, of which one is drawn for each of these sentences."""
    sampling_share: float = 0.0
    """Share of previous frames that are the model's own, once it has risen; not of the paper."""
    sampling_start: int = 0
    """Step from which the share rises."""
    sampling_steps: int = 1
    """Steps in which it rises."""
    longest: int = 0
    """Frames over which an item is left out; 0: none is."""
    samples: int = 2
    """Validation sentences that are spoken for listening."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A sentence as characters in time."""

    ids: Numbers
    """(P,) characters: words, a space between any two, a mark behind the last."""
    edges: Numbers
    """(P + 1,) first frame of each, and T."""
    groups: Numbers
    """(P, 2) first and last place that belong to each one's word: the space in front of it, and what is behind it."""


def spelling(item: Item) -> Spelling | None:
    """An item's characters, each with its share of its word's frames; None where the text does not fit the words.

    A word's phonemes are shared out among its letters evenly, each with its own duration.
    """
    tokens = item.text.split()
    letters = [spelled(token) for token in tokens]
    if len(tokens) != len(item.words) or not any(letters):
        return None
    whole = np.concatenate([[0], np.cumsum(item.durations, dtype=np.int64)])
    text, ended, edges, groups = "", 0, list[int](), list[tuple[int, int]]()
    for word, (first, end) in zip(letters, item.words.astype(np.int64) + 1, strict=True):
        if not word:
            continue
        begin = len(text)
        if text:
            text += " "
            edges.append(ended)
        places = np.linspace(first, end, len(word) + 1)
        starts = np.rint(np.interp(places, np.arange(len(whole)), whole)).astype(np.int64)
        edges += starts[:-1].tolist()
        text, ended = text + word, int(starts[-1])
        groups += [(begin, len(text))] * (len(text) - begin)
    text += final_mark(tokens[-1])
    groups.append((len(text) - 1, len(text) - 1))
    edges += [ended, len(item.mel)]
    edges[0] = 0
    return Spelling(ids(text), np.array(edges, np.int64), np.array(groups, np.int64))


class MohanTask:
    """See Task: characters in, mel out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(ModifiedTacotronConfig, model, where="[model]")
        self.data, self.corpus = from_mapping(MohanData, data, where="[data]"), corpus
        found = corpus.info.front_end.n_mels
        if found != self.config.n_mels:
            raise ConfigError(f"The corpus has {found} mel bands, but [model] n_mels is {self.config.n_mels}.")
        if self.data.at_once and len(self.config.window) != 2:
            raise ConfigError("[data] at_once needs [model] window: the characters that attention can look at.")
        if not self.data.scope_margins or min(self.data.scope_margins) < 1:
            raise ConfigError(f"[data] scope_margins is {list(self.data.scope_margins)}: at least 1 character is seen.")
        self._spelled: dict[tuple[str, int], Spelling | None] = {}

    def model(self) -> ModifiedTacotron:
        """See Task."""
        model = ModifiedTacotron(self.config)
        model.mean.copy_(torch.as_tensor(self.corpus.info.mel_mean))
        model.std.copy_(torch.as_tensor(self.corpus.info.mel_std))
        return model

    def batches(self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int) -> Iterator[Batch]:
        """See Task: items of like length together; all but what does not go into equal shares is there once."""
        items, training = self.corpus.split(split), split == "train"
        draw, lengths, longest = np.random.default_rng([seed, 31]), items.lengths, self.data.longest
        chosen = draw.permutation(np.flatnonzero(lengths <= longest) if longest else len(lengths))
        each = batch_size * ranks
        pools = [chosen[at : at + each * POOL] for at in range(0, len(chosen), each * POOL)]
        # Stable, so that equal lengths stay in the order that was drawn.
        pools = [pool[np.argsort(lengths[pool], kind="stable")] for pool in pools]
        groups = [pool[at : at + each] for pool in pools for at in range(0, len(pool), each)]
        for number in draw.permutation(len(groups)):
            group = groups[number]
            mine = group[: len(group) // ranks * ranks][rank::ranks]
            own = np.random.default_rng([seed, int(number), rank])
            rows = [(int(i), items[int(i)], made) for i in mine if (made := self.spelled(split, int(i), items[int(i)]))]
            if rows:
                yield self.batch(rows, own if training else None)

    def spelled(self, split: str, number: int, item: Item) -> Spelling | None:
        """An item's spelling, kept."""
        if (split, number) not in self._spelled:
            self._spelled[split, number] = spelling(item)
        return self._spelled[split, number]

    def batch(self, rows: list[tuple[int, Item, Spelling]], draw: np.random.Generator | None) -> Batch:
        """Tensors of items with their numbers.

        ids (B, P), frames (B, S, F) normalized, counts (B, S * r) frames that are to be learned, ends (B, S) 1 at the
        last step, learned (B, S) steps that are to be learned, own (B, S) the spoken character, group (B, S, 2) the
        places of its word, scope (B, S) characters that may be seen.
        """
        r, info, size = self.config.reduction, self.corpus.info, len(rows)
        steps = max(-(-len(item.mel) // r) for _, item, _ in rows)
        ids = np.zeros((size, max(len(made.ids) for _, _, made in rows)), np.int64)
        frames = np.zeros((size, steps * r, self.config.n_mels), np.float32)
        counts = np.zeros((size, steps * r), np.float32)
        ends, learned = np.zeros((2, size, steps), np.float32)
        own, group = np.zeros((size, steps), np.int64), np.zeros((size, steps, 2), np.int64)
        scope = np.zeros((size, steps), np.int64)
        for row, (_, item, made) in enumerate(rows):
            spoken, whole = len(item.mel), len(made.ids)
            taken = -(-spoken // r)
            ids[row, :whole] = made.ids
            frames[row, :spoken] = (item.mel.astype(np.float32) - info.mel_mean) / info.mel_std
            # What lies behind an end goes on as it ends.
            frames[row, spoken:] = frames[row, spoken - 1]
            counts[row, :spoken], learned[row, :taken], ends[row, taken - 1] = 1, 1, 1
            middles = np.minimum(np.arange(steps) * r + r // 2, spoken - 1)
            own[row] = np.clip(np.searchsorted(made.edges, middles, side="right") - 1, 0, whole - 1)
            group[row] = made.groups[own[row]]
            scope[row] = whole
            if draw is not None and draw.random() < self.data.scope_share:
                scope[row] = np.minimum(own[row] + 1 + int(draw.choice(self.data.scope_margins)), whole)
        named = {
            "items": np.array([number for number, _, _ in rows]), "ids": ids, "counts": counts, "ends": ends,
            "frames": frames.reshape(size, steps, -1), "learned": learned, "own": own, "group": group, "scope": scope,
        }  # fmt: skip
        return {name: torch.from_numpy(array) for name, array in named.items()}

    def sampling(self, step: int) -> float:
        """Share of previous frames that are the model's own, at a step."""
        data = self.data
        return risen(step, share=data.sampling_share, start=data.sampling_start, steps=data.sampling_steps)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """See Task."""
        data, share = self.data, self.sampling(step) if model.training else 0.0
        meant = self.meant(batch)
        made: Decoded = model(batch["ids"], batch["scope"], batch["frames"], share, meant if data.at_once else None)
        counts, learned = batch["counts"], batch["learned"]
        wrong = (made.frames.float() - batch["frames"].view(made.frames.shape)) * counts[..., None]
        total = counts.sum() * self.config.n_mels
        unsure = functional.binary_cross_entropy_with_logits(
            made.stop, batch["ends"], reduction="none", pos_weight=torch.tensor(data.stop_positive)
        )
        parts = {
            "l1": wrong.abs().sum() / total,
            "l2": wrong.square().sum() / total,
            "stop": (unsure * learned).sum() / learned.sum(),
            "alignment": ((meant * (meant.clamp(min=1e-9).log() - made.weights.clamp(min=-20))).sum(-1) * learned).sum()
            / learned.sum(),
        }
        weights = {
            "l1": data.l1_weight, "l2": data.l2_weight, "stop": data.stop_weight, "alignment": data.alignment_weight
        }  # fmt: skip
        loss = torch.stack([weight * parts[name] for name, weight in weights.items()]).sum()
        return loss, {name: float(part.detach()) for name, part in parts.items()}

    def meant(self, batch: Batch) -> Tensor:
        """(B, S, P) where attention should look in each step."""
        own, group, scope = batch["own"], batch["group"], batch["scope"]
        places = torch.arange(batch["ids"].shape[1], device=own.device)
        shares = own.new_tensor([0.0, *self.data.meant, 0.0], dtype=torch.float32)
        wanted = shares[(places - own[..., None] + 2).clamp(0, len(shares) - 1)]
        inside = (places >= group[..., :1]) & (places <= group[..., 1:]) & (places < scope[..., None])
        wanted = wanted * inside
        return wanted / wanted.sum(-1, keepdim=True)

    @torch.no_grad()
    def samples(self, model: nn.Module, folder: Path) -> None:
        """See Task: validation sentences spoken freely, with the attention's weights."""
        from sayahead.sound.files import write_wav
        from sayahead.training.corpus.griffinlim import griffin_lim
        from sayahead.training.loop.pictures import spectrogram

        assert isinstance(model, ModifiedTacotron)
        items, front = self.corpus.split("val"), self.corpus.info.front_end
        for number in range(0, len(items), max(1, len(items) // max(1, self.data.samples)))[: self.data.samples]:
            item = items[number]
            made = self.spelled("val", number, item)
            if made is None:
                continue
            ids = torch.from_numpy(made.ids).to(model.mean.device)
            mel, weights = (part.float().cpu().numpy() for part in generate(model, ids))
            write_wav(folder / f"{item.name}.wav", griffin_lim(front, mel), front.sample_rate)
            meant = np.asarray(item.mel, np.float32)
            spectrogram(folder / f"{item.name}.png", mel, meant, alignment=weights)
