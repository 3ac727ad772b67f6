"""The fast vocoder of mel frames, for CPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayahead.config import from_mapping
from sayahead.engine.onnx import Array, OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.spectral import SpectralVocoder


@dataclass(frozen=True, slots=True)
class MelConfig:
    """Settings of a voice's mel vocoder."""

    n_mels: int
    """Mel bands of a frame."""
    right_frames: int
    """Frames of right context that the network sees."""
    caches: tuple[int, ...]
    """Rows of the input's cache, rows and channels of the blocks' cache."""


class MelVocoder(SpectralVocoder):
    """Mel to spectral parts: frames are natural logarithms of mel magnitudes.

    Taught on the default voice's own frame parameters (``training/mel/network.py``); 24 kHz, hop
    300."""

    def __init__(self, graph: OnnxGraph, config: MelConfig) -> None:
        input_rows, rows, channels = config.caches
        input_cache = (input_rows, config.n_mels)
        super().__init__(
            graph, right=config.right_frames, input_cache=input_cache, cache=(rows, channels)
        )

    def inputs(self, frames: Floats) -> dict[str, Array]:
        return {"mel": frames}


def load_mel(table: Mapping[str, Any], folder: Path, threads: int) -> MelVocoder:
    """Load the mel vocoder from ``vocoder.onnx``."""
    config = from_mapping(MelConfig, table, where="model: vocoder")
    return MelVocoder(OnnxGraph(folder / "vocoder.onnx", threads=threads), config)
