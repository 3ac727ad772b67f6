"""Deep Voice 3 at run time, incremental as in Ma et al. 2020, 4.1: attention shows how far each
step has come.

Places number the phonemes of a sentence from 0, its first pad. Steps are decoder steps of r frames.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import check_whole, from_mapping
from sayahead.engine.onnx import OnnxGraph, graphs_of
from sayahead.engine.stages import Frames, Vocoder, silent_frames
from sayahead.systems.loading import Loaded, Stages, ids_of, phoneme_voice
from sayahead.types import Floats, Ids, Rendering, Segment
from sayahead.vocoders import load_mel_vocoder
from sayahead.voices import VoiceConfig

STOP = 0.5
"""Probability of the stop token above which a sentence ends (Ma 4.1)."""
MAX_FRAMES = 80
"""Most frames per visible phoneme in one SPEAK, whatever attention and stop token do."""


Places = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AttentionConfig:
    """What a voice's ``model`` table says about its Deep Voice 3 under ``acoustic``."""

    n_mels: int
    """Mel bands."""
    reduction: int
    """r: frames per step."""
    channels: int
    """D of the decoder."""
    layers: int
    """Convolution blocks of the decoder."""
    kernel: int
    """Steps that each of them sees."""
    window: int
    """Phonemes that a step attends to, from the last attended one on (Ma 5.1)."""
    own_windows: bool
    """Whether the last attention's window follows its own past, otherwise the first's."""
    clock: str
    """The queries' positions: steps, or attended (see DeepVoice3Config)."""
    key_rate: float
    """Steps per phoneme: the rate of the keys' positions."""
    past: int
    """Phonemes before the attended one that the encoder receives: as many as it sees."""
    longest: int
    """Most steps that attention may stay on a phoneme before it is moved on; 0: unlimited, as in
    the paper."""
    early_stop: bool = False
    """Whether the stop token ends a complete text at any time, as in the paper, or only after its
    last sounding phoneme."""

    def __post_init__(self) -> None:
        check_whole("model: acoustic: window", self.window, 1, 10_000)
        check_whole("model: acoustic: longest", self.longest, 0, 10_000)


@dataclass(frozen=True, slots=True)
class Past:
    """State of the decoder between steps."""

    frames: Floats
    """(1, r * n_mels) the previous step's frames, normalized."""
    cache: Floats
    """(layers, (kernel - 1) D) last inputs of each convolution."""
    attended: Places = (0, 0)
    """Place that each attention was at last."""
    stayed: Places = (0, 0)
    """Number of steps that it has been there."""
    number: int = 0
    """Steps so far."""


@dataclass(frozen=True, slots=True)
class AttentionState:
    """State of a sentence between steps."""

    past: Past
    """State of the decoder after the last final step."""
    ids: Ids
    """(P,) spoken phonemes that the encoder still receives, including the first pad; empty before
    the first word."""
    first: int
    """Place of the first of them."""
    held: tuple[Places, ...]
    """Places of the attentions in the steps that are not final; when these are computed again, they
    are fixed."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The encoder's output for the visible phonemes."""

    first: int
    """Place of the first of them."""
    memories: tuple[Floats, Floats]
    """(P, 2 A) projected keys and values of each attention."""

    @property
    def end(self) -> int:
        """Place after the last of them."""
        return self.first + len(self.memories[0])


@dataclass(frozen=True, slots=True)
class Step:
    """Result of a decoder step."""

    mel: Floats
    """(r, n_mels) frames."""
    stop: float
    """Probability that the sentence ends with it."""
    past: Past
    """State of the decoder after it."""


class AttentionAcoustic:
    """Deep Voice 3 as the first stage: frames are log mel, cut between final and provisional ones
    at whole steps.

    Words are spoken when the first attention's argmax has passed them (Ma 4.1): that step is the
    next word's, and is computed again with it. A sentence is over when the stop fires after its
    last sounding phoneme. Attention that rests on a phoneme for more than ``longest`` steps is
    moved to the next; at the end of the text it ends the sentence. Both rules can be switched off
    (``early_stop``, ``longest``); a bound on the frames of a SPEAK remains, so that no network goes
    on forever.
    """

    def __init__(
        self,
        encoder: OnnxGraph,
        decoder: OnnxGraph,
        model: AttentionConfig,
        *,
        right_frames: int,
        pad: int,
        continuations: tuple[Ids, Ids],
    ) -> None:
        """``continuations``: phonemes after the visible words of an open sentence; the second if
        none but the spoken ones is visible."""
        self._encoder = encoder
        self._decoder = decoder
        self._model = model
        self._right_frames = right_frames
        self._pad = pad
        self._continuation, self._blind_continuation = continuations

    def initial(self) -> AttentionState:
        m = self._model
        frames = np.zeros((1, m.reduction * m.n_mels), np.float32)
        cache = np.zeros((m.layers, (m.kernel - 1) * m.channels), np.float32)
        return AttentionState(Past(frames, cache), np.zeros(0, np.int64), 0, ())

    def step(
        self, segment: Segment, state: AttentionState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, AttentionState]:
        """Render a segment. The path of attention over held-back words stays the same."""
        r = self._model.reduction
        ended = segment.closes
        if not (segment.speak or ended or (segment.breath and state.held)):
            # Words without sound: nothing to render, and no new knowledge about the future.
            end = (state.past.number + len(state.held)) * r
            return silent_frames(segment, end, self._model.n_mels), state

        left = state.ids if len(state.ids) else np.array([self._pad], np.int64)
        ids = np.concatenate([left, segment.ids, self._tail(segment)])
        text = self._encode(ids, state.first)
        begin = state.first + len(left)
        walk = self._walk(text, state)
        steps, last = self._speak_words(walk, text, segment, begin)
        commit = len(steps) if ended else max(0, len(steps) - -(-hold_back // r))
        ahead = [] if ended else [*steps[commit:], last]
        right_steps = 0 if ended else self._right_steps(rendering)
        while len(ahead) < right_steps and not (segment.ends and last.stop > STOP):
            last = next(walk)
            ahead.append(last)

        words = self._word_frames(segment, begin, steps, state.past.number)
        frames = Frames(
            self._mel_of(steps[:commit]), self._mel_of(ahead[:right_steps]), words, ended
        )
        if ended:
            return frames, self.initial()
        past = steps[commit - 1].past if commit else state.past
        ids = np.concatenate([left, segment.ids[: segment.speak]])
        excess = max(0, past.attended[0] - self._model.past - state.first)
        held = tuple(step.past.attended for step in steps[commit:])
        return frames, AttentionState(past, ids[excess:], state.first + excess, held)

    def _tail(self, segment: Segment) -> Ids:
        """Return the phonemes after the visible words: the end of the sentence, or a stand-in for
        its future."""
        if segment.ends:
            return np.array([self._pad], np.int64)
        blind = segment.speak == len(segment.ids)
        return self._blind_continuation if blind else self._continuation

    def _speak_words(
        self, walk: Iterator[Step], text: Encoded, segment: Segment, begin: int
    ) -> tuple[list[Step], Step]:
        """Return the steps that speak a segment's words, and the last step made.

        The words' phonemes begin at place ``begin``. If the sentence goes on, the last step is the
        first one that belongs to later words.
        """
        sounded_end = begin + (segment.spans[-1][1] if segment.spans else 0)
        max_frames = MAX_FRAMES * max(1, len(text.memories[0]))
        steps = list[Step]()
        for step in walk:
            place = step.past.attended[0]
            frames = (len(steps) + 1) * self._model.reduction
            is_stuck = self._is_stuck(step, text) or frames >= max_frames
            if not segment.closes and (place >= begin + segment.speak or is_stuck):
                break
            steps.append(step)
            may_stop = self._model.early_stop or place >= sounded_end
            if segment.closes and (is_stuck or (may_stop and step.stop > STOP)):
                break
        return steps, step

    def _word_frames(
        self, segment: Segment, begin: int, steps: list[Step], number: int
    ) -> tuple[tuple[int, int], ...]:
        """Return first and end frame of each word: its phonemes are spoken while attention visits
        them.

        ``begin``: place of the first phoneme; ``number``: number of the first step.
        """
        visited = [step.past.attended[0] for step in steps]
        places = [(begin + a, begin + b) for a, b in segment.spans]
        steps_before = np.searchsorted(visited, np.array(places, np.int64).reshape(-1, 2))
        at = (number + steps_before) * self._model.reduction
        return tuple((int(a), int(b)) for a, b in at)

    def _right_steps(self, rendering: Rendering) -> int:
        """Return how many provisional steps the vocoder can use."""
        if rendering.k2:
            return 0
        frames = (
            self._right_frames
            if rendering.delta is None
            else min(rendering.delta, self._right_frames)
        )
        return -(-frames // self._model.reduction)

    def _encode(self, ids: Ids, first: int) -> Encoded:
        """Run the encoder on phonemes from place ``first`` on."""
        outputs = self._encoder(ids=ids, places=np.arange(first, first + len(ids)))
        return Encoded(first, (outputs["memory1"], outputs["memory2"]))

    def _walk(self, text: Encoded, state: AttentionState) -> Iterator[Step]:
        """Yield steps without end: first the held-back ones with their fixed places, then free
        ones."""
        past = state.past
        for places in itertools.chain(state.held, itertools.repeat(None)):
            step = self._decode(text, past, places)
            yield step
            past = step.past

    def _decode(self, text: Encoded, past: Past, places: Places | None) -> Step:
        """Make one step; ``places`` fixes where its attentions go."""
        m = self._model
        # At whose last place the window of each attention starts: its own, or the first one's.
        followed = (0, 1) if m.own_windows else (0, 0)
        starts = [min(max(past.attended[lead], text.first), text.end - 1) for lead in followed]
        # Steps so far, or the attended place in the keys' units and the steps spent there.
        query_positions = [
            past.number if m.clock == "steps" else starts[i] * m.key_rate + past.stayed[followed[i]]
            for i in (0, 1)
        ]
        windows = [
            memory[start - text.first :][: m.window]
            for memory, start in zip(text.memories, starts, strict=True)
        ]
        positions = np.array(query_positions, np.float32)[:, None]
        (memory1, memory2) = windows
        out = self._decoder(
            frames=past.frames,
            cache=past.cache,
            memory1=memory1,
            memory2=memory2,
            positions=positions,
        )
        attended = []
        stayed = []
        for i, start in enumerate(starts):
            place = start + int(out[f"weights{i + 1}"].argmax()) if places is None else places[i]
            stay = past.stayed[i] + 1 if place == past.attended[i] else 1
            # Attention that has stayed for too long is moved on.
            if 0 < m.longest < stay and place + 1 < text.end:
                place = place + 1
                stay = 1
            attended.append(place)
            stayed.append(stay)
        after = Past(
            out["next_frames"],
            out["next_cache"],
            (attended[0], attended[1]),
            (stayed[0], stayed[1]),
            past.number + 1,
        )
        return Step(out["mel"], float(out["stop"][0, 0]), after)

    def _is_stuck(self, step: Step, text: Encoded) -> bool:
        """Return whether attention has stayed on the last visible phoneme for the longest time
        allowed."""
        return (
            step.past.attended[0] >= text.end - 1 and 0 < self._model.longest <= step.past.stayed[0]
        )

    def _mel_of(self, steps: list[Step]) -> Floats:
        """Return the frames of steps."""
        nothing = np.zeros((0, self._model.n_mels), np.float32)
        return np.concatenate([nothing, *(step.mel for step in steps)])


@dataclass(frozen=True, slots=True)
class MaConfig:
    """Deep Voice 3, and any vocoder of its mel frames."""

    pad: int
    """Id at both ends of a sentence."""
    continuation: str
    """Phonemes that follow the visible words while the sentence goes on."""
    blind_continuation: str
    """The same if no word after the spoken ones is visible."""
    acoustic: AttentionConfig
    """Settings of Deep Voice 3."""
    vocoder: dict[str, Any]
    """The vocoder's ``kind``, and the settings of that kind."""


def load_ma(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """Load a voice from ``encoder.onnx``, ``decoder.onnx`` and the vocoder's graphs."""
    ma = from_mapping(MaConfig, config.model, where="model")
    continuations = (
        ids_of(ma.continuation, config.phonemes),
        ids_of(ma.blind_continuation, config.phonemes),
    )

    def stages(vocoder: Vocoder[Any], encoder: OnnxGraph, decoder: OnnxGraph) -> Stages:
        reach = vocoder.context
        pad = ma.pad
        acoustic = AttentionAcoustic(
            encoder, decoder, ma.acoustic, right_frames=reach, pad=pad, continuations=continuations
        )
        return acoustic, vocoder

    vocoder = functools.partial(load_mel_vocoder, ma.vocoder, folder, threads)
    return phoneme_voice(
        config, vocoder, *graphs_of(folder, ("encoder", "decoder"), threads), stages=stages
    )
