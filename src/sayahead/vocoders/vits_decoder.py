"""The second stage of a VITS: noise and the prior's rows make a latent, a flow and a decoder make
samples of it.

Both networks are convolutions with caches at the commit (``voices.install.onnx.stateful_conv``), so
nothing of the past is computed again. The prior's noise belongs to the frame of the session (Ma et
al. 2020, 4.2: the fixed z)."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from sayahead.engine.onnx import Array, OnnxGraph, count
from sayahead.types import Floats
from sayahead.vocoders.overlap import blend

NOISE_BLOCK = 32
"""Rows of noise drawn at a time."""
Caches = tuple[Floats, ...]
"""Last inputs of each convolution (1, C, L)."""


@dataclass(frozen=True, slots=True)
class LatentState:
    """The past of a sentence."""

    frame: int
    """Number, in the session, of the first frame that is not final; keys the noise."""
    flow: Caches
    """The flow's, at that frame."""
    decoder: Caches
    """The decoder's."""
    tail: Floats
    """(<= fade,) samples that were expected to follow, which the next ones grow out of."""


class LatentVocoder:
    """A VITS decoder: frames are the prior's (mean C, deviation C), and the speaker's number if
    there are several."""

    def __init__(
        self,
        flow: OnnxGraph,
        decoder: OnnxGraph,
        *,
        channels: int,
        hop_length: int,
        right: tuple[int, int],
        fade: int,
    ) -> None:
        """``right``: frames to the right that the flow and the decoder see; ``fade``: samples of a
        cross-fade."""
        self._flow = flow
        self._decoder = decoder
        self._channels = channels
        self._fade = fade
        self.hop_length = hop_length
        self._right = max(1, right[1])
        self.context = right[0] + right[1]
        self._empty = self._caches(flow), self._caches(decoder)

    @staticmethod
    def _caches(graph: OnnxGraph) -> Caches:
        """Nothing before the first frame."""
        empty = graph.zeros("cache")
        return tuple(empty[f"cache{number}"] for number in range(len(empty)))

    def initial(self, frame: int) -> LatentState:
        return LatentState(frame, self._empty[0], self._empty[1], np.zeros(0, np.float32))

    def step(
        self, final: Floats, right: Floats, state: LatentState, *, seed: int, ended: bool
    ) -> tuple[Floats, LatentState]:
        if not len(final):
            return np.zeros(0, np.float32), state
        frames = np.concatenate([final, right[:0] if ended else right])
        c = self._channels
        prior = rows_of_noise(seed, state.frame, len(frames), c)
        latent = (frames[:, :c] + frames[:, c : 2 * c] * prior).T[None]
        speaker = {"sid": frames[:1, 2 * c].astype(np.int64)} if frames.shape[1] > 2 * c else {}
        z, flow = self._run(self._flow, latent, len(final), state.flow, speaker)
        samples, decoder = self._run(
            self._decoder, z[:, :, : len(final) + self._right], len(final), state.decoder, speaker
        )
        size = len(final) * self.hop_length
        samples = samples.reshape(-1)
        blended = blend(state.tail, samples[:size])
        after = replace(state, frame=state.frame + len(final), flow=flow, decoder=decoder)
        return blended, replace(after, tail=samples[size : size + self._fade])

    @staticmethod
    def _run(
        graph: OnnxGraph, rows: Floats, commit: int, caches: Caches, speaker: dict[str, Array]
    ) -> tuple[Floats, Caches]:
        """One part's output for rows (1, C, T) from the commit of the step before on, and its
        caches at the next."""
        known = speaker if "sid" in graph.shapes else {}
        given = {f"cache{number}": cache for number, cache in enumerate(caches)}
        outputs = list(
            graph(rows=np.ascontiguousarray(rows), commit=count(commit), **known, **given).values()
        )
        return outputs[0], tuple(outputs[1:])


def rows_of_noise(seed: int, first: int, rows: int, channels: int) -> Floats:
    """(T, C) standard normal noise for absolute rows, whatever the steps they come in."""
    begin = first // NOISE_BLOCK
    end = (first + rows - 1) // NOISE_BLOCK
    blocks = np.concatenate([noise_block(seed, block, channels) for block in range(begin, end + 1)])
    return blocks[first - begin * NOISE_BLOCK :][:rows]


@functools.lru_cache(maxsize=256)
def noise_block(seed: int, block: int, channels: int) -> Floats:
    """(32, C) standard normal noise of one block of rows."""
    draw = np.random.default_rng([seed, block, channels])
    noise = draw.standard_normal((NOISE_BLOCK, channels), dtype=np.float32)
    noise.flags.writeable = False
    return noise
