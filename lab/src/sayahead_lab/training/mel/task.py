"""Training of the mel vocoder: by regression on the default voice's own frame parameters, or by any
speaker's sound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.types import Floats
from sayahead.vocoders.sourcefilter import SourceFilter
from sayahead.voices import VoiceConfig
from torch import Tensor, nn

from sayahead_lab.training.corpus.batches import Share, shuffled, tensors
from sayahead_lab.training.corpus.store import Corpus, Item, check_mels
from sayahead_lab.training.hibari import dense, heart_head, heart_weights
from sayahead_lab.training.layers import BINS, Block
from sayahead_lab.training.loop.pictures import examples, write_sample
from sayahead_lab.training.loop.task import Batch, Task, logged
from sayahead_lab.training.losses import REFERENCE_HZ, average, pitch_errors
from sayahead_lab.training.mel.from_voice import read_melvocoder
from sayahead_lab.training.mel.network import MelVocoderConfig, MelVocoderNetwork
from sayahead_lab.training.mel.sound import excitation, sound_errors, synthesized


@dataclass(frozen=True, slots=True)
class MelVocoderData:
    """A mel vocoder's training data, and the weights of its errors."""

    frames: int = 64
    """Frames of a crop."""
    edge: int = 12
    """Frames at a crop's left end that do not count, unless the item begins there: they lack their
    past."""
    start: str = "heart"
    """Weights to begin with: heart, the default voice's decoder, or random."""
    target: str = "parameters"
    """What is learned: parameters, of a corpus with features, or sound, of any speaker's."""
    sound: float = 1.0
    """Weight of the sound's error (``sound.sound_errors``)."""
    features: float = 1.0
    """Weight of the features' absolute error."""
    spectra: float = 0.3
    """Weight of the three log magnitudes' absolute error."""
    phases: float = 0.3
    """Weight of the two phases' error, 1 - cos of the angle between."""
    pitch: float = 0.5
    """Weight of pitch and voicing."""


class Head(nn.Module):
    """The default voice's last layer, not trained: features (..., 256) to five spectral parts (...,
    5 x 601)."""

    weight: Tensor
    bias: Tensor

    def __init__(self) -> None:
        super().__init__()
        weight, bias = heart_head()
        self.register_buffer("weight", torch.from_numpy(weight).contiguous())
        self.register_buffer("bias", torch.from_numpy(bias.copy()))

    def forward(self, features: Tensor) -> Tensor:
        return features @ self.weight + self.bias


class MelVocoderTask(Task[MelVocoderNetwork]):
    """Training of the mel vocoder's networks: mel crops in, features, pitch and voicing out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(MelVocoderConfig, model, where="[model]")
        self.data = from_mapping(MelVocoderData, data, where="[data]")
        self.corpus = corpus
        self.head = Head()
        front = corpus.info.front_end
        if (front.sample_rate, front.hop) != (24000, 300):
            raise ConfigError(
                f"The corpus has {front.sample_rate} Hz and a hop of {front.hop}, but the mel"
                " vocoder makes 24000 Hz by hops of 300."
            )
        check_mels(corpus.info, self.config.n_mels)
        if self.data.target not in ("parameters", "sound"):
            raise ConfigError(
                f"[data] target is {self.data.target!r}, but must be parameters or sound."
            )
        if self.config.own_head and self.data.target == "parameters":
            raise ConfigError(
                '[model] own_head is for [data] target = "sound": the features go with the old one.'
            )

    def model(self) -> MelVocoderNetwork:
        model = MelVocoderNetwork(self.config).scaled(self.corpus.info)
        if self.data.start == "heart":
            begin_with_heart(model)
        elif self.data.start != "random":
            raise ConfigError(f"[data] start is {self.data.start!r}, but must be heart or random.")
        return model

    def read_voice(self, model: MelVocoderNetwork, folder: Path, config: VoiceConfig) -> None:
        read_melvocoder(model, folder)

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """Each item is cut into crops from a random offset on, and the crops are shuffled."""
        items = self.corpus.split(split)
        frames = self.data.frames
        draw = np.random.default_rng([seed, 7])
        crops = []
        for number, length in enumerate(items.lengths):
            offset = int(draw.integers(frames))
            crops += [(number, at) for at in range(-offset, int(length) - 1, frames)]
        for _, numbers in shuffled(len(crops), draw, Share(batch_size, rank, ranks)):
            yield self._batch([(items[crops[i][0]], crops[i][1]) for i in numbers], draw)

    def _batch(self, crops: list[tuple[Item, int]], draw: np.random.Generator) -> Batch:
        frames = self.data.frames
        mel = np.zeros((len(crops), frames, self.config.n_mels), np.float32)
        f0, counts = np.zeros((2, len(crops), frames), np.float32)
        for row, (item, at) in enumerate(crops):
            first = max(0, at)
            end = min(at + frames, len(item.mel))
            # A crop that holds an item's start or end begins or ends there: zeros are what the
            # network sees outside.
            size = end - first
            mel[row, :size] = item.mel[first:end]
            f0[row, :size] = item.f0[first:end]
            counts[row, self.data.edge if first else 0 : size] = 1
        target = (
            self._sounds(crops, f0, draw)
            if self.data.target == "sound"
            else {"features": self._features(crops)}
        )
        return tensors(mel=mel, f0=f0, counts=counts, **target)

    def _features(self, crops: list[tuple[Item, int]]) -> Floats:
        """(B, T, D) what the teacher's last layer was given."""
        features = np.zeros((len(crops), self.data.frames, self.config.channels), np.float32)
        for row, (item, at) in zip(features, crops, strict=True):
            if item.features is None:
                raise ConfigError(
                    "The corpus has no features: make it with sayahead train corpus --features."
                )
            part = item.features[max(0, at) : at + self.data.frames]
            row[: len(part)] = part
        return features

    def _sounds(
        self, crops: list[tuple[Item, int]], f0: Floats, draw: np.random.Generator
    ) -> dict[str, Any]:
        """Samples (B, S), which of them count, and the spectra of the pulses (B, T, 601)."""
        frames = self.data.frames
        hop = self.corpus.info.front_end.hop
        right = sum(self.config.right) + SourceFilter.OVERHANG
        audio, audible = np.zeros((2, len(crops), frames * hop), np.float32)
        for row, (item, at) in enumerate(crops):
            if item.audio is None:
                raise ConfigError("The corpus has no sound: make it without --no-audio.")
            first = max(0, at)
            end = min(at + frames, len(item.mel))
            part = item.audio[first * hop : end * hop]
            audio[row, : len(part)] = part.astype(np.float32) / 32767
            last = end - first if end == len(item.mel) else end - first - right
            audible[row, (self.data.edge if first else 0) * hop : max(0, last) * hop] = 1
        phases = draw.random(len(crops))
        pulses = np.stack(
            [excitation(pitch, phase) for pitch, phase in zip(f0, phases, strict=True)]
        )
        return {"audio": audio, "heard": audible, "pulses": pulses}

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        features, log_pitch, voicing = model(batch["mel"])
        data = self.data
        if data.target == "sound":
            parts = self._heard(features, batch)
            total = data.sound * (parts["convergence"] + parts["magnitudes"])
        else:
            parts = self._parameters(features, batch)
            total = (
                data.features * parts["features"]
                + data.spectra * parts["spectra"]
                + data.phases * parts["phases"]
            )
        parts["pitch"], parts["voicing"] = pitch_errors(
            log_pitch, voicing, batch["f0"], batch["counts"]
        )
        total = total + data.pitch * (parts["pitch"] + parts["voicing"])
        return total, logged(parts)

    def _parameters(self, features: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Errors of features and of the spectral parts that follow from them."""
        counts = batch["counts"]
        head = self.head.to(features.device)
        real = counts.flatten() > 0
        ours = head(features.flatten(0, 1)[real])
        with torch.no_grad():
            theirs = head(batch["features"].flatten(0, 1)[real])
        apart = average((features - batch["features"]).abs().mean(-1), counts)
        return {"features": apart} | spectral_errors(ours, theirs)

    def _heard(self, features: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Errors of the sound that is made with the corpus's pitch, in full precision."""
        with torch.autocast(features.device.type, enabled=False):
            pulses = batch["pulses"]
            noise = torch.randn_like(pulses) * 2**0.5
            samples = synthesized(self.parts(features), pulses, noise)
            return sound_errors(samples * batch["heard"], batch["audio"] * batch["heard"])

    def parts(self, features: Tensor) -> Tensor:
        """Spectral parts (..., 5 x 601) of what the network gives."""
        return (
            features.float()
            if self.config.own_head
            else self.head.to(features.device)(features.float())
        )

    @torch.no_grad()
    def samples(self, model: MelVocoderNetwork, folder: Path) -> None:
        """Two validation sentences from their own mel."""
        for _, item in examples(self.corpus.split("val"), 2):
            mel = torch.from_numpy(np.asarray(item.mel, np.float32))[None].to(model.mean.device)
            write_sample(
                folder,
                item.name,
                self.corpus.info.front_end,
                item.mel,
                samples=self.sound(*model(mel)),
            )

    @torch.no_grad()
    def sound(self, features: Tensor, log_pitch: Tensor, voicing: Tensor) -> Floats:
        """Samples (S,) from the network's output for one utterance (1, T, ...)."""
        spectrum = self.parts(features[0].cpu()).numpy()
        f0 = np.where(
            voicing[0].cpu() > 0, REFERENCE_HZ * np.exp(log_pitch[0].float().cpu()), 0
        ).astype(np.float32)
        synthesis = SourceFilter()
        return synthesis.step(
            spectrum, f0, synthesis.initial(0), final=len(f0), seed=0, ended=True
        )[0]


def spectral_errors(ours: Tensor, theirs: Tensor) -> dict[str, Tensor]:
    """Errors of the five parts (N, 5 x 601) where they can be heard.

    Log magnitudes are compared from a floor on; an angle's error counts by the square root of its
    magnitude."""
    lh, theta, ln, lr, phi = torch.split(ours, BINS, -1)
    lh_, theta_, ln_, lr_, phi_ = torch.split(theirs, BINS, -1)
    floor = -8.0
    spectra = sum(
        (a.clamp(min=floor) - b.clamp(min=floor)).abs().mean()
        for a, b in ((lh, lh_), (ln, ln_), (lr, lr_))
    )
    phases = torch.zeros((), device=ours.device)
    for own, other, loud in (
        (torch.pi * theta.tanh(), torch.pi * theta_.tanh(), lh_),
        (phi, phi_, lr_),
    ):
        weight = (0.5 * loud.clamp(max=7)).exp()
        phases = phases + ((1 - torch.cos(own - other)) * weight).sum() / weight.sum()
    return {"spectra": torch.as_tensor(spectra), "phases": phases}


def begin_with_heart(model: MelVocoderNetwork) -> None:
    """Copy the default voice's decoder into the blocks that follow, as far as they see to the
    right."""
    teacher = heart_weights()
    if model.config.channels != 256 or model.config.expansion != 3 or model.config.kernel != 7:
        raise ConfigError(
            '[model] must have 256 channels, expansion 3 and kernel 7 for start = "heart".'
        )
    with torch.no_grad():
        for number, block in enumerate(model.back):
            assert isinstance(block, Block)
            name = f"m.dec.{number}"
            # Theirs sees three frames to each side: the taps for frames that ours does not see fall
            # away.
            shift = 3 - block.right
            block.dw.weight.zero_()
            block.dw.weight[:, :, shift:] = torch.tensor(teacher[f"{name}.dw.weight"])[
                :, :, : 7 - shift
            ]
            for leaf in ("dw.bias", "norm.weight", "norm.bias", "gamma", "pw1.bias", "pw2.bias"):
                block.get_parameter(leaf).copy_(torch.tensor(teacher[f"{name}.{leaf}"]))
            for layer in ("pw1", "pw2"):
                block.get_parameter(f"{layer}.weight").copy_(dense(teacher, f"{name}.{layer}"))
        if model.config.own_head:
            weight, bias = heart_head()
            model.head.weight.copy_(torch.from_numpy(weight.T.copy()))
            model.head.bias.copy_(torch.tensor(bias))
        for leaf in ("weight", "bias"):
            model.norm.get_parameter(leaf).copy_(torch.tensor(teacher[f"m.dec_norm.{leaf}"]))
