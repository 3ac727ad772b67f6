"""The modified Tacotron 2 at run time (Mohan et al. 2020): it reads one character or makes one
decoder step at a time.

Places number the characters of a sentence. Attention is soft and covers what has been read; the
place of a step is the peak of its attention. Frames are final at once, and held back only for the
vocoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import check_whole, from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.engine.stages import Frames
from sayahead.errors import ConfigError
from sayahead.systems.loading import Loaded, reads_characters, two_stages
from sayahead.text import front_end
from sayahead.types import Floats, Rendering, Segment
from sayahead.vocoders import load_mel_vocoder
from sayahead.voices import VoiceConfig

STOP = 0.5
"""Probability of the stop token above which a sentence ends."""


GRAPHS = ("encoder", "ask", "attend", "make")


@dataclass(frozen=True, slots=True)
class CharacterConfig:
    """What a voice's ``model`` table says about its modified Tacotron under ``acoustic``."""

    n_mels: int
    """Mel bands."""
    reduction: int
    """r: frames per step."""
    encoder: int
    """M: channels of the encoder."""
    attention: int
    """A: width of queries and keys."""
    attention_rnn: int
    """D of the first recurrent layer."""
    decoder_rnn: int
    """D of the second."""
    location_kernel: int
    """Characters of past attention that each place sees."""
    back: int
    """Characters before the last place that attention may look at."""
    ahead: int
    """Characters after it."""
    longest: int
    """Most steps that attention may stay at a place before it is moved on; 0: unlimited, as in the
    paper."""
    pace: float
    """Approximate frames per character: how long a word is expected to last when its onset is
    reported."""
    look_back: int = 5
    """Latest characters whose weights are observed (Mohan 5.1)."""
    early_stop: bool = False
    """Whether the stop token ends a completely read sentence at any time, as in the paper, or only
    after its last letters."""

    def __post_init__(self) -> None:
        check_whole("model: acoustic: longest", self.longest, 0, 10_000)


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """What has been read of a sentence."""

    state: Floats
    """(2, M) output and cell of the encoder."""
    rows: Floats
    """(P, M) its output for each character."""
    keys: Floats
    """(P, A) attention keys."""
    words: tuple[tuple[int, int], ...] = ()
    """Characters of each word that has begun, ``[first, end)``."""
    over: bool = False
    """Whether the end of the sentence has been read."""


@dataclass(frozen=True, slots=True)
class DecoderState:
    """State of the decoder between steps."""

    frame: Floats
    """(1, F) the previous step's frames, normalized."""
    context: Floats
    """(1, M) what attention saw in it."""
    attention: Floats
    """(2, D) output and cell of the first recurrent layer, after taking in the frame and the
    context."""
    query: Floats
    """(1, A) the next query."""
    decoder: Floats
    """(2, D) output and cell of the second."""
    weights: Floats
    """(P,) where attention looked, over the characters that were read then."""
    seen: Floats
    """(P,) sum of all attention weights so far."""
    place: int = 0
    """The peak of attention."""
    rested: int = 0
    """Number of steps that attention has stayed there."""


@dataclass(frozen=True, slots=True)
class CharacterState:
    """State of a sentence between steps."""

    text: ReadSoFar
    """What was read."""
    decoder: DecoderState
    """What was spoken."""
    look: tuple[Floats, Floats]
    """(P,) weights and (1, M) context for the next step, unless more is read."""
    held: Floats
    """(T, n_mels) frames that are held back."""
    made: int = 0
    """Frames made, including those held back."""
    closing: int = 0
    """Steps since the end of the sentence was read."""
    reached: tuple[int, ...] = ()
    """The frame at which attention first reached each character or passed it."""
    reported_count: int = 0
    """Number of words whose timings were reported."""
    promised: int = 0
    """Reported end of the last of them, in frames."""


class CharacterAcoustic:
    """Tacotron 2 over characters: frames are log mel. A segment brings characters that were read,
    or asks for steps."""

    def __init__(self, graphs: Mapping[str, OnnxGraph], model: CharacterConfig) -> None:
        """``graphs`` by the names in GRAPHS."""
        self._graphs = dict(graphs)
        self._model = model

    def initial(self) -> CharacterState:
        m = self._model

        def zeros(*shape: int) -> Floats:
            return np.zeros(shape, np.float32)

        text = ReadSoFar(zeros(2, m.encoder), zeros(0, m.encoder), zeros(0, m.attention))
        frame = zeros(1, m.reduction * m.n_mels)
        context = zeros(1, m.encoder)
        layers = zeros(2, m.attention_rnn), zeros(1, m.attention), zeros(2, m.decoder_rnn)
        decoder = DecoderState(frame, context, *layers, weights=zeros(0), seen=zeros(0))
        return CharacterState(text, decoder, (zeros(0), context), zeros(0, m.n_mels))

    def step(
        self, segment: Segment, state: CharacterState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, CharacterState]:
        """Read the segment's characters, then make as many steps as it asks for."""
        pieces = [state.held]
        ended = False
        if len(segment.ids):
            state = self._read(segment, state)
        for _ in range(segment.steps or 0):
            state, mel, ended = self._make_step(state)
            pieces.append(mel)
            if ended:
                break
        frames = np.concatenate(pieces)
        commit = len(frames) if ended else max(0, len(frames) - hold_back)
        state, words = self._report_words(
            state, final=state.made - (len(frames) - commit), ended=ended
        )
        observation = self._observation(state)
        done = Frames(frames[:commit], frames[commit:], words, ended, observation=observation)
        return done, self.initial() if ended else replace(state, held=frames[commit:])

    def _read(self, segment: Segment, state: CharacterState) -> CharacterState:
        """Return the state after reading the segment's characters."""
        text = state.text
        decoder = state.decoder
        if not len(text.rows):
            decoder = self._with_query(decoder)
        for number in segment.ids:
            out = self._graphs["encoder"](id=np.array([number]), state=text.state)
            rows = np.concatenate([text.rows, out["row"]])
            keys = np.concatenate([text.keys, out["key"]])
            text = replace(text, state=out["next_state"], rows=rows, keys=keys)
        text = replace(text, words=text.words + segment.spans, over=segment.ends)
        return replace(state, text=text, decoder=decoder, look=self._attend(text, decoder))

    def _with_query(self, decoder: DecoderState) -> DecoderState:
        """Return the decoder with its query after the last frame."""
        out = self._graphs["ask"](
            frame=decoder.frame, context=decoder.context, attention=decoder.attention
        )
        return replace(decoder, attention=out["next_attention"], query=out["query"])

    def _attend(self, text: ReadSoFar, decoder: DecoderState) -> tuple[Floats, Floats]:
        """Return the attention's weights (P,) and context (1, M), in a window around the last
        place."""
        model = self._model
        size = len(text.rows)
        half = self._model.location_kernel // 2
        is_stuck = 0 < model.longest <= decoder.rested
        place = decoder.place
        first = min(place + 1, size - 1) if is_stuck else max(0, place - model.back)
        window = slice(first, max(first, place) + model.ahead + 1)
        past = np.zeros((2, size + 2 * half), np.float32)
        past[:, half : half + len(decoder.weights)] = decoder.weights, decoder.seen
        around = np.lib.stride_tricks.sliding_window_view(past, model.location_kernel, axis=1)[
            :, window
        ]
        seen = around.transpose(1, 0, 2).reshape(-1, 2 * model.location_kernel)
        out = self._graphs["attend"](
            query=decoder.query, rows=text.rows[window], keys=text.keys[window], seen=seen
        )
        weights = np.zeros(size, np.float32)
        weights[window] = out["weights"][0]
        return weights, out["context"]

    def _make_step(self, state: CharacterState) -> tuple[CharacterState, Floats, bool]:
        """Make one step; return the state after it, its frames (r, n_mels), and whether the
        sentence is over.

        The step speaks what ``state.look`` attends to; the next look follows from it.
        """
        model = self._model
        text = state.text
        decoder = state.decoder
        weights, context = state.look
        out = self._graphs["make"](
            asked=decoder.attention[:1], context=context, decoder=decoder.decoder
        )
        place = int(weights.argmax())
        seen = weights.copy()
        seen[: len(decoder.seen)] += decoder.seen
        rested = decoder.rested + 1 if place == decoder.place else 1
        layers = decoder.attention, decoder.query, out["next_decoder"]
        decoder = self._with_query(
            DecoderState(out["frame"], context, *layers, weights, seen, place, rested)
        )
        # Attention may have passed several characters at once: all are reached now.
        reached = state.reached + (state.made,) * (place + 1 - len(state.reached))
        state = replace(state, decoder=decoder, look=self._attend(text, decoder), reached=reached)
        state = replace(state, made=state.made + model.reduction, closing=state.closing + text.over)
        return state, out["mel"], self._is_over(state, float(out["stop"][0]))

    def _is_over(self, state: CharacterState, stop: float) -> bool:
        """Return whether a sentence is over: the stop token fired after its last letters, or
        attention is stuck or lost."""
        model = self._model
        decoder = state.decoder
        size = len(state.text.rows)
        if not state.text.over or state.made < state.promised:
            return False
        at_end = decoder.place >= size - 3
        is_lost = state.closing * model.reduction > 40 + 3 * model.pace * size
        has_stopped = stop > STOP and (at_end or model.early_stop)
        return (
            has_stopped or (at_end and 0 < model.longest < decoder.rested) or is_lost or size == 1
        )

    def _report_words(
        self, state: CharacterState, *, final: int, ended: bool
    ) -> tuple[CharacterState, tuple[tuple[int, int], ...]]:
        """Return first and end frame of the words that begin before frame ``final`` and were not
        reported.

        The end of a word that attention has not passed is estimated from its letters; the next word
        begins no earlier.
        """
        words = list[tuple[int, int]]()
        end = state.promised
        for first, after in state.text.words[state.reported_count :]:
            has_begun = first < len(state.reached)
            is_passed = after < len(state.reached)
            begin = max(end, state.reached[first] if has_begun else state.made)
            if not ended and (not has_begun or (begin >= final and not is_passed)):
                break
            expected = (
                state.made
                if ended
                else max(state.made, begin + round(self._model.pace * (after - first)))
            )
            end = max(begin, state.reached[after] if is_passed else expected)
            words.append((begin, end))
        return replace(
            state, reported_count=state.reported_count + len(words), promised=end
        ), tuple(words)

    def _observation(self, state: CharacterState) -> Floats:
        """Return the observation (M + look_back + n_mels,) for an agent: context, weights of the
        latest characters, last frame (4.3.1)."""
        model = self._model
        weights, context = state.look
        latest = np.concatenate([np.zeros(model.look_back, np.float32), weights])[
            -model.look_back :
        ]
        return np.concatenate([context[0], latest, state.decoder.frame[0, -model.n_mels :]])


@dataclass(frozen=True, slots=True)
class MohanConfig:
    """The modified Tacotron 2, which reads characters, and any vocoder of its mel frames."""

    alphabet: str
    """The characters; each one's place is its id."""
    acoustic: CharacterConfig
    """Settings of the Tacotron."""
    vocoder: dict[str, Any]
    """The vocoder's ``kind`` and the settings of that kind, or another voice's vocoder (see
    Borrowed)."""


@reads_characters
def load_mohan(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """Load a voice from the graphs in ``GRAPHS`` and the vocoder's; it reads characters."""
    mohan = from_mapping(MohanConfig, config.model, where="model")
    front = front_end(config.language)
    speller = front.speller()
    if mohan.alphabet != speller.alphabet:
        raise ConfigError(
            f"model: alphabet is {mohan.alphabet!r}, but this version spells with"
            f" {speller.alphabet!r}."
        )
    graphs = {name: OnnxGraph(folder / f"{name}.onnx", threads=threads) for name in GRAPHS}
    acoustic = CharacterAcoustic(graphs, mohan.acoustic)
    synthesizer = two_stages(config, acoustic, load_mel_vocoder(mohan.vocoder, folder, threads))
    return Loaded(synthesizer, front.normalizer, speller=speller)
