"""Kokoro word by word: its text encoders read a window, prosody and decoder go on from where they
were.

Kokoro-82M (hexgrad, Apache-2.0) is a StyleTTS 2 (Li et al., NeurIPS 2023), whose norms read the
whole utterance: here they have fixed statistics of each style, so that frames depend on their
surroundings alone. Nothing was trained for increments; the prefix-to-prefix scheme is Ma et al.
2020, 4. Its graph is cut by ``voices.install.kokoro``."""

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
from sayahead.engine.stages import Frames
from sayahead.errors import ConfigError, VoiceError
from sayahead.systems.durations import edges_of, lengthened, speeds_of, whole_units
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
"""Names that exporters give the input of ids."""
GRAPHS = ("text", "prosody", "decoder", "style")
TABLES = ("row", "mean", "variance", "low", "high", "middle")
"""Of each style: itself, the statistics of its norms, the ranges of its products, and the middle of
its pitch in Hz."""
BEGINNINGS = {"hidden": 1, "cell": 1, "past": 1, "final": 3, "source": 3, "tail": 1}
"""What the networks have seen, besides caches, and how many rows of it there are before a
sentence."""


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
        if len(self.right) != 2 or min(self.right) < 0:
            raise ConfigError(
                f"right is {self.right!r}, but must be two counts of units: prosody's, the"
                " decoder's."
            )


class Styles(Blends):
    """A voice's styles and blends of them, by number, as its networks take them."""

    FILE = "styles.npz"
    sound: int
    """Channels of the text's encoding that the decoder takes."""

    def __init__(
        self, path: Path, style: OnnxGraph, prosody: OnnxGraph, decoder: OnnxGraph
    ) -> None:
        """Raises VoiceError for a file that is damaged, or does not belong to the graphs."""
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
        numbers, shares = self.parts(number)
        tables = {name: table[numbers] for name, table in self._tables.items()}
        mixed = {
            name: np.tensordot(shares, tables[name], 1).astype(np.float32)
            for name in ("row", "mean")
        }
        variance = np.square(np.tensordot(shares, np.sqrt(tables["variance"]), 1)).astype(
            np.float32
        )
        low = np.minimum(tables["low"].min(0), 0)
        high = np.maximum(tables["high"].max(0), 0)
        scales = np.maximum((high - low) / 255, 1e-9).astype(np.float32)
        zeros = np.clip(np.rint(-low / scales), 0, 255).astype(np.uint8)
        outputs = self._style(style=mixed["row"][None], mean=mixed["mean"], variance=variance)
        inputs = dict[str, dict[str, Array]]()
        past = dict[str, dict[str, Array]]()
        at = 0
        for name, graph in self._graphs.items():
            size = int(graph.shapes["scales"][0])
            inputs[name] = {
                "style": outputs[name],
                "scales": scales[at : at + size],
                "zeros": zeros[at : at + size],
            }
            past[name] = before(graph, inputs[name]["zeros"], self._places[name])
            at += size
        middle = float(np.exp(shares @ np.log(tables["middle"])))
        return Styled(
            mixed["row"],
            inputs["prosody"],
            inputs["decoder"],
            past["prosody"],
            past["decoder"],
            middle,
        )


def before(graph: OnnxGraph, zeros: Array | None, places: list[int]) -> dict[str, Array]:
    """What a network has seen before a sentence: silence, in integers that stand for zero where it
    takes these."""
    nothing: dict[str, Array] = {}
    for name, shape in graph.shapes.items():
        if name.startswith("cache"):
            value = 0 if zeros is None else zeros[places[int(name.removeprefix("cache"))]]
            nothing[name] = np.full([int(size) for size in shape], value, np.uint8)
        elif name in BEGINNINGS:
            rows = [BEGINNINGS[name] if isinstance(size, str) else size for size in shape]
            nothing[name] = np.zeros(rows, np.float32)
    return nothing


@dataclass(frozen=True, slots=True)
class KokoroState:
    """The past of a sentence."""

    ids: Ids
    """(P,) spoken phonemes that the text encoders still see, from the edge that begins the sentence
    on."""
    units: Ids
    """(P,) their durations."""
    speeds: Floats
    """(P,) how many times as fast as the session's speed they are said."""
    owed: Floats
    """(P,) units by which what was spoken before each is shorter than its speed asked for."""
    past: Mapping[str, Array]
    """What the prosody network has seen, by its names; empty before a sentence's first unit."""
    held: int = 0
    """Units at the end of ``units`` that are not final."""
    done: int = 0
    """Units that are final, over the whole sentence."""
    steps: int = 0
    """Steps that have spoken words."""


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
        """``tails``: of a style by its number, phonemes that stand for the future, the long ones
        and the short."""
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
        """Held-back sound may become longer or shorter."""
        ended = segment.closes
        first = not len(state.ids)
        closes = ended and not (first and not len(segment.ids))
        if not (segment.speak or closes or (segment.breath and state.held)):
            # Words without sound: nothing to say, and nothing new about the future.
            at = max(0, state.done + state.held - self._config.early)
            nothing = np.zeros((0, self._width), np.float32)
            return Frames(nothing, nothing, ((at, at),) * len(segment.spans), ended), state

        known = opened(state) if first else state
        left = len(known.ids)
        past = int(known.units.sum()) - known.held
        behind = self._behind(segment, state, rendering.speaker)
        ids = np.concatenate([known.ids, segment.ids, behind])
        speeds = speeds_of(known.speeds, segment, len(ids))
        lasting, prosody, sound = self._read(ids, rendering.speaker)
        lasting /= speeds * np.float32(rendering.speed)
        lasting[:left] *= np.float32(segment.stretch)
        lasting[-1] = min(lasting[-1], self._config.last_units)
        hurried = speeds * np.float32(rendering.speed) != 1
        units, owed = durations(lasting, hurried, known, past)
        end = len(ids) if ended else left + segment.speak
        spoken = int(units[:end].sum()) - past
        commit = spoken if ended else max(0, spoken - hold_back)

        rows = np.repeat(np.arange(len(ids)), units)[past:]
        features, seen = self._features(prosody, sound, rows, commit, state, rendering.speaker)
        heard = self._heard(units, state.done - past)
        words = tuple((int(heard[left + a]), int(heard[left + b])) for a, b in segment.spans)
        drawn = lengthened(state.units, units, self._heard(state.units, state.done - past))
        frames = Frames(features[:commit], features[commit:], words, ended, drawn=drawn)
        if ended:
            return frames, self.initial()
        after = KokoroState(
            ids[:end],
            units[:end],
            speeds[:end],
            owed[:end],
            seen,
            held=spoken - commit,
            done=state.done + commit,
            steps=state.steps + bool(segment.speak),
        )
        return frames, self._forget(after)

    def _heard(self, units: Ids, begin: int) -> Ids:
        """(P + 1,) units at which phonemes of these durations audibly begin, the first at
        ``begin``, and at which the last one ends."""
        return np.asarray(np.maximum(edges_of(units, begin) - self._config.early, 0))

    def _behind(self, segment: Segment, state: KokoroState, speaker: int) -> Ids:
        """Phonemes after the visible words: the sentence's end, or what stands for its future where
        nothing does."""
        if segment.ends or segment.predicted:
            return np.array([EDGE], np.int64)
        # What is held back without a lookahead word is rendered again a step later: the third step
        # still begins.
        blind = segment.speak == len(segment.ids)
        long = state.steps < self._config.long_steps + blind
        return np.append(self._tails(speaker)[0 if long else 1], EDGE)

    def _read(self, ids: Ids, speaker: int) -> tuple[Floats, Floats, Floats]:
        """(P,) durations in units at speed 1, (P, D) and (P, C) encodings for prosody and for
        sound."""
        edge = int(ids[0] != EDGE)
        tokens = np.concatenate([[EDGE], ids])[1 - edge :]
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
            outputs[name][edge:].copy() for name in ("durations", "prosody", "sound")
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
        """(T, C + 5) units that become final and those expected after them, and what prosody has
        seen then."""
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
        """Drop the oldest phonemes beyond the window, but none whose sound is still held back."""
        over = len(state.ids) - self._config.window
        if over <= 0:
            return state
        final = int(state.units.sum()) - state.held
        over = min(over, int(np.searchsorted(np.cumsum(state.units), final - 1, side="right")))
        kept = {name: getattr(state, name)[over:] for name in ("ids", "units", "speeds", "owed")}
        return replace(state, **kept)


def opened(state: KokoroState) -> KokoroState:
    """The state of a new sentence behind the edge that begins it."""
    return replace(
        state,
        ids=np.array([EDGE], np.int64),
        units=np.zeros(1, np.int64),
        speeds=np.ones(1, np.float32),
    )


def durations(
    lasting: Floats, hurried: NDArray[np.bool_], state: KokoroState, past: int
) -> tuple[Ids, Floats]:
    """(P,) durations in whole units of all phonemes, and (P + 1,) what is owed before each and in
    the end; the first ``past`` units are final.

    What is not final of a phoneme that is partly final stays as it is; those after it are as
    expected now."""
    redo = int(np.searchsorted(np.cumsum(state.units) - state.units, past))
    debt = float(state.owed[redo]) if redo < len(state.owed) else 0.0
    least = np.ones(len(lasting) - redo, np.int64)
    units, owed = whole_units(lasting[redo:], least, hurried[redo:], debt)
    all_owed = np.concatenate([state.owed[:redo], owed]).astype(np.float32)
    return np.concatenate([state.units[:redo], units]), all_owed


@dataclass(frozen=True, slots=True)
class Reading:
    """What reads a language for a voice."""

    front: FrontEnd
    """Its front end."""
    phonemizer: Phonemizer
    """Makes its phonemes."""
    tails: tuple[Ids, Ids]
    """Phonemes of words that stand for the future: of all of the language's, and of the first."""


def reading(language: str, phonemes: Mapping[str, int]) -> Reading:
    """What reads a language for a voice of these phonemes; ConfigError where nothing does."""
    front = reader(language)
    english = language.lower().startswith("en")
    phonemizer = front.phonemizer(phonemes, stand_in="people" if english else "")
    base = language.split("-")[0]
    words = [Word(word, 0, 0) for word in (record_of(base).tail if base in RECORDS else "").split()]
    ids = [word.ids for word in phonemizer.phonemize(words, left=["a"])] if words else []
    nothing = np.zeros(0, np.int64)
    return Reading(front, phonemizer, (np.concatenate([nothing, *ids]), ids[0] if ids else nothing))


def load_kokoro(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """A voice whose folder has its four graphs, and ``styles.npz``."""
    if "model.onnx" in config.files:
        raise VoiceError(
            f"{folder} was added by an earlier version, and speaks whole sentences only: add it"
            " again, with `sayahead voices add kokoro.onnx --replace`."
        )
    kokoro = from_mapping(KokoroConfig, config.model, where="model")
    read = functools.cache(lambda language: reading(language, config.phonemes))
    *loaded, own = beside(*graphs_of(folder, GRAPHS, threads), lambda: read(config.language))
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

    def made(read: Reading) -> Loaded:
        front = read.front
        return Loaded(synthesizer, front.normalizer, read.phonemizer, openers=front.openers)

    return of_speakers(
        made(own), styles, config.speakers, numbers, lambda language: made(read(language))
    )
