"""Training of Deep Voice 3: what its decoder steps attend to, prefixes of sentences, its losses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.training.loop.schedule import risen
from sayahead.training.loop.task import Batch
from sayahead.training.ma.network import Decoded, DeepVoice3, DeepVoice3Config, generate

if TYPE_CHECKING:
    from sayahead.training.corpus.store import Corpus, Item

Numbers = NDArray[np.int64]
POOL = 20
"""Batches that are sorted by length together."""


@dataclass(frozen=True, slots=True)
class DeepVoice3Data:
    """What Deep Voice 3 is trained on, and what its errors weigh; the defaults are Ma's."""

    guided_weight: float = 1.0
    """Weight of the guided attention loss (Tachibana et al. 2018, Eq. 5 and 6)."""
    guided_width: float = 0.2
    """Its g: how far from the diagonal attention is free."""
    alignment_weight: float = 0.0
    """Weight of the attentions' cross-entropy with the corpus's durations; not of the paper."""
    l2_weight: float = 0.0
    """Weight of the frames' squared error beside their absolute one, in units of each band's deviation."""
    stop_weight: float = 1.0
    """Weight of the stop's binary cross-entropy."""
    stop_positive: float = 1.0
    """What a last step counts in it over the others."""
    sampling_share: float = 0.0
    """Share of previous frames that are the model's own, once it has risen; not of the paper."""
    sampling_start: int = 0
    """Step from which the share rises."""
    sampling_steps: int = 1
    """Steps in which it rises."""
    prefix_share: float = 0.0
    """Share of items cut behind a word, as incremental inference sees them; the paper trains on whole sentences."""
    lookahead: int = 2
    """Most words that such a prefix shows behind those it speaks; at least none."""
    longest: int = 0
    """Frames over which an item is left out; 0: none is."""
    samples: int = 2
    """Validation sentences that are spoken for listening."""


class DeepVoice3Task:
    """See Task: phonemes in, mel out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        config = from_mapping(DeepVoice3Config, model, where="[model]")
        self.data = from_mapping(DeepVoice3Data, data, where="[data]")
        self.corpus, info = corpus, corpus.info
        self.pad, self.space = info.pad, info.phonemes.get(" ", -1)
        phonemes = 1 + max(info.pad, *info.phonemes.values())
        if config.phonemes not in (0, phonemes):
            raise ConfigError(f"The corpus has ids up to {phonemes - 1}, but [model] phonemes is {config.phonemes}.")
        if info.front_end.n_mels != config.n_mels:
            raise ConfigError(
                f"The corpus has {info.front_end.n_mels} mel bands, but [model] n_mels is {config.n_mels}."
            )
        if config.clock not in ("steps", "attended"):
            raise ConfigError(f"[model] clock is {config.clock!r}, but must be steps or attended.")
        if config.prenet[-1:] != (config.embedding,):
            raise ConfigError(
                f"[model] prenet is {list(config.prenet)}, but must end with embedding, {config.embedding}."
            )
        rate = config.key_rate or steps_a_phoneme(corpus, config.reduction)
        self.config = replace(config, phonemes=phonemes, key_rate=rate)
        self.found = {"key_rate": rate}

    def model(self) -> DeepVoice3:
        """See Task."""
        model = DeepVoice3(self.config)
        model.mean.copy_(torch.as_tensor(self.corpus.info.mel_mean))
        model.std.copy_(torch.as_tensor(self.corpus.info.mel_std))
        return model

    def batches(self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int) -> Iterator[Batch]:
        """See Task: items of like length together; all but what does not go into equal shares is there once."""
        items, training = self.corpus.split(split), split == "train"
        draw = np.random.default_rng([seed, 11])
        lengths, longest = items.lengths, self.data.longest
        chosen = draw.permutation(np.flatnonzero(lengths <= longest) if longest else len(lengths))
        each = batch_size * ranks
        pools = [chosen[at : at + each * POOL] for at in range(0, len(chosen), each * POOL)]
        # Stable, so that equal lengths stay in the order that was drawn.
        pools = [pool[np.argsort(lengths[pool], kind="stable")] for pool in pools]
        groups = [pool[at : at + each] for pool in pools for at in range(0, len(pool), each)]
        for number in draw.permutation(len(groups)):
            group = groups[number]
            mine = group[: len(group) // ranks * ranks][rank::ranks]
            if len(mine):
                cuts = np.random.default_rng([seed, int(number), rank])
                yield self.batch([(int(i), items[int(i)]) for i in mine], cuts, training=training)

    def batch(self, items: list[tuple[int, Item]], draw: np.random.Generator, *, training: bool) -> Batch:
        """Tensors of items with their numbers; in training some are cut to prefixes.

        ids (B, P), lengths (B,), frames (B, S, F) normalized, counts (B, S * r) frames that are to be learned, path
        (B, S, r) the phoneme of each frame, attended and stayed (B, S) before each step, ends (B, S) 1 at the last
        step, learned (B, S) 1 at steps that are to be learned.
        """
        size, r, mean, std = len(items), self.config.reduction, self.corpus.info.mel_mean, self.corpus.info.mel_std
        cuts = [self.cut(item, draw) if training else whole(item) for _, item in items]
        rows = max(shown for shown, _ in cuts)
        steps = max(-(-frames // r) for _, frames in cuts)
        ids = np.full((size, rows), self.pad, np.int64)
        frames = np.zeros((size, steps * r, self.config.n_mels), np.float32)
        counts = np.zeros((size, steps * r), np.float32)
        path = np.zeros((size, steps, r), np.int64)
        attended, stayed = np.zeros((2, size, steps), np.int64)
        ends, learned = np.zeros((2, size, steps), np.float32)
        for row, ((_, item), (shown, spoken)) in enumerate(zip(items, cuts, strict=True)):
            padded = np.concatenate([[self.pad], item.ids, [self.pad]])
            ids[row, :shown] = padded[:shown]
            frames[row, :spoken] = (item.mel[:spoken].astype(np.float32) - mean) / std
            # A last step that is not full goes on as it ends.
            frames[row, spoken:] = frames[row, spoken - 1]
            counts[row, :spoken] = 1
            own = -(-spoken // r)
            path[row, :own], attended[row, :own], stayed[row, :own] = self.path(item, own, draw, training=training)
            # The last step may reach into a phoneme that a prefix does not show.
            np.minimum(path[row], shown - 1, out=path[row])
            np.minimum(attended[row], shown - 1, out=attended[row])
            learned[row, :own] = 1
            ends[row, own - 1] = shown == len(padded)
        named = {
            "items": np.array([number for number, _ in items]), "ids": ids,
            "lengths": np.array([shown for shown, _ in cuts]), "frames": frames.reshape(size, steps, -1),
            "counts": counts, "path": path, "attended": attended, "stayed": stayed, "ends": ends, "learned": learned,
        }  # fmt: skip
        return {name: torch.from_numpy(array) for name, array in named.items()}

    def cut(self, item: Item, draw: np.random.Generator) -> tuple[int, int]:
        """Ids with pads that are seen of an item, and frames that are spoken of it: both whole, or a prefix."""
        words = len(item.words)
        spoken, ahead = int(draw.integers(1, max(2, words))), int(draw.integers(self.data.lookahead + 1))
        if draw.random() >= self.data.prefix_share or spoken + ahead >= words:
            return whole(item)
        seen, said = (1 + self.begin(item, word) for word in (spoken + ahead, spoken))
        return seen, int(item.durations[:said].sum())

    def begin(self, item: Item, word: int) -> int:
        """Index in ``item.ids`` of the first id of a word: the space in front of it, where it has one."""
        before, first = int(item.words[word - 1][1]), int(item.words[word][0])
        spaces = np.flatnonzero(item.ids[before:first] == self.space)
        return before + int(spaces[-1]) if len(spaces) else first

    def path(
        self, item: Item, steps: int, draw: np.random.Generator, *, training: bool
    ) -> tuple[Numbers, Numbers, Numbers]:
        """The phoneme of each frame (S, r), and for each step where attention was before it and for how long (S,).

        Attention rests on the phoneme of a step's middle, in training of any of its frames: inference, too, may fall
        on either side where a step is shared by two.
        """
        r, window = self.config.reduction, self.config.window
        frames = np.repeat(np.arange(len(item.durations)), item.durations)
        path = frames[np.minimum(np.arange(steps * r), len(frames) - 1)].reshape(steps, r)
        chosen = draw.integers(r, size=steps) if training else np.full(steps, r // 2)
        rests = np.take_along_axis(path, chosen[:, None], 1)[:, 0]
        attended, stayed = np.zeros((2, steps), np.int64)
        for step in range(1, steps):
            attended[step] = min(rests[step - 1], attended[step - 1] + window - 1)
            stayed[step] = stayed[step - 1] + 1 if attended[step] == attended[step - 1] else 1
        if self.config.windowed_training:
            path = np.clip(path, attended[:, None], attended[:, None] + window - 1)
        return path, attended, stayed

    def sampling(self, step: int) -> float:
        """Share of previous frames that are the model's own, at a step."""
        data = self.data
        return risen(step, share=data.sampling_share, start=data.sampling_start, steps=data.sampling_steps)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """See Task."""
        data = self.data
        share = self.sampling(step) if model.training else 0.0
        inputs = (batch[name] for name in ("ids", "lengths", "frames", "attended", "stayed"))
        made: Decoded = model(*inputs, share)
        counts, learned = batch["counts"], batch["learned"]
        wrong = (made.frames.float() - batch["frames"]).reshape(*counts.shape, -1)
        steps = learned.sum()
        parts = {"l1": (wrong.abs().mean(-1) * counts).sum() / counts.sum()}
        parts["l2"] = (wrong.square().mean(-1) * counts).sum() / counts.sum()
        unsure = functional.binary_cross_entropy_with_logits(
            made.stop, batch["ends"], reduction="none", pos_weight=torch.tensor(data.stop_positive)
        )
        parts["stop"] = (unsure * learned).sum() / steps
        for number, weights in enumerate(made.weights, 1):
            chances = weights.gather(2, batch["path"]).clamp(min=-20).mean(-1)
            parts[f"alignment{number}"] = -(chances * learned).sum() / steps
            parts[f"guided{number}"] = guided_attention(weights, batch["lengths"], learned, data.guided_width)
        total = parts["l1"] + data.l2_weight * parts["l2"] + data.stop_weight * parts["stop"]
        total = total + data.alignment_weight * (parts["alignment1"] + parts["alignment2"])
        total = total + data.guided_weight * (parts["guided1"] + parts["guided2"])
        return total, {name: float(part.detach()) for name, part in parts.items()}

    @torch.no_grad()
    def samples(self, model: nn.Module, folder: Path) -> None:
        """See Task: validation sentences spoken freely, with the first attention's alignment."""
        from sayahead.sound.files import write_wav
        from sayahead.training.corpus.griffinlim import griffin_lim
        from sayahead.training.loop.pictures import spectrogram

        assert isinstance(model, DeepVoice3)
        items, front = self.corpus.split("val"), self.corpus.info.front_end
        for number in range(0, len(items), max(1, len(items) // max(1, self.data.samples)))[: self.data.samples]:
            item = items[number]
            ids = torch.tensor([self.pad, *item.ids.tolist(), self.pad], device=model.mean.device)
            mel, weights = (made.float().cpu().numpy() for made in generate(model, ids))
            write_wav(folder / f"{item.name}.wav", griffin_lim(front, mel), front.sample_rate)
            meant = np.asarray(item.mel, np.float32)
            spectrogram(folder / f"{item.name}.png", mel, meant, alignment=weights)


def whole(item: Item) -> tuple[int, int]:
    """All ids of an item with the pads, and all its frames."""
    return len(item.ids) + 2, len(item.mel)


def steps_a_phoneme(corpus: Corpus, reduction: int) -> float:
    """Mean decoder steps a phoneme over (at most 1,000 items of) the train split."""
    items = corpus.split("train")
    some = [items[int(i)] for i in np.linspace(0, len(items) - 1, min(len(items), 1000))]
    return sum(len(item.mel) for item in some) / reduction / max(1, sum(len(item.ids) + 2 for item in some))


def guided_attention(weights: Tensor, lengths: Tensor, learned: Tensor, width: float) -> Tensor:
    """Mean of ``A[s, p] (1 - exp(-(p / P - s / S)^2 / 2 g^2))`` over steps that count (Tachibana et al., Eq. 5, 6).

    ``weights`` (B, S, P) are logarithms; a step's sum over phonemes stands for their mean, so that it does not fall
    with the length of the text.
    """
    places = torch.arange(weights.shape[2], device=weights.device) / lengths[:, None]
    steps = torch.arange(weights.shape[1], device=weights.device) / learned.sum(1, keepdim=True)
    apart = places[:, None] - steps[..., None]
    penalty = 1 - torch.exp(-apart.square() / (2 * width**2))
    return ((weights.exp() * penalty).sum(-1) * learned).sum() / learned.sum()
