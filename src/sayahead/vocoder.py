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
    delay: int
    """Frames by which the samples handed out trail the frames given, until the end."""
    context: int
    """Frames of right context that make a difference."""

    def initial(self, frame: int) -> State:
        """The state at the start of a sentence whose first frame is number ``frame`` of the session."""
        ...

    def step(self, final: Floats, right: Floats, state: State, *, seed: int, ended: bool) -> tuple[Floats, State]:
        """Samples for the frames given so far but the last ``delay``; all of them where ``ended``."""
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
    delay = SourceFilter.DELAY
    context = 27

    def __init__(self, decoder: OnnxGraph) -> None:
        self._decoder = decoder
        self._filter = SourceFilter()

    def initial(self, frame: int) -> HeartVocoderState:
        caches = np.zeros((3, 130), np.float32), np.zeros((24, 256), np.float32)
        return HeartVocoderState(*caches, self._filter.initial(frame))

    def step(
        self, final: Floats, right: Floats, state: HeartVocoderState, *, seed: int, ended: bool
    ) -> tuple[Floats, HeartVocoderState]:
        """See Vocoder; ``final`` (T, 130), ``right`` (R, 130), samples (S,)."""
        spectrum, pitch = np.zeros((0, 5 * SourceFilter.BINS), np.float32), final[:, 128]
        input_cache, cache = state.input_cache, state.cache
        if len(final):
            features = np.concatenate([final, right[: self.context]])
            out = self._decoder(
                sound_encoding=features[:, :128], f0=features[:, 128], energy=features[:, 129],
                commit=count(len(final)), input_cache=input_cache, cache=cache,
            )  # fmt: skip
            spectrum, input_cache, cache = out["spectrum"], out["next_input_cache"], out["next_cache"]
        samples, kept = self._filter.step(spectrum, pitch, state.filter, seed=seed, ended=ended)
        return samples, HeartVocoderState(input_cache, cache, kept)
