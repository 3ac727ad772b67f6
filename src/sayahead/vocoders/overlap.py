"""Any vocoder that turns a whole window of frames and noise into samples, made incremental (Ma et
al. 2020, 4.2).

Each step gives it the new frames with some that were before them and some that are expected next,
under noise that belongs to the place in the session, and cuts off what was not asked for. With as
many frames around as the vocoder sees to each side, sentences in steps are sentences as a whole.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sayahead.types import Floats

Render = Callable[[Floats, Floats], Floats]
"""Frames (T, D) and standard normal noise (T, hop) to samples (T, hop)."""
NOISE_BLOCK = 4096
"""Samples of noise drawn at a time."""


@dataclass(frozen=True, slots=True)
class OverlapState:
    """The past of a sentence."""

    frame: int
    """Number, in the session, of the first frame that is not final; keys the noise."""
    past: Floats | None
    """(<= left, D) the frames before it; None before a sentence's first frame."""
    tail: Floats
    """(<= fade,) samples that were expected to follow, which the next ones grow out of."""
    done: int = 0
    """Frames of the sentence that are final."""


class OverlapVocoder:
    """Ma's incremental vocoder around any whole-window one.

    ``left`` and ``right`` are Ma's delta, in frames: what is rendered again before the new frames,
    and what is rendered in advance after them. Where they are smaller than what the vocoder sees,
    ``fade`` samples of a step's end are blended into the start of the next. A window begins at a
    ``multiple`` of frames from the sentence's start."""

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
        if not len(final):
            return np.zeros(0, np.float32), state
        past = final[:0] if state.past is None else state.past
        right = right[:0] if ended else right[: self.context]
        window = np.concatenate([past, final, right])
        z = noise(seed, (state.frame - len(past)) * self.hop_length, len(window) * self.hop_length)
        samples = self._render(window, z.reshape(-1, self.hop_length)).reshape(-1)
        begin = len(past) * self.hop_length
        end = (len(past) + len(final)) * self.hop_length
        blended = blend(state.tail, samples[begin:end])
        done = state.done + len(final)
        before = window[: len(past) + len(final)]
        kept = min(len(before), self.left)
        kept += (done - kept) % self._multiple
        past = before[len(before) - kept :]
        return blended, OverlapState(
            state.frame + len(final), past, samples[end : end + self.fade], done
        )


def blend(old: Floats, new: Floats) -> Floats:
    """``new`` (S,), its start faded in over ``old``, linearly, because both are the same sound."""
    size = min(len(old), len(new))
    if not size:
        return new
    share = ((np.arange(size) + 0.5) / size).astype(np.float32)
    return np.concatenate([old[:size] + share * (new[:size] - old[:size]), new[size:]])


def noise(seed: int, first: int, size: int) -> Floats:
    """(size,) standard normal noise for the session's samples from ``first`` on, whatever the steps
    they come in."""
    begin = first // NOISE_BLOCK
    end = (first + size - 1) // NOISE_BLOCK + 1
    blocks = np.concatenate([noise_block(seed, block) for block in range(begin, end)])
    return blocks[first - begin * NOISE_BLOCK :][:size]


@functools.lru_cache(maxsize=256)
def noise_block(seed: int, block: int) -> Floats:
    """(4096,) standard normal noise of one block of samples."""
    draw = np.random.default_rng([seed, block, NOISE_BLOCK])
    block_noise = draw.standard_normal(NOISE_BLOCK, dtype=np.float32)
    block_noise.flags.writeable = False
    return block_noise
