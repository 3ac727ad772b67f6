"""Makes any vocoder incremental that turns a window of frames and noise into samples (Ma et al.
2020, 4.2).

Each step renders the new frames together with some past and some expected ones, with noise that
depends on the position in the session, and cuts off the rest. If the window covers the vocoder's
receptive field, steps give the same as the whole sentence.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sayahead.types import Floats

Render = Callable[[Floats, Floats], Floats]
"""Turns frames (T, D) and standard normal noise (T, hop) into samples (T, hop)."""
NOISE_BLOCK = 4096
"""Samples of noise drawn at a time."""


@dataclass(frozen=True, slots=True)
class OverlapState:
    """State of a sentence between steps."""

    frame: int
    """Number in the session of the first frame that is not final; selects the noise."""
    past: Floats | None
    """(<= left, D) the frames before it; None before a sentence's first frame."""
    tail: Floats
    """(<= fade,) samples that were expected to follow, which fade into the next ones."""
    done: int = 0
    """Final frames of the sentence."""


class OverlapVocoder:
    """Ma's incremental vocoder around one that renders whole windows.

    ``left`` and ``right`` are Ma's delta in frames: how much is rendered again before the new
    frames, and in advance after them. If they are smaller than the receptive field, ``fade``
    samples cross-fade one step into the next. A window begins at a ``multiple`` of frames from the
    start of the sentence.
    """

    def __init__(
        self,
        render: Render,
        *,
        hop_length: int,
        left: int,
        right: int,
        fade: int = 0,
        multiple: int = 1,
    ) -> None:
        if fade > right * hop_length:
            raise ValueError(
                f"a fade of {fade} samples needs more than {right} frames on the right"
            )
        self.hop_length = hop_length
        self.left = left
        self.context = right
        self.fade = fade
        self._render = render
        self._multiple = multiple

    def initial(self, frame: int) -> OverlapState:
        return OverlapState(frame, None, np.zeros(0, np.float32))

    def step(
        self, final: Floats, right: Floats, state: OverlapState, *, seed: int, ended: bool
    ) -> tuple[Floats, OverlapState]:
        """Render a window of past, final and expected frames, and cut out the final ones."""
        if not len(final):
            return np.zeros(0, np.float32), state
        hop = self.hop_length
        past = final[:0] if state.past is None else state.past
        right = right[:0] if ended else right[: self.context]
        known = np.concatenate([past, final])
        window = np.concatenate([known, right])
        z = noise(seed, (state.frame - len(past)) * hop, len(window) * hop)
        samples = self._render(window, z.reshape(-1, hop)).reshape(-1)
        begin = len(past) * hop
        end = len(known) * hop
        done = state.done + len(final)
        # The next window begins at a multiple of frames from the start of the sentence.
        kept = min(len(known), self.left)
        kept += (done - kept) % self._multiple
        after = OverlapState(
            state.frame + len(final),
            known[len(known) - kept :],
            samples[end : end + self.fade],
            done,
        )
        return blend(state.tail, samples[begin:end]), after


def blend(old: Floats, new: Floats) -> Floats:
    """Return ``new`` (S,) with its beginning faded in over ``old``.

    The fade is linear because both are the same sound.
    """
    size = min(len(old), len(new))
    if not size:
        return new
    share = ((np.arange(size) + 0.5) / size).astype(np.float32)
    return np.concatenate([old[:size] + share * (new[:size] - old[:size]), new[size:]])


def noise(seed: int, first: int, size: int) -> Floats:
    """Return standard normal noise (size,) for the session's samples from ``first`` on, whatever
    the steps."""
    begin = first // NOISE_BLOCK
    end = (first + size - 1) // NOISE_BLOCK + 1
    blocks = np.concatenate([noise_block(seed, block) for block in range(begin, end)])
    return blocks[first - begin * NOISE_BLOCK :][:size]


@functools.lru_cache(maxsize=256)
def noise_block(seed: int, block: int) -> Floats:
    """Return the standard normal noise (4096,) of one block of samples."""
    draw = np.random.default_rng([seed, block, NOISE_BLOCK])
    block_noise = draw.standard_normal(NOISE_BLOCK, dtype=np.float32)
    block_noise.flags.writeable = False
    return block_noise
