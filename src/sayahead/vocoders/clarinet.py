"""ClariNet's student at run time: mel frames to samples, and the pulse train that a small student
hears beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.overlap import OverlapVocoder
from sayahead.vocoders.pulses import PulsedOverlap, PulseModel, Pulses


@dataclass(frozen=True, slots=True)
class ClariNetModel:
    """What a voice's ``model`` table says of its ClariNet vocoder under ``vocoder``."""

    n_mels: int
    """Mel bands."""
    sample_rate: int
    """Samples per second."""
    hop_length: int
    """Samples a frame."""
    left: int
    """Frames on the left that make a difference."""
    right: int
    """Frames on the right that make a difference."""
    pulses: bool
    """Whether the student hears pulses; ``pitch.onnx`` then reads the pitch."""
    pitch_left: int = 0
    """Frames on the left that the pitch of a frame is read from."""
    pitch_right: int = 0
    """Frames on the right."""
    delta: int | None = None
    """Frames that are rendered again before new ones (Ma's delta); None: all that make a
    difference."""
    fade: int = 0
    """Samples over which a step's sound grows out of what the one before expected, for a delta that
    is too small."""
    temperature: float = 1.0
    """Factor on the noise."""


class ClariNetVocoder(PulsedOverlap):
    """ClariNet's student. The pitch is read from the mel where it wants pulses, the rest is
    OverlapVocoder's."""

    def __init__(self, model: ClariNetModel, folder: Path, *, threads: int = 1) -> None:
        """Load ``student.onnx``, and ``pitch.onnx`` where there are pulses."""
        self._model = model
        hop = model.hop_length
        self._student = OnnxGraph(folder / "student.onnx", threads=threads)
        read = PulseModel(model.sample_rate, model.pitch_left, model.pitch_right)
        sizes = {"n_mels": model.n_mels, "hop_length": hop, "threads": threads}
        pulses = Pulses(read, folder, **sizes) if model.pulses else None
        left = model.left if model.delta is None else min(model.delta, model.left)
        overlap = OverlapVocoder(
            self._render, hop_length=hop, left=left, right=model.right, fade=model.fade
        )
        super().__init__(overlap, pulses)

    def _render(self, frames: Floats, z: Floats) -> Floats:
        n_mels = self._model.n_mels
        inputs = {"mel": frames[:, :n_mels], "z": np.float32(self._model.temperature) * z}
        if self._model.pulses:
            inputs["pulses"] = frames[:, n_mels:]
        return np.asarray(self._student(**inputs)["samples"], np.float32)


def load_clarinet(table: Mapping[str, Any], folder: Path, threads: int) -> ClariNetVocoder:
    """The student in a voice's folder, by what its ``model`` table has under ``vocoder``."""
    return ClariNetVocoder(
        from_mapping(ClariNetModel, table, where="model: vocoder"), folder, threads=threads
    )
