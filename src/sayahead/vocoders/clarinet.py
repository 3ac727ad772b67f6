"""ClariNet's student at run time: mel frames to samples. A small student also gets a pulse train at
the pitch."""

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
    """Frames to the left that influence the result."""
    right: int
    """Frames to the right that influence the result."""
    pulses: bool
    """Whether the student gets pulses, at the pitch that ``pitch.onnx`` reads."""
    pitch_left: int = 0
    """Frames on the left that the pitch of a frame is read from."""
    pitch_right: int = 0
    """Frames on the right."""
    delta: int | None = None
    """Frames that are rendered again before new ones (Ma's delta); None: all that make a
    difference."""
    fade: int = 0
    """Samples of cross-fade between what one step expected and what the next one makes, for a delta
    that is too small."""
    temperature: float = 1.0
    """Factor on the noise."""


class ClariNetVocoder(PulsedOverlap):
    """ClariNet's student, with pulses at the pitch of the mel if it wants them."""

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
        """Return the samples of frames (T, n_mels), or with pulses (T, n_mels + 2 * hop), for noise
        ``z``."""
        n_mels = self._model.n_mels
        inputs = {"mel": frames[:, :n_mels], "z": np.float32(self._model.temperature) * z}
        if self._model.pulses:
            inputs["pulses"] = frames[:, n_mels:]
        return np.asarray(self._student(**inputs)["samples"], np.float32)


def load_clarinet(table: Mapping[str, Any], folder: Path, threads: int) -> ClariNetVocoder:
    """Load the student from a voice's folder."""
    return ClariNetVocoder(
        from_mapping(ClariNetModel, table, where="model: vocoder"), folder, threads=threads
    )
