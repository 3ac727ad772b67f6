"""Training of the default voice on prefixes: one set of weights that anticipates missing text.

Teacher and student are the same network. The teacher reads whole sentences with the imported
weights; the student sees them cut at random words (``prefixes.py``) and learns to say the same:
durations, pitch, energy and the sound encoding of what is spoken now, and of the future tokens what
the teacher says of the phonemes that really follow."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from torch import Tensor, nn

from sayahead_lab.training.corpus.batches import Share, padded, shuffled, tensors
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.corpus.teacher import load_reader
from sayahead_lab.training.distilled.futures import read_futures
from sayahead_lab.training.heart.network import Heart, HeartNetworkConfig, load_imported
from sayahead_lab.training.heart.prefixes import (
    Cut,
    Cutting,
    Ids,
    PrefixCutter,
    check_corpus,
    continuations,
    seen_ids,
)
from sayahead_lab.training.heart.weights import imported
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.loop.task import Batch, Task, logged
from sayahead_lab.training.losses import average

LEAD_UNITS = 3
"""Duration of the first pad, as in the voice's ``lead_units``."""


@dataclass(frozen=True, slots=True)
class HeartData(Cutting):
    """How sentences are cut, and the weights of the errors."""

    futures: str = ""
    """File of a language model's continuations (``sayahead train futures``); none where it is
    empty."""
    durations: float = 1.0
    """Weight of the absolute error of log(1 + units)."""
    pitch: float = 1.0
    """Weight of the absolute error of pitch, in 100 Hz."""
    energy: float = 0.5
    """Weight of energy's, over 5."""
    sound: float = 1.0
    """Weight of the sound encoding's."""


class HeartPrefixes(Task[Heart]):
    """Training of the default voice on sentences that are cut at random words."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(HeartNetworkConfig, model, where="[model]")
        self.data = from_mapping(HeartData, data, where="[data]")
        check_corpus(corpus.info.phonemes, corpus.info.punctuation)
        self.corpus = corpus
        self.teacher = Heart(self.config).eval().requires_grad_(False)
        self.weights = imported(heart_weights())
        load_imported(self.teacher, self.weights)

    def model(self) -> Heart:
        """Return the network to train: hibari's weights, and initial ones for what is added."""
        model = Heart(self.config)
        load_imported(model, self.weights)
        with torch.no_grad():
            # Future tokens start from the embedding of a space.
            for encoder in (model.sound, model.text):
                encoder.future.copy_(
                    encoder.emb.weight[self.corpus.info.phonemes[" "]].expand_as(encoder.future)
                )
        return model

    @functools.cached_property
    def cutter(self) -> PrefixCutter:
        """Loaded at first use: reading a language model's continuations takes a while."""
        return make_cutter(self.data, self.corpus, self.data.futures)

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """Yield batches of ``batch_size`` sentences, each cut at ``cuts`` random words."""
        items = self.corpus.split(split)
        draw = np.random.default_rng([seed, 11])
        for first, numbers in shuffled(len(items), draw, Share(batch_size, rank, ranks)):
            sentences = [items[int(i)] for i in numbers]
            cuts = self.cutter.draw(sentences, np.random.default_rng([seed, first, rank]))
            yield self.batch(sentences, cuts) | {"items": torch.from_numpy(numbers.copy())}

    def batch(self, items: list[Item], cuts: list[list[Cut]]) -> dict[str, Tensor]:
        """Return a batch: sentences (``whole``, ``lengths``) for the teacher, and a row for each
        cut for the student, with the index of its sentence in ``owner``."""
        pad = self.corpus.info.pad
        tokens = self.config.futures
        whole, lengths = padded(
            [np.concatenate([[pad], item.ids, [pad]]).astype(np.int64) for item in items]
        )
        pairs = [(number, cut) for number, group in enumerate(cuts) for cut in group]
        ids, sizes = padded(
            [seen_ids(items[number], cut, pad=pad, futures=tokens) for number, cut in pairs]
        )
        future, future_lengths = padded([cut.future for _, cut in pairs])
        begins = np.array([cut.begin for _, cut in pairs])
        firsts = [cut.first - cut.begin if cut.first else 0 for _, cut in pairs]
        ends = np.array([cut.end for _, cut in pairs]) - begins
        owners = [number for number, _ in pairs]
        rows = tensors(
            whole=whole,
            lengths=lengths,
            ids=ids,
            seen=sizes,
            future=future,
            future_lengths=future_lengths,
        )
        return {**rows, **tensors(owner=owners, begin=begins, first=firsts, end=ends)}

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        inputs, target = self.targets(batch)
        parts = self.errors(model(inputs), inputs, target)
        return self.weighed(parts), logged(parts)

    def weighed(self, errors: Mapping[str, Tensor]) -> Tensor:
        """The sum of the errors by their weights."""
        return torch.stack(
            [getattr(self.data, name) * value for name, value in errors.items()]
        ).sum()

    def targets(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """The student's inputs, and the teacher's output for the same rows and units."""
        taught = self.teach(batch["whole"], batch["lengths"])
        owner = batch["owner"]
        begin = batch["begin"]
        rows = torch.arange(batch["ids"].shape[1], device=owner.device)[None]
        visible = rows < batch["seen"][:, None]
        # Row of the whole for each row: future tokens are beside the phonemes that really follow.
        there = (rows + begin[:, None]).clamp(max=batch["whole"].shape[1] - 1)
        real = (rows + begin[:, None] < batch["lengths"][owner, None]) & visible
        units = taught["units"][owner].gather(1, there)
        inputs = {name: batch[name] for name in ("ids", "future", "future_lengths", "first", "end")}
        inputs |= {"known": visible, "units": units * (rows < batch["end"][:, None])}
        now = (rows >= batch["first"][:, None]) & (rows < batch["end"][:, None])
        after = (rows >= batch["end"][:, None]) & real
        token = batch["ids"] >= self.teacher.sound.emb.num_embeddings
        held = (rows >= batch["first"][:, None] - 3) & (rows < batch["first"][:, None])
        weight = now.float() + torch.where(token, 0.2, 0.5) * after
        target = {
            "log_units": taught["log_units"][owner].gather(1, there),
            "sound": taught["sound"][owner[:, None], there],
            "row_weight": weight * real,
            "sound_weight": (weight + 0.5 * held) * real,
            "prosody": taught["prosody"][owner],
            "total": taught["units"].sum(1)[owner],
            # Units before the cut's first row.
            "offset": (taught["units"].cumsum(1) - taught["units"])[owner, begin],
        }
        return inputs, target

    def teach(self, whole: Tensor, lengths: Tensor) -> dict[str, Tensor]:
        """The teacher's output for whole sentences; the silence before them is as short as the
        voice's."""
        self.teacher.to(whole.device)
        device = whole.device.type
        with torch.no_grad(), torch.autocast(device, enabled=False):
            real = torch.arange(whole.shape[1], device=whole.device)[None] < lengths[:, None]
            context = torch.zeros(len(whole), self.config.context, device=whole.device)
            sound, text, logs = self.teacher.encode(whole, real, context)
            units = torch.expm1(logs).round().clamp(min=1).long() * real
            spread, there = spread_rows(text, units)
            prosody = self.teacher.prosody(spread, there)
            # The teacher pauses before a sentence, the voice does not.
            cut = units[:, 0] - LEAD_UNITS
            units[:, 0] = LEAD_UNITS
            index = (
                torch.arange(prosody.shape[1], device=whole.device)[None]
                + cut.clamp(min=0)[:, None]
            )
            prosody = prosody.gather(
                1, index.clamp(max=prosody.shape[1] - 1)[..., None].expand(-1, -1, 4)
            )
        return {"sound": sound, "log_units": logs, "units": units, "prosody": prosody}

    def errors(
        self, out: dict[str, Tensor], inputs: Mapping[str, Tensor], target: Mapping[str, Tensor]
    ) -> dict[str, Tensor]:
        """The mean absolute errors, by the name of their weight; of the sound encoding where the
        target has one."""
        rows = target["row_weight"]
        wrong_rows = (out["log_units"].float() - target["log_units"]).abs()
        # A sentence's first pad is never as long as the teacher's.
        rows = rows * (
            (inputs["ids"] > 0) | (torch.arange(rows.shape[1], device=rows.device)[None] > 0)
        )
        errors = {"durations": average(wrong_rows, rows), **self.prosody_errors(out, target)}
        if "sound" in target:
            wrong_sound = (out["sound"].float() - target["sound"]).abs().mean(-1)
            errors["sound"] = average(wrong_sound, target["sound_weight"])
        return errors

    @staticmethod
    def prosody_errors(
        out: Mapping[str, Tensor], target: Mapping[str, Tensor]
    ) -> dict[str, Tensor]:
        """The errors of pitch and energy, unit by unit."""
        weight = out["weight"]
        at = out["at"] + target["offset"][:, None]
        weight = weight * (at < target["total"][:, None]) * (out["at"] >= 0)
        index = at.clamp(min=0, max=target["prosody"].shape[1] - 1)[..., None].expand(-1, -1, 4)
        wrong = (out["prosody"].float() - target["prosody"].gather(1, index)).abs() * weight[
            ..., None
        ]
        units = weight.sum().clamp(min=1)
        return {
            "pitch": wrong[..., :2].mean(-1).sum() / units,
            "energy": wrong[..., 2:].mean(-1).sum() / units,
        }


def make_cutter(cutting: Cutting, corpus: Corpus, futures: str) -> PrefixCutter:
    """Cuts the corpus's sentences, with a language model's continuations where ``futures`` names
    their file."""
    expected = dict[str, dict[int, Ids]]()
    if futures:
        words = {item.name: item.futures for item in read_futures(Path(futures))}
        shards = corpus.split("train").shards
        texts = [pair for shard in shards for pair in zip(shard.names, shard.texts, strict=True)]
        expected = continuations(texts, words, load_reader(True))
    return PrefixCutter(cutting, space=corpus.info.phonemes[" "], futures=expected)


def spread_rows(encoding: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (B, P, D) repeated by their units (B, P): (B, U, D), and where there are any (B, U)."""
    totals = units.sum(1)
    repeated = [
        row.repeat_interleave(counts, 0) for row, counts in zip(encoding, units, strict=True)
    ]
    spread = nn.utils.rnn.pad_sequence(repeated, batch_first=True)
    there = torch.arange(spread.shape[1], device=units.device)[None] < totals[:, None]
    return spread, there.to(spread.dtype)
