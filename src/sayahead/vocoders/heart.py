"""The default voice's second stage: its decoder, then source-filter synthesis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sayahead.engine.onnx import Array, OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.manner import in_manner
from sayahead.vocoders.spectral import SpectralVocoder


class Own(Protocol):
    """What is each speaker's own."""

    def __getitem__(self, number: int) -> Mapping[str, Floats]:
        """(V,) by graph."""
        ...


class HeartVocoder(SpectralVocoder):
    """The default voice's decoder: frames are (encoding 128, f0, energy)."""

    REACH = 27
    """Frames that the decoder sees to each side."""

    def __init__(
        self, decoder: OnnxGraph, *, right: int = REACH, speakers: Own | None = None
    ) -> None:
        """``right``: how many of the provisional frames it is given; what is left out changes the
        last of them most.

        ``speakers``: of each by number, what is its own in the decoder; frames then have the number
        in a last column."""
        self._speakers = speakers
        super().__init__(decoder, right=right, input_cache=(3, 130), cache=(24, 256), anew=True)

    def inputs(self, frames: Floats) -> dict[str, Array]:
        f0 = frames[:, 128]
        energy = frames[:, 129]
        if self._speakers is None:
            return {"sound_encoding": frames[:, :128], "f0": f0, "energy": energy}
        own = self._speakers[int(frames[0, 130])]
        inputs = {"sound_encoding": frames[:, :128], "f0": in_manner(f0, own), "energy": energy}
        return inputs | {"speaker": own["decoder"]}
