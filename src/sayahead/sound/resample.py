"""Streaming change of sample rate: a polyphase filter with state."""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import numpy as np

from sayahead.types import Floats

# Zero crossings of the filter to each side, at the lower of the two rates: 24 of them are 3 ms at 8
# kHz.
CROSSINGS = 24
# Kaiser's beta: 80 dB down outside the band.
BETA = 8.0
# Where the band ends, as a part of the lower rate's half: leaves the transition below it.
EDGE = 0.92
# Outputs that are made at a time: each takes a window of the input and a filter.
PIECE = 4096


class Resampler:
    """From ``source`` to ``target`` samples per second; sample n of either is at n / rate seconds.

    The output, joined, does not depend on how the input was cut. It lags by half the filter (at
    most 3 ms) until ``finish``.
    """

    def __init__(self, source: int, target: int) -> None:
        common = gcd(source, target)
        self._up = target // common
        self._down = source // common
        # Half the filter in input samples.
        self._half = -(-CROSSINGS * max(self._up, self._down) // self._up)
        self._filter = phases(self._up, self._down, self._half)
        # The input from sample number `_first` on; before the first sample there is silence.
        self._tail: Floats = np.zeros(self._half, np.float32)
        self._first = -self._half
        self._samples = 0
        self._taken = 0

    def push(self, samples: Floats) -> Floats:
        """(S,) the output that no later input changes."""
        self._taken += len(samples)
        return self._render(samples, self._taken - self._half)

    def finish(self) -> Floats:
        """(S,) the rest; input and output then last equally long."""
        return self._render(np.zeros(self._half, np.float32), self._taken)

    def _render(self, samples: Floats, end: int) -> Floats:
        """Output whose place in the input lies before sample ``end``."""
        self._tail = np.concatenate([self._tail, samples])
        until = max(self._samples, -(-end * self._up // self._down))
        at = np.arange(self._samples, until, dtype=np.int64) * self._down
        self._samples = until
        if not len(at):
            return np.zeros(0, np.float32)
        base = at // self._up - self._half + 1 - self._first
        windows = np.lib.stride_tricks.sliding_window_view(self._tail, 2 * self._half)
        out: Floats = np.concatenate(
            [
                np.einsum(
                    "nk,nk->n",
                    windows[base[n : n + PIECE]],
                    self._filter[at[n : n + PIECE] % self._up],
                )
                for n in range(0, len(at), PIECE)
            ]
        )
        keep = max(0, self._samples * self._down // self._up - self._half + 1 - self._first)
        self._tail = self._tail[keep:]
        self._first = self._first + keep
        return out


# A rate of a client's choice would have a bank of its own; formats.RATES bounds how many there are.
@lru_cache(maxsize=16)
def phases(up: int, down: int, half: int) -> Floats:
    """(up, 2 * half) filters: row p weighs input samples from ``half - 1`` before to ``half``
    after, for an output that lies p / up after an input sample."""
    distance = np.arange(-half + 1, half + 1)[None, :] - np.arange(up)[:, None] / up
    band = EDGE * min(1.0, up / down)
    window = np.i0(BETA * np.sqrt(np.maximum(0.0, 1.0 - (distance / half) ** 2))) / np.i0(BETA)
    weights = band * np.sinc(band * distance) * window
    bank = np.ascontiguousarray((weights / weights.sum(axis=1, keepdims=True)).astype(np.float32))
    bank.flags.writeable = False
    return bank
