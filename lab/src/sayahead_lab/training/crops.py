"""Random crops of sound with their mel and, in phase with the sound, a pulse train: the training
data of vocoders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from sayahead.errors import ConfigError
from sayahead.types import Floats
from sayahead.vocoders.pulses import VOICED_HZ, pitch_curve, pulse_train

from sayahead_lab.training.corpus.batches import Share, shuffled
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.loop.task import Batch, M, Task

FULL_SCALE = np.float32(32767)
"""The 16-bit sample that stands for 1."""


@dataclass(frozen=True, slots=True)
class Crops:
    """Settings of the crops of a corpus for a vocoder."""

    corpus: Corpus
    """Source of the items."""
    frames: int
    """Frames of a crop."""
    edge: int
    """Frames at its left end that do not count, unless the item begins there: they lack their
    past."""
    pulses: bool
    """Whether batches have pulses."""

    def check(self, n_mels: int, hop: int, table: str = "[model]", *, counted: int = 8) -> None:
        """ConfigError where the corpus does not fit a model, or no frame of a crop counts."""
        front = self.corpus.info.front_end
        if (front.n_mels, front.hop) != (n_mels, hop):
            raise ConfigError(
                f"The corpus has {front.n_mels} mel bands and a hop of {front.hop} samples, but"
                f" {table} takes {n_mels} bands and a hop of {hop}."
            )
        if self.frames < self.edge + counted:
            least = f"at least {counted} more than edge, {self.edge}"
            raise ConfigError(f"[data] frames is {self.frames}, but must be {least}.")

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """Every item is cut from a random frame on, once a pass each way, and the crops are
        shuffled.

        ``mel`` (B, T, n_mels), ``audio`` (B, T * hop), ``f0`` (B, T), ``counts`` (B, T), 1 for the
        frames that count, ``items`` (B,), and ``pulses`` (B, 2, T * hop) where wanted."""
        items = self.corpus.split(split)
        draw = np.random.default_rng([seed, 11])
        crops = []
        for number, length in enumerate(items.lengths.tolist()):
            spare = length % self.frames
            # Sentences' starts and ends are rare: every other pass has one of them.
            first = int(draw.choice([0, spare, int(draw.integers(spare + 1))], p=[0.25, 0.25, 0.5]))
            crops += [(number, at) for at in range(first, length - self.frames + 1, self.frames)]
        for _, numbers in shuffled(len(crops), draw, Share(batch_size, rank, ranks)):
            chosen = [crops[i] for i in numbers]
            rows = [self.row(items[number], at) for number, at in chosen]
            batch = {
                name: torch.from_numpy(np.stack([row[name] for row in rows])) for name in rows[0]
            }
            yield batch | {"items": torch.tensor([number for number, _ in chosen])}

    def row(self, item: Item, at: int) -> dict[str, Floats]:
        """One row of a batch by name: the item's frames from ``at`` on."""
        if item.audio is None:
            raise ConfigError(
                "The corpus has no sound: make it with sayahead train corpus, without --no-audio."
            )
        hop = self.corpus.info.front_end.hop
        end = at + self.frames
        counts = np.ones(self.frames, np.float32)
        counts[: self.edge if at else 0] = 0
        if end < len(item.mel):
            counts[-2:] = 0
        row = {
            "mel": np.asarray(item.mel[at:end], np.float32),
            "audio": np.asarray(item.audio[at * hop : end * hop], np.float32) / FULL_SCALE,
            "f0": np.asarray(item.f0[at:end], np.float32),
            "counts": counts,
        }
        if self.pulses:
            row["pulses"] = locked_pulses(
                row["f0"], row["audio"], self.corpus.info.front_end.sample_rate
            )
        return row


class CropTask(Task[M]):
    """A task that trains on crops."""

    crops: Crops
    """What it trains on."""

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        return self.crops.batches(split, batch_size=batch_size, seed=seed, rank=rank, ranks=ranks)


def locked_pulses(f0: Floats, audio: Floats, sample_rate: int) -> Floats:
    """(2, S) pulses and their quadrature at the pitch f0 (T,), as ``pulse_train`` makes them, in
    phase with the sound.

    A corpus has the pitch, not where a period begins in the sound: in each voiced stretch the
    pulses' first harmonic gets the phase of the sound's.
    """
    hop = len(audio) // len(f0)
    curve = pitch_curve(f0, None, hop=hop)
    turns = np.cumsum(curve, dtype=np.float64) / sample_rate
    harmonic = (audio * np.exp(-2j * np.pi * turns)).reshape(len(f0), hop).sum(1)
    voiced = np.concatenate([[False], f0 > VOICED_HZ, [False]])
    begins = np.flatnonzero(~voiced[:-1] & voiced[1:])
    ends = np.flatnonzero(voiced[:-1] & ~voiced[1:])
    shift = np.zeros(len(f0))
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        # Each stretch with the silence around it, up to the middle of that.
        left = 0 if not number else (ends[number - 1] + begin) // 2
        right = len(f0) if number + 1 == len(begins) else (end + begins[number + 1]) // 2
        shift[left:right] = np.angle(harmonic[begin:end].sum()) / (2 * np.pi)
    return pulse_train(turns + np.repeat(shift, hop), curve)
