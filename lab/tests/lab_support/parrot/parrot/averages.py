"""A kind of voice at run time, without torch: each phoneme sounds, and lasts, as on average."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from sayahead.engine.onnx import OnnxGraph, graphs_of
from sayahead.engine.stages import Frames
from sayahead.systems.loading import Loaded, phoneme_voice
from sayahead.types import Rendering, Segment
from sayahead.vocoders import load_mel_vocoder
from sayahead.voices import VoiceConfig


class Averages:
    """An acoustic model whose state is the number of frames so far."""

    def __init__(self, graph: OnnxGraph) -> None:
        self._graph = graph

    def initial(self) -> int:
        return 0

    def step(
        self, segment: Segment, state: int, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, int]:
        """The frames of the segment's words are final, those of the lookahead expected."""
        out = self._graph(ids=segment.ids.astype(np.int64))
        lasting = np.maximum(1, np.rint(out["lasting"])).astype(np.int64)
        frames = np.repeat(out["mel"], lasting, axis=0)
        at = np.concatenate([[0], np.cumsum(lasting)])
        words = tuple(
            (state + int(at[first]), state + int(at[end])) for first, end in segment.spans
        )
        ended = segment.ends and segment.speak == len(segment.ids)
        spoken = int(at[segment.speak])
        return Frames(frames[:spoken], frames[spoken:], words, ended), state + spoken


def load_averages(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """A voice of this kind, with any vocoder of mel frames."""
    vocoder = functools.partial(load_mel_vocoder, config.model["vocoder"], folder, threads)
    graph = graphs_of(folder, ["averages"], threads)
    return phoneme_voice(
        config, vocoder, *graph, stages=lambda vocoder, graph: (Averages(graph), vocoder)
    )
