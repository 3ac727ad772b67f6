"""Training of WaveRNN: the likelihood of each sample given those before it and the mel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead.config import from_mapping
from sayahead.training.crops import Crops
from sayahead.training.loop.task import Batch
from sayahead.training.wavernn.network import WaveRNN, WaveRNNConfig, decoded, encoded

if TYPE_CHECKING:
    from sayahead.training.corpus.store import Corpus


@dataclass(frozen=True, slots=True)
class WaveRNNData:
    """What it is trained on."""

    frames: int = 10
    """Frames of a crop."""
    edge: int = 2
    """Frames at a crop's left end that do not count, unless the item begins there: they lack their past."""
    samples: int = 1
    """Validation sentences of which a second is made for listening."""
    sample_frames: int = 80
    """Frames of that."""


class WaveRNNTask:
    """See Task: crops of sound in, the likelihood of their mu-law values out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(WaveRNNConfig, model, where="[model]")
        self.data, self.corpus = from_mapping(WaveRNNData, data, where="[data]"), corpus
        self.crops = Crops(corpus, self.data.frames, self.data.edge, pulses=False)
        self.crops.check(self.config.n_mels, self.config.hop)

    def model(self) -> WaveRNN:
        """See Task."""
        model = WaveRNN(self.config)
        model.conditions.mean.copy_(torch.as_tensor(self.corpus.info.mel_mean))
        model.conditions.std.copy_(torch.as_tensor(self.corpus.info.mel_std))
        return model

    def batches(self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int) -> Iterator[Batch]:
        """See Task and Crops.batches."""
        return self.crops.batches(split, batch_size=batch_size, seed=seed, rank=rank, ranks=ranks)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """See Task: negative log likelihood, in nats a sample."""
        classes = self.config.classes
        meant = encoded(batch["audio"], classes)
        before = functional.pad(decoded(meant, classes), (1, 0))[:, :-1]
        logits = model(before, batch["mel"])
        weights = batch["counts"].repeat_interleave(self.config.hop, 1)
        unlikely = functional.cross_entropy(logits.transpose(1, 2).float(), meant, reduction="none")
        total = (unlikely * weights).sum() / weights.sum()
        return total, {"nll": float(total.detach())}

    @torch.no_grad()
    def samples(self, model: nn.Module, folder: Path) -> None:
        """See Task: the begin of validation sentences, sampled from their own mel."""
        from sayahead.sound.files import write_wav
        from sayahead.training.loop.pictures import spectrogram
        from sayahead.training.wavernn.export import runtime

        assert isinstance(model, WaveRNN)
        items, front, vocoder = self.corpus.split("val"), self.corpus.info.front_end, runtime(model)
        for number in range(0, len(items), max(1, len(items) // max(1, self.data.samples)))[: self.data.samples]:
            item = items[number]
            mel = np.asarray(item.mel[: self.data.sample_frames], np.float32)
            made, _ = vocoder.step(mel, mel[:0], vocoder.initial(0), seed=0, ended=True)
            write_wav(folder / f"{item.name}.wav", made, front.sample_rate)
            spectrogram(folder / f"{item.name}.png", front.log_mel(made), mel)
