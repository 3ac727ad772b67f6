"""A toy causal language model: letters are its tokens, a state is a running mean of what has been
read."""

from __future__ import annotations

import numpy as np

from sayahead.types import Floats

WIDTH = 7


class ToyStates:
    """See hidden.StatesModel; notes what it was asked."""

    def __init__(self, width: int = WIDTH) -> None:
        self._table = np.random.default_rng(3).normal(size=(256, width)).astype(np.float32)
        self.asked = list[list[int]]()

    def encode(self, text: str) -> list[int]:
        return [ord(letter) % 256 for letter in text]

    def states(self, ids: list[int], layer: int) -> Floats:
        self.asked.append(ids)
        sums: Floats = (
            np.cumsum(self._table[ids], axis=0)
            / np.arange(1, len(ids) + 1, dtype=np.float32)[:, None]
        )
        return sums
