"""WaveRNN at run time: mel frames to samples, one after the other, in numpy, with all that it remembers as a state.

Frame by frame the few mel frames around it become what the recurrent layers hear; everything of a sample that does not
wait for the one before is made once a frame. So frames make the same samples however they come, to the bit. The module
``wavernn_bands`` has those that speak in bands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.stages import Vocoder
from sayahead.errors import VoiceError
from sayahead.types import Floats
from sayahead.vocoders.recurrent import Conditions, WaveRNNModel, Weights, gru
from sayahead.vocoders.wavernn_bands import BandsModel, BandsVocoder

WHERE = "model: vocoder"


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
        self._conditions = Conditions(self._w)
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
            beside = self._conditions(rows[at : at + width])
            drawn = np.random.default_rng([seed, state.frame + at]).random(model.hop_length)
            samples, last, first, second = self._frame(beside, drawn, last, first, second)
            sound.append(samples)
        past = rows[len(final) : len(final) + model.left]
        return np.concatenate(sound), WaveRNNState(state.frame + len(final), past, last, first, second)

    def _frame(
        self, conditions: tuple[Floats, Floats, Floats], drawn: Any, last: float, first: Floats, second: Floats
    ) -> tuple[Floats, float, Floats, Floats]:
        """One frame's samples (hop,), the last of them, and the states of both GRUs."""
        w, (joined, beside, later) = self._w, conditions
        gates = joined @ w["first.inner"] + w["first.inner.bias"]
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


def load_wavernn(table: Mapping[str, Any], folder: Path, threads: int) -> Vocoder[Any]:
    """The WaveRNN in a voice's folder, in ``wavernn.npz``; it computes in one thread."""
    path = folder / "wavernn.npz"
    try:
        with np.load(path, allow_pickle=False) as file:
            weights = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise VoiceError(f"{path} cannot be read: {error}. Install the voice again.") from error
    model = from_mapping(WaveRNNModel, {key: value for key, value in table.items() if key != "bands"}, where=WHERE)
    if "bands" not in table:
        return WaveRNNVocoder(model, weights)
    bands = from_mapping(BandsModel, table["bands"], where=f"{WHERE}: bands")
    return BandsVocoder(model, bands, weights, folder, threads=threads)
