"""Training of WaveRNN: the likelihood of each sample given those before it and the mel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead.config import from_mapping
from sayahead.training.corpus.store import Corpus
from sayahead.training.crops import Crops, CropTask
from sayahead.training.loop.pictures import shown, write_sample
from sayahead.training.loop.task import Batch
from sayahead.training.losses import average
from sayahead.training.wavernn.network import WaveRNN, WaveRNNConfig, decoded, encoded


@dataclass(frozen=True, slots=True)
class WaveRNNData:
    """Its training data."""

    frames: int = 10
    """Frames of a crop."""
    edge: int = 2
    """Frames at a crop's left end that do not count, unless the item begins there: they lack their past."""
    samples: int = 1
    """Validation sentences of which the beginning is drawn for listening."""
    sample_frames: int = 80
    """Frames of that beginning."""


class WaveRNNTask(CropTask[WaveRNN]):
    """See Task: crops of sound in, the likelihood of their mu-law values out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(WaveRNNConfig, model, where="[model]")
        self.data, self.corpus = from_mapping(WaveRNNData, data, where="[data]"), corpus
        self.crops = Crops(corpus, self.data.frames, self.data.edge, pulses=False)
        self.crops.check(self.config.n_mels, self.config.hop)

    def model(self) -> WaveRNN:
        """See Task."""
        model = WaveRNN(self.config)
        model.conditions.scaled(self.corpus.info)
        return model

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """See Task: negative log likelihood, in nats a sample."""
        classes = self.config.classes
        meant = encoded(batch["audio"], classes)
        before = functional.pad(decoded(meant, classes), (1, 0))[:, :-1]
        logits = model(before, batch["mel"])
        weights = batch["counts"].repeat_interleave(self.config.hop, 1)
        unlikely = functional.cross_entropy(logits.transpose(1, 2).float(), meant, reduction="none")
        total = average(unlikely, weights)
        return total, {"nll": float(total.detach())}

    @torch.no_grad()
    def samples(self, model: WaveRNN, folder: Path) -> None:
        """See Task: the beginnings of validation sentences, drawn sample by sample from their own mel."""
        from sayahead.training.wavernn.export import runtime

        vocoder = runtime(model)
        for _, item in shown(self.corpus.split("val"), self.data.samples):
            mel = np.asarray(item.mel[: self.data.sample_frames], np.float32)
            samples, _ = vocoder.step(mel, mel[:0], vocoder.initial(0), seed=0, ended=True)
            write_sample(folder, item.name, self.corpus.info.front_end, mel, samples=samples)
