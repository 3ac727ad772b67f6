"""The default voice's second stage: decoder, then source-filter synthesis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sayahead.engine.onnx import OnnxGraph, count
from sayahead.types import Floats
from sayahead.vocoders.sourcefilter import FilterState, SourceFilter


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
