"""The second stage of VITS: the prior and noise give a latent, which a flow and a decoder turn into
samples.

Both networks are convolutions with caches (``voices.install.onnx.stateful_conv``), so the past is
never computed again. The noise depends on the frame's position in the session (Ma et al. 2020, 4.2:
the fixed z).
"""

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
"""The last inputs (1, C, L) of each convolution."""


@dataclass(frozen=True, slots=True)
class LatentState:
    """State of a sentence between steps."""

    frame: int
    """Number in the session of the first frame that is not final; selects the noise."""
    flow: Caches
    """Caches of the flow."""
    decoder: Caches
    """Caches of the decoder."""
    tail: Floats
    """(<= fade,) samples that were expected to follow, which fade into the next ones."""


class LatentVocoder:
    """A VITS decoder. Frames are the prior's (mean C, deviation C), and the speaker's number if
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
        """``right``: frames to the right that the flow and the decoder depend on; ``fade``: samples
        of cross-fade."""
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
        """Return the caches before the first frame."""
        empty = graph.zeros("cache")
        return tuple(empty[f"cache{number}"] for number in range(len(empty)))

    def initial(self, frame: int) -> LatentState:
        return LatentState(frame, self._empty[0], self._empty[1], np.zeros(0, np.float32))

    def step(
        self, final: Floats, right: Floats, state: LatentState, *, seed: int, ended: bool
    ) -> tuple[Floats, LatentState]:
        """Draw the latent of each frame from its prior, and run the flow and the decoder on it."""
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
        """Run a network on rows (1, C, T) from the previous commit on; return its output and its
        caches at the next commit."""
        speaker_input = speaker if "sid" in graph.shapes else {}
        cache_inputs = {f"cache{number}": cache for number, cache in enumerate(caches)}
        outputs = list(
            graph(
                rows=np.ascontiguousarray(rows),
                commit=count(commit),
                **speaker_input,
                **cache_inputs,
            ).values()
        )
        return outputs[0], tuple(outputs[1:])


def rows_of_noise(seed: int, first: int, rows: int, channels: int) -> Floats:
    """Return standard normal noise (T, C) for absolute rows, whatever the steps."""
    begin = first // NOISE_BLOCK
    end = (first + rows - 1) // NOISE_BLOCK
    blocks = np.concatenate([noise_block(seed, block, channels) for block in range(begin, end + 1)])
    return blocks[first - begin * NOISE_BLOCK :][:rows]


@functools.lru_cache(maxsize=256)
def noise_block(seed: int, block: int, channels: int) -> Floats:
    """Return the standard normal noise (32, C) of one block of rows."""
    draw = np.random.default_rng([seed, block, channels])
    noise = draw.standard_normal((NOISE_BLOCK, channels), dtype=np.float32)
    noise.flags.writeable = False
    return noise
