"""Training of the default voice for streams: encoded rows stay, and a word costs only its own
phonemes.

As in ``task.py``, the teacher reads whole sentences with the imported weights. The student reads
them word by word, all steps of a sentence in one pass (``streams.py``), and learns to say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.voices import VoiceConfig
from torch import Tensor, nn

from sayahead_lab.training.corpus.batches import Share, by_length, padded, tensors
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.heart.from_voice import load_shipped
from sayahead_lab.training.heart.network import Heart
from sayahead_lab.training.heart.quantization import load_ranges
from sayahead_lab.training.heart.streams import Stream, Streamer, Streaming, stacked
from sayahead_lab.training.heart.task import HeartPrefixes
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.loop.task import Batch, logged

HELD_WEIGHT = 0.5
AHEAD_WEIGHT = 0.3
TOKEN_WEIGHT = 0.1
"""What rows count that are spoken before, that are only seen, and future tokens; those that are
spoken count 1."""


@dataclass(frozen=True, slots=True)
class MemoryData(Streaming):
    """How sentences are streamed, and the weights of the errors."""

    durations: float = 1.0
    """Weight of the absolute error of log(1 + units)."""
    pitch: float = 1.0
    """Weight of the absolute error of pitch, in 100 Hz."""
    energy: float = 0.5
    """Weight of energy's, over 5."""
    sound: float = 1.0
    """Weight of the sound encoding's."""
    fixed_context: bool = False
    """Whether the context network stays as the start has it, which must be a voice, so that its
    student stays right."""
    ranges: str = ""
    """File of the ranges that the start was written with, a voice; none: without any."""


class HeartMemory(HeartPrefixes):
    """Training of the default voice on sentences that are read word by word."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        streaming = from_mapping(MemoryData, data, where="[data]")
        weights = {
            name: getattr(streaming, name) for name in ("durations", "pitch", "energy", "sound")
        }
        super().__init__(model, weights, corpus)
        self.streaming = streaming
        space = corpus.info.phonemes[" "]
        pad = corpus.info.pad
        self.streamer = Streamer(streaming, space=space, pad=pad, futures=self.config.futures)

    def model(self) -> Heart:
        """The imported voice, with what it learns anew."""
        model = super().model()
        model.expect.requires_grad_(not self.streaming.fixed_context)
        return model

    def check_start(self, *, voice: bool, run: bool) -> None:
        if self.streaming.fixed_context and not voice:
            raise ConfigError(
                "[data] fixed_context keeps the context network of a voice: set [train] start to a"
                " voice's name or folder, or leave fixed_context out."
            )

    def read_voice(self, model: Heart, folder: Path, config: VoiceConfig) -> None:
        ranges = load_ranges(Path(self.streaming.ranges)) if self.streaming.ranges else None
        load_shipped(model, folder, heart_weights(), ranges)

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """``batch_size`` sentences of like length."""
        items = self.corpus.split(split)
        order = np.random.default_rng([seed, 41])
        lengths = np.array([len(items[number].ids) for number in range(len(items))])
        for group, numbers in by_length(
            lengths, order, Share(batch_size, rank, ranks), filled=True
        ):
            random = np.random.default_rng([seed, group, rank, 41])
            yield self.streamed([items[int(i)] for i in numbers], random) | {
                "items": torch.from_numpy(numbers.copy())
            }

    def streamed(self, items: Sequence[Item], random: np.random.Generator) -> dict[str, Tensor]:
        """Sentences (``whole``, ``lengths``), their streams, and the steps of them that are
        spoken."""
        return self.unfolded(items, self.streamer.draw(items, random), random)

    def unfolded(
        self, items: Sequence[Item], streams: Sequence[Stream], random: np.random.Generator
    ) -> dict[str, Tensor]:
        """The batch of these streams."""
        pad = self.corpus.info.pad
        whole, lengths = padded(
            [np.concatenate([[pad], item.ids, [pad]]).astype(np.int64) for item in items]
        )
        most = max(len(one.steps) for one in streams)
        future, future_lengths = padded(self._futures(items, streams, most, random))
        views = [
            view for number, one in enumerate(streams) for view in self._views(number, one, random)
        ]
        columns = {
            name: [view[name] for view in views] for name in ("owner", "first", "end", "begin")
        }
        index, sizes = padded([view["index"] for view in views])
        begins, ends = (
            padded([self._edges(one, name) for one in streams])[0] for name in ("said", "end")
        )
        rows = stacked(streams) | {"said": begins, "ends": ends, "whole": whole, "lengths": lengths}
        rows |= {
            "future": future.reshape(len(items), most, -1),
            "future_lengths": future_lengths.reshape(-1, most),
        }
        view_rows = {f"view_{name}": np.array(column) for name, column in columns.items()}
        return tensors(**rows, **view_rows, view_index=index, view_seen=sizes)

    def _futures(
        self,
        items: Sequence[Item],
        streams: Sequence[Stream],
        most: int,
        random: np.random.Generator,
    ) -> list[NDArray[np.int64]]:
        """What is expected at each of ``most`` steps of each stream; nothing at all in some of
        them, and behind the last step."""
        expecting = [random.random() >= self.streaming.nothing_share for _ in items]
        nothing = np.zeros(0, np.int64)
        return [
            (
                self.streamer.future(item, one.steps[number])
                if expects and number < len(one.steps)
                else nothing
            )
            for item, one, expects in zip(items, streams, expecting, strict=True)
            for number in range(most)
        ]

    @staticmethod
    def _edges(stream: Stream, name: str) -> Any:
        """(N,) the ``said`` or ``end`` of each row's step."""
        return np.array([getattr(step, name) for step in stream.steps], np.int64)[stream.number]

    def _views(
        self, owner: int, stream: Stream, random: np.random.Generator
    ) -> Iterator[dict[str, Any]]:
        """Steps of one stream whose pitch is computed: where the rows that they see are in its
        sequence."""
        count = min(self.streaming.spoken_steps, len(stream.steps))
        for number in sorted(random.choice(len(stream.steps), count, replace=False).tolist()):
            step = stream.steps[number]
            offset = stream.offset(number)
            begin = max(0, step.first - max(self.streaming.windows))
            size = int((stream.number == number).sum())
            index = np.concatenate([stream.kept[begin : step.first], offset + np.arange(size)])
            yield {
                "owner": owner,
                "begin": begin,
                "index": index,
                "first": step.said - begin,
                "end": step.end - begin,
            }

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        taught = self.teach(batch["whole"], batch["lengths"])
        out = model({**batch, "taught_units": taught["units"]})
        target = self.stream_targets(batch, taught)
        parts = self.errors(out, batch, target)
        return self.weighed(parts), logged(parts)

    def stream_targets(self, batch: Batch, taught: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What was ``taught`` of whole sentences, for the same rows and units, and their
        weights."""
        row = batch["row"]
        total = batch["lengths"][:, None]
        there = row.clamp(max=batch["whole"].shape[1] - 1)
        token = batch["ids"] >= self.teacher.sound.emb.num_embeddings
        real = batch["known"] & (row < total)
        now = (row >= batch["said"]) & (row < batch["ends"])
        before = row < batch["said"]
        weight = torch.where(before, HELD_WEIGHT, torch.where(now, 1.0, AHEAD_WEIGHT))
        weight = torch.where(token, TOKEN_WEIGHT, weight) * real
        owner = batch["view_owner"]
        begin = batch["view_begin"]
        sound = {}
        if "sound" in taught:
            wide = there[..., None].expand(-1, -1, taught["sound"].shape[-1])
            sound = {"sound": taught["sound"].gather(1, wide), "sound_weight": weight}
        return {
            **sound,
            "log_units": taught["log_units"].gather(1, there),
            "row_weight": weight,
            "prosody": taught["prosody"][owner],
            "total": taught["units"].sum(1)[owner],
            "offset": (taught["units"].cumsum(1) - taught["units"])[owner, begin],
        }
