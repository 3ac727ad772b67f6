"""Training of WaveGlow: the likelihood of crops of sound given their mel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.training.corpus.store import Corpus
from sayahead.training.crops import Crops, CropTask
from sayahead.training.loop.pictures import shown, write_sample
from sayahead.training.loop.task import Batch
from sayahead.training.waveglow.network import DEVIATION, SOFTER, WaveGlow, WaveGlowConfig, negative_log_likelihood


@dataclass(frozen=True, slots=True)
class WaveGlowData:
    """Its training data."""

    frames: int = 54
    """Frames of a crop; 54 of 300 samples are 16,200 (Prenger et al. 2018: 16,000 samples)."""
    deviation: float = DEVIATION
    """Standard deviation of the noise."""
    samples: int = 2
    """Validation sentences that are rendered for listening."""


class WaveGlowTask(CropTask[WaveGlow]):
    """See Task: crops of sound in, their likelihood out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(WaveGlowConfig, model, where="[model]")
        self.data, self.corpus = from_mapping(WaveGlowData, data, where="[data]"), corpus
        self.crops = Crops(corpus, self.data.frames, edge=0, pulses=False)
        self.crops.check(self.config.n_mels, self.config.hop, counted=1)
        samples = self.data.frames * self.config.hop
        if samples % self.config.group:
            raise ConfigError(
                f"[data] frames is {self.data.frames}: their {samples} samples must make whole groups of "
                f"{self.config.group}."
            )

    def model(self) -> WaveGlow:
        """See Task."""
        return WaveGlow(self.config).scaled(self.corpus.info)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """See Task: negative log likelihood, in nats a sample."""
        total = negative_log_likelihood(model(batch["audio"], batch["mel"]), self.data.deviation)
        return total, {"nll": float(total.detach())}

    @torch.no_grad()
    def samples(self, model: WaveGlow, folder: Path) -> None:
        """See Task: validation sentences rendered from their own mel."""
        front, group = self.corpus.info.front_end, self.config.group
        for _, item in shown(self.corpus.split("val"), self.data.samples):
            frames = len(item.mel) // group * group
            mel = torch.from_numpy(np.asarray(item.mel[:frames], np.float32))[None].to(model.mean.device)
            generator = torch.Generator().manual_seed(0)
            z = SOFTER * torch.randn(1, group, frames * front.hop // group, generator=generator)
            samples = model.infer(mel, z.to(mel.device))[0].float().cpu().numpy()
            write_sample(folder, item.name, front, item.mel[:frames], samples=samples)
