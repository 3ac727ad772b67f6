"""Training of Deep Voice 3: what its decoder steps attend to, prefixes of sentences, its losses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.types import Floats
from sayahead.voices import VoiceConfig
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.corpus.batches import Share, by_length, decoder_steps, tensors
from sayahead_lab.training.corpus.segments import AttentionPath, first_id, path_of
from sayahead_lab.training.corpus.store import Corpus, CorpusInfo, Item, check_mels, count_ids
from sayahead_lab.training.loop.pictures import examples, write_sample
from sayahead_lab.training.loop.schedule import Sampling
from sayahead_lab.training.loop.task import Batch, Task, logged
from sayahead_lab.training.losses import average, guided_attention, stop_error
from sayahead_lab.training.ma.from_voice import read_deepvoice3
from sayahead_lab.training.ma.network import (
    DeepVoice3,
    DeepVoice3Config,
    DeepVoice3Output,
    generate,
)


@dataclass(frozen=True, slots=True)
class DeepVoice3Data(Sampling):
    """Deep Voice 3's training data, and the weights of its errors; the defaults are Ma's."""

    guided_weight: float = 1.0
    """Weight of the guided attention loss (Tachibana et al. 2018, Eq. 5 and 6)."""
    guided_width: float = 0.2
    """Its g: how far from the diagonal attention is free."""
    alignment_weight: float = 0.0
    """Weight of the attentions' cross-entropy with the corpus's durations; not of the paper."""
    l2_weight: float = 0.0
    """Weight of the frames' squared error beside their absolute one, in units of each band's
    deviation."""
    stop_weight: float = 1.0
    """Weight of the stop's binary cross-entropy."""
    stop_positive: float = 1.0
    """Weight of a last step in it over the others."""
    prefix_share: float = 0.0
    """Share of items cut after a word, as incremental inference sees them; the paper trains on
    whole sentences."""
    lookahead: int = 2
    """Most words that such a prefix shows after those it speaks; at least none."""
    longest: int = 0
    """Frames over which an item is left out; 0: none is."""
    samples: int = 2
    """Validation sentences that are spoken for listening."""


class DeepVoice3Task(Task[DeepVoice3]):
    """Training of Deep Voice 3: phonemes in, mel out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        config = from_mapping(DeepVoice3Config, model, where="[model]")
        self.data = from_mapping(DeepVoice3Data, data, where="[data]")
        self.corpus = corpus
        info = corpus.info
        self.pad = info.pad
        self.space = info.phonemes.get(" ", -1)
        phonemes = count_ids(info, config.phonemes)
        check_mels(info, config.n_mels)
        if config.clock not in ("steps", "attended"):
            raise ConfigError(f"[model] clock is {config.clock!r}, but must be steps or attended.")
        if config.prenet[-1:] != (config.embedding,):
            raise ConfigError(
                f"[model] prenet is {list(config.prenet)}, but must end with embedding,"
                f" {config.embedding}."
            )
        rate = config.key_rate or steps_a_phoneme(corpus, config.reduction)
        self.config = replace(config, phonemes=phonemes, key_rate=rate)
        self.found = {"key_rate": rate}

    def model(self) -> DeepVoice3:
        return DeepVoice3(self.config).scaled(self.corpus.info)

    @classmethod
    def found_in_voice(cls, config: VoiceConfig) -> dict[str, Any]:
        """The rate of the keys' positions."""
        return {
            key: value
            for key, value in config.model.get("acoustic", {}).items()
            if key == "key_rate"
        }

    def read_voice(self, model: DeepVoice3, folder: Path, config: VoiceConfig) -> None:
        if config.kind != "ma":
            raise ConfigError(
                f"The voice {config.name} is of the kind {config.kind!r}, but one of 'ma' is"
                " needed."
            )
        read_deepvoice3(model, folder)

    def carried(
        self, learned: Mapping[str, Tensor], before: CorpusInfo | None, fresh: Mapping[str, Tensor]
    ) -> Mapping[str, Tensor]:
        """An encoder of wider kernels begins as the narrower one: zeros stand at both ends of its
        kernels."""
        return {
            name: (
                widened(weight, fresh[name], self.config.encoder_kernel)
                if name.startswith("encoder.blocks.") and name in fresh
                else weight
            )
            for name, weight in learned.items()
        }

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """Items of like length together; all but what does not go into equal shares is there
        once."""
        items = self.corpus.split(split)
        draw = np.random.default_rng([seed, 11])
        share = Share(batch_size, rank, ranks)
        for number, numbers in by_length(items.lengths, draw, share, longest=self.data.longest):
            if len(numbers):
                cuts = np.random.default_rng([seed, number, rank]) if split == "train" else None
                yield self.batch([(int(i), items[int(i)]) for i in numbers], cuts)

    def batch(self, items: list[tuple[int, Item]], draw: np.random.Generator | None) -> Batch:
        """Tensors of items with their numbers; in training, which has a ``draw``, some are cut to
        prefixes.

        ids (B, P), lengths (B,), frames (B, S, F) normalized, counts (B, S * r) frames that are to
        be learned, path (B, S, r) the phoneme of each frame, attended and stayed (B, S) before each
        step, ends (B, S) 1 at the last step, learned (B, S) 1 at steps that are to be learned."""
        cuts = [whole(item) if draw is None else self.cut(item, draw) for _, item in items]
        mels = [item.mel[:frames] for (_, item), (_, frames) in zip(items, cuts, strict=True)]
        steps = decoder_steps(mels, self.corpus.info, self.config.reduction)
        ids = np.full((len(items), max(length for length, _ in cuts)), self.pad, np.int64)
        path = np.zeros((*steps.learned.shape, self.config.reduction), np.int64)
        attended, stayed = np.zeros((2, *steps.learned.shape), np.int64)
        ends = np.zeros_like(steps.learned)
        for row, ((_, item), (length, _)) in enumerate(zip(items, cuts, strict=True)):
            padded = np.concatenate([[self.pad], item.ids, [self.pad]])
            ids[row, :length] = padded[:length]
            count = int(steps.learned[row].sum())
            walk = self.path(item, count, draw)
            # The last step may reach into a phoneme that a prefix does not show.
            path[row, :count] = np.minimum(walk.phonemes, length - 1)
            attended[row, :count] = np.minimum(walk.attended, length - 1)
            stayed[row, :count] = walk.stayed
            ends[row, count - 1] = length == len(padded)
        texts = tensors(
            items=[number for number, _ in items], ids=ids, lengths=[length for length, _ in cuts]
        )
        return {
            **texts,
            **tensors(**steps._asdict(), path=path, attended=attended, stayed=stayed, ends=ends),
        }

    def cut(self, item: Item, draw: np.random.Generator) -> tuple[int, int]:
        """Ids with pads that are seen of an item, and frames that are spoken of it: both whole, or
        a prefix."""
        words = len(item.words)
        count = int(draw.integers(1, max(2, words)))
        ahead = int(draw.integers(self.data.lookahead + 1))
        if draw.random() >= self.data.prefix_share or count + ahead >= words:
            return whole(item)
        length, end = (1 + first_id(item, word, self.space) for word in (count + ahead, count))
        return length, int(item.durations[:end].sum())

    def path(self, item: Item, steps: int, draw: np.random.Generator | None) -> AttentionPath:
        """Where attention is in the first steps of an item."""
        config = self.config
        durations = item.durations.astype(np.int64)
        sizes = {"reduction": config.reduction, "window": config.window}
        return path_of(durations, steps, **sizes, draw=draw, cut=config.windowed_training)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        data = self.data
        share = data.sampling(step) if model.training else 0.0
        inputs = (batch[name] for name in ("ids", "lengths", "frames", "attended", "stayed"))
        decoded: DeepVoice3Output = model(*inputs, share)
        counts = batch["counts"]
        learned = batch["learned"]
        wrong = (decoded.frames.float() - batch["frames"]).reshape(*counts.shape, -1)
        parts = {
            "l1": average(wrong.abs().mean(-1), counts),
            "l2": average(wrong.square().mean(-1), counts),
        }
        parts["stop"] = stop_error(
            decoded.stop, batch["ends"], learned, positive=data.stop_positive
        )
        for number, weights in enumerate(decoded.weights, 1):
            chances = weights.gather(2, batch["path"]).clamp(min=-20).mean(-1)
            parts[f"alignment{number}"] = -average(chances, learned)
            parts[f"guided{number}"] = guided_attention(
                weights, batch["lengths"], learned, data.guided_width
            )
        total = parts["l1"] + data.l2_weight * parts["l2"] + data.stop_weight * parts["stop"]
        total = total + data.alignment_weight * (parts["alignment1"] + parts["alignment2"])
        total = total + data.guided_weight * (parts["guided1"] + parts["guided2"])
        return total, logged(parts)

    @torch.no_grad()
    def predicted(self, model: DeepVoice3, item: Item) -> Floats:
        """Log mel (T, n_mels) of an item, each step after the item's own frames before it."""
        batch = self.batch([(0, item)], None)
        inputs = (batch[name] for name in ("ids", "lengths", "frames", "attended", "stayed"))
        frames = model(*inputs).frames.float().view(-1, self.config.n_mels)[: len(item.mel)]
        mel: Floats = (frames * model.std + model.mean).numpy()
        return mel

    @torch.no_grad()
    def samples(self, model: DeepVoice3, folder: Path) -> None:
        """Validation sentences spoken freely, with the first attention's alignment."""
        for _, item in examples(self.corpus.split("val"), self.data.samples):
            ids = torch.tensor([self.pad, *item.ids.tolist(), self.pad], device=model.mean.device)
            mel, alignment = (part.float().cpu().numpy() for part in generate(model, ids))
            write_sample(
                folder,
                item.name,
                self.corpus.info.front_end,
                item.mel,
                mel=mel,
                alignment=alignment,
            )


def widened(weight: Tensor, fresh: Tensor, kernel: int) -> Tensor:
    """Weights (E, J * D) of a narrower kernel as (E, K * D), with zeros at both ends; any other
    weight as it is."""
    if weight.ndim != 2 or weight.shape[0] != fresh.shape[0] or weight.shape[1] >= fresh.shape[1]:
        return weight
    taps, rest = divmod(fresh.shape[1] - weight.shape[1], fresh.shape[1] // kernel)
    if rest or taps % 2:
        return weight
    around = (fresh.shape[1] - weight.shape[1]) // 2
    return functional.pad(weight, (around, around))


def whole(item: Item) -> tuple[int, int]:
    """All ids of an item with the pads, and all its frames."""
    return len(item.ids) + 2, len(item.mel)


def steps_a_phoneme(corpus: Corpus, reduction: int) -> float:
    """Mean decoder steps a phoneme over (at most 1,000 items of) the train split."""
    items = corpus.split("train")
    some = [items[int(i)] for i in np.linspace(0, len(items) - 1, min(len(items), 1000))]
    return (
        sum(len(item.mel) for item in some)
        / reduction
        / max(1, sum(len(item.ids) + 2 for item in some))
    )
