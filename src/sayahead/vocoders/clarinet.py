"""ClariNet's student at run time: mel frames to samples, and the pulse train that a small student hears beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.overlap import OverlapState, OverlapVocoder
from sayahead.vocoders.pulses import PulseModel, Pulses, PulseState


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
    """Frames that are rendered again before new ones (Ma's delta); None: all that make a difference."""
    fade: int = 0
    """Samples over which a step's sound grows out of what the one before expected, for a delta that is too small."""
    temperature: float = 1.0
    """Factor on the noise."""


@dataclass(frozen=True, slots=True)
class ClariNetState:
    """The past of a sentence."""

    pulses: PulseState | None
    """The pitch's; None where there are no pulses."""
    overlap: OverlapState
    """What the student is given again."""


class ClariNetVocoder:
    """See Vocoder: the pitch is read from the mel where the student wants pulses, the rest is OverlapVocoder's."""

    def __init__(self, model: ClariNetModel, folder: Path, *, threads: int = 1) -> None:
        """Load ``student.onnx``, and ``pitch.onnx`` where there are pulses."""
        self.hop_length, self._model = model.hop_length, model
        self._student = OnnxGraph(folder / "student.onnx", threads=threads)
        read = PulseModel(model.sample_rate, model.pitch_left, model.pitch_right)
        sizes = {"n_mels": model.n_mels, "hop_length": model.hop_length}
        self._pulses = Pulses(read, folder, threads=threads, **sizes) if model.pulses else None
        self.context = model.right + (self._pulses.context if self._pulses else 0)
        left = model.left if model.delta is None else min(model.delta, model.left)
        self._overlap = OverlapVocoder(
            self._render, hop_length=model.hop_length, left=left, right=model.right, fade=model.fade
        )

    def _render(self, frames: Floats, z: Floats) -> Floats:
        n_mels = self._model.n_mels
        inputs = {"mel": frames[:, :n_mels], "z": np.float32(self._model.temperature) * z}
        if self._model.pulses:
            inputs["pulses"] = frames[:, n_mels:]
        return np.asarray(self._student(**inputs)["samples"], np.float32)

    def initial(self, frame: int) -> ClariNetState:
        """See Vocoder."""
        return ClariNetState(self._pulses.initial() if self._pulses else None, self._overlap.initial(frame))

    def step(
        self, final: Floats, right: Floats, state: ClariNetState, *, seed: int, ended: bool
    ) -> tuple[Floats, ClariNetState]:
        """See Vocoder; frames are log mel."""
        if not len(final):
            return np.zeros(0, np.float32), state
        right = right[:0] if ended else right[: self.context]
        pulses = state.pulses
        if self._pulses is not None and pulses is not None:
            final, right, pulses = self._pulses.beside(final, right, pulses)
        samples, overlap = self._overlap.step(final, right, state.overlap, seed=seed, ended=ended)
        return samples, ClariNetState(pulses, overlap)


def load_clarinet(table: Mapping[str, Any], folder: Path, threads: int) -> ClariNetVocoder:
    """The student in a voice's folder, by what its ``model`` table has under ``vocoder``."""
    return ClariNetVocoder(from_mapping(ClariNetModel, table, where="model: vocoder"), folder, threads=threads)
