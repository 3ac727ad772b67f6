"""Frames to spectral parts by a network, then source-filter synthesis: what the default voice and
mel voices share."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from sayahead.engine.onnx import Array, OnnxGraph, count
from sayahead.types import Floats, Shape
from sayahead.vocoders.formants import shaped_pitch, shaped_spectrum
from sayahead.vocoders.sourcefilter import FilterState, SourceFilter


@dataclass(frozen=True, slots=True)
class SpectralState:
    """The past of a sentence."""

    input_cache: Floats
    """(L, D) the network's last inputs."""
    cache: Floats
    """(L', C) the last inputs of its blocks."""
    filter: FilterState
    """What pulse train, noise and overlap-add keep."""


class SpectralVocoder:
    """Spectral parts at 24 kHz, hop 300. What frames are to the network, a subclass says."""

    hop_length = SourceFilter.HOP

    def __init__(
        self,
        graph: OnnxGraph,
        *,
        right: int,
        input_cache: tuple[int, int],
        cache: tuple[int, int],
        anew: bool = False,
    ) -> None:
        """``right`` frames of context after those whose spectra overlap into the last final one;
        shapes of caches.

        ``anew``: see SourceFilter.
        """
        self.graph = graph
        self._filter = SourceFilter(anew=anew)
        self._caches = np.zeros(input_cache, np.float32), np.zeros(cache, np.float32)
        self.context = SourceFilter.OVERHANG + right
        self._shape: Shape | None = None

    def shaped(self, shape: Shape) -> Self:
        """The same vocoder, its graph shared, with pitch and formants changed."""
        other = copy.copy(self)
        other._shape = None if shape == Shape() else shape
        return other

    def initial(self, frame: int) -> SpectralState:
        return SpectralState(*self._caches, self._filter.initial(frame))

    def step(
        self, final: Floats, right: Floats, state: SpectralState, *, seed: int, ended: bool
    ) -> tuple[Floats, SpectralState]:
        if not len(final):
            return np.zeros(0, np.float32), state
        frames = np.concatenate([final, right[: self.context]])
        rows = count(min(len(final) + SourceFilter.OVERHANG, len(frames)))
        caches = {"input_cache": state.input_cache, "cache": state.cache}
        inputs = self.inputs(frames)
        out = self.graph(**inputs, rows=rows, commit=count(len(final)), **caches)
        f0 = out["f0"] if "f0" in out else inputs["f0"]
        spectrum = out["spectrum"]
        if self._shape is not None:
            before = f0
            f0 = shaped_pitch(f0, self._shape)
            spectrum = shaped_spectrum(spectrum, before, f0, self._shape)
        samples, past = self._filter.step(
            spectrum, f0, state.filter, final=len(final), seed=seed, ended=ended
        )
        return samples, SpectralState(out["next_input_cache"], out["next_cache"], past)

    def inputs(self, frames: Floats) -> Mapping[str, Array]:
        """The network's inputs of frames (T, D), by name; the pitch ``f0`` (T,) is one, or else an
        output."""
        raise NotImplementedError
