"""Speaker embeddings with gradients: Resemblyzer's network (GE2E, Wan et al. 2018) in tensors, at
24 kHz.

A window of 600 samples at 24 kHz has the bins of one of 400 at 16 kHz, so nothing is resampled.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sayahead.voices.install.clip.embedding import BANDS, LEVEL, PARTIAL, mel_filters
from torch import Tensor, nn

SIZE = 600
HOP = 240
"""Samples of a window, and between two, at 24 kHz."""
BINS = 201
"""Bins of a window up to 8 kHz."""


class SpeakerEmbedder(nn.Module):
    """Three LSTM layers over mel bands; the last state becomes an embedding of length 1."""

    filters: Tensor
    window: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(BANDS, 256, 3, batch_first=True)
        self.linear = nn.Linear(256, 256)
        self.register_buffer("filters", torch.from_numpy(mel_filters()), persistent=False)
        self.register_buffer("window", torch.hann_window(SIZE), persistent=False)

    def mel(self, samples: Tensor) -> Tensor:
        """(B, F, 40) powers of mel bands of samples (B, S), every 10 ms."""
        rms = samples.detach().square().mean(-1, keepdim=True).sqrt().clamp(min=1e-6)
        spectra = torch.stft(
            samples * (LEVEL / rms), SIZE, HOP, window=self.window, center=True, return_complex=True
        )
        # A window of so many samples has (24 / 16)^2 times the power.
        power = spectra[:, :BINS].abs().square() / 2.25
        bands: Tensor = (self.filters @ power).transpose(1, 2)
        return bands

    def partials(self, mel: Tensor) -> Tensor:
        """(B, 256) embeddings of windows (B, 160, 40)."""
        _, (hidden, _) = self.lstm(mel)
        raw = torch.relu(self.linear(hidden[-1]))
        embeddings: Tensor = raw / raw.norm(dim=-1, keepdim=True)
        return embeddings

    def forward(self, samples: Tensor) -> Tensor:
        """(256,) of one sound (S,): the mean of its windows' embeddings, half a window apart, of
        length 1."""
        short = round(HOP * (PARTIAL + 1)) - len(samples)
        if short > 0:
            samples = nn.functional.pad(samples, (0, short))
        mel = self.mel(samples[None])[0]
        last = len(mel) - PARTIAL
        starts = sorted({*range(0, last + 1, PARTIAL // 2), last})
        mean = self.partials(torch.stack([mel[at : at + PARTIAL] for at in starts])).mean(0)
        embedding: Tensor = mean / mean.norm()
        return embedding


def load_speaker_embedder(weights: Path) -> SpeakerEmbedder:
    """The network with the weights of Resemblyzer's ``pretrained.pt``, frozen."""
    network = SpeakerEmbedder()
    state = torch.load(weights, map_location="cpu", weights_only=True)["model_state"]
    network.load_state_dict({name: state[name] for name in network.state_dict()})
    return network.eval().requires_grad_(False)


def embedder_weights() -> Path:
    """Where the package Resemblyzer has its weights; ConfigError where it is not installed."""
    import importlib.util

    from sayahead.errors import ConfigError

    spec = importlib.util.find_spec("resemblyzer")
    if spec is None or spec.origin is None:
        raise ConfigError(
            "Resemblyzer is missing: pip install --no-deps Resemblyzer webrtcvad-wheels"
        )
    return Path(spec.origin).with_name("pretrained.pt")


def arrays_of(network: SpeakerEmbedder) -> dict[str, np.ndarray]:
    """The network's weights by name."""
    return {name: value.numpy() for name, value in network.state_dict().items()}
