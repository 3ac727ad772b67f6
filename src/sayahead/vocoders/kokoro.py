"""Kokoro's second stage: its harmonic source, and its decoder with the past of every convolution as
state.

Frames are units of 25 ms: the text's encoding (C), pitch in Hz and energy, two of each, and the
number of the style. The source's phase runs on from unit to unit of a sentence, so that steps are
the whole (``voices.install.kokoro.networks``).
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
MIRRORED = 10
"""Samples of the source before the first of a step, and mirrored ones at the ends of a sentence."""
TURN = 1 << 40
SHARES = (np.arange(HALF) + 0.5) / HALF
"""Of the way from the middle of a half unit to the next one's."""
VOICED_HZ = 10.0
"""Pitch below which the source is silent."""
VOICE_HZ = 40.0
"""The same for what is a pitch to a listener."""


@dataclass(frozen=True, slots=True)
class Styled:
    """A style as the networks take it."""

    row: Floats
    """(256,) the style itself."""
    prosody: dict[str, Array]
    """Inputs of the prosody network that the style decides."""
    decoder: dict[str, Array]
    """The same of the decoder."""
    prosody_past: dict[str, Array]
    """What the prosody network has seen before a sentence."""
    decoder_past: dict[str, Array]
    """The same of the decoder."""
    middle_hz: float
    """The middle of its pitch."""


@dataclass(frozen=True, slots=True)
class KokoroSound:
    """The past of a sentence in the decoder."""

    caches: dict[str, Array]
    """By the graph's names, at the commit; empty before a sentence's first unit."""
    turns: int = 0
    """The source's phase in the middle of the last final half unit."""
    hz: float = 0.0
    """Its pitch."""
    tail: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    """(<= fade,) samples that were expected to follow, which the next ones grow out of."""


class KokoroVocoder:
    """Frames (T, C + 5) to samples, 600 each."""

    hop_length = UNIT

    def __init__(
        self, graph: OnnxGraph, styles: Callable[[int], Styled], *, right: int, fade: int
    ) -> None:
        """``styles``: a style by its number; ``right``: units to the right that make a difference;
        ``fade``: samples of a cross-fade."""
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
        if not len(final):
            return np.zeros(0, np.float32), state
        frames = np.concatenate([final, right[:0] if ended else right])
        style = self._styles(int(final[0, -1]))
        prosody = self._pitched(frames[:, self._width : self._width + 4], style)
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

    def _pitched(self, prosody: Floats, style: Styled) -> Floats:
        """Pitch and energy (T, 4), the pitch as the session wants it."""
        if self._shape.pitch == 0.0 and self._shape.pitch_range == 1.0:
            return np.ascontiguousarray(prosody)
        hz = prosody[:, :2]
        middle = style.middle_hz
        shape = self._shape
        moved = (
            middle
            * (np.maximum(hz, VOICE_HZ) / middle) ** shape.pitch_range
            * 2 ** (shape.pitch / 12)
        )
        return np.concatenate([np.where(hz > VOICE_HZ, moved, hz), prosody[:, 2:]], axis=1).astype(
            np.float32
        )


def source(hz: Floats, turns: int, before: float | None) -> tuple[Floats, Floats, Ids]:
    """Phase in turns and voicing (S,), and the phase (F,) in the middle of each half unit, of
    pitches (F,).

    ``turns`` and ``before``: phase and pitch in the middle of the half unit before; None: a
    sentence begins, mirrored. The phase is that of the middles, with straight lines between; in
    whole numbers of ``TURN`` there, so that it is the same however a sentence is cut.
    """
    begins = before is None
    pitches = hz if begins else np.concatenate([np.array([before], np.float32), hz])
    steps: Ids = np.rint(pitches.astype(np.float64) * (TURN * HALF / SAMPLE_RATE)).astype(np.int64)
    middles: Ids = (np.cumsum(steps) + (0 if begins else turns - steps[0])) % TURN
    # Of each half unit, the first half goes on from the middle before it, the second one towards
    # the next.
    after = np.append(steps[1:], 0)
    from_ = np.append(middles[:1], middles[:-1])
    arriving = np.where(np.arange(len(steps)) == 0, 0, steps)
    arrived = from_[:, None] + arriving[:, None] * SHARES[HALF // 2 :]
    leaving = middles[:, None] + after[:, None] * SHARES[: HALF // 2]
    phase = np.concatenate([arrived, leaving], axis=1).reshape(-1)[0 if begins else HALF - EDGE :]
    voiced = (np.repeat(pitches, HALF)[0 if begins else HALF - EDGE :] > VOICED_HZ).astype(
        np.float32
    )
    around = (MIRRORED if begins else 0, MIRRORED)
    parts = (phase / TURN % 1.0).astype(np.float32), voiced
    mirrored = (np.pad(part, around, mode="reflect") for part in parts)
    return next(mirrored), next(mirrored), middles if begins else middles[1:]
