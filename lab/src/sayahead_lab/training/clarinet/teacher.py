"""Training of ClariNet's teacher: the likelihood of each sample given those before it and the
mel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.vocoders.pulses import pitch_curve, pulse_train
from torch import Tensor, nn

from sayahead_lab.training.clarinet.conditioner import Conditioner
from sayahead_lab.training.clarinet.data import cropped, read_corpus
from sayahead_lab.training.clarinet.wavenet import Sampler, WaveNet, WaveNetConfig, log_likelihood
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.crops import CropTask
from sayahead_lab.training.loop.pictures import examples, write_sample
from sayahead_lab.training.loop.task import Batch
from sayahead_lab.training.losses import average, pitch_errors


@dataclass(frozen=True, slots=True)
class WaveNetData:
    """A teacher's training data, and the weights of its errors."""

    frames: int = 40
    """Frames of a crop; 40 are half a second."""
    edge: int = 8
    """Frames at a crop's left end that do not count, unless the item begins there: they lack their
    past."""
    floor: float = -9.0
    """Least log deviation; lower ones count as this (ClariNet: -9)."""
    pitch: float = 1.0
    """Weight of the errors of pitch and voicing; only with pulses."""
    sample_frames: int = 80
    """Frames of each validation sample: to draw a second of sound takes seconds."""


class WaveNetTask(CropTask[WaveNet]):
    """Training of the autoregressive teacher: crops of sound in, their likelihood out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(WaveNetConfig, model, where="[model]")
        self.data = from_mapping(WaveNetData, data, where="[data]")
        self.corpus = corpus
        self.crops, self.signal = cropped(
            corpus, self.data.frames, self.data.edge, self.config.conditioner
        )

    def model(self) -> WaveNet:
        model = WaveNet(self.config)
        read_corpus(model.conditioner, self.corpus)
        return model

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """Negative log likelihood, in nats a step and band, and the errors of the pitch."""
        x = self.signal.to(batch["audio"].device).split(batch["audio"], batch["mel"])
        mean, log_deviation, pitch = model(x, batch["mel"], batch.get("pulses"))
        weights = steps_that_count(batch["counts"], x)
        likely = log_likelihood(x, mean, log_deviation, floor=self.data.floor)
        total = -average(likely, weights)
        parts = {"nll": float(total.detach())}
        if pitch is not None:
            log_pitch, voicing = pitch.float().unbind(1)
            wrong, unsure = pitch_errors(log_pitch, voicing, batch["f0"], batch["counts"])
            parts |= {"pitch": float(wrong.detach()), "voicing": float(unsure.detach())}
            total = total + self.data.pitch * (wrong + unsure)
        return total, parts

    @torch.no_grad()
    def samples(self, model: WaveNet, folder: Path) -> None:
        """The beginnings of two validation sentences, drawn step by step from their own mel."""
        front = self.corpus.info.front_end
        for name, mel in validation_mels(self.corpus, self.data.sample_frames):
            pulses = free_pulses(model.conditioner, mel, front.sample_rate)
            conditions = (
                model.conditioner(mel.to(model.conditioner.mean.device), pulses)[0]
                .T.float()
                .cpu()
                .numpy()
            )
            sampler = Sampler(model, floor=self.data.floor)
            draw = np.random.default_rng(0)
            z = draw.standard_normal(
                (len(conditions), self.config.conditioner.bands), dtype=np.float32
            )
            steps, _ = sampler.step(np.ascontiguousarray(conditions), z, sampler.initial())
            samples = self.signal.cpu().join(torch.from_numpy(steps.T.copy())[None], mel)[0].numpy()
            write_sample(folder, name, front, mel[0].numpy(), samples=samples)


def steps_that_count(counts: Tensor, x: Tensor) -> Tensor:
    """(B, bands, S) 1 for the steps of x (B, bands, S) that count, as ``counts`` (B, T) says of
    frames."""
    steps = counts.repeat_interleave(x.shape[-1] // counts.shape[-1], 1)
    return steps[:, None].expand_as(x)


def validation_mels(corpus: Corpus, frames: int | None) -> Iterator[tuple[str, Tensor]]:
    """Name and log mel (1, T, n_mels) of two validation sentences, or of their first ``frames``."""
    for _, item in examples(corpus.split("val"), 2):
        yield item.name, torch.from_numpy(np.asarray(item.mel[:frames], np.float32))[None]


def free_pulses(conditioner: Conditioner, mel: Tensor, sample_rate: int) -> Tensor | None:
    """Pulses (1, 2, T * hop) at the pitch that the conditioner reads from log mel (1, T, n_mels),
    if any."""
    if conditioner.pitch is None:
        return None
    device = conditioner.mean.device
    hertz = conditioner.pitch.hertz(conditioner.normalized(mel.to(device)))[0].float().cpu().numpy()
    curve = pitch_curve(hertz, None, hop=conditioner.config.hop)
    turns = np.cumsum(curve, dtype=np.float64) / sample_rate
    return torch.from_numpy(pulse_train(turns, curve))[None].to(device)
