"""WaveGlow at run time: mel frames and noise to samples, in overlapping windows (Prenger et al.
2018).

The network is not causal: at its published size, it sees a second to each side. With all of that
around each step, steps give the same samples as the whole; a smaller ``delta``, as Saeki et al.
use, makes joins audible. A small WaveGlow also gets pulses at the pitch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import check_number, check_whole, from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.overlap import OverlapVocoder
from sayahead.vocoders.pulses import PulsedOverlap, PulseModel, Pulses


@dataclass(frozen=True, slots=True)
class WaveGlowModel:
    """What a voice's ``model`` table says of its WaveGlow under ``vocoder``."""

    n_mels: int
    """Mel bands."""
    hop_length: int
    """Samples a frame."""
    group: int
    """Samples of a row with all bands of a step; windows consist of whole rows."""
    left: int
    """Frames to the left that influence the result."""
    right: int
    """Frames to the right that influence the result."""
    delta: int | None = None
    """Frames on both sides that are rendered with the new ones (Ma's delta); None: all that make a
    difference."""
    temperature: float = 0.6
    """Deviation of the noise."""
    pulses: PulseModel | None = None
    """How ``pitch.onnx`` reads the pitch of the pulses; None if the network gets none."""

    def __post_init__(self) -> None:
        for name in ("n_mels", "hop_length", "group"):
            check_whole(f"model: vocoder: {name}", getattr(self, name), 1, 100_000)
        for name in ("left", "right"):
            check_whole(f"model: vocoder: {name}", getattr(self, name), 0, 100_000)
        if self.delta is not None:
            check_whole("model: vocoder: delta", self.delta, 0, 100_000)
        check_number("model: vocoder: temperature", self.temperature, 0.0, 10.0)


class WaveGlowVocoder(PulsedOverlap):
    """WaveGlow: frames are log mel."""

    def __init__(self, model: WaveGlowModel, folder: Path, *, threads: int = 1) -> None:
        """Load ``waveglow.onnx``, and ``pitch.onnx`` where there are pulses."""
        self._model = model
        hop = model.hop_length
        self._graph = OnnxGraph(folder / "waveglow.onnx", threads=threads)
        self._multiple = model.group // math.gcd(hop, model.group)
        left, right = (
            side if model.delta is None else min(side, model.delta)
            for side in (model.left, model.right)
        )
        overlap = OverlapVocoder(
            self._render, hop_length=hop, left=left, right=right, multiple=self._multiple
        )
        sizes = {"n_mels": model.n_mels, "hop_length": hop, "threads": threads}
        super().__init__(
            overlap, None if model.pulses is None else Pulses(model.pulses, folder, **sizes)
        )

    def _render(self, frames: Floats, noise: Floats) -> Floats:
        """Return the samples (T, hop) of frames (T, n_mels), or with pulses (T, n_mels + 2 * hop).

        The last frame is repeated to fill whole rows.
        """
        missing = -len(frames) % self._multiple
        n_mels = self._model.n_mels
        rows = np.concatenate([frames, np.repeat(frames[-1:], missing, axis=0)]).astype(np.float32)
        z = np.concatenate([noise, np.zeros((missing, self.hop_length), np.float32)])
        inputs = {"mel": rows[:, :n_mels], "z": np.float32(self._model.temperature) * z}
        if self._model.pulses is not None:
            inputs["pulses"] = rows[:, n_mels:]
        return self._graph(**inputs)["samples"][: len(frames)]


def load_waveglow(table: Mapping[str, Any], folder: Path, threads: int) -> WaveGlowVocoder:
    """Load the WaveGlow from a voice's folder."""
    return WaveGlowVocoder(
        from_mapping(WaveGlowModel, table, where="model: vocoder"), folder, threads=threads
    )
