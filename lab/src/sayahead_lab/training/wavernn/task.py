"""Training of WaveRNN: the likelihood of each step given those before it and the mel."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.clarinet.data import level_weights
from sayahead_lab.training.clarinet.signal import Signal
from sayahead_lab.training.clarinet.task import frame_loss, log_frame_loss
from sayahead_lab.training.clarinet.wavenet import log_likelihood
from sayahead_lab.training.corpus.store import Corpus, CorpusInfo
from sayahead_lab.training.crops import Crops, CropTask
from sayahead_lab.training.loop.pictures import examples, write_sample
from sayahead_lab.training.loop.task import Batch, logged
from sayahead_lab.training.losses import average, pitch_errors
from sayahead_lab.training.mel.discriminators import JudgedData, judged
from sayahead_lab.training.wavernn.network import WaveRNN, WaveRNNConfig, decoded, encoded


@dataclass(frozen=True, slots=True)
class WaveRNNData(JudgedData):
    """Its training data, and the weights of its errors."""

    frames: int = 10
    """Frames of a crop."""
    edge: int = 2
    """Frames at a crop's left end that do not count, unless the item begins there: they lack their
    past."""
    floor: float = -6.0
    """Least log deviation of a band; lower ones count as this."""
    noise: float = 0.0
    """Deviation of the noise on the steps that a WaveRNN in bands hears, as its own past is not the
    speaker's."""
    unlikely: float = 1.0
    """Weight of the negative log likelihood, with bands."""
    log_frame: float = 0.0
    """Weight of the difference of log magnitudes, at three resolutions, of the sound and of what
    the network draws from its own past, with bands; not in WaveRNN. Nor are discriminators, which
    hear the same."""
    frame: float = 0.0
    """Weight of the squared difference of their magnitudes, as in ClariNet's frame loss, beside
    it."""
    temperature: float = 0.8
    """Factor on the deviation of what is drawn where there is no pitch, here and in a voice; with
    bands."""
    voiced: float = 0.3
    """The same where there is one."""
    memory: int = 30
    """Steps after which what the network draws does not teach through the steps before any more:
    over hundreds of steps gradients grow."""
    pitch: float = 1.0
    """Weight of the errors of pitch and voicing, with bands."""
    samples: int = 1
    """Validation sentences of which the beginning is drawn for listening."""
    sample_frames: int = 80
    """Frames of that beginning."""

    @property
    def drawn(self) -> dict[str, float]:
        """How deviations count in what is drawn, as BandsModel names it."""
        return {"voiced": self.voiced, "temperature": self.temperature}


class WaveRNNTask(CropTask[WaveRNN]):
    """Training of WaveRNN: crops of sound in, the likelihood of their mu-law values out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(WaveRNNConfig, model, where="[model]")
        self.data = from_mapping(WaveRNNData, data, where="[data]")
        self.corpus = corpus
        self.data.check()
        self.crops = Crops(corpus, self.data.frames, self.data.edge, pulses=self.config.bands > 1)
        self.crops.check(self.config.n_mels, self.config.hop)
        c = self.config
        self.signal = Signal(c.n_mels, c.bands, c.steps, relative=c.bands > 1)
        if c.bands > 1:
            self.signal.level.copy_(torch.from_numpy(level_weights(corpus.info.front_end, c.bands)))

    def model(self) -> WaveRNN:
        model = WaveRNN(self.config)
        model.conditions.scaled(self.corpus.info)
        if model.guide is not None:
            model.guide.signal.level.copy_(self.signal.level)
        model.discriminators = self.data.judges()
        return model

    def carried(
        self, learned: Mapping[str, Tensor], before: CorpusInfo | None, fresh: Mapping[str, Tensor]
    ) -> Mapping[str, Tensor]:
        return self.data.carried(learned, learned, fresh)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """Negative log likelihood, in nats a sample, or a step and band; in bands, the pitch's
        errors too."""
        if self.config.bands > 1:
            return self._loss_of_bands(model, batch, step)
        classes = self.config.classes
        meant = encoded(batch["audio"], classes)
        before = functional.pad(decoded(meant, classes), (1, 0))[:, :-1]
        logits = model(before, batch["mel"])
        weights = batch["counts"].repeat_interleave(self.config.hop, 1)
        unlikely = functional.cross_entropy(logits.transpose(1, 2).float(), meant, reduction="none")
        total = average(unlikely, weights)
        return total, {"nll": float(total.detach())}

    def _loss_of_bands(
        self, model: nn.Module, batch: Batch, step: int
    ) -> tuple[Tensor, dict[str, float]]:
        data = self.data
        audio = batch["audio"]
        mel = batch["mel"]
        pulses = batch["pulses"]
        signal = self.signal.to(audio.device)
        x = signal.split(audio, mel).transpose(1, 2)
        before = functional.pad(x, (0, 0, 1, 0))[:, :-1]
        if model.training and data.noise:
            before = before + data.noise * torch.randn_like(before)
        mean, log_deviation, pitch = model(before, mel, pulses)
        weights = batch["counts"].repeat_interleave(self.config.steps, 1)[..., None].expand_as(x)
        unlikely = -average(
            log_likelihood(x, mean.float(), log_deviation.float(), floor=data.floor), weights
        )
        log_pitch, voicing = pitch.float().unbind(1)
        wrong, unsure = pitch_errors(log_pitch, voicing, batch["f0"], batch["counts"])
        parts = {"nll": unlikely, "pitch": wrong, "voicing": unsure}
        total = data.unlikely * unlikely + data.pitch * (wrong + unsure)
        if data.log_frame or data.discriminators:
            network: Any = getattr(model, "module", model)
            known = x[:, : data.edge * self.config.steps]
            normal = torch.randn_like(x)
            own = network.drawn(known, mel, pulses, normal, memory=data.memory, **data.drawn)
            span = slice(data.edge * self.config.hop, None)
            samples = signal.join(own.transpose(1, 2), mel)[:, span]
            meant = audio[:, span]
            front = self.corpus.info.front_end
            parts["log_frame"] = log_frame_loss(samples, meant)
            parts["frame"] = frame_loss(samples, meant, window=front.window, hop=front.hop)
            taught, told = judged(model, samples, meant, data, step)
            total = (
                total + data.log_frame * parts["log_frame"] + data.frame * parts["frame"] + taught
            )
            parts |= told
        return total, logged(parts)

    @torch.no_grad()
    def samples(self, model: WaveRNN, folder: Path) -> None:
        """The beginnings of validation sentences, drawn step by step from their own mel."""
        from sayahead.vocoders.wavernn import load_wavernn

        from sayahead_lab.training.wavernn.export import export

        front = self.corpus.info.front_end
        with tempfile.TemporaryDirectory() as place:
            _, table = export(model, Path(place), sample_rate=front.sample_rate, **self.data.drawn)
            vocoder = load_wavernn(table, Path(place), 1)
        for _, item in examples(self.corpus.split("val"), self.data.samples):
            mel = np.asarray(item.mel[: self.data.sample_frames], np.float32)
            samples, _ = vocoder.step(mel, mel[:0], vocoder.initial(0), seed=0, ended=True)
            write_sample(folder, item.name, front, mel, samples=samples)
