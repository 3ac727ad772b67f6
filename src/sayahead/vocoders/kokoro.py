"""Kokoro's second stage: the harmonic source, and the decoder with cached convolutions.

Frames are units of 25 ms: the encoding of the text (C), two values each of pitch in Hz and energy,
and the number of the style. The phase of the source runs on through a sentence, so that steps give
the same as the whole (``voices.install.kokoro.networks``).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sayahead.engine.onnx import Array, OnnxGraph, count
from sayahead.errors import ConfigError
from sayahead.types import Floats, Ids, Shape
from sayahead.vocoders.overlap import blend

SAMPLE_RATE = 24000
UNIT = 600
HALF = 300
EDGE = 5
"""Samples of the source before the first sample of a step."""
MIRRORED = 10
"""Mirrored samples of the source at the ends of a sentence."""
TURN = 1 << 40
"""A turn of the phase in integers, which add up exactly."""
SHARES = (np.arange(HALF) + 0.5) / HALF
"""Positions of samples between the middles of two half units, from 0 to 1."""
VOICED_HZ = 10.0
"""The source is silent below this pitch."""
VOICE_HZ = 40.0
"""Pitches below this are not changed."""


@dataclass(frozen=True, slots=True)
class Styled:
    """A style in the form that the networks take."""

    row: Floats
    """(256,) the style itself."""
    prosody: dict[str, Array]
    """Inputs of the prosody network for this style."""
    decoder: dict[str, Array]
    """Inputs of the decoder for this style."""
    prosody_past: dict[str, Array]
    """State of the prosody network before a sentence."""
    decoder_past: dict[str, Array]
    """State of the decoder before a sentence."""
    middle_hz: float
    """Its median pitch."""


@dataclass(frozen=True, slots=True)
class KokoroSound:
    """State of the decoder between steps."""

    caches: dict[str, Array]
    """Caches by the graph's names; empty before a sentence's first unit."""
    turns: int = 0
    """Phase of the source in the middle of the last final half unit."""
    hz: float = 0.0
    """Pitch there."""
    tail: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    """(<= fade,) samples that were expected to follow, which fade into the next ones."""


class KokoroVocoder:
    """Turns frames (T, C + 5) into samples, 600 each."""

    hop_length = UNIT

    def __init__(
        self, graph: OnnxGraph, styles: Callable[[int], Styled], *, right: int, fade: int
    ) -> None:
        """``styles``: returns a style by number; ``right``: units to the right that influence the
        result; ``fade``: samples of cross-fade."""
        self._graph = graph
        self._styles = styles
        self.context = right
        self._fade = fade
        self._shape = Shape()
        self._width = int(graph.shapes["rows"][1])

    def shaped(self, shape: Shape) -> KokoroVocoder:
        if shape.formants != 1.0:
            raise ConfigError(
                "Kokoro has a source, but no filter that can be changed: leave formants as they"
                " are."
            )
        other = copy.copy(self)
        other._shape = shape
        return other

    def initial(self, frame: int) -> KokoroSound:
        return KokoroSound({})

    def step(
        self, final: Floats, right: Floats, state: KokoroSound, *, seed: int, ended: bool
    ) -> tuple[Floats, KokoroSound]:
        """Render frames, continuing the caches and the phase of the source."""
        if not len(final):
            return np.zeros(0, np.float32), state
        frames = np.concatenate([final, right[:0] if ended else right])
        style = self._styles(int(final[0, -1]))
        prosody = self._shaped_prosody(frames[:, self._width : self._width + 4], style)
        begins = not state.caches
        turns, voiced, middles = source(
            prosody[:, :2].reshape(-1), state.turns, None if begins else state.hz
        )
        caches = style.decoder_past if begins else state.caches
        outputs = self._graph(
            rows=np.ascontiguousarray(frames[:, : self._width]),
            prosody=prosody,
            turns=turns,
            voiced=voiced,
            lead=count(int(begins)),
            commit=count(len(final)),
            **style.decoder,
            **caches,
        )
        samples = outputs.pop("samples")
        size = len(final) * UNIT
        kept = {name.removeprefix("next_"): value for name, value in outputs.items()}
        after = KokoroSound(
            kept, int(middles[2 * len(final) - 1]), float(prosody[len(final) - 1, 1])
        )
        tail = samples[size : size + (0 if ended else self._fade)]
        return blend(state.tail, samples[:size]), replace(after, tail=tail)

    def _shaped_prosody(self, prosody: Floats, style: Styled) -> Floats:
        """Return pitch and energy (T, 4) with the session's shape applied to the pitch."""
        if self._shape.pitch == 0.0 and self._shape.pitch_range == 1.0:
            return np.ascontiguousarray(prosody)
        hz = prosody[:, :2]
        middle_hz = style.middle_hz
        shape = self._shape
        moved = (
            middle_hz
            * (np.maximum(hz, VOICE_HZ) / middle_hz) ** shape.pitch_range
            * 2 ** (shape.pitch / 12)
        )
        return np.concatenate([np.where(hz > VOICE_HZ, moved, hz), prosody[:, 2:]], axis=1).astype(
            np.float32
        )


def source(hz: Floats, turns: int, before: float | None) -> tuple[Floats, Floats, Ids]:
    """Return phase in turns and voicing (S,) of each sample, and the phase (F,) in the middle of
    each half unit, for pitches (F,).

    ``turns`` and ``before``: phase and pitch in the middle of the previous half unit; ``before`` is
    None at the beginning of a sentence, which is mirrored. The phase is linear between the middles,
    where it is an integer in units of 1 / ``TURN``, so that it does not depend on how a sentence is
    cut.
    """
    begins = before is None
    pitches = hz if begins else np.concatenate([np.array([before], np.float32), hz])
    # By how much the phase grows up to the middle of each half unit, from that of the one before.
    steps: Ids = np.rint(pitches.astype(np.float64) * (TURN * HALF / SAMPLE_RATE)).astype(np.int64)
    middles: Ids = (np.cumsum(steps) + (0 if begins else turns - steps[0])) % TURN
    # The first half of a half unit comes from the previous middle, the second one goes to the next.
    # Before the first middle and after the last, the phase stands still.
    previous = np.append(middles[:1], middles[:-1])
    steps_to = np.append(0, steps[1:])
    steps_from = np.append(steps[1:], 0)
    first_halves = previous[:, None] + steps_to[:, None] * SHARES[HALF // 2 :]
    second_halves = middles[:, None] + steps_from[:, None] * SHARES[: HALF // 2]
    # Of the half unit before, only the last samples are asked for.
    first_sample = 0 if begins else HALF - EDGE
    phase = np.concatenate([first_halves, second_halves], axis=1).reshape(-1)[first_sample:]
    voiced = np.repeat(pitches, HALF)[first_sample:] > VOICED_HZ
    padding = (MIRRORED if begins else 0, MIRRORED)
    return (
        np.pad((phase / TURN % 1.0).astype(np.float32), padding, mode="reflect"),
        np.pad(voiced.astype(np.float32), padding, mode="reflect"),
        middles if begins else middles[1:],
    )
