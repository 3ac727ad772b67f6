"""Streaming sample rate conversion by a polyphase filter."""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import numpy as np

from sayahead.types import Floats

# Zero crossings of the filter on each side, at the lower of the two rates; 24 are 3 ms at 8 kHz.
CROSSINGS = 24
# Kaiser's beta: attenuates by 80 dB outside of the band.
BETA = 8.0
# End of the band as a fraction of the lower rate's half; leaves room for the transition.
EDGE = 0.92
# Output samples computed at a time, to bound the memory for their windows.
PIECE = 4096


class Resampler:
    """Converts ``source`` to ``target`` samples per second; sample n of either is at n / rate
    seconds.

    The joined output does not depend on how the input was cut. Until ``finish``, it lags by half
    the filter (at most 3 ms).
    """

    def __init__(self, source: int, target: int) -> None:
        common = gcd(source, target)
        self._up = target // common
        self._down = source // common
        # Half the filter's length in input samples.
        self._half = -(-CROSSINGS * max(self._up, self._down) // self._up)
        self._filter = phases(self._up, self._down, self._half)
        # The input from sample number `_first` on; silence before the first sample.
        self._tail: Floats = np.zeros(self._half, np.float32)
        self._first = -self._half
        self._output_count = 0
        self._input_count = 0

    def push(self, samples: Floats) -> Floats:
        """Return the output samples (S,) that no later input changes."""
        self._input_count += len(samples)
        return self._render(samples, self._input_count - self._half)

    def finish(self) -> Floats:
        """Return the remaining samples (S,); input and output then have the same duration."""
        return self._render(np.zeros(self._half, np.float32), self._input_count)

    def _render(self, samples: Floats, end: int) -> Floats:
        """Return the output up to sample ``end`` of the input."""
        self._tail = np.concatenate([self._tail, samples])
        output_end = max(self._output_count, -(-end * self._up // self._down))
        positions = np.arange(self._output_count, output_end, dtype=np.int64) * self._down
        self._output_count = output_end
        if not len(positions):
            return np.zeros(0, np.float32)
        base = positions // self._up - self._half + 1 - self._first
        windows = np.lib.stride_tricks.sliding_window_view(self._tail, 2 * self._half)
        out: Floats = np.concatenate(
            [
                np.einsum(
                    "nk,nk->n",
                    windows[base[n : n + PIECE]],
                    self._filter[positions[n : n + PIECE] % self._up],
                )
                for n in range(0, len(positions), PIECE)
            ]
        )
        keep = max(0, self._output_count * self._down // self._up - self._half + 1 - self._first)
        self._tail = self._tail[keep:]
        self._first = self._first + keep
        return out


# Each pair of rates has a filter bank; formats.RATES bounds how many there are.
@lru_cache(maxsize=16)
def phases(up: int, down: int, half: int) -> Floats:
    """Return the filter bank (up, 2 * half).

    Row p weights the input samples from ``half - 1`` before to ``half`` after one, for an output
    sample p / up after it.
    """
    distance = np.arange(-half + 1, half + 1)[None, :] - np.arange(up)[:, None] / up
    band = EDGE * min(1.0, up / down)
    window = np.i0(BETA * np.sqrt(np.maximum(0.0, 1.0 - (distance / half) ** 2))) / np.i0(BETA)
    weights = band * np.sinc(band * distance) * window
    bank = np.ascontiguousarray((weights / weights.sum(axis=1, keepdims=True)).astype(np.float32))
    bank.flags.writeable = False
    return bank
