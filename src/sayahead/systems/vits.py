"""Any VITS voice word by word: a window of past tokens, fixed durations, and noise by absolute
position.

Uses the voice's own networks (Kim et al., ICML 2021, as Piper exports it), split by
``sayahead.voices.install``. Nothing was trained for incremental synthesis; the prefix-to-prefix
scheme is that of Ma et al. 2020, 4. Tokens are phonemes, each followed by a pad.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.onnx import Array, OnnxGraph
from sayahead.engine.stages import Frames, silent_frames
from sayahead.errors import ConfigError
from sayahead.systems.durations import beyond_window, changed_durations, edges_of, speeds_of
from sayahead.systems.loading import Loaded, two_stages
from sayahead.text import Phonemizer, front_end
from sayahead.text.saying.code_points import LettersPhonemizer
from sayahead.types import Floats, Ids, Rendering, Segment, Word
from sayahead.vocoders.vits_decoder import LatentVocoder, rows_of_noise
from sayahead.voices import VoiceConfig

REPEATS = 4
"""How often a sentence's visible phonemes stand for its future at its beginning."""


@dataclass(frozen=True, slots=True)
class VitsConfig:
    """A VITS voice's ``model`` table."""

    pad: int
    """Id after each phoneme."""
    begin: int
    """Id that begins a sentence."""
    end: int
    """Id that ends one."""
    channels: int
    """Of the prior and the latent."""
    noise_scale: float
    """Factor on the prior's noise."""
    length_scale: float
    """Factor on durations at speed 1."""
    noise_w: float
    """Factor on the noise of durations."""
    spelling: str
    """What it reads: ``espeak``, phonemes of espeak-ng, or ``text``, plain characters."""
    espeak: str
    """The voice of espeak-ng that its phonemes are from, if it reads these."""
    right: tuple[int, ...]
    """Frames to the right that make a difference, for the flow and for the decoder."""
    window: int = 48
    """Tokens of the past that the text encoder sees."""
    tail: str = ""
    """Words that follow the visible ones of an open sentence: all in its first steps, later the
    first alone. Empty: the sentence's own words do, again."""
    long_steps: int = 2
    """Steps of a sentence that see all of the tail, and one more where no word after the spoken
    ones is visible: what looks like a short sentence begins low."""
    first_frames: int = 8
    """Frames of a sentence that are decoded first, so that its sound begins early."""
    fade_s: float = 0.008
    """Seconds of cross-fade where two steps meet."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a bad ``right`` or ``spelling``."""
        if len(self.right) != 2 or min(self.right) < 0:
            raise ConfigError(
                f"right is {self.right!r}, but must be two counts of frames: the flow's, the"
                " decoder's."
            )
        if self.spelling not in ("espeak", "text"):
            raise ConfigError(f"spelling is {self.spelling!r}, but must be 'espeak' or 'text'.")


@dataclass(frozen=True, slots=True)
class VitsState:
    """State of a sentence between steps."""

    ids: Ids
    """(P,) spoken tokens that the text encoder still sees, including the one that begins the
    sentence if it is among them."""
    units: Ids
    """(P,) their durations in frames."""
    speeds: Floats
    """(P,) their speeds relative to the session's."""
    held: int = 0
    """Frames at the end of ``units`` that are not final."""
    done: int = 0
    """Final frames of the sentence."""
    token: int = 0
    """Number, in the session, of the first of ``ids``; keys the noise of durations."""
    steps: int = 0
    """Steps that spoke words."""


class VitsAcoustic:
    """The text encoder and durations. A frame's features are its token's (mean C, deviation C), and
    the speaker if there are several.

    Spoken tokens keep their durations. Tokens whose whole sound is held back get new ones with each
    step: sampled durations are as often shorter as longer, so taking the longer would slow the
    speech down.
    """

    def __init__(
        self,
        text: OnnxGraph,
        config: VitsConfig,
        tails: tuple[Ids, Ids],
        *,
        right_frames: int,
        speakers: int = 1,
    ) -> None:
        """``tails``: the long and the short sequence of phonemes that stand for the future; both
        empty if the sentence's own words do."""
        self._text = text
        self._config = config
        self._tails = tails
        self._right = right_frames
        self._speakers = speakers

    def initial(self) -> VitsState:
        return VitsState(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))

    def step(
        self, segment: Segment, state: VitsState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, VitsState]:
        """Render a segment. Held-back sound may become longer or shorter."""
        ended = segment.closes
        first = not len(state.ids)
        closes = ended and not (first and not len(segment.ids))
        if not (segment.speak or closes or (segment.breath and state.held)):
            # Words without sound: nothing to render, and no new knowledge about the future.
            end_frame = state.done + state.held
            return silent_frames(segment, end_frame, self._width, ended=ended), state

        known = self._opened(state) if first else state
        left = len(known.ids)
        past = int(known.units.sum()) - known.held
        ids = np.concatenate([known.ids, self.padded(segment.ids), self._tail(segment, state)])
        speeds = speeds_of(known.speeds, tokens_of(segment), len(ids))
        means, deviations, frames_per_token = self.read(ids, state.token, rendering)
        frames_per_token[:left] *= np.float32(segment.stretch)
        expected = np.maximum(np.ceil(frames_per_token / speeds), 1).astype(np.int64)
        # A token that is partly final keeps its duration; later ones get those expected now.
        redo = int(np.searchsorted(np.cumsum(known.units) - known.units, past))
        units = np.concatenate([known.units[:redo], expected[redo:]])
        # Frames up to the last token spoken, without the final ones, and those that become final.
        end = len(ids) if ended else left + 2 * segment.speak
        spoken = int(units[:end].sum()) - past
        commit = spoken if ended else max(0, spoken - hold_back)

        rows = np.repeat(np.arange(len(ids)), units)[past : past + commit + self._right]
        features = np.concatenate([means[rows], deviations[rows]], axis=1)
        if self._speakers > 1:
            features = np.concatenate(
                [features, np.full((len(rows), 1), rendering.speaker, np.float32)], axis=1
            )
        begin = state.done - past
        edges = edges_of(units, begin)
        words = tuple(
            (int(edges[left + 2 * a]), int(edges[left + 2 * b])) for a, b in segment.spans
        )
        drawn = changed_durations(state.units, units, lambda: edges_of(state.units, begin))
        frames = Frames(features[:commit], features[commit:], words, ended, drawn=drawn)
        if ended:
            return frames, replace(self.initial(), token=state.token + len(ids))
        after = VitsState(
            ids[:end],
            units[:end],
            speeds[:end],
            held=spoken - commit,
            done=state.done + commit,
            token=state.token,
            steps=state.steps + bool(segment.speak),
        )
        return frames, self._forget(after)

    def _opened(self, state: VitsState) -> VitsState:
        """Return the state of a new sentence after the tokens that begin it."""
        return replace(
            state,
            ids=np.array([self._config.begin, self._config.pad], np.int64),
            units=np.zeros(2, np.int64),
            speeds=np.ones(2, np.float32),
        )

    @property
    def _width(self) -> int:
        """Features per frame."""
        return 2 * self._config.channels + (self._speakers > 1)

    def padded(self, phonemes: Ids) -> Ids:
        """Return the tokens (2 P,) of phonemes (P,)."""
        return np.stack([phonemes, np.full_like(phonemes, self._config.pad)], axis=1).reshape(-1)

    def _tail(self, segment: Segment, state: VitsState) -> Ids:
        """Return the tokens after the visible words: the sentence's end, or phonemes that stand for
        its future.

        At the beginning of a sentence the stand-in is longer: the network begins low what looks
        like a short sentence. A voice without phonemes for it gets the visible ones again."""
        if segment.ends:
            return np.array([self._config.end], np.int64)
        if segment.predicted:
            return np.zeros(0, np.int64)
        # Without a lookahead word, each step is rendered again by the next one, so the beginning
        # lasts a step longer.
        is_blind = segment.speak == len(segment.ids)
        is_beginning = state.steps < self._config.long_steps + is_blind
        long_tail, short_tail = self._tails
        if len(long_tail):
            return self.padded(long_tail if is_beginning else short_tail)
        repeated = np.tile(segment.ids, REPEATS)
        return self.padded(repeated if is_beginning else segment.ids[: segment.speak])

    def read(self, ids: Ids, token: int, rendering: Rendering) -> tuple[Floats, Floats, Floats]:
        """Run the text encoder: return means and scaled deviations (P, C), and durations (P,) in
        frames.

        ``token``: number of the first token in the session, which selects the noise.
        """
        config = self._config
        known = self._text.shapes
        scales = [config.noise_scale, config.length_scale / rendering.speed, config.noise_w]
        inputs: dict[str, Array] = {
            "input": ids[None],
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array(scales, np.float32),
            "noise": rows_of_noise(rendering.seed, token, len(ids), 2).T[None],
            "sid": np.array([rendering.speaker], np.int64),
        }
        outputs = self._text(**{name: value for name, value in inputs.items() if name in known})
        deviations = np.exp(outputs["log_deviation"][0]) * np.float32(config.noise_scale)
        return outputs["mean"][0], deviations, outputs["frames"].reshape(-1)

    def _forget(self, state: VitsState) -> VitsState:
        """Drop the oldest tokens beyond the window, except those whose sound is held back."""
        excess = beyond_window(state.units, state.held, self._config.window)
        ids = state.ids[excess:]
        units = state.units[excess:]
        speeds = state.speeds[excess:]
        return replace(state, ids=ids, units=units, speeds=speeds, token=state.token + excess)


def tokens_of(segment: Segment) -> Segment:
    """Return the segment with a speed for each token instead of each phoneme."""
    return (
        segment if segment.speeds is None else replace(segment, speeds=np.repeat(segment.speeds, 2))
    )


def load_vits(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """Load a voice from ``text.onnx``, ``flow.onnx`` and ``decoder.onnx``."""
    vits = from_mapping(VitsConfig, config.model, where="model")
    front = front_end(config.language, espeak=vits.espeak)
    phonemizer: Phonemizer = LettersPhonemizer(config.phonemes)
    if vits.spelling == "espeak":
        marks = config.inner_punctuation
        phonemizer = front.phonemizer(
            config.phonemes, stand_in=config.stand_in, inner_punctuation=marks
        )
    acoustic, vocoder = vits_stages(config, folder, threads, tails(vits.tail, phonemizer))
    synthesizer = two_stages(config, acoustic, vocoder, first_frames=vits.first_frames)
    return Loaded(synthesizer, front.normalizer, phonemizer, openers=front.openers)


def vits_stages(
    config: VoiceConfig, folder: Path, threads: int, tails: tuple[Ids, Ids]
) -> tuple[VitsAcoustic, LatentVocoder]:
    """Return both stages of a voice; ``tails``: as for ``VitsAcoustic``."""
    vits = from_mapping(VitsConfig, config.model, where="model")
    text, flow, decoder = (
        OnnxGraph(folder / f"{name}.onnx", threads=threads) for name in ("text", "flow", "decoder")
    )
    fade = min(round(vits.fade_s * config.sample_rate), vits.right[1] * config.hop_length)
    right = vits.right[0], vits.right[1]
    vocoder = LatentVocoder(
        flow, decoder, channels=vits.channels, hop_length=config.hop_length, right=right, fade=fade
    )
    speakers = max(1, len(config.speakers))
    return VitsAcoustic(text, vits, tails, right_frames=vocoder.context, speakers=speakers), vocoder


def tails(text: str, phonemizer: Phonemizer) -> tuple[Ids, Ids]:
    """Return the phonemes of words inside a sentence: of all of them, and of the first."""
    words = [Word(word, 0, 0) for word in text.split()]
    ids = [word.ids for word in phonemizer.phonemize(words, left=["a"])] if words else []
    nothing = np.zeros(0, np.int64)
    return np.concatenate([nothing, *ids]), ids[0] if ids else nothing
