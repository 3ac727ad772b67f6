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
    """The network over mel frames whose results the recurrent layers take besides their past."""

    def __init__(self, weights: Weights) -> None:
        self._w = weights
        self._sight = weights["sight"].astype(bool)
        self._blocks = sum(name.startswith("block") and name.endswith(".first") for name in weights)

    def __call__(self, window: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the conditions of one frame's S steps, from the normalized frames (left + 1 +
        right, n_mels) around it.

        The first is added to the input (S, D), the second to the second GRU's gates (3 D,), the
        third to both dense layers (concatenated).
        """
        w = self._w
        x = np.maximum(window[self._sight].reshape(-1) @ w["entry"] + w["entry.bias"], 0)
        for block in range(self._blocks):
            inner = np.maximum(x @ w[f"block{block}.first"] + w[f"block{block}.first.bias"], 0)
            x = x + inner @ w[f"block{block}.second"] + w[f"block{block}.second.bias"]
        to_input, to_gates, to_dense0, to_dense1 = np.split(x @ w["parts"] + w["parts.bias"], 4)
        frames_at_steps = w["spread"] @ (window @ w["input.mel"])
        input_part = frames_at_steps + (to_input @ w["input.part"] + w["input.bias"])
        gates_part = to_gates @ w["second.part"] + w["second.inner.bias"]
        dense_part = np.concatenate(
            [
                to_dense0 @ w["dense0.part"] + w["dense0.bias"],
                to_dense1 @ w["dense1.part"] + w["dense1.bias"],
            ]
        )
        return input_part, gates_part, dense_part


class Recurrent:
    """The layers that run step by step. A step has K values: one sample, or one per band."""

    def __init__(self, weights: Weights, step_weights: Floats) -> None:
        """``step_weights`` (P K, 4 D): those of the last P steps, for the input (D) and for the
        first GRU's gates (3 D)."""
        self._w = weights
        self._step_weights = step_weights

    def steps(
        self,
        conditions: tuple[Floats, Floats, Floats],
        past: Past,
        count: int,
        draw: Callable[[int, Floats], Floats],
    ) -> tuple[Floats, Past]:
        """Return the first ``count`` steps (count, K) of a frame, and the past for the next one.

        ``conditions``: from Conditions; ``draw``: returns a step (K,) for its number in the frame
        and the row of the output layer. Weights are looked up before the loop, which runs for each
        step: thousands of times a second.
        """
        w = self._w
        input_part, gates_part, dense_part = conditions
        last_steps, first, second = past
        inputs = np.hstack([input_part, input_part @ w["first.inner"] + w["first.inner.bias"]])
        step_weights = self._step_weights
        width = len(first)
        dense_width = w["dense0"].shape[1]
        lag, values = last_steps.shape
        first_outer = w["first.outer"]
        first_outer_bias = w["first.outer.bias"]
        second_outer = w["second.outer"]
        second_outer_bias = w["second.outer.bias"]
        second_inner = w["second.inner"]
        dense0 = w["dense0"]
        dense1 = w["dense1"]
        out = w["out"]
        bias = w["out.bias"]
        rows = np.concatenate([last_steps, np.empty((count, values), np.float32)])
        flat = rows.reshape(-1)
        for step in range(count):
            x = inputs[step] + flat[step * values : (step + lag) * values] @ step_weights
            first = gru(x[width:], first @ first_outer + first_outer_bias, first, width)
            x = x[:width] + first
            second = gru(
                x @ second_inner + gates_part,
                second @ second_outer + second_outer_bias,
                second,
                width,
            )
            x += second
            x = np.maximum(x @ dense0 + dense_part[:dense_width], 0)
            x = np.maximum(x @ dense1 + dense_part[dense_width:], 0)
            rows[step + lag] = draw(step, x @ out + bias)
        return rows[lag:], (rows[count:], first, second)


def gru(inner: Floats, outer: Floats, state: Floats, width: int) -> Floats:
    """Return the next state (D,) of a GRU, given the sums (3 D,) before its gates reset, update and
    new: ``inner`` from its input, ``outer`` from its state; ``width``: D."""
    gates = inner[: 2 * width] + outer[: 2 * width]
    # The logistic function by tanh, which does not overflow.
    gates = 0.5 * np.tanh(0.5 * gates) + 0.5
    new = np.tanh(inner[2 * width :] + gates[:width] * outer[2 * width :])
    after: Floats = new + gates[width:] * (state - new)
    return after
