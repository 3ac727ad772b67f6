"""Training of ClariNet's student: noise becomes sound that the teacher finds likely (Ping et al.
2018, 3.2, 3.3)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from torch import Tensor, nn

from sayahead_lab.training.clarinet.data import cropped, read_corpus
from sayahead_lab.training.clarinet.network import GaussianIAF, IAFConfig
from sayahead_lab.training.clarinet.teacher import (
    WaveNetTask,
    free_pulses,
    steps_that_count,
    validation_mels,
)
from sayahead_lab.training.clarinet.wavenet import WaveNet
from sayahead_lab.training.corpus.store import Corpus, CorpusInfo
from sayahead_lab.training.crops import CropTask
from sayahead_lab.training.loop.pictures import write_sample
from sayahead_lab.training.loop.saved_run import load_run_of
from sayahead_lab.training.loop.task import Batch, logged
from sayahead_lab.training.losses import average
from sayahead_lab.training.mel.discriminators import JudgedData, judged

FRAME_FFT = 2048
"""Samples of the frame loss's Fourier transform (ClariNet: 1025 bins); its window and hop are the
corpus's."""
RESOLUTIONS = ((512, 240, 60), (1024, 600, 150), (2048, 1200, 300))
"""Fourier transform, window and hop of the log frame loss, in samples."""


@dataclass(frozen=True, slots=True)
class ClariNetData(JudgedData):
    """A student's teacher and training data, and the weights of its errors."""

    teacher: str
    """Folder of the teacher's run."""
    frames: int = 40
    """Frames of a crop; 40 are half a second."""
    edge: int = 8
    """Frames at a crop's left end that do not count, unless the item begins there: they lack their
    past."""
    floor: float = -7.0
    """Least log deviation of student and teacher in the divergence; lower ones count as this
    (ClariNet: -7)."""
    divergence: float = 1.0
    """Weight of the regularized divergence."""
    likeness: float = 4.0
    """Weight, within it, of the squared difference of log deviations (ClariNet's lambda: 4)."""
    frame: float = 1.0
    """Weight of the squared difference of spectral magnitudes (ClariNet's frame loss)."""
    log_frame: float = 0.0
    """Weight of the difference of log magnitudes at three resolutions; not in ClariNet. Nor are
    discriminators."""
    temperature: float = 1.0
    """Standard deviation of the noise in synthesis (ClariNet: 1)."""


class ClariNetTask(CropTask[GaussianIAF]):
    """Training of a ClariNet student: mel of crops and noise in, divergence from the teacher
    out."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(IAFConfig, model, where="[model]")
        self.data = from_mapping(ClariNetData, data, where="[data]")
        self.data.check()
        self.corpus = corpus
        self.crops, self.signal = cropped(
            corpus, self.data.frames, self.data.edge, self.config.conditioner
        )

    @functools.cached_property
    def teacher(self) -> WaveNet:
        """The trained teacher; ConfigError where there is none, or one that does not fit."""
        folder = Path(self.data.teacher)
        run = load_run_of(WaveNetTask, WaveNet, folder, self.corpus.path)
        theirs = run.task.config.conditioner
        ours = self.config.conditioner
        if any(getattr(theirs, key) != getattr(ours, key) for key in ("bands", "level", "pulses")):
            raise ConfigError(
                f"[data] teacher: {folder} has bands {theirs.bands}, level {theirs.level}, pulses"
                f" {theirs.pulses}, but [model.conditioner] has {ours.bands}, {ours.level},"
                f" {ours.pulses}: both must hear the same."
            )
        return run.model.requires_grad_(False)

    def model(self) -> GaussianIAF:
        """The student begins with the teacher's conditioner if its own has the same sizes."""
        model = GaussianIAF(self.config)
        read_corpus(model.conditioner, self.corpus)
        if model.conditioner.pitch is not None:
            model.conditioner.pitch.requires_grad_(False)
        model.discriminators = self.data.judges()
        if not Path(self.data.teacher).exists():
            # A trained student is loaded without its teacher; training stops at the first loss.
            return model
        if self.teacher.config.conditioner == self.config.conditioner:
            model.conditioner.load_state_dict(self.teacher.conditioner.state_dict())
        elif model.conditioner.pitch is not None:
            raise ConfigError(
                "[model.conditioner] must be the teacher's: the student reads the pitch as it does."
            )
        return model

    def carried(
        self, learned: Mapping[str, Tensor], before: CorpusInfo | None, fresh: Mapping[str, Tensor]
    ) -> Mapping[str, Tensor]:
        return self.data.carried(learned, learned, fresh)

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """Divergence, frame loss, log frame loss and what discriminators teach, by their
        weights."""
        audio = batch["audio"]
        mel = batch["mel"]
        pulses = batch.get("pulses")
        data = self.data
        signal = self.signal.to(audio.device)
        teacher = self.teacher.to(audio.device)
        bands = self.config.conditioner.bands
        z = torch.randn(len(audio), bands, audio.shape[1] // bands, device=audio.device)
        x, mean, log_deviation = model(z, mel, pulses)
        their_mean, their_deviation, _ = teacher(x, mel, pulses)
        ours = log_deviation.clamp(min=data.floor)
        their_deviation = their_deviation.clamp(min=data.floor)
        weights = steps_that_count(batch["counts"], x)
        divergence = average(gaussian_divergence(mean, ours, their_mean, their_deviation), weights)
        unlike = average((ours - their_deviation) ** 2, weights)
        # Samples whose whole past is in the crop; the same ones in all rows.
        span = slice(data.edge * audio.shape[1] // mel.shape[1], None)
        samples = signal.join(x, mel)[:, span]
        meant = audio[:, span]
        front = self.corpus.info.front_end
        frame = frame_loss(samples, meant, window=front.window, hop=front.hop)
        total = data.divergence * (divergence + data.likeness * unlike) + data.frame * frame
        parts = {"divergence": divergence, "unlike": unlike, "frame": frame}
        parts["deviation"] = average(log_deviation.detach(), weights)
        if data.log_frame:
            parts["log_frame"] = log_frame_loss(samples, meant)
            total = total + data.log_frame * parts["log_frame"]
        taught, told = judged(model, samples, meant, data, step)
        parts = parts | told
        total = total + taught
        return total, logged(parts)

    @torch.no_grad()
    def samples(self, model: GaussianIAF, folder: Path) -> None:
        """Two validation sentences from their own mel."""
        config = self.config.conditioner
        front = self.corpus.info.front_end
        draw = torch.Generator().manual_seed(0)
        for name, mel in validation_mels(self.corpus, None):
            pulses = free_pulses(model.conditioner, mel, front.sample_rate)
            z = torch.randn(1, config.bands, mel.shape[1] * config.steps, generator=draw)
            device = model.conditioner.mean.device
            x, _, _ = model(z.to(device), mel.to(device), pulses)
            samples = self.signal.cpu().join(x.float().cpu(), mel)[0].numpy()
            write_sample(folder, name, front, mel[0].numpy(), samples=samples)


def gaussian_divergence(
    mean: Tensor, log_deviation: Tensor, their_mean: Tensor, their_log_deviation: Tensor
) -> Tensor:
    """KL(q || p) in nats of two Gaussians, elementwise, q ours and p theirs (Ping et al. 2018, Eq.
    8).

    log (s_p / s_q) + (s_q^2 - s_p^2 + (m_p - m_q)^2) / (2 s_p^2).
    """
    apart = their_log_deviation - log_deviation
    return apart + 0.5 * (
        torch.exp(-2 * apart) - 1 + ((their_mean - mean) * torch.exp(-their_log_deviation)) ** 2
    )


def magnitudes(samples: Tensor, *, fft: int, window: int, hop: int) -> Tensor:
    """Spectral magnitudes (B, bins, T) of samples (B, S)."""
    hann = torch.hann_window(window, device=samples.device)
    spectra = torch.stft(samples.float(), fft, hop, window, hann, center=False, return_complex=True)
    # The root has no finite slope at 0.
    return torch.sqrt(spectra.real**2 + spectra.imag**2 + 1e-8)


def frame_loss(samples: Tensor, meant: Tensor, *, window: int, hop: int) -> Tensor:
    """Mean squared difference of the spectral magnitudes of two sounds, each (B, S) samples (Ping
    et al. 2018, 3.3)."""
    sizes = {"fft": FRAME_FFT, "window": window, "hop": hop}
    return ((magnitudes(samples, **sizes) - magnitudes(meant, **sizes)) ** 2).mean()


def log_frame_loss(samples: Tensor, meant: Tensor) -> Tensor:
    """Mean absolute difference of the log magnitudes of two sounds, each (B, S) samples, at three
    resolutions.

    To each magnitude, a thousandth of that of a full-scale sine (-60 dB) is added.
    """
    total = torch.zeros((), device=samples.device)
    for fft, window, hop in RESOLUTIONS:
        sizes = {"fft": fft, "window": window, "hop": hop}
        least = window / 4 * 1e-3
        ours, theirs = (torch.log(magnitudes(one, **sizes) + least) for one in (samples, meant))
        total = total + (ours - theirs).abs().mean()
    return total / len(RESOLUTIONS)
