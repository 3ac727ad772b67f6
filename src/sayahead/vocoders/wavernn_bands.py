"""WaveRNN in bands at run time: mel frames to steps, a value in each band, one after the other, and
these to samples.

What a step does not have to wait for is made frame by frame, and so is the way of pulses into bands
and of bands to samples: frames make the same samples however they come, to the bit. A frame's last
samples want the first steps of the frame after it: these are drawn from what is expected to follow,
and drawn again once it is final."""

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
    """Factor on the deviation of what is drawn, where there is no pitch."""
    voiced: float = 0.3
    """The same where there is one: what the network is not sure of is then seldom noise (as in
    LPCNet, Valin 2019)."""

    def __post_init__(self) -> None:
        check_whole("model: vocoder: bands: count", self.count, 2, 1000)
        for name in ("temperature", "voiced"):
            check_number(f"model: vocoder: bands: {name}", getattr(self, name), 0.0, 10.0)


@dataclass(frozen=True, slots=True)
class BandsState:
    """The past of a sentence."""

    frame: int
    """Number, in the session, of the first frame that is not final; keys the draws."""
    past: Floats
    """(left, n_mels) the normalized frames before it; zeros where there are none."""
    pulses: PulseState
    """The pitch's."""
    train: Floats | None
    """(2, hop) pulses and their quadrature of the frame before it; None before a sentence's first
    frame."""
    last: Floats
    """(P, bands) the last steps, relative to the level, which the next one hears."""
    first: Floats
    """(D,) state of the first GRU."""
    second: Floats
    """(D,) state of the second."""
    tail: Floats
    """(side, bands) the last steps as they are, which still sound in the samples to come."""


class BandsVocoder:
    """WaveRNN in bands: frames are log mel. Weights are those of ``arrays`` in
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
        """Take the weights, and load ``pitch.onnx`` from the folder."""
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
        # Beyond a frame: the next one's conditions, and its pulses.
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
        """Where nothing follows, the mean frame stands on the right."""
        if not len(final):
            return np.zeros(0, np.float32), state
        model = self._model
        w = self._w
        count = len(final)
        follows = right[:0] if ended else right[: self.context]
        *trains, pulses = self._pulses.beside(final, follows, state.pulses)
        train = np.concatenate(trains)[:, model.n_mels :].reshape(-1, 2, model.hop_length)
        frames = np.concatenate([final, follows])
        missing = np.zeros((model.right + 1, model.n_mels), np.float32)
        rows = np.concatenate([state.past, (frames - w["mean"]) / w["std"], missing]).astype(
            np.float32
        )
        voices = self._voices(rows, len(frames))
        levels = self._levels(frames)
        now = (state.last, state.first, state.second)
        sound = [state.tail]
        after = now
        for at in range(min(count + 1, len(frames))):
            before = state.train if at == 0 else train[at - 1]
            voice = self._voice(voices[at : at + 2], [before, *train[at : at + 2]])
            beside = self._conditions(rows[at : at + model.left + 1 + model.right])
            noise = self._noise(seed, state.frame + at, voice)
            steps, now = self._frame(
                beside, voice, noise, now, self._steps if at < count else self._side
            )
            sound.append(steps * np.exp(self._between(levels[at : at + 2])[: len(steps)]))
            if at < count:
                after = now
        scaled = np.concatenate(sound)
        end = count * self._steps
        tail = scaled[end : end + self._side]
        kept = rows[count : count + model.left]
        state = BandsState(state.frame + count, kept, pulses, train[count - 1], *after, tail)
        return self._joined(scaled, count), state

    def _noise(self, seed: int, frame: int, voice: Floats) -> Floats:
        """(S, bands) what is drawn in a frame, by its number in the session, with a voice (S,
        bands) or none."""
        drawn = np.random.default_rng([seed, frame]).standard_normal(voice.shape, dtype=np.float32)
        pitched = voice.any(1, keepdims=True)
        noise: Floats = drawn * np.where(
            pitched, self._bands.voiced, self._bands.temperature
        ).astype(np.float32)
        return noise

    def _voices(self, rows: Floats, count: int) -> list[Floats]:
        """Each frame's weights of the pulses, of normalized frames that begin ``left`` before it:
        count + 1, the last one twice."""
        w = self._w
        left = self._model.left
        voices = list[Floats]()
        for at in range(left, left + count):
            hidden = rows[at - 1 : at + 2].reshape(-1) @ w["voice.first"] + w["voice.first.bias"]
            voices.append(gelu(hidden) @ w["voice.last"] + w["voice.last.bias"])
        return [*voices, voices[-1]]

    def _levels(self, mel: Floats) -> list[Floats]:
        """Each frame's log of the bands' level; the last one twice."""
        w = self._w
        levels = [
            (0.5 * np.log(np.exp(2 * row) @ w["level"] + w["least"])).astype(np.float32)
            for row in mel
        ]
        return [*levels, levels[-1]]

    def _between(self, pair: list[Floats]) -> Floats:
        """(S, D) from one frame's values (D,) to the next one's."""
        line: Floats = pair[0] + self._share * (pair[1] - pair[0])
        return line

    def _voice(self, weights: list[Floats], trains: list[Floats | None]) -> Floats:
        """(S, bands) of a frame's weights and the next one's, and of pulses before, in and,
        perhaps, after it."""
        w = self._w
        bands = self._bands.count
        steps = self._steps
        hop = self.hop_length
        taps = w["voice.last"].shape[1] // (2 * bands)
        edge = taps // 2
        around = np.zeros((2, 3 * hop), np.float32)
        for place, train in enumerate(trains):
            if train is not None:
                around[:, place * hop : (place + 1) * hop] = train
        width = len(w["split"])
        first = hop - (edge + self._side) * bands
        windows = sliding_window_view(around[:, first:], width, axis=1)[:, ::bands][
            :, : steps + 2 * edge
        ]
        near = (np.ascontiguousarray(windows).reshape(-1, width) @ w["split"]).reshape(2, -1, bands)
        # Beyond a sentence's ends there are no steps.
        if trains[0] is None:
            near[:, :edge] = 0
        if len(trains) < 3:
            near[:, steps + edge :] = 0
        line = self._between(weights).reshape(steps, 2, bands, taps).transpose(1, 0, 2, 3)
        voice: Floats = (line * sliding_window_view(near, taps, axis=1)).sum((0, 3))
        return voice

    def _joined(self, scaled: Floats, count: int) -> Floats:
        """Samples of so many frames, of steps (S, bands) from ``side`` before them to ``side``
        after them."""
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
        voice: Floats,
        noise: Floats,
        past: Past,
        count: int,
    ) -> tuple[Floats, Past]:
        """The first ``count`` steps of a frame (count, bands), and the past of the next one."""
        (joined, beside, later) = conditions
        bands = self._bands.count

        def draw(at: int, said: Floats) -> Floats:
            step: Floats = voice[at] + said[:bands] + np.exp(said[bands:]) * noise[at]
            return step

        heard = joined + voice @ self._w["input.voice"]
        return self._recurrent.steps((heard, beside, later), past, count, draw)


def gelu(x: Floats) -> Floats:
    """x times the normal distribution's share below x, of few values."""
    shares = np.array([math.erf(value) for value in (x * math.sqrt(0.5)).tolist()], np.float32)
    out: Floats = np.float32(0.5) * x * (1 + shares)
    return out
