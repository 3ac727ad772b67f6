"""Pulse trains at the pitch of a log mel, as an additional input of small vocoders; continuous from
step to step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sayahead.config import check_whole
from sayahead.engine.onnx import OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.overlap import OverlapState, OverlapVocoder

VOICED_HZ = 40.0
"""Lowest pitch with pulses."""
TOP_HZ = 11000.0
"""Highest frequency of their harmonics."""


@dataclass(frozen=True, slots=True)
class PulseModel:
    """Settings of the network that reads the pitch."""

    sample_rate: int
    """Samples per second."""
    left: int
    """Frames on the left that the pitch of a frame is read from."""
    right: int
    """Frames on the right."""

    def __post_init__(self) -> None:
        check_whole("model: vocoder: pulses: sample_rate", self.sample_rate, 1, 1_000_000)
        for name in ("left", "right"):
            check_whole(f"model: vocoder: pulses: {name}", getattr(self, name), 0, 100_000)


@dataclass(frozen=True, slots=True)
class PulseState:
    """State of a sentence between steps."""

    past: Floats
    """(<= left, n_mels) the last final frames."""
    f0: float | None
    """Pitch of the last of them in Hz; None before a sentence's first frame."""
    phase: float
    """Phase of the pulse train, in turns, at the start of the first frame that is not final."""


class Pulses:
    """Adds pulses to log mel, at the pitch that ``pitch.onnx`` in a voice's folder reads from
    it."""

    def __init__(
        self, model: PulseModel, folder: Path, *, n_mels: int, hop_length: int, threads: int = 1
    ) -> None:
        self._model = model
        self._n_mels = n_mels
        self._hop = hop_length
        self._pitch = OnnxGraph(folder / "pitch.onnx", threads=threads)
        # A frame's pulses depend on the pitch of the frame after it.
        self.context = 1 + model.right

    def initial(self) -> PulseState:
        """Return the state before a sentence."""
        return PulseState(np.zeros((0, self._n_mels), np.float32), None, 0.0)

    def hertz(self, mel: Floats) -> Floats:
        """Return the pitch (T,) in Hz, 0 if unvoiced, of log mel (T, n_mels)."""
        return self._pitch(mel=mel)["f0"]

    def beside(
        self, final: Floats, right: Floats, state: PulseState
    ) -> tuple[Floats, Floats, PulseState]:
        """Return the final frames and the expected ones with pulses added, and the next state.

        Frames (T, n_mels) become (T, n_mels + 2 * hop): log mel, pulses, and their quadrature. The
        last ``context`` frames will change once more frames follow.
        """
        past = state.past
        hertz = self.hertz(np.concatenate([past, final, right]))[len(past) :]
        curve = pitch_curve(hertz, state.f0, hop=self._hop)
        turns = (
            np.cumsum(curve.reshape(-1, self._hop), axis=1, dtype=np.float64)
            / self._model.sample_rate
        )
        # Added frame by frame, so that the phase is bit-identical however many frames come at once.
        phases = [state.phase]
        for end in turns[:, -1].tolist():
            phases.append((phases[-1] + end) % 1.0)
        train = pulse_train((turns + np.array(phases[:-1])[:, None]).reshape(-1), curve)
        train = np.hstack([part.reshape(-1, self._hop) for part in train])
        past = np.concatenate([past, final])
        kept = past[max(0, len(past) - self._model.left) :]
        after = PulseState(kept, float(hertz[len(final) - 1]), phases[len(final)])
        return (
            np.hstack([final, train[: len(final)]]),
            np.hstack([right, train[len(final) :]]),
            after,
        )


@dataclass(frozen=True, slots=True)
class PulsedState:
    """State of a sentence between steps."""

    pulses: PulseState | None
    """State of the pulses; None without pulses."""
    overlap: OverlapState
    """State of the vocoder."""


class PulsedOverlap:
    """An OverlapVocoder of log mel, with pulses added if the vocoder uses them."""

    def __init__(self, overlap: OverlapVocoder, pulses: Pulses | None) -> None:
        self.hop_length = overlap.hop_length
        self._overlap = overlap
        self._pulses = pulses
        self.context = overlap.context + (pulses.context if pulses else 0)

    def initial(self, frame: int) -> PulsedState:
        return PulsedState(
            self._pulses.initial() if self._pulses else None, self._overlap.initial(frame)
        )

    def step(
        self, final: Floats, right: Floats, state: PulsedState, *, seed: int, ended: bool
    ) -> tuple[Floats, PulsedState]:
        """Render log mel frames."""
        if not len(final):
            return np.zeros(0, np.float32), state
        right = right[:0] if ended else right[: self.context]
        pulses = state.pulses
        if self._pulses is not None and pulses is not None:
            final, right, pulses = self._pulses.beside(final, right, pulses)
        samples, overlap = self._overlap.step(final, right, state.overlap, seed=seed, ended=ended)
        return samples, PulsedState(pulses, overlap)


def pitch_curve(f0: Floats, before: float | None, *, hop: int) -> Floats:
    """Return the pitch (T * hop,) in Hz at each sample, at least 40, interpolated between the
    middles of frames.

    ``f0`` (T,): the pitch of frames; ``before``: that of the previous frame. At the ends of a
    sentence, and next to unvoiced frames, the pitch is held instead: interpolating from 0 Hz makes
    no sense.
    """
    held = np.concatenate([[f0[0] if before is None else before], f0, f0[-1:]]).astype(np.float64)
    position = (np.arange(hop) + 0.5) / hop + 0.5
    share = position % 1.0
    left = np.arange(len(f0))[:, None] + position.astype(np.int64)
    from_hz = held[left]
    to_hz = held[left + 1]
    voiced = np.minimum(from_hz, to_hz) > VOICED_HZ
    curve = np.where(
        voiced, from_hz + share * (to_hz - from_hz), np.where(share < 0.5, from_hz, to_hz)
    )
    hertz: Floats = np.maximum(curve, VOICED_HZ).astype(np.float32).reshape(-1)
    return hertz


def pulse_train(turns: NDArray[np.float64], hertz: Floats) -> Floats:
    """Return (2, S): pulses of unit power once per turn, with all harmonics below 11 kHz, and their
    quadrature (sines for cosines).

    sum_(h = 1 .. H) cos(h t) = sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2 and sum_(h = 1 .. H) sin(h
    t) = (cos(t / 2) - cos((H + 1/2) t)) / (2 sin(t / 2)). Zero where the pitch is 40 Hz.
    """
    # Relative to the nearest pulse and in double precision, because high harmonics multiply the
    # rounding error of the phase.
    angle = 2 * np.pi * (turns - np.round(turns))
    order = np.floor(TOP_HZ / hertz.astype(np.float64))
    below = 2 * np.sin(angle / 2)
    flat = np.abs(below) < 1e-6
    below[flat] = 1
    top = (order + 0.5) * angle
    pulses = np.where(flat, order, np.sin(top) / below - 0.5)
    quadrature = np.where(flat, 0, (np.cos(angle / 2) - np.cos(top)) / below)
    train: Floats = (
        np.stack([pulses, quadrature]) * np.sqrt(2 / order) * (hertz > VOICED_HZ)
    ).astype(np.float32)
    return train
