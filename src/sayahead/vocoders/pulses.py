"""Pulse trains at the pitch of log mel, which small vocoders hear beside it: read from the mel,
carried on in steps."""

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
TOP_HZ = 11000.0
"""Pitch from which on there are pulses, and up to where their harmonics go."""


@dataclass(frozen=True, slots=True)
class PulseModel:
    """What a voice says of the network that reads the pitch."""

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
    """The past of a sentence."""

    past: Floats
    """(<= left, n_mels) the last final frames."""
    f0: float | None
    """Pitch of the last of them in Hz; None before a sentence's first frame."""
    phase: float
    """Turns of the pulse train where the first frame begins that is not final."""


class Pulses:
    """Log mel to log mel with pulses beside it; the pitch is read by ``pitch.onnx`` in a voice's
    folder."""

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
        """The state before a sentence."""
        return PulseState(np.zeros((0, self._n_mels), np.float32), None, 0.0)

    def hertz(self, mel: Floats) -> Floats:
        """Pitch (T,) in Hz, 0 where unvoiced, of log mel (T, n_mels)."""
        return self._pitch(mel=mel)["f0"]

    def beside(
        self, final: Floats, right: Floats, state: PulseState
    ) -> tuple[Floats, Floats, PulseState]:
        """Final frames (T, n_mels) and those expected after them, each with its pulses, and the
        next state.

        A row becomes (n_mels + 2 * hop,): log mel, pulses, their quadrature. The last ``context``
        frames of all are not what they will be once more follow.
        """
        past = state.past
        hertz = self.hertz(np.concatenate([past, final, right]))[len(past) :]
        curve = pitch_curve(hertz, state.f0, hop=self._hop)
        turns = (
            np.cumsum(curve.reshape(-1, self._hop), axis=1, dtype=np.float64)
            / self._model.sample_rate
        )
        # From frame to frame, so that the phase is the same to the bit, however many of them come
        # at once.
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
    """The past of a sentence."""

    pulses: PulseState | None
    """The pitch's; None where there are no pulses."""
    overlap: OverlapState
    """What is rendered again."""


class PulsedOverlap:
    """OverlapVocoder, whose frames of log mel have pulses beside them where the vocoder hears
    any."""

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
        """Frames are log mel."""
        if not len(final):
            return np.zeros(0, np.float32), state
        right = right[:0] if ended else right[: self.context]
        pulses = state.pulses
        if self._pulses is not None and pulses is not None:
            final, right, pulses = self._pulses.beside(final, right, pulses)
        samples, overlap = self._overlap.step(final, right, state.overlap, seed=seed, ended=ended)
        return samples, PulsedState(pulses, overlap)


def pitch_curve(f0: Floats, before: float | None, *, hop: int) -> Floats:
    """(T * hop,) Hz at each sample, at least 40, for the pitch (T,) of frames, taken in each one's
    middle.

    ``before`` is the pitch of the frame before the first; at a sentence's ends the pitch is held,
    and so it is to the edge of a voiced frame beside one that is not: there is no way from 0 Hz to
    a voice's."""
    held = np.concatenate([[f0[0] if before is None else before], f0, f0[-1:]]).astype(np.float64)
    place = (np.arange(hop) + 0.5) / hop + 0.5
    share = place % 1.0
    left = np.arange(len(f0))[:, None] + place.astype(np.int64)
    one = held[left]
    other = held[left + 1]
    voiced = np.minimum(one, other) > VOICED_HZ
    curve = np.where(voiced, one + share * (other - one), np.where(share < 0.5, one, other))
    hertz: Floats = np.maximum(curve, VOICED_HZ).astype(np.float32).reshape(-1)
    return hertz


def pulse_train(turns: NDArray[np.float64], hertz: Floats) -> Floats:
    """(2, S): pulses of unit power once a turn, of all harmonics below 11 kHz, and the same with
    sines for cosines.

    sum_(h = 1 .. H) cos(h t) = sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2 and
    sum_(h = 1 .. H) sin(h t) = (cos(t / 2) - cos((H + 1/2) t)) / (2 sin(t / 2)). Nothing where the
    pitch is 40 Hz."""
    # From the nearest pulse on and in double precision: high harmonics are many turns away from a
    # rounded phase.
    angle = 2 * np.pi * (turns - np.round(turns))
    order = np.floor(TOP_HZ / hertz.astype(np.float64))
    below = 2 * np.sin(angle / 2)
    flat = np.abs(below) < 1e-6
    below[flat] = 1
    top = (order + 0.5) * angle
    pulses = np.where(flat, order, np.sin(top) / below - 0.5)
    quadrature = np.where(flat, 0, (np.cos(angle / 2) - np.cos(top)) / below)
    heard: Floats = (
        np.stack([pulses, quadrature]) * np.sqrt(2 / order) * (hertz > VOICED_HZ)
    ).astype(np.float32)
    return heard
