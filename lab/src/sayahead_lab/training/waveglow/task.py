"""Training of WaveGlow: the likelihood of crops of sound given their mel, and the spectra of crops
made of noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from torch import Tensor, nn

from sayahead_lab.training.clarinet.data import make_signal, read_corpus
from sayahead_lab.training.clarinet.task import log_frame_loss
from sayahead_lab.training.clarinet.teacher import free_pulses
from sayahead_lab.training.corpus.store import Corpus, CorpusInfo
from sayahead_lab.training.crops import Crops, CropTask
from sayahead_lab.training.loop.pictures import examples, write_sample
from sayahead_lab.training.loop.task import Batch, logged
from sayahead_lab.training.losses import pitch_errors
from sayahead_lab.training.mel.discriminators import JudgedData, judged
from sayahead_lab.training.waveglow.network import (
    DEVIATION,
    SOFTER,
    Bands,
    Groups,
    WaveGlow,
    WaveGlowConfig,
    negative_log_likelihood,
)


@dataclass(frozen=True, slots=True)
class WaveGlowData(JudgedData):
    """Its training data, and the weights of its errors."""

    frames: int = 54
    """Frames of a crop; 54 of 300 samples are 16,200 (Prenger et al. 2018: 16,000 samples)."""
    deviation: float = DEVIATION
    """Standard deviation of the noise."""
    temperature: float = SOFTER
    """Standard deviation of the noise in synthesis."""
    dither: float = 0.0
    """Standard deviation, relative to the level of each band, of noise added to the sound, without
    which silence and what can be foretold would be infinitely likely; only with bands, not in
    WaveGlow."""
    pitch: float = 1.0
    """Weight of the errors of pitch and voicing; only with pulses."""
    log_frame: float = 0.0
    """Weight of the difference of log magnitudes between the sound and what the inverse makes of
    noise of the temperature; not in WaveGlow. Nor are discriminators, which hear the same."""
    samples: int = 2
    """Validation sentences that are rendered for listening."""


class WaveGlowTask(CropTask[WaveGlow]):
    """Training of WaveGlow: crops of sound in, their likelihood out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(WaveGlowConfig, model, where="[model]")
        self.data = from_mapping(WaveGlowData, data, where="[data]")
        self.corpus = corpus
        self.data.check()
        conditioner = self.config.conditioner
        self.crops = Crops(
            corpus, self.data.frames, edge=0, pulses=conditioner is not None and conditioner.pulses
        )
        self.crops.check(self.config.n_mels, self.config.hop, counted=1)
        samples = self.data.frames * self.config.hop
        if samples % self.config.group:
            raise ConfigError(
                f"[data] frames is {self.data.frames}: their {samples} samples must make whole"
                f" groups of {self.config.group}."
            )
        if self.data.dither and conditioner is None:
            raise ConfigError(
                "[data] dither is relative to the level of bands: it wants a [model.conditioner]."
            )
        self.signal = None if conditioner is None else make_signal(conditioner, corpus)

    def model(self) -> WaveGlow:
        model = WaveGlow(self.config)
        if isinstance(model.rows, Groups):
            model.rows.scaled(self.corpus.info)
        else:
            read_corpus(model.rows.conditioner, self.corpus)
        model.discriminators = self.data.judges()
        return model

    def carried(
        self, learned: Mapping[str, Tensor], before: CorpusInfo | None, fresh: Mapping[str, Tensor]
    ) -> Mapping[str, Tensor]:
        return self.data.carried(learned, learned, fresh)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """Negative log likelihood, in nats a sample or band, and the errors that have a weight."""
        audio = batch["audio"]
        mel = batch["mel"]
        data = self.data
        rows = (len(audio), self.config.group, audio.shape[1] // self.config.group)
        sound = audio
        if self.signal is not None and data.dither:
            dither = data.dither * torch.randn(rows, device=audio.device)
            sound = audio + self.signal.to(audio.device).join(dither, mel)
        z = (
            data.temperature * torch.randn(rows, device=audio.device)
            if data.log_frame or data.discriminators
            else None
        )
        latent = model(sound, mel, batch.get("pulses"), z)
        total = negative_log_likelihood(latent, data.deviation)
        parts = {"nll": total}
        if latent.pitch is not None:
            log_pitch, voicing = latent.pitch.float().unbind(1)
            parts["pitch"], parts["voicing"] = pitch_errors(
                log_pitch, voicing, batch["f0"], batch["counts"]
            )
            total = total + data.pitch * (parts["pitch"] + parts["voicing"])
        if latent.rendered is not None:
            parts["log_frame"] = log_frame_loss(latent.rendered, audio)
            taught, told = judged(model, latent.rendered, audio, data, step)
            parts, total = parts | told, total + data.log_frame * parts["log_frame"] + taught
        return total, logged(parts)

    @torch.no_grad()
    def samples(self, model: WaveGlow, folder: Path) -> None:
        """Validation sentences rendered from their own mel."""
        front = self.corpus.info.front_end
        group = self.config.group
        device = next(model.parameters()).device
        for _, item in examples(self.corpus.split("val"), self.data.samples):
            # As many frames as make whole rows.
            frames = (
                len(item.mel) // group * group if isinstance(model.rows, Groups) else len(item.mel)
            )
            mel = torch.from_numpy(np.asarray(item.mel[:frames], np.float32))[None].to(device)
            pulses = None
            if isinstance(model.rows, Bands):
                pulses = free_pulses(model.rows.conditioner, mel, front.sample_rate)
            generator = torch.Generator().manual_seed(0)
            z = self.data.temperature * torch.randn(
                1, group, frames * front.hop // group, generator=generator
            )
            samples = model.infer(mel, z.to(device), pulses)[0].float().cpu().numpy()
            write_sample(folder, item.name, front, item.mel[:frames], samples=samples)
