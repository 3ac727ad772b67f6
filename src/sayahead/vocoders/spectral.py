"""Frames to spectral parts by a network, then source-filter synthesis: the common part of the
default voice and mel voices."""

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
    """State of a sentence between steps."""

    input_cache: Floats
    """(L, D) last inputs of the network."""
    cache: Floats
    """(L', C) last inputs of its blocks."""
    filter: FilterState
    """State of the synthesis."""


class SpectralVocoder:
    """Spectral parts at 24 kHz, hop 300. Subclasses turn frames into the network's inputs."""

    hop_length = SourceFilter.HOP

    def __init__(
        self,
        graph: OnnxGraph,
        *,
        right: int,
        input_cache: tuple[int, int],
        cache: tuple[int, int],
        recompute: bool = False,
    ) -> None:
        """``right``: frames of context after those whose spectra overlap into the last final one;
        ``input_cache`` and ``cache``: shapes of the caches; ``recompute``: as for SourceFilter."""
        self.graph = graph
        self._filter = SourceFilter(recompute=recompute)
        self._caches = np.zeros(input_cache, np.float32), np.zeros(cache, np.float32)
        self.context = SourceFilter.OVERHANG + right
        self._shape: Shape | None = None

    def shaped(self, shape: Shape) -> Self:
        """Return a copy with pitch and formants changed, which shares the graph."""
        other = copy.copy(self)
        other._shape = None if shape == Shape() else shape
        return other

    def initial(self, frame: int) -> SpectralState:
        return SpectralState(*self._caches, self._filter.initial(frame))

    def step(
        self, final: Floats, right: Floats, state: SpectralState, *, seed: int, ended: bool
    ) -> tuple[Floats, SpectralState]:
        """Run the network to spectra, which the source-filter model makes sound."""
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
        """Return the network's inputs for frames (T, D), by name. The pitch ``f0`` (T,) is among
        them, or else an output."""
        raise NotImplementedError
