"""The common parts of WaveRNNs at run time: conditions per frame, and recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sayahead.types import Floats

Weights = Mapping[str, Floats]
"""Named as by ``arrays`` in training/wavernn/export.py."""
Past = tuple[Floats, Floats, Floats]
"""The last steps (P, K), inputs of the next one, and the states (D,) of both GRUs."""


@dataclass(frozen=True, slots=True)
class WaveRNNModel:
    """Settings of a WaveRNN in a voice's ``model`` table under ``vocoder``; for one in bands, also
    under ``vocoder: bands``."""

    n_mels: int
    """Mel bands."""
    hop_length: int
    """Samples a frame."""
    left: int
    """Frames to the left of one that its samples depend on."""
    right: int
    """Frames to the right."""


class Conditions:
    """Computes what the recurrent layers get besides their own past."""

    def __init__(self, weights: Weights) -> None:
        self._w = weights
        self._sight = weights["sight"].astype(bool)
        self._blocks = sum(name.startswith("block") and name.endswith(".first") for name in weights)

    def __call__(self, window: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the conditions of one frame's S steps, from the normalized frames (left + 1 +
        right, n_mels) around it.

        These are added to the input (S, D), to the second GRU's gates (3 D), and to both dense
        layers (concatenated).
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
        later = np.concatenate(
            [c @ w["dense0.part"] + w["dense0.bias"], d @ w["dense1.part"] + w["dense1.bias"]]
        )
        return joined, second, later


class Recurrent:
    """The layers that run step by step. A step has K values: one sample, or one per band."""

    def __init__(self, weights: Weights, heard: Floats) -> None:
        """``heard`` (P K, 4 D): weights of the last steps, for the input and for the first GRU's
        gates, concatenated."""
        self._w = weights
        self._heard = heard

    def steps(
        self,
        conditions: tuple[Floats, Floats, Floats],
        past: Past,
        count: int,
        draw: Callable[[int, Floats], Floats],
    ) -> tuple[Floats, Past]:
        """Return the first ``count`` steps (count, K) of a frame, and the past for the next one.

        ``conditions``: from Conditions; ``draw``: returns a step (K,) for its number in the frame
        and the row of the output layer.
        """
        w = self._w
        (joined, beside, later) = conditions
        (last, first, second) = past
        inputs = np.hstack([joined, joined @ w["first.inner"] + w["first.inner.bias"]])
        heard = self._heard
        wide = len(first)
        deep = w["dense0"].shape[1]
        (lag, values) = last.shape
        outer = (w["first.outer"], w["second.outer"])
        outer_bias = (w["first.outer.bias"], w["second.outer.bias"])
        inner = w["second.inner"]
        dense0 = w["dense0"]
        dense1 = w["dense1"]
        out = w["out"]
        bias = w["out.bias"]
        rows = np.concatenate([last, np.empty((count, values), np.float32)])
        line = rows.reshape(-1)
        for step in range(count):
            both = inputs[step] + line[step * values : (step + lag) * values] @ heard
            first = gru(both[wide:], first @ outer[0] + outer_bias[0], first, wide)
            x = both[:wide] + first
            second = gru(x @ inner + beside, second @ outer[1] + outer_bias[1], second, wide)
            x += second
            x = np.maximum(x @ dense0 + later[:deep], 0)
            x = np.maximum(x @ dense1 + later[deep:], 0)
            rows[step + lag] = draw(step, x @ out + bias)
        return rows[lag:], (rows[count:], first, second)


def gru(inner: Floats, outer: Floats, state: Floats, wide: int) -> Floats:
    """Return the next state (D,) of a GRU, from its gates (3 D,) of reset, update and new: those of
    the input and those of the state."""
    both = inner[: 2 * wide] + outer[: 2 * wide]
    # The logistic function by tanh, which does not overflow.
    both = 0.5 * np.tanh(0.5 * both) + 0.5
    new = np.tanh(inner[2 * wide :] + both[:wide] * outer[2 * wide :])
    after: Floats = new + both[wide:] * (state - new)
    return after
