"""A WaveRNN that draws several frequency bands at once: mel frames to steps with one value per
band, and steps to samples.

Whatever does not depend on the previous step is computed once per frame, as are the conversions of
pulses to bands and of bands to samples, so samples are bit-identical however frames come. A frame's
last samples depend on the first steps of the next frame: these are drawn from the expected frame,
and again once it is final.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sayahead.config import check_number, check_whole
from sayahead.types import Floats
from sayahead.vocoders.pulses import PulseModel, Pulses, PulseState
from sayahead.vocoders.recurrent import Conditions, Past, Recurrent, WaveRNNModel, Weights


@dataclass(frozen=True, slots=True)
class BandsModel:
    """What a voice's ``model`` table says of a WaveRNN's bands."""

    count: int
    """Bands."""
    pulses: PulseModel
    """The pitch, which is read from the mel by ``pitch.onnx``."""
    temperature: float = 0.8
    """Factor on the deviation of unvoiced steps."""
    voiced: float = 0.3
    """The same for voiced steps; low, so that the network's uncertainty is seldom heard as noise
    (as in LPCNet, Valin 2019)."""

    def __post_init__(self) -> None:
        check_whole("model: vocoder: bands: count", self.count, 2, 1000)
        for name in ("temperature", "voiced"):
            check_number(f"model: vocoder: bands: {name}", getattr(self, name), 0.0, 10.0)


@dataclass(frozen=True, slots=True)
class BandsState:
    """State of a sentence between steps."""

    frame: int
    """Number in the session of the first frame that is not final; selects the random draws."""
    past: Floats
    """(left, n_mels) the normalized frames before it; zeros where there are none."""
    pulses: PulseState
    """State of the pulse generator."""
    train: Floats | None
    """(2, hop) pulses of the previous frame and their quadrature; None before a sentence's first
    frame."""
    last_steps: Floats
    """(P, bands) the last steps, relative to their level: inputs of the next one."""
    first_gru: Floats
    """(D,) state of the first GRU."""
    second_gru: Floats
    """(D,) state of the second GRU."""
    tail: Floats
    """(side, bands) the last steps at their level, which contribute to the next samples."""


class BandsVocoder:
    """The vocoder: log mel frames to samples. Weights are those of ``arrays`` in
    training/wavernn/export.py."""

    def __init__(
        self,
        model: WaveRNNModel,
        bands: BandsModel,
        weights: Weights,
        folder: Path,
        *,
        threads: int = 1,
    ) -> None:
        """Prepare the weights, and load ``pitch.onnx`` from the folder."""
        w = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
        self.hop_length = model.hop_length
        self._model = model
        self._bands = bands
        self._w = w
        self._conditions = Conditions(w)
        self._recurrent = Recurrent(w, w["input.step"])
        self._pulses = Pulses(
            bands.pulses, folder, n_mels=model.n_mels, hop_length=model.hop_length, threads=threads
        )
        # Frames after one that it depends on: for the next one's conditions and pulses.
        self.context = 1 + max(model.right, 2, self._pulses.context)
        self._steps = model.hop_length // bands.count
        self._side = len(w["split"]) // bands.count // 2
        self._share = ((np.arange(self._steps) + 0.5) / self._steps).astype(np.float32)[:, None]

    def initial(self, frame: int) -> BandsState:

        def rest(*shape: int) -> Floats:
            return np.zeros(shape, np.float32)

        wide = len(self._w["first.outer"])
        bands = self._bands.count
        past = rest(self._model.left, self._model.n_mels)
        tail = rest(self._side, bands)
        last = rest(len(self._w["input.step"]) // bands, bands)
        return BandsState(
            frame, past, self._pulses.initial(), None, last, rest(wide), rest(wide), tail
        )

    def step(
        self, final: Floats, right: Floats, state: BandsState, *, seed: int, ended: bool
    ) -> tuple[Floats, BandsState]:
        """Render frames. At the end of a sentence, the mean frame stands for those that would
        follow.

        The first expected frame is rendered as well, as far as its steps contribute to the last
        final samples. The state after that is dropped, as the frame is rendered again once it is
        final."""
        if not len(final):
            return np.zeros(0, np.float32), state
        model = self._model
        w = self._w
        count = len(final)
        following = right[:0] if ended else right[: self.context]
        *trains, pulses = self._pulses.beside(final, following, state.pulses)
        train = np.concatenate(trains)[:, model.n_mels :].reshape(-1, 2, model.hop_length)
        frames = np.concatenate([final, following])
        missing = np.zeros((model.right + 1, model.n_mels), np.float32)
        rows = np.concatenate([state.past, (frames - w["mean"]) / w["std"], missing]).astype(
            np.float32
        )
        filters = self._pulse_filters(rows, len(frames))
        levels = self._levels(frames)
        recurrent_state = (state.last_steps, state.first_gru, state.second_gru)
        sound = [state.tail]
        final_state = recurrent_state
        for index in range(min(count + 1, len(frames))):
            is_final = index < count
            previous = state.train if index == 0 else train[index - 1]
            pulse_steps = self._pulses_in_bands(
                filters[index : index + 2], [previous, *train[index : index + 2]]
            )
            conditions = self._conditions(rows[index : index + model.left + 1 + model.right])
            noise = self._noise(seed, state.frame + index, pulse_steps)
            step_count = self._steps if is_final else self._side
            steps, recurrent_state = self._frame(
                conditions, pulse_steps, noise, recurrent_state, step_count
            )
            sound.append(steps * np.exp(self._interpolate(levels[index : index + 2])[:step_count]))
            if is_final:
                final_state = recurrent_state
        scaled = np.concatenate(sound)
        end = count * self._steps
        tail = scaled[end : end + self._side]
        kept = rows[count : count + model.left]
        state = BandsState(state.frame + count, kept, pulses, train[count - 1], *final_state, tail)
        return self._to_samples(scaled, count), state

    def _noise(self, seed: int, frame: int, pulse_steps: Floats) -> Floats:
        """Return the noise (S, bands) of a frame, given its number in the session; it is lower
        in voiced steps, where the pulses (S, bands) are not zero."""
        draws = np.random.default_rng([seed, frame]).standard_normal(
            pulse_steps.shape, dtype=np.float32
        )
        is_voiced = pulse_steps.any(1, keepdims=True)
        deviations = np.where(is_voiced, self._bands.voiced, self._bands.temperature)
        noise: Floats = draws * deviations.astype(np.float32)
        return noise

    def _pulse_filters(self, rows: Floats, count: int) -> list[Floats]:
        """Return the filters (2 bands taps,) of each of ``count`` frames' pulses, the last ones
        twice.

        ``rows``: normalized frames, beginning ``left`` before the first one; a small network
        computes a frame's filters from three of them."""
        w = self._w
        left = self._model.left
        filters = list[Floats]()
        for row in range(left, left + count):
            hidden = rows[row - 1 : row + 2].reshape(-1) @ w["voice.first"] + w["voice.first.bias"]
            filters.append(gelu(hidden) @ w["voice.last"] + w["voice.last.bias"])
        return [*filters, filters[-1]]

    def _levels(self, mel: Floats) -> list[Floats]:
        """Return the logarithm of each frame's level in each band; the last one twice."""
        w = self._w
        levels = [
            (0.5 * np.log(np.exp(2 * row) @ w["level"] + w["least"])).astype(np.float32)
            for row in mel
        ]
        return [*levels, levels[-1]]

    def _interpolate(self, pair: list[Floats]) -> Floats:
        """Return the values (S, D) at a frame's steps, on a line from its values (D,) to those of
        the next frame."""
        line: Floats = pair[0] + self._share * (pair[1] - pair[0])
        return line

    def _pulses_in_bands(self, filters: list[Floats], trains: list[Floats | None]) -> Floats:
        """Split a frame's pulses into bands and filter them; return them at its steps (S, bands).

        ``filters``: those of the frame and of the next; ``trains``: pulses of the frame before,
        None at the beginning of a sentence, of the frame itself and, if there is one, of the next.
        """
        w = self._w
        bands = self._bands.count
        steps = self._steps
        hop = self.hop_length
        taps = w["voice.last"].shape[1] // (2 * bands)
        edge = taps // 2
        pulses = np.zeros((2, 3 * hop), np.float32)
        for frame, train in enumerate(trains):
            if train is not None:
                pulses[:, frame * hop : (frame + 1) * hop] = train
        # The filter bank's windows at each step of the frame, and at ``edge`` more to each side.
        width = len(w["split"])
        first = hop - (edge + self._side) * bands
        windows = sliding_window_view(pulses[:, first:], width, axis=1)[:, ::bands]
        windows = np.ascontiguousarray(windows[:, : steps + 2 * edge])
        in_bands = (windows.reshape(-1, width) @ w["split"]).reshape(2, -1, bands)
        # There are no steps beyond the ends of a sentence.
        if trains[0] is None:
            in_bands[:, :edge] = 0
        if len(trains) < 3:
            in_bands[:, steps + edge :] = 0
        line = self._interpolate(filters).reshape(steps, 2, bands, taps).transpose(1, 0, 2, 3)
        pulse_steps: Floats = (line * sliding_window_view(in_bands, taps, axis=1)).sum((0, 3))
        return pulse_steps

    def _to_samples(self, scaled: Floats, count: int) -> Floats:
        """Return the samples of ``count`` frames from steps (S, bands), which begin ``side`` before
        them and end ``side`` after."""
        side = self._side
        steps = self._steps
        w = self._w["join"]
        padded = np.zeros((count * steps + 2 * side, scaled.shape[1]), np.float32)
        padded[: len(scaled)] = scaled
        windows = sliding_window_view(padded, 2 * side + 1, axis=0).reshape(count, steps, -1)
        return np.concatenate([window @ w for window in windows]).reshape(-1)

    def _frame(
        self,
        conditions: tuple[Floats, Floats, Floats],
        pulse_steps: Floats,
        noise: Floats,
        past: Past,
        count: int,
    ) -> tuple[Floats, Past]:
        """Draw the first ``count`` steps (count, bands) of a frame; return them, and the past for
        the next frame.

        A step is the pulses plus a normal draw, whose mean and log deviation the network gives."""
        input_part, gates_part, dense_part = conditions
        bands = self._bands.count

        def draw(step: int, output: Floats) -> Floats:
            values: Floats = (
                pulse_steps[step] + output[:bands] + np.exp(output[bands:]) * noise[step]
            )
            return values

        with_pulses = input_part + pulse_steps @ self._w["input.voice"]
        return self._recurrent.steps((with_pulses, gates_part, dense_part), past, count, draw)


def gelu(x: Floats) -> Floats:
    """Return the Gaussian error linear unit (GELU) of a few values; ``math.erf`` is exact."""
    shares = np.array([math.erf(value) for value in (x * math.sqrt(0.5)).tolist()], np.float32)
    out: Floats = np.float32(0.5) * x * (1 + shares)
    return out
