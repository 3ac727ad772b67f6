"""What WaveRNNs have in common at run time: their conditions, frame by frame, and their recurrent layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sayahead.types import Floats

Weights = Mapping[str, Floats]
"""As ``arrays`` in training/wavernn/export.py names them."""


@dataclass(frozen=True, slots=True)
class WaveRNNModel:
    """What a voice's ``model`` table says of its WaveRNN under ``vocoder``, one in bands under ``vocoder: bands``."""

    n_mels: int
    """Mel bands."""
    hop_length: int
    """Samples a frame."""
    left: int
    """Frames on the left of one that its samples hear."""
    right: int
    """Frames on the right."""


class Conditions:
    """What the recurrent layers hear beside their own past."""

    def __init__(self, weights: Weights) -> None:
        self._w, self._sight = weights, weights["sight"].astype(bool)
        self._blocks = sum(name.startswith("block") and name.endswith(".first") for name in weights)

    def __call__(self, window: Floats) -> tuple[Floats, Floats, Floats]:
        """For one frame's steps S, of the normalized frames (left + 1 + right, n_mels) around it.

        Beside the input (S, D); beside the second GRU's gates (3 D); beside the first dense layer and the second one,
        side by side.
        """
        w = self._w
        x = np.maximum(window[self._sight].reshape(-1) @ w["entry"] + w["entry.bias"], 0)
        for block in range(self._blocks):
            inner = np.maximum(x @ w[f"block{block}.first"] + w[f"block{block}.first.bias"], 0)
            x = x + inner @ w[f"block{block}.second"] + w[f"block{block}.second.bias"]
        beside = x @ w["parts"] + w["parts.bias"]
        a, b, c, d = np.split(beside, 4)
        joined = w["spread"] @ (window @ w["input.mel"]) + (a @ w["input.part"] + w["input.bias"])
        second = b @ w["second.part"] + w["second.inner.bias"]
        later = np.concatenate([c @ w["dense0.part"] + w["dense0.bias"], d @ w["dense1.part"] + w["dense1.bias"]])
        return joined, second, later


def gru(inner: Floats, outer: Floats, was: Floats, wide: int) -> Floats:
    """The next state (D,) of a GRU: gates (3 D,) of reset, update and new, from its input and from its state."""
    both = inner[: 2 * wide] + outer[: 2 * wide]
    # The logistic function by way of tanh, which does not overflow.
    both = 0.5 * np.tanh(0.5 * both) + 0.5
    new = np.tanh(inner[2 * wide :] + both[:wide] * outer[2 * wide :])
    after: Floats = new + both[wide:] * (was - new)
    return after
