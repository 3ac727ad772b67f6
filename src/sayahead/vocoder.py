"""Vocoders: frames to sound, with the past as an explicit state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from sayahead.onnx import OnnxGraph, count
from sayahead.sourcefilter import FilterState, SourceFilter
from sayahead.types import Floats

State = TypeVar("State")


class Vocoder(Protocol[State]):
    """Stage two: ``w[t] = psi(y[<= h(t)], z[<= h(t)], t)`` (Ma, Eq. 6)."""

    hop_length: int
    """Samples a frame."""
    context: int
    """Frames of right context that make a difference."""

    def initial(self, frame: int) -> State:
        """The state at the start of a sentence whose first frame is number ``frame`` of the session."""
        ...

    def step(self, final: Floats, right: Floats, state: State, *, seed: int, ended: bool) -> tuple[Floats, State]:
        """Samples for the final frames, ``hop_length`` each; those of the whole where ``right`` is what really follows.

        ``final`` (T, D) and ``right`` (R, D) follow the final frames given before; nothing follows where ``ended``.
        """
        ...


@dataclass(frozen=True, slots=True)
class HeartVocoderState:
    """The past of a sentence in the default voice's second stage."""

    input_cache: Floats
    """(3, 130) the decoder's last inputs."""
    cache: Floats
    """(24, 256) the last inputs of its eight blocks."""
    filter: FilterState
    """What pulse train, noise and overlap-add keep."""


class HeartVocoder:
    """The default voice's decoder (frames to spectral parts) and its source-filter synthesis."""

    hop_length = SourceFilter.HOP
    # The decoder's own reach, behind the two frames whose spectra overlap into the last final one.
    context = SourceFilter.OVERHANG + 27

    def __init__(self, decoder: OnnxGraph) -> None:
        self._decoder = decoder
        self._filter = SourceFilter()

    def initial(self, frame: int) -> HeartVocoderState:
        caches = np.zeros((3, 130), np.float32), np.zeros((24, 256), np.float32)
        return HeartVocoderState(*caches, self._filter.initial(frame))

    def step(
        self, final: Floats, right: Floats, state: HeartVocoderState, *, seed: int, ended: bool
    ) -> tuple[Floats, HeartVocoderState]:
        """See Vocoder; frames are (encoding 128, f0, energy)."""
        if not len(final):
            return np.zeros(0, np.float32), state
        features = np.concatenate([final, right[: self.context]])
        out = self._decoder(
            sound_encoding=features[:, :128], f0=features[:, 128], energy=features[:, 129],
            rows=count(min(len(final) + SourceFilter.OVERHANG, len(features))), commit=count(len(final)),
            input_cache=state.input_cache, cache=state.cache,
        )  # fmt: skip
        samples, kept = self._filter.step(
            out["spectrum"], features[:, 128], state.filter, final=len(final), seed=seed, ended=ended
        )
        return samples, HeartVocoderState(out["next_input_cache"], out["next_cache"], kept)


@dataclass(frozen=True, slots=True)
class MelVocoderModel:
    """What a voice says of its mel vocoder."""

    n_mels: int
    """Mel bands of a frame."""
    right_frames: int
    """Frames of right context that the network sees."""
    caches: tuple[int, ...]
    """Rows of the input's cache, rows and channels of the blocks' cache."""


@dataclass(frozen=True, slots=True)
class MelVocoderState:
    """The past of a sentence in a mel vocoder."""

    input_cache: Floats
    """(L, n_mels) the network's last inputs, normalized."""
    cache: Floats
    """(L', D) the last inputs of its blocks."""
    filter: FilterState
    """What pulse train, noise and overlap-add keep."""


class MelVocoder:
    """Log mel frames to spectral parts and pitch, then source-filter synthesis: a vocoder for processors.

    Taught on the default voice's own frame parameters (``models/melvocoder.py``); 24 kHz, hop 300.
    """

    hop_length = SourceFilter.HOP

    def __init__(self, graph: OnnxGraph, model: MelVocoderModel) -> None:
        self._graph, self._model = graph, model
        self._filter = SourceFilter()
        self.context = SourceFilter.OVERHANG + model.right_frames

    def initial(self, frame: int) -> MelVocoderState:
        input_rows, rows, channels = self._model.caches
        caches = np.zeros((input_rows, self._model.n_mels), np.float32), np.zeros((rows, channels), np.float32)
        return MelVocoderState(*caches, self._filter.initial(frame))

    def step(
        self, final: Floats, right: Floats, state: MelVocoderState, *, seed: int, ended: bool
    ) -> tuple[Floats, MelVocoderState]:
        """See Vocoder; frames are natural logarithms of mel magnitudes."""
        if not len(final):
            return np.zeros(0, np.float32), state
        mel = np.concatenate([final, right[: self.context]])
        out = self._graph(
            mel=mel, rows=count(min(len(final) + SourceFilter.OVERHANG, len(mel))), commit=count(len(final)),
            input_cache=state.input_cache, cache=state.cache,
        )  # fmt: skip
        samples, kept = self._filter.step(
            out["spectrum"], out["f0"], state.filter, final=len(final), seed=seed, ended=ended
        )
        return samples, MelVocoderState(out["next_input_cache"], out["next_cache"], kept)
