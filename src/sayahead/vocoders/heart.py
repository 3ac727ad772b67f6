"""The default voice's second stage: its decoder, then source-filter synthesis."""

from __future__ import annotations

from sayahead.engine.onnx import Array, OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.spectral import SpectralVocoder


class HeartVocoder(SpectralVocoder):
    """The default voice's decoder: frames are (encoding 128, f0, energy)."""

    REACH = 27
    """Frames that the decoder sees to each side."""

    def __init__(self, decoder: OnnxGraph, *, right: int = REACH) -> None:
        """``right``: how many of the provisional frames it is given; what is left out changes the last of them most."""
        super().__init__(decoder, right=right, input_cache=(3, 130), cache=(24, 256), anew=True)

    def inputs(self, frames: Floats) -> dict[str, Array]:
        return {"sound_encoding": frames[:, :128], "f0": frames[:, 128], "energy": frames[:, 129]}
