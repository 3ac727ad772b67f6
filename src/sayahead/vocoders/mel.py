"""The vocoder of mel frames for processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.types import Floats
from sayahead.vocoders.sourcefilter import FilterState, SourceFilter


@dataclass(frozen=True, slots=True)
class MelConfig:
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

    Taught on the default voice's own frame parameters (``training/mel/network.py``); 24 kHz, hop 300.
    """

    hop_length = SourceFilter.HOP

    def __init__(self, graph: OnnxGraph, model: MelConfig) -> None:
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


def load_mel(table: Mapping[str, Any], folder: Path, threads: int) -> MelVocoder:
    """The vocoder for processors, in ``vocoder.onnx``."""
    config = from_mapping(MelConfig, table, where="model: vocoder")
    return MelVocoder(OnnxGraph(folder / "vocoder.onnx", threads=threads), config)
