"""ClariNet's student at run time: mel frames to samples, and the pulse train that a small student hears beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.overlap import OverlapState, OverlapVocoder

VOICED_HZ, TOP_HZ = 40.0, 11000.0
"""Pitch from which on there are pulses, and up to where their harmonics go."""


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

    past: Floats
    """(<= pitch_left, n_mels) the last final frames."""
    f0: float | None
    """Pitch of the last of them in Hz; None before a sentence's first frame."""
    phase: float
    """Turns of the pulse train where the first frame begins that is not final."""
    overlap: OverlapState
    """What the student is given again."""


class ClariNetVocoder:
    """See Vocoder: the pitch is read from the mel where the student wants pulses, the rest is OverlapVocoder's."""

    def __init__(self, model: ClariNetModel, folder: Path, *, threads: int = 1) -> None:
        """Load ``student.onnx``, and ``pitch.onnx`` where there are pulses."""
        self.hop_length, self._model = model.hop_length, model
        self._student = OnnxGraph(folder / "student.onnx", threads=threads)
        self._pitch = OnnxGraph(folder / "pitch.onnx", threads=threads) if model.pulses else None
        # A frame's pulses depend on the pitch of the frame after it.
        self.context = model.right + (1 + model.pitch_right if model.pulses else 0)
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
        return ClariNetState(np.zeros((0, self._model.n_mels), np.float32), None, 0.0, self._overlap.initial(frame))

    def step(
        self, final: Floats, right: Floats, state: ClariNetState, *, seed: int, ended: bool
    ) -> tuple[Floats, ClariNetState]:
        """See Vocoder; frames are log mel."""
        if not len(final):
            return np.zeros(0, np.float32), state
        right = right[:0] if ended else right[: self.context]
        past, f0, phase = state.past, state.f0, state.phase
        if self._pitch is not None:
            hertz = self._pitch(mel=np.concatenate([past, final, right]))["f0"][len(past) :]
            curve = pitch_curve(hertz, f0, hop=self.hop_length)
            turns = phase + np.cumsum(curve, dtype=np.float64) / self._model.sample_rate
            # A frame's pulses, then its quadrature.
            train = np.hstack([part.reshape(-1, self.hop_length) for part in pulse_train(turns, curve)])
            f0, phase = float(hertz[len(final) - 1]), float(turns[len(final) * self.hop_length - 1] % 1.0)
            past = np.concatenate([past, final])[-self._model.pitch_left :]
            final, right = np.hstack([final, train[: len(final)]]), np.hstack([right, train[len(final) :]])
        samples, overlap = self._overlap.step(final, right, state.overlap, seed=seed, ended=ended)
        return samples, ClariNetState(past, f0, phase, overlap)


def load_clarinet(table: Mapping[str, Any], folder: Path, threads: int) -> ClariNetVocoder:
    """The student in a voice's folder, by what its ``model`` table has under ``vocoder``."""
    return ClariNetVocoder(from_mapping(ClariNetModel, table, where="model: vocoder"), folder, threads=threads)


def pitch_curve(f0: Floats, before: float | None, *, hop: int) -> Floats:
    """(T * hop,) Hz at each sample, at least 40, for the pitch (T,) of frames, taken in each one's middle.

    ``before`` is the pitch of the frame before the first; at a sentence's ends the pitch is held, and so it is to the
    edge of a voiced frame beside one that is not: there is no way from 0 Hz to a voice's.
    """
    held = np.concatenate([[f0[0] if before is None else before], f0, f0[-1:]]).astype(np.float64)
    place = (np.arange(len(f0) * hop) + 0.5) / hop + 0.5
    left = place.astype(np.int64)
    one, other, share = held[left], held[left + 1], place - left
    voiced = np.minimum(one, other) > VOICED_HZ
    curve = np.where(voiced, one + share * (other - one), np.where(share < 0.5, one, other))
    hertz: Floats = np.maximum(curve, VOICED_HZ).astype(np.float32)
    return hertz


def pulse_train(turns: NDArray[np.float64], hertz: Floats) -> Floats:
    """(2, S): pulses of unit power once a turn, of all harmonics below 11 kHz, and the same with sines for cosines.

    sum_(h = 1 .. H) cos(h t) = sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2 and
    sum_(h = 1 .. H) sin(h t) = (cos(t / 2) - cos((H + 1/2) t)) / (2 sin(t / 2)). Nothing where the pitch is 40 Hz.
    """
    # From the nearest pulse on and in double precision: high harmonics are many turns away from a rounded phase.
    angle = 2 * np.pi * (turns - np.round(turns))
    order = np.floor(TOP_HZ / hertz.astype(np.float64))
    below = 2 * np.sin(angle / 2)
    flat = np.abs(below) < 1e-6
    below[flat] = 1
    top = (order + 0.5) * angle
    pulses = np.where(flat, order, np.sin(top) / below - 0.5)
    quadrature = np.where(flat, 0, (np.cos(angle / 2) - np.cos(top)) / below)
    heard: Floats = (np.stack([pulses, quadrature]) * np.sqrt(2 / order) * (hertz > VOICED_HZ)).astype(np.float32)
    return heard
