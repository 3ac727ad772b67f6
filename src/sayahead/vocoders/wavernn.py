"""WaveRNN at run time in numpy: mel frames to samples, one after the other.

Whatever does not depend on the previous sample is computed once per frame, so samples are
bit-identical however frames come. ``wavernn_bands`` has the variant in bands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.stages import Vocoder
from sayahead.errors import VoiceError
from sayahead.types import Floats
from sayahead.vocoders.recurrent import Conditions, Recurrent, WaveRNNModel, Weights
from sayahead.vocoders.wavernn_bands import BandsModel, BandsVocoder

WHERE = "model: vocoder"


@dataclass(frozen=True, slots=True)
class WaveRNNState:
    """State of a sentence between steps."""

    frame: int
    """Number in the session of the first frame that is not final; selects the random draws."""
    past: Floats
    """(left, n_mels) the normalized frames before it; zeros where there are none."""
    last_sample: Floats
    """(1, 1) the last sample."""
    first_gru: Floats
    """(D,) state of the first GRU."""
    second_gru: Floats
    """(D,) state of the second."""


class WaveRNNVocoder:
    """WaveRNN: frames are log mel. Weights are those of ``arrays`` in
    training/wavernn/export.py."""

    def __init__(self, model: WaveRNNModel, weights: Weights) -> None:
        self.hop_length = model.hop_length
        self.context = model.right
        self._model = model
        self._w = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
        self._conditions = Conditions(self._w)
        # The weights of the previous sample, which is the only input of a step: one row.
        of_sample = np.concatenate([self._w["input.sample"], self._w["input.sample.gates"]])
        self._recurrent = Recurrent(self._w, of_sample[None])
        # The sample that each of the output's classes stands for.
        self._values = self._w["values"]

    def initial(self, frame: int) -> WaveRNNState:
        rest = np.zeros(len(self._w["first.outer"]), np.float32)
        past = np.zeros((self._model.left, self._model.n_mels), np.float32)
        return WaveRNNState(frame, past, np.zeros((1, 1), np.float32), rest, rest)

    def step(
        self, final: Floats, right: Floats, state: WaveRNNState, *, seed: int, ended: bool
    ) -> tuple[Floats, WaveRNNState]:
        """Render frames. At the end of a sentence, the mean frame stands for those that would
        follow."""
        if not len(final):
            return np.zeros(0, np.float32), state
        model = self._model
        w = self._w
        following = right[:0] if ended else right[: model.right]
        frames = (np.concatenate([final, following]) - w["mean"]) / w["std"]
        missing = np.zeros((model.right - len(following), model.n_mels), np.float32)
        rows = np.concatenate([state.past, frames, missing]).astype(np.float32)
        sound = list[Floats]()
        width = model.left + 1 + model.right
        recurrent_state = (state.last_sample, state.first_gru, state.second_gru)
        for index in range(len(final)):
            conditions = self._conditions(rows[index : index + width])
            draw = self._sampler(seed, state.frame + index)
            samples, recurrent_state = self._recurrent.steps(
                conditions, recurrent_state, model.hop_length, draw
            )
            sound.append(samples[:, 0])
        past = rows[len(final) : len(final) + model.left]
        return np.concatenate(sound), WaveRNNState(state.frame + len(final), past, *recurrent_state)

    def _sampler(self, seed: int, frame: int) -> Callable[[int, Floats], Floats]:
        """Return a function that draws the samples of a frame, given its number in the session."""
        uniform = np.random.default_rng([seed, frame]).random(self.hop_length)

        def draw(at: int, logits: Floats) -> Floats:
            cumulative = np.exp(logits - logits.max()).cumsum()
            level = min(
                int(cumulative.searchsorted(uniform[at] * cumulative[-1], side="right")),
                len(cumulative) - 1,
            )
            return self._values[level : level + 1]

        return draw


def load_wavernn(table: Mapping[str, Any], folder: Path, threads: int) -> Vocoder[Any]:
    """Load the WaveRNN from ``wavernn.npz`` in a voice's folder; it computes in one thread."""
    path = folder / "wavernn.npz"
    try:
        with np.load(path, allow_pickle=False) as file:
            weights = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise VoiceError(f"{path} cannot be read: {error}. Install the voice again.") from error
    model = from_mapping(
        WaveRNNModel, {key: value for key, value in table.items() if key != "bands"}, where=WHERE
    )
    if "bands" not in table:
        return WaveRNNVocoder(model, weights)
    bands = from_mapping(BandsModel, table["bands"], where=f"{WHERE}: bands")
    return BandsVocoder(model, bands, weights, folder, threads=threads)
