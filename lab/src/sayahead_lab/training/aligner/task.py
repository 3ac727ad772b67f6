"""Training of the aligner: corpora with exact durations say which phoneme sounds in each frame.

A recording has another speaker, room and level than the teachers. So the bands of each crop are
warped along their axis, tilted, and laid over noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.types import Floats
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.aligner.network import AlignerConfig, AlignerNetwork
from sayahead_lab.training.aligner.sounds import (
    BANDS,
    FRONT_END,
    IGNORED,
    bands,
    class_table,
    targets,
)
from sayahead_lab.training.corpus.batches import Share, shuffled, tensors
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.loop.task import Batch, Task


@dataclass(frozen=True, slots=True)
class AlignerData:
    """Settings of the training data."""

    frames: int = 240
    """Frames of a crop."""
    warp: float = 0.08
    """Largest stretch of the bands' axis, the effect of longer and shorter vocal tracts."""
    tilt: float = 1.5
    """Largest slope over all bands, in nats."""
    noise: float = 6.0
    """Least distance of noise from the loudest value, in nats; the largest is ``RANGE``."""


class AlignerTask(Task[AlignerNetwork]):
    """Training of the aligner: disturbed bands of a crop in, the phoneme of each frame out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.corpus = corpus
        self.data = from_mapping(AlignerData, data, where="[data]")
        front = corpus.info.front_end
        if replace(front, n_mels=FRONT_END.n_mels) != FRONT_END:
            raise ConfigError(
                f"The aligner works on frames of the front end ma, not of {front}: make such a"
                " corpus."
            )
        self.classes = class_table(corpus.info.phonemes)
        config = from_mapping(AlignerConfig, {"bands": BANDS, **model}, where="[model]")
        self.config = replace(config, classes=1 + len(self.classes))

    def model(self) -> AlignerNetwork:
        return AlignerNetwork(self.config)

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """A crop of each item, disturbed in training."""
        items = self.corpus.split(split)
        draw = np.random.default_rng([seed, 41])
        for first, numbers in shuffled(len(items), draw, Share(batch_size, rank, ranks)):
            own = np.random.default_rng([seed, first, rank])
            rows = [
                self.crop(items[int(number)], own, disturbed=split == "train") for number in numbers
            ]
            yield tensors(
                items=numbers,
                bands=np.stack([row[0] for row in rows]),
                labels=np.stack([row[1] for row in rows]),
            )

    def crop(self, item: Item, draw: np.random.Generator, *, disturbed: bool) -> tuple[Floats, Any]:
        """Bands (frames, BANDS) and labels (frames,) of a part of an item; a short one is padded at
        its end."""
        mel = np.asarray(item.mel, np.float32)
        size = self.data.frames
        ids = np.concatenate([[self.corpus.info.pad], item.ids, [self.corpus.info.pad]])
        labels = targets(ids, item.durations.astype(np.int64), self.classes)
        if disturbed:
            mel = self.disturbed(mel, draw)
        rows = bands(mel)
        first = int(draw.integers(max(1, len(mel) - size + 1)))
        missing = max(0, size - len(mel))
        return (
            np.pad(rows[first : first + size], ((0, missing), (0, 0)), mode="edge"),
            np.pad(labels[first : first + size], (0, missing), constant_values=IGNORED),
        )

    def disturbed(self, mel: Floats, draw: np.random.Generator) -> Floats:
        """The log mel of another speaker, room and level."""
        data = self.data
        count = mel.shape[1]
        axis = np.arange(count)
        places = np.clip(axis * (1 + draw.uniform(-data.warp, data.warp)), 0, count - 1)
        left = np.minimum(places.astype(np.int64), count - 2)
        share = (places - left).astype(np.float32)
        warped = mel[:, left] * (1 - share) + mel[:, left + 1] * share
        tilted = warped + np.float32(draw.uniform(-data.tilt, data.tilt)) * (
            axis / count - 0.5
        ).astype(np.float32)
        floor = tilted.max() - draw.uniform(data.noise, 9.0) + draw.normal(0, 0.3, tilted.shape)
        out: Floats = np.logaddexp(tilted, floor).astype(np.float32)
        return out

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """Cross-entropy; ``right`` is the share of frames whose phoneme is the likeliest."""
        logits = model(batch["bands"]).float().flatten(0, 1)
        labels = batch["labels"].flatten()
        total = functional.cross_entropy(logits, labels, ignore_index=IGNORED, label_smoothing=0.05)
        counts = labels != IGNORED
        right = (logits.argmax(-1)[counts] == labels[counts]).float().mean()
        return total, {"right": float(right)}
