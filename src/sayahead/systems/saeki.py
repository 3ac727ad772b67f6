"""Tacotron 2 at run time: a segment of words at a time, each given its context (Saeki et al. 2021).

Past and future reach a segment only through one embedding; its frames are made in one go, and are
final. Places number the phonemes of a segment.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import check_number, check_whole, from_mapping
from sayahead.engine.onnx import OnnxGraph, graphs_of
from sayahead.engine.stages import Frames, Vocoder
from sayahead.errors import ConfigError
from sayahead.systems.loading import Loaded, Stages, phoneme_voice
from sayahead.types import Floats, Ids, Rendering, Segment
from sayahead.vocoders import load_mel_vocoder
from sayahead.voices import VoiceConfig

STOP = 0.5
"""Probability of the stop token above which a segment ends."""
MAX_FRAMES = 40
"""Most frames per phoneme of a segment, whatever attention and stop token do."""


GRAPHS = ("encoder", "context", "memory", "decoder", "postnet")


NO_IDS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class SegmentalConfig:
    """What a voice's ``model`` table says about its Tacotron under ``acoustic``."""

    n_mels: int
    """Mel bands."""
    reduction: int
    """r: frames per step."""
    attention_rnn: int
    """D of the first recurrent layer."""
    decoder_rnn: int
    """D of the second."""
    location_kernel: int
    """Phonemes of past attention that each place sees."""
    window: int
    """Phonemes that a step attends to, from the last attended one on; 0: all, as in the papers
    (free attention)."""
    past: int
    """Most phonemes of the past in the context; 0: the whole sentence."""
    longest: int
    """Most steps that attention may stay on a phoneme before it is moved on; 0: unlimited, as in
    the papers."""
    copies: int = 1
    """How often a segment's last frame is repeated as the vocoder's right context (Saeki-b, 4.2:
    delta)."""
    independent: bool = False
    """Whether each segment is a separate utterance, without past or future (Saeki-a, IV-B:
    Independent)."""
    end_mark: bool = True
    """Whether an independent segment ends with a pad; none of the papers' does."""
    early_stop: bool = False
    """Whether the stop token ends a segment at any time, as in the papers, or only after the last
    sounding phoneme."""
    prenet: int = 0
    """Units of the prenet's layers in all; 0: its graph has no input for which of them are kept."""
    prenet_dropout: float = 0.0
    """Share of the prenet's units that are dropped while it speaks (Shen et al. 2018, 2.2: 0.5)."""

    def __post_init__(self) -> None:
        """ConfigError for a value out of range."""
        check_number("model: acoustic: prenet_dropout", self.prenet_dropout, 0, 0.9)
        if self.prenet_dropout and not self.prenet:
            raise ConfigError(
                "model: acoustic: prenet_dropout: this voice's decoder was written without dropout."
            )
        for name in ("window", "longest", "past", "copies", "prenet"):
            check_whole(f"model: acoustic: {name}", getattr(self, name), 0, 10_000)


@dataclass(frozen=True, slots=True)
class SegmentalState:
    """State of a sentence between steps."""

    ids: Ids
    """(P,) spoken phonemes that are still context, including the first pad; empty before the first
    word."""
    held: Floats
    """(T, n_mels) frames that are held back."""
    frames: int
    """Frames made so far, including those held back."""


@dataclass(frozen=True, slots=True)
class DecoderState:
    """State of the decoder between steps."""

    frame: Floats
    """(1, r * n_mels) of the step before, normalized."""
    context: Floats
    """(1, M) what attention saw."""
    weights: Floats
    """(P,) where attention looked in the step before; 1 at one phoneme where it has a window."""
    attention: Floats
    """(2, D) output and cell of the first recurrent layer."""
    decoder: Floats
    """The second's."""
    place: int = 0
    """Phoneme that attention looked at last."""
    rested: int = 0
    """Number of steps that attention has stayed there; 0 before the first."""


class SegmentalAcoustic:
    """Tacotron 2 over segments: frames are log mel. A segment's embedding, if any, stands for past
    and future."""

    def __init__(
        self, graphs: Mapping[str, OnnxGraph], model: SegmentalConfig, *, pad: int
    ) -> None:
        """``graphs`` by the names in GRAPHS."""
        self._graphs = dict(graphs)
        self._model = model
        self._pad = np.array([pad], np.int64)

    def initial(self) -> SegmentalState:
        return SegmentalState(NO_IDS, np.zeros((0, self._model.n_mels), np.float32), 0)

    def step(
        self, segment: Segment, state: SegmentalState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, SegmentalState]:
        """Render a segment. Held-back frames are final, too."""
        ended = segment.closes
        if not segment.speak:
            return self._without_words(segment, state)
        past = state.ids
        spoken = segment.ids[: segment.speak]
        first = 0
        if self._model.independent:
            # The first word has no space before it.
            first = segment.spans[0][0] if segment.spans else 0
            segment = replace(segment, ids=spoken, embedding=None)
            past = NO_IDS
            spoken = spoken[first:]
        # What is spoken stands between pads at the sentence's beginning and end.
        closed = self._model.end_mark if self._model.independent else ended
        front = NO_IDS if len(past) else self._pad
        ids = np.concatenate([front, spoken, self._pad if closed else NO_IDS])
        embedding = (
            self._embedding(segment, past, ended)
            if segment.embedding is None
            else segment.embedding
        )
        # Places in ``ids`` of the segment's first phoneme, and of the last one that sounds.
        begin = len(front) - first
        sounded = begin + (segment.spans[-1][1] if segment.spans else segment.speak) - 1
        random = np.random.default_rng([rendering.seed, state.frames])
        mel, visited = self._decode(ids, embedding, sounded, random)

        words = self._word_frames(segment, begin, visited, state.frames, len(mel))
        frames = np.concatenate([state.held, mel])
        if ended:
            return Frames(frames, frames[:0], words, True), self.initial()
        commit = max(0, len(frames) - hold_back)
        copies = self._model.copies if rendering.delta is None else rendering.delta
        right = np.concatenate([frames[commit:], np.repeat(frames[-1:], copies, axis=0)])
        kept = np.concatenate([past, ids])[-self._model.past :]
        after = SegmentalState(kept, frames[commit:], state.frames + len(mel))
        return Frames(frames[:commit], right, words, False), after

    def _word_frames(
        self, segment: Segment, begin: int, visited: list[int], number: int, count: int
    ) -> tuple[tuple[int, int], ...]:
        """Return first and end frame of each word: its phonemes are spoken while attention visits
        them.

        ``begin``: place of the first phoneme; ``number``: number in the sentence of the first of
        the segment's ``count`` frames.
        """
        places = [(begin + a, begin + b) for a, b in segment.spans]
        steps_before = np.searchsorted(visited, np.array(places, np.int64).reshape(-1, 2))
        at = number + np.minimum(steps_before * self._model.reduction, count)
        return tuple((int(a), int(b)) for a, b in at)

    def _without_words(
        self, segment: Segment, state: SegmentalState
    ) -> tuple[Frames, SegmentalState]:
        """Render a segment without words, which releases what is held back if the sentence or the
        text pauses here."""
        words = ((state.frames, state.frames),) * len(segment.spans)
        nothing = state.held[:0]
        if segment.closes:
            return Frames(state.held, nothing, words, True), self.initial()
        if segment.breath:
            return Frames(state.held, nothing, words, False), replace(state, held=nothing)
        return Frames(nothing, state.held, words, False), state

    def _embedding(self, segment: Segment, past: Ids, ended: bool) -> Floats:
        """Return the embedding (E,) of the past and of the visible future."""
        is_closed = segment.ends and not ended and not self._model.independent
        future = np.concatenate([segment.ids[segment.speak :], self._pad if is_closed else NO_IDS])
        # The network ignores a text that is not present.
        sides = [
            self._graphs["encoder"](ids=ids if len(ids) else self._pad)["states"]
            for ids in (past, future)
        ]
        there = np.array([len(past) > 0, len(future) > 0], np.float32)[:, None]
        return self._graphs["context"](past=sides[0], future=sides[1], there=there)["embedding"]

    def _decode(
        self, ids: Ids, embedding: Floats, sounded: int, random: np.random.Generator
    ) -> tuple[Floats, list[int]]:
        """Return the log mel (T, n_mels) of a segment, and the place of attention in each step.

        ``sounded``: place of the last sounding phoneme; ``random``: selects the prenet units that
        are dropped.
        """
        model = self._model
        states = self._graphs["encoder"](ids=ids)["states"]
        memory = self._graphs["memory"](
            states=states, embedding=np.asarray(embedding, np.float32)[None]
        )
        rows = memory["rows"]
        keys = memory["keys"]
        half = model.location_kernel // 2
        # Past attention weights, padded for windows around each place.
        seen = np.zeros((2, len(ids) + model.window + 2 * half), np.float32)
        decoder = DecoderState(
            np.zeros((1, model.reduction * model.n_mels), np.float32),
            np.zeros((1, rows.shape[1]), np.float32),
            np.zeros(len(ids), np.float32),
            np.zeros((2, model.attention_rnn), np.float32),
            np.zeros((2, model.decoder_rnn), np.float32),
        )
        steps = list[Floats]()
        visited = list[int]()
        last = len(ids) - 1
        while True:
            decoder, stops = self._make_step(decoder, rows, keys, seen, self._dropout(random))
            seen[0, half : half + len(ids)] = decoder.weights
            seen[1, half : half + len(ids)] += decoder.weights
            # Free attention may move back; a word counts as over once attention has passed it.
            visited.append(max([decoder.place, *visited[-1:]]))
            frames = decoder.frame.reshape(model.reduction, model.n_mels)
            ends = np.flatnonzero(stops > STOP)
            if len(ends) and (model.early_stop or decoder.place >= sounded):
                steps.append(frames[: ends[0] + 1])
                break
            steps.append(frames)
            is_stuck = decoder.place == last and 0 < model.longest <= decoder.rested
            if is_stuck or len(steps) * model.reduction >= MAX_FRAMES * len(ids):
                break
        return self._graphs["postnet"](frames=np.concatenate(steps))["mel"], visited

    def _dropout(self, random: np.random.Generator) -> dict[str, Floats]:
        """Return the decoder's input (1, prenet) for dropout: a factor for each unit, 1 on average;
        empty without a prenet input."""
        units = self._model.prenet
        share = self._model.prenet_dropout
        if not units:
            return {}
        kept = (random.random((1, units)) >= share) / (1 - share) if share else np.ones((1, units))
        return {"kept": kept.astype(np.float32)}

    def _make_step(
        self,
        decoder: DecoderState,
        rows: Floats,
        keys: Floats,
        seen: Floats,
        kept: Mapping[str, Floats],
    ) -> tuple[DecoderState, Floats]:
        """Make one step; return the state after it, and the stop probabilities (r,) of its
        frames.

        ``rows`` and ``keys`` (N, ...): the text to attend to; ``seen``: past attention weights,
        padded; ``kept``: the prenet units that are not dropped. With ``window``, attention sees so
        many rows from its last place on, and takes the best of them whole; else it sees all.
        """
        model = self._model
        first = decoder.place if model.window else 0
        end = min(first + model.window, len(rows)) if model.window else len(rows)
        window = slice(first, end)
        windows = np.lib.stride_tricks.sliding_window_view(seen, model.location_kernel, axis=1)
        visited = windows[:, window].transpose(1, 0, 2).reshape(-1, 2 * model.location_kernel)
        out = self._graphs["decoder"](
            frame=decoder.frame,
            context=decoder.context,
            attention=decoder.attention,
            decoder=decoder.decoder,
            rows=rows[window],
            keys=keys[window],
            seen=visited,
            **kept,
        )
        place = first + int(out["weights"].argmax())
        rested = decoder.rested + 1 if place == decoder.place else 1
        # Attention that has rested for too long is moved on.
        if 0 < model.longest < rested and place + 1 < len(rows):
            place += 1
            rested = 1
        if model.window:
            weights = np.zeros(len(rows), np.float32)
            weights[place] = 1
            context = rows[place][None]
        else:
            weights = out["weights"][0]
            context = weights[None] @ rows
        after = DecoderState(
            out["next_frame"],
            context,
            weights,
            out["next_attention"],
            out["next_decoder"],
            place=place,
            rested=rested,
        )
        return after, out["stop"]


@dataclass(frozen=True, slots=True)
class SaekiConfig:
    """Tacotron 2 with a contextual embedding, a segment of words at a time, and any vocoder of its
    mel frames."""

    pad: int
    """Id at both ends of a sentence."""
    acoustic: SegmentalConfig
    """Settings of the Tacotron."""
    vocoder: dict[str, Any]
    """The vocoder's ``kind`` and the settings of that kind, or another voice's vocoder (see
    Borrowed)."""


def load_saeki(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """Load a voice from the graphs in ``GRAPHS`` and the vocoder's."""
    saeki = from_mapping(SaekiConfig, config.model, where="model")

    def stages(vocoder: Vocoder[Any], *loaded: OnnxGraph) -> Stages:
        graphs = {graph.name: graph for graph in loaded}
        return SegmentalAcoustic(graphs, saeki.acoustic, pad=saeki.pad), vocoder

    vocoder = functools.partial(load_mel_vocoder, saeki.vocoder, folder, threads)
    return phoneme_voice(config, vocoder, *graphs_of(folder, GRAPHS, threads), stages=stages)
