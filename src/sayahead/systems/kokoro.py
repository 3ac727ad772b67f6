"""Kokoro word by word: the text encoders read a window; prosody and decoder continue from their
state.

Kokoro-82M (hexgrad, Apache-2.0) is a StyleTTS 2 (Li et al., NeurIPS 2023). Its norms read the whole
utterance; here they have fixed statistics for each style, so that frames depend only on their
surroundings. Nothing was trained for incremental synthesis; the prefix-to-prefix scheme is that of
Ma et al. 2020, 4. ``voices.install.kokoro`` splits its graph.
"""

from __future__ import annotations

import functools
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sayahead.config import from_mapping
from sayahead.engine.onnx import Array, OnnxGraph, beside, count, graphs_of
from sayahead.engine.stages import Frames, silent_frames
from sayahead.errors import ConfigError, VoiceError
from sayahead.systems.durations import (
    beyond_window,
    changed_durations,
    edges_of,
    speeds_of,
    whole_units,
)
from sayahead.systems.loading import Loaded, two_stages
from sayahead.systems.speakers import Blends, of_speakers
from sayahead.text import FrontEnd, Phonemizer
from sayahead.text.languages import RECORDS, record_of
from sayahead.text.saying.espeak.misaki import reader
from sayahead.types import Floats, Ids, Rendering, Segment, Word
from sayahead.vocoders.kokoro import SAMPLE_RATE, KokoroVocoder, Styled
from sayahead.voices import VoiceConfig

EDGE = 0
"""Id at both ends of an utterance."""
TOKENS = ("tokens", "input_ids")
"""Names of the input of ids in different exports."""
GRAPHS = ("text", "prosody", "decoder", "style")
TABLES = ("row", "mean", "variance", "low", "high", "middle")
"""Arrays for each style: the style, the statistics of its norms, the ranges of its products, and
its median pitch in Hz."""
BEGINNINGS = {"hidden": 1, "cell": 1, "past": 1, "final": 3, "source": 3, "tail": 1}
"""State inputs of the networks besides caches, and their rows before a sentence."""


@dataclass(frozen=True, slots=True)
class KokoroConfig:
    """A Kokoro voice's ``model`` table."""

    right: tuple[int, ...]
    """Units of 25 ms to the right that make a difference, to prosody's convolutions and to the
    decoder."""
    languages: dict[str, str] = field(default_factory=dict)
    """BCP 47 tags of the styles that speak another language than the voice's."""
    window: int = 48
    """Phonemes of the past that the text encoders see."""
    longest: int = 500
    """Most phonemes that the text encoders can read at once."""
    last_units: int = 10
    """Most units of the edge that ends a sentence."""
    early: int = 2
    """Units by which the sound of a phoneme is ahead of its nominal place, for word timings."""
    long_steps: int = 2
    """Steps of a sentence that see all of its language's tail, and one more where no word after the
    spoken ones is visible: what looks like a short sentence begins low. Later steps see its first
    word."""
    seen: int = 20
    """Units that prosody's recurrent network sees after those that its convolutions do."""
    first_units: int = 12
    """Units of a sentence that are decoded first, so that its sound begins early."""
    fade_s: float = 0.008
    """Seconds of cross-fade where two steps meet."""

    def __post_init__(self) -> None:
        """Raise ConfigError unless ``right`` is two counts."""
        if len(self.right) != 2 or min(self.right) < 0:
            raise ConfigError(
                f"right is {self.right!r}, but must be two counts of units: prosody's, the"
                " decoder's."
            )


class Styles(Blends):
    """The styles of a voice and their blends, by number, in the form that its networks take."""

    FILE = "styles.npz"
    sound: int
    """Channels of the text encoding for the decoder."""

    def __init__(
        self, path: Path, style: OnnxGraph, prosody: OnnxGraph, decoder: OnnxGraph
    ) -> None:
        """VoiceError for a file that is damaged or does not belong to the graphs."""
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                self._tables = {name: np.asarray(file[name]) for name in TABLES}
                places = {name: file[f"{name}_places"].tolist() for name in ("prosody", "decoder")}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise VoiceError(f"{path} cannot be read: {error}") from error
        super().__init__(len(self._tables["row"]))
        sizes = {len(table) for table in self._tables.values()}
        self._style = style
        self._graphs = {"prosody": prosody, "decoder": decoder}
        self._places = places
        ranges = [int(graph.shapes["scales"][0]) for graph in self._graphs.values()]
        statistics = int(style.shapes["mean"][0])
        if (
            sizes != {self.count}
            or self._tables["mean"].shape[1:] != (statistics,)
            or (self._tables["low"].shape[1:] != (sum(ranges),))
        ):
            raise VoiceError(
                f"{path} does not belong to the graphs beside it: add the voice again."
            )
        self.sound = int(decoder.shapes["rows"][1])
        self._styled = functools.lru_cache(maxsize=64)(self._make)

    def __getitem__(self, number: int) -> Styled:
        return self._styled(number)

    def _make(self, number: int) -> Styled:
        """Compute a blend: its style, and what the networks take for it and start from.

        The ranges in which they compute in 8 bits enclose those of all styles in the blend.
        """
        numbers, shares = self.parts(number)
        tables = {name: table[numbers] for name, table in self._tables.items()}
        blend = {
            name: np.tensordot(shares, tables[name], 1).astype(np.float32)
            for name in ("row", "mean")
        }
        variance = np.square(np.tensordot(shares, np.sqrt(tables["variance"]), 1)).astype(
            np.float32
        )
        low = np.minimum(tables["low"].min(0), 0)
        high = np.maximum(tables["high"].max(0), 0)
        scales = np.maximum((high - low) / 255, 1e-9).astype(np.float32)
        zero_points = np.clip(np.rint(-low / scales), 0, 255).astype(np.uint8)
        outputs = self._style(style=blend["row"][None], mean=blend["mean"], variance=variance)
        inputs = dict[str, dict[str, Array]]()
        past = dict[str, dict[str, Array]]()
        offset = 0
        for name, graph in self._graphs.items():
            size = int(graph.shapes["scales"][0])
            inputs[name] = {
                "style": outputs[name],
                "scales": scales[offset : offset + size],
                "zeros": zero_points[offset : offset + size],
            }
            past[name] = initial_state(graph, inputs[name]["zeros"], self._places[name])
            offset += size
        median_hz = float(np.exp(shares @ np.log(tables["middle"])))
        return Styled(
            blend["row"],
            inputs["prosody"],
            inputs["decoder"],
            past["prosody"],
            past["decoder"],
            median_hz,
        )


def initial_state(graph: OnnxGraph, zeros: Array | None, places: list[int]) -> dict[str, Array]:
    """Return a network's state before a sentence: silence, quantized where the network takes
    integers."""
    inputs: dict[str, Array] = {}
    for name, shape in graph.shapes.items():
        if name.startswith("cache"):
            value = 0 if zeros is None else zeros[places[int(name.removeprefix("cache"))]]
            inputs[name] = np.full([int(size) for size in shape], value, np.uint8)
        elif name in BEGINNINGS:
            rows = [BEGINNINGS[name] if isinstance(size, str) else size for size in shape]
            inputs[name] = np.zeros(rows, np.float32)
    return inputs


@dataclass(frozen=True, slots=True)
class KokoroState:
    """State of a sentence between steps."""

    ids: Ids
    """(P,) spoken phonemes that the text encoders still see, from the edge that begins the sentence
    on."""
    units: Ids
    """(P,) their durations."""
    speeds: Floats
    """(P,) their speeds relative to the session's."""
    owed: Floats
    """(P,) rounding error in units before each: by how much the spoken phonemes are too short."""
    past: Mapping[str, Array]
    """State of the prosody network, by input; empty before a sentence's first unit."""
    held: int = 0
    """Units at the end of ``units`` that are not final."""
    done: int = 0
    """Final units of the sentence."""
    steps: int = 0
    """Steps that spoke words."""


class KokoroAcoustic:
    """Text encoders, durations, pitch and energy; a unit's features are (encoding C, pitch 2,
    energy 2, style)."""

    def __init__(
        self,
        text: OnnxGraph,
        prosody: OnnxGraph,
        config: KokoroConfig,
        styles: Styles,
        tails: Callable[[int], tuple[Ids, Ids]],
    ) -> None:
        """``tails``: returns the long and the short sequence of phonemes that stand for the future,
        for a style's number."""
        self._text = text
        self._prosody = prosody
        self._config = config
        self._styles = styles
        self._tails = tails
        self._tokens = next(name for name in TOKENS if name in text.shapes)
        self._width = styles.sound + 5

    def initial(self) -> KokoroState:
        empty = np.zeros(0, np.int64)
        nothing = np.zeros(0, np.float32)
        return KokoroState(empty, empty, nothing, nothing, {})

    def step(
        self, segment: Segment, state: KokoroState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, KokoroState]:
        """Render a segment. Held-back sound may become longer or shorter."""
        ended = segment.closes
        first = not len(state.ids)
        closes = ended and not (first and not len(segment.ids))
        if not (segment.speak or closes or (segment.breath and state.held)):
            # Words without sound: nothing to render, and no new knowledge about the future.
            end_unit = max(0, state.done + state.held - self._config.early)
            return silent_frames(segment, end_unit, self._width, ended=ended), state

        known = opened(state) if first else state
        left = len(known.ids)
        past = int(known.units.sum()) - known.held
        tail = self._tail(segment, state, rendering.speaker)
        ids = np.concatenate([known.ids, segment.ids, tail])
        speeds = speeds_of(known.speeds, segment, len(ids))
        durations_at_speed, prosody, sound = self._encode(ids, rendering.speaker)
        durations_at_speed /= speeds * np.float32(rendering.speed)
        durations_at_speed[:left] *= np.float32(segment.stretch)
        durations_at_speed[-1] = min(durations_at_speed[-1], self._config.last_units)
        is_hurried = speeds * np.float32(rendering.speed) != 1
        units, owed = durations(durations_at_speed, is_hurried, known, past)
        # Units up to the last phoneme spoken, without the final ones, and those that become final.
        end = len(ids) if ended else left + segment.speak
        spoken = int(units[:end].sum()) - past
        commit = spoken if ended else max(0, spoken - hold_back)

        rows = np.repeat(np.arange(len(ids)), units)[past:]
        features, prosody_state = self._features(
            prosody, sound, rows, commit, state, rendering.speaker
        )
        begin = state.done - past
        heard = self._audible_edges(units, begin)
        words = tuple((int(heard[left + a]), int(heard[left + b])) for a, b in segment.spans)
        drawn = changed_durations(
            state.units, units, lambda: self._audible_edges(state.units, begin)
        )
        frames = Frames(features[:commit], features[commit:], words, ended, drawn=drawn)
        if ended:
            return frames, self.initial()
        after = KokoroState(
            ids[:end],
            units[:end],
            speeds[:end],
            owed[:end],
            prosody_state,
            held=spoken - commit,
            done=state.done + commit,
            steps=state.steps + bool(segment.speak),
        )
        return frames, self._forget(after)

    def _audible_edges(self, units: Ids, begin: int) -> Ids:
        """Return the units (P + 1,) at which phonemes audibly begin, the first at ``begin``, and at
        which the last one ends."""
        return np.asarray(np.maximum(edges_of(units, begin) - self._config.early, 0))

    def _tail(self, segment: Segment, state: KokoroState, speaker: int) -> Ids:
        """Return the phonemes after the visible words: the end of the sentence, or a stand-in for
        its future."""
        if segment.ends or segment.predicted:
            return np.array([EDGE], np.int64)
        # Without a lookahead word, a step is rendered again by the next one, so the third step
        # still counts as the beginning.
        blind = segment.speak == len(segment.ids)
        long = state.steps < self._config.long_steps + blind
        return np.append(self._tails(speaker)[0 if long else 1], EDGE)

    def _encode(self, ids: Ids, speaker: int) -> tuple[Floats, Floats, Floats]:
        """Return durations (P,) in units at speed 1, and the encodings (P, D) for prosody and (P,
        C) for sound."""
        # The network takes an edge first, which the ids lack once the sentence's beginning was
        # forgotten.
        added = [EDGE] if ids[0] != EDGE else []
        tokens = np.concatenate([np.array(added, np.int64), ids])
        if len(tokens) > self._config.longest:
            raise VoiceError(
                f"{len(tokens)} phonemes are more than Kokoro reads at once,"
                f" {self._config.longest}: the sentence is too long to be said as a whole, so let"
                " it be said word by word."
            )
        outputs = self._text(
            **{self._tokens: tokens[None], "style": self._styles[speaker].row[None]}
        )
        durations, prosody, sound = (
            outputs[name][len(added) :].copy() for name in ("durations", "prosody", "sound")
        )
        return durations, prosody, sound

    def _features(
        self,
        prosody: Floats,
        sound: Floats,
        rows: Ids,
        commit: int,
        state: KokoroState,
        speaker: int,
    ) -> tuple[Floats, Mapping[str, Array]]:
        """Return the features (T, C + 5) of the units that become final and of those expected after
        them, and the next state of prosody."""
        if not commit:
            return np.zeros((0, self._width), np.float32), state.past
        near, right = self._config.right
        style = self._styles[speaker]
        seen = rows[: commit + near + self._config.seen]
        past = state.past or style.prosody_past
        outputs = self._prosody(rows=prosody[seen], commit=count(commit), **style.prosody, **past)
        pitch, energy = (outputs.pop(name).reshape(-1, 2) for name in ("pitch", "energy"))
        number = np.full((len(seen), 1), speaker, np.float32)
        wanted = commit + right
        features = np.concatenate([sound[seen], pitch, energy, number], axis=1)[:wanted]
        return features, {name.removeprefix("next_"): value for name, value in outputs.items()}

    def _forget(self, state: KokoroState) -> KokoroState:
        """Drop the oldest phonemes beyond the window, except those whose sound is held back."""
        excess = beyond_window(state.units, state.held, self._config.window)
        kept = {name: getattr(state, name)[excess:] for name in ("ids", "units", "speeds", "owed")}
        return replace(state, **kept)


def opened(state: KokoroState) -> KokoroState:
    """Return the state of a new sentence after the edge that begins it."""
    return replace(
        state,
        ids=np.array([EDGE], np.int64),
        units=np.zeros(1, np.int64),
        speeds=np.ones(1, np.float32),
    )


def durations(
    lasting: Floats, hurried: NDArray[np.bool_], state: KokoroState, past: int
) -> tuple[Ids, Floats]:
    """Return durations (P,) in whole units, and the rounding errors (P + 1,) before each phoneme
    and at the end.

    The first ``past`` units are final. A phoneme that is partly final keeps its duration; later
    ones get those expected now.
    """
    redo = int(np.searchsorted(np.cumsum(state.units) - state.units, past))
    debt = float(state.owed[redo]) if redo < len(state.owed) else 0.0
    least = np.ones(len(lasting) - redo, np.int64)
    units, owed = whole_units(lasting[redo:], least, hurried[redo:], debt)
    all_owed = np.concatenate([state.owed[:redo], owed]).astype(np.float32)
    return np.concatenate([state.units[:redo], units]), all_owed


@dataclass(frozen=True, slots=True)
class Reading:
    """A language as a voice reads it."""

    front: FrontEnd
    """Its front end."""
    phonemizer: Phonemizer
    """Makes phonemes for the voice."""
    tails: tuple[Ids, Ids]
    """Phonemes that stand for the future: of all words of the language's tail, and of the first."""


def reading(language: str, phonemes: Mapping[str, int]) -> Reading:
    """Return how a voice with these phonemes reads a language. ConfigError if no front end does."""
    front = reader(language)
    english = language.lower().startswith("en")
    phonemizer = front.phonemizer(phonemes, stand_in="people" if english else "")
    base = language.split("-")[0]
    words = [Word(word, 0, 0) for word in (record_of(base).tail if base in RECORDS else "").split()]
    ids = [word.ids for word in phonemizer.phonemize(words, left=["a"])] if words else []
    nothing = np.zeros(0, np.int64)
    return Reading(front, phonemizer, (np.concatenate([nothing, *ids]), ids[0] if ids else nothing))


def load_kokoro(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """Load a voice from its four graphs and ``styles.npz``."""
    if "model.onnx" in config.files:
        raise VoiceError(
            f"{folder} was added by an earlier version, and speaks whole sentences only: add it"
            " again, with `sayahead voices add kokoro.onnx --replace`."
        )
    kokoro = from_mapping(KokoroConfig, config.model, where="model")
    read = functools.cache(lambda language: reading(language, config.phonemes))
    *loaded, own_reading = beside(
        *graphs_of(folder, GRAPHS, threads), lambda: read(config.language)
    )
    text, prosody, decoder, style = loaded
    styles = Styles(folder / Styles.FILE, style, prosody, decoder)
    numbers = {
        number: kokoro.languages[name]
        for name, number in config.speakers.items()
        if name in kokoro.languages
    }

    def tails(speaker: int) -> tuple[Ids, Ids]:
        return read(numbers.get(styles.first(speaker), config.language)).tails

    acoustic = KokoroAcoustic(text, prosody, kokoro, styles, tails)
    fade = round(kokoro.fade_s * SAMPLE_RATE)
    vocoder = KokoroVocoder(decoder, styles.__getitem__, right=kokoro.right[1], fade=fade)
    synthesizer = two_stages(config, acoustic, vocoder, first_frames=kokoro.first_units)

    def loaded_with(read: Reading) -> Loaded:
        front = read.front
        return Loaded(synthesizer, front.normalizer, read.phonemizer, openers=front.openers)

    return of_speakers(
        loaded_with(own_reading),
        styles,
        config.speakers,
        numbers,
        lambda language: loaded_with(read(language)),
    )
