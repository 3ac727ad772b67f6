"""The default voice's second stage: its decoder, then source-filter synthesis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sayahead.engine.onnx import Array, OnnxGraph
from sayahead.types import Floats
from sayahead.vocoders.manner import in_manner
from sayahead.vocoders.spectral import SpectralVocoder


class SpeakerTables(Protocol):
    """Parameters of each speaker."""

    def __getitem__(self, number: int) -> Mapping[str, Floats]:
        """Return the parameters (V,) for each graph."""
        ...


class HeartVocoder(SpectralVocoder):
    """The default voice's decoder: frames are (encoding 128, f0, energy)."""

    REACH = 27
    """Receptive field of the decoder to each side, in frames."""

    def __init__(
        self, decoder: OnnxGraph, *, right: int = REACH, speakers: SpeakerTables | None = None
    ) -> None:
        """``right``: how many provisional frames it gets; fewer change the last of them most.

        ``speakers``: parameters of each speaker by number, which frames then have in a last column.
        """
        self._speakers = speakers
        super().__init__(
            decoder, right=right, input_cache=(3, 130), cache=(24, 256), recompute=True
        )

    def inputs(self, frames: Floats) -> dict[str, Array]:
        """Return what the decoder takes of frames (T, 130), or (T, 131) with the speaker's
        number."""
        inputs = {"sound_encoding": frames[:, :128], "f0": frames[:, 128], "energy": frames[:, 129]}
        if self._speakers is None:
            return inputs
        parameters = self._speakers[int(frames[0, 130])]
        f0 = in_manner(inputs["f0"], parameters)
        return inputs | {"f0": f0, "speaker": parameters["decoder"]}
