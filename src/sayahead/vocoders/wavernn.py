"""WaveRNN at run time: mel frames to samples, one after the other, in numpy, with all that it remembers as a state.

Frame by frame the few mel frames around it become what the recurrent layers hear; everything of a sample that does not
wait for the one before is made once a frame. So frames make the same samples however they come, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import from_mapping
from sayahead.errors import VoiceError
from sayahead.types import Floats

Weights = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class WaveRNNModel:
    """What a voice's ``model`` table says of its WaveRNN under ``vocoder``."""

    n_mels: int
    """Mel bands."""
    hop_length: int
    """Samples a frame."""
    left: int
    """Frames on the left of one that its samples hear."""
    right: int
    """Frames on the right."""


@dataclass(frozen=True, slots=True)
class WaveRNNState:
    """The past of a sentence."""

    frame: int
    """Number, in the session, of the first frame that is not final; keys the draws."""
    past: Floats
    """(left, n_mels) the normalized frames before it; zeros where there are none."""
    last: float
    """The last sample."""
    first: Floats
    """(D,) state of the first GRU."""
    second: Floats
    """(D,) state of the second."""


class WaveRNNVocoder:
    """See Vocoder; frames are log mel. Weights are those of ``arrays`` in training/wavernn/export.py."""

    def __init__(self, model: WaveRNNModel, weights: Weights) -> None:
        self.hop_length, self.context, self._model = model.hop_length, model.right, model
        self._w = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
        self._blocks = sum(name.endswith(".first") for name in weights)
        self._values = self._w["values"]

    def initial(self, frame: int) -> WaveRNNState:
        """See Vocoder."""
        rest = np.zeros(len(self._w["first.outer"]), np.float32)
        past = np.zeros((self._model.left, self._model.n_mels), np.float32)
        return WaveRNNState(frame, past, 0.0, rest, rest)

    def step(
        self, final: Floats, right: Floats, state: WaveRNNState, *, seed: int, ended: bool
    ) -> tuple[Floats, WaveRNNState]:
        """See Vocoder; where nothing follows, the mean frame stands on the right."""
        if not len(final):
            return np.zeros(0, np.float32), state
        model, w = self._model, self._w
        follows = right[:0] if ended else right[: model.right]
        given = (np.concatenate([final, follows]) - w["mean"]) / w["std"]
        missing = np.zeros((model.right - len(follows), model.n_mels), np.float32)
        rows = np.concatenate([state.past, given, missing]).astype(np.float32)
        sound, width = list[Floats](), model.left + 1 + model.right
        last, first, second = state.last, state.first, state.second
        for at in range(len(final)):
            heard = self._heard(rows[at : at + width])
            drawn = np.random.default_rng([seed, state.frame + at]).random(model.hop_length)
            samples, last, first, second = self._frame(heard, drawn, last, first, second)
            sound.append(samples)
        past = rows[len(final) : len(final) + model.left]
        return np.concatenate(sound), WaveRNNState(state.frame + len(final), past, last, first, second)

    def _heard(self, window: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """What one frame's samples hear, of the normalized frames (left + 1 + right, n_mels) around it.

        Beside the input (hop, D), already turned into the first GRU's gates as well (hop, 3 D); beside the second
        GRU (3 D), the first dense layer and the second one, side by side.
        """
        w = self._w
        x = np.maximum(window[w["sight"].astype(bool)].reshape(-1) @ w["entry"] + w["entry.bias"], 0)
        for block in range(self._blocks):
            inner = np.maximum(x @ w[f"block{block}.first"] + w[f"block{block}.first.bias"], 0)
            x = x + inner @ w[f"block{block}.second"] + w[f"block{block}.second.bias"]
        beside = x @ w["parts"] + w["parts.bias"]
        a, b, c, d = np.split(beside, 4)
        joined = w["spread"] @ (window @ w["input.mel"]) + (a @ w["input.part"] + w["input.bias"])
        gates = joined @ w["first.inner"] + w["first.inner.bias"]
        second = b @ w["second.part"] + w["second.inner.bias"]
        later = np.concatenate([c @ w["dense0.part"] + w["dense0.bias"], d @ w["dense1.part"] + w["dense1.bias"]])
        return joined, gates, second, later

    def _frame(
        self, heard: tuple[Floats, Floats, Floats, Floats], drawn: Any, last: float, first: Floats, second: Floats
    ) -> tuple[Floats, float, Floats, Floats]:
        """One frame's samples (hop,), the last of them, and the states of both GRUs."""
        w, (joined, gates, beside, later) = self._w, heard
        wide, deep = len(first), w["dense0"].shape[1]
        sample, sample_gates = w["input.sample"], w["input.sample.gates"]
        outer, outer_bias = (w["first.outer"], w["second.outer"]), (w["first.outer.bias"], w["second.outer.bias"])
        inner, dense0, dense1, out, bias = w["second.inner"], w["dense0"], w["dense1"], w["out"], w["out.bias"]
        samples = np.empty(len(joined), np.float32)
        for at in range(len(joined)):
            x = joined[at] + last * sample
            first = gru(gates[at] + last * sample_gates, first @ outer[0] + outer_bias[0], first, wide)
            x += first
            second = gru(x @ inner + beside, second @ outer[1] + outer_bias[1], second, wide)
            x += second
            x = np.maximum(x @ dense0 + later[:deep], 0)
            x = np.maximum(x @ dense1 + later[deep:], 0)
            logits = x @ out + bias
            likely = np.exp(logits - logits.max())
            below = likely.cumsum()
            last = self._values[min(int(below.searchsorted(drawn[at] * below[-1], side="right")), len(below) - 1)]
            samples[at] = last
        return samples, float(last), first, second


def gru(inner: Floats, outer: Floats, was: Floats, wide: int) -> Floats:
    """The next state (D,) of a GRU: gates (3 D,) of reset, update and new, from its input and from its state."""
    both = inner[: 2 * wide] + outer[: 2 * wide]
    # The logistic function by way of tanh, which does not overflow.
    both = 0.5 * np.tanh(0.5 * both) + 0.5
    new = np.tanh(inner[2 * wide :] + both[:wide] * outer[2 * wide :])
    after: Floats = new + both[wide:] * (was - new)
    return after


def load_wavernn(table: Mapping[str, Any], folder: Path, threads: int) -> WaveRNNVocoder:
    """The WaveRNN in a voice's folder, in ``wavernn.npz``; it computes in one thread."""
    path = folder / "wavernn.npz"
    try:
        with np.load(path, allow_pickle=False) as file:
            weights = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise VoiceError(f"{path} cannot be read: {error}. Install the voice again.") from error
    return WaveRNNVocoder(from_mapping(WaveRNNModel, table, where="model: vocoder"), weights)
