"""The default voice: text encoders and prosody with the past as state, then decoder and
source-filter synthesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.files import Borrowed
from sayahead.engine.onnx import OnnxGraph, count, graphs_of, shared_graphs_of
from sayahead.engine.stages import Frames, Shapeable, silent_frames
from sayahead.errors import VoiceError
from sayahead.systems.durations import (
    changed_durations,
    edges_of,
    shares_of,
    speeds_of,
    toned_pitch,
    tones_of,
    whole_units,
)
from sayahead.systems.loading import Loaded, Stages, ids_of, phoneme_voice
from sayahead.systems.speakers import SPEAKER, SPEAKERS, Speakers, of_speakers, speaker_tables
from sayahead.text.saying.espeak.misaki import reader
from sayahead.types import Floats, Ids, Rendering, Segment, Shape
from sayahead.vocoders.heart import HeartVocoder
from sayahead.vocoders.manner import pace_of
from sayahead.voices import VoiceConfig, read_config
from sayahead.voices.loans import lent

OWN = "text", "prosody", "decoder"
"""Graphs with parameters of each speaker, in voices with several."""


@dataclass(frozen=True, slots=True)
class HeartState:
    """State of a sentence between steps."""

    ids: Ids
    """(P,) spoken phonemes whose sound is not entirely final; they are encoded again."""
    units: Ids
    """(P,) their durations so far, in units of two frames."""
    speeds: Floats
    """(P,) their speeds relative to the session's."""
    tones: Floats | None
    """(P, 5) their tones (``Segment.tones``); None if all are plain."""
    held: int
    """Units at the end of ``units`` that are not final."""
    done: int
    """Final units of the sentence."""
    memory: Mapping[str, Floats]
    """(4, 2, 1, 2, M, 64) and (6, 2, 1, 2, M, 96), by the graph's names: keys and values of the
    last final phonemes, as they were when they became final, in each layer and head of the two text
    encoders."""
    recent: Floats
    """(2, 832) what the text encoders' convolutions see of the last two; the prosody encoding comes
    last."""
    cache: Floats
    """(54, 192) the past of the prosody convolutions, at the last final unit."""
    pitch: float = 0.0
    """Hz of the last final frame."""
    owed: float = 0.0
    """Rounding error in units that the next phonemes make up for: by how much the spoken ones are
    too short."""


@dataclass(frozen=True, slots=True)
class HeartConfig:
    """The default voice's kind: text encoders and prosody, then decoder and source-filter
    synthesis."""

    pad: int
    """Id at both ends of a sentence."""
    lead_units: int
    """Duration of the first pad, in units of two frames."""
    window: int
    """Final phonemes whose keys and values the text encoders see."""
    continuation: str
    """Phonemes that follow the visible words while the sentence goes on."""
    blind_continuation: str
    """The same if no word after the spoken ones is visible."""
    early: int
    """Frames by which the sound of a phoneme is ahead of its nominal place, for word timings."""
    right: int = 27
    """Provisional frames that the decoder sees after those whose spectra it makes; 27 is all that
    it could."""
    glide_s: float = 0.0
    """Time constant of the glide from the pitch spoken before a join to the one expected after it;
    0: a jump."""
    futures: tuple[int, ...] = ()
    """Ids of the tokens that follow the visible words of an open sentence; none: a continuation
    follows instead."""
    context: int = 0
    """Channels of the tokens' context embedding."""
    expect: Borrowed | None = None
    """The voice whose ``expect.onnx`` this one uses; none: its own."""
    graphs: Borrowed | None = None
    """The voice whose graphs this one uses, as a speaker more of it; none: its own."""
    languages: dict[str, str] = field(default_factory=dict)
    """BCP 47 tags of the speakers who read other phonemes than the voice: another language's, or
    British ones."""


class HeartAcoustic:
    """The default voice's text encoders, durations, pitch and energy.

    Features are (encoding 128, f0, energy), and the speaker's number where there are several.
    """

    FRAMES_PER_UNIT = 2
    FRAME_S = 0.0125
    VOICED_HZ = 40.0
    # Length of a glide, in time constants.
    FADED = 16
    # Receptive field of the prosody convolutions to each side, in units.
    REACH = 54
    CACHE = (54, 192)
    MEMORY: ClassVar[Mapping[str, tuple[int, ...]]] = {
        "sound_memory": (4, 2, 1, 2, 0, 64),
        "memory": (6, 2, 1, 2, 0, 96),
    }
    RECENT = (2, 832)
    FEATURES = 130
    PITCH = 128

    def __init__(
        self,
        graphs: Mapping[str, OnnxGraph],
        config: HeartConfig,
        phonemes: Mapping[str, int],
        *,
        right_frames: int,
        speakers: Speakers | None = None,
    ) -> None:
        """``graphs`` by name: text, prosody, and expect if the future tokens take a context
        embedding.

        ``phonemes``: ids of the symbols of continuations; ``right_frames``: provisional frames that
        the second stage can use; ``speakers``: if there are several.
        """
        self._speakers = speakers
        self._width = self.FEATURES + (speakers is not None)
        self._text = graphs["text"]
        self._prosody = graphs["prosody"]
        self._expect = graphs.get("expect")
        self._right_units = -(-right_frames // self.FRAMES_PER_UNIT)
        self._pad = config.pad
        self._lead_units = config.lead_units
        self._window = config.window
        self._continuation = ids_of(config.continuation, phonemes)
        self._blind_continuation = ids_of(config.blind_continuation, phonemes)
        self._lead_frames = config.early
        self._context = config.context
        frames = np.arange(
            1, 1 + round(self.FADED * config.glide_s / self.FRAME_S), dtype=np.float32
        )
        self._glide_decay = np.exp(-frames * np.float32(self.FRAME_S / (config.glide_s or 1)))
        self._futures = np.array(config.futures, np.int64) if config.futures else None

    def initial(self) -> HeartState:
        empty = np.zeros(0, np.int64)
        speeds = np.zeros(0, np.float32)
        memory = {name: np.zeros(size, np.float32) for name, size in self.MEMORY.items()}
        recent = np.zeros(self.RECENT, np.float32)
        cache = np.zeros(self.CACHE, np.float32)
        return HeartState(empty, empty, speeds, None, 0, 0, memory, recent, cache)

    def step(
        self, segment: Segment, state: HeartState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, HeartState]:
        """Render a segment. Held-back sound is rendered again, and may become longer."""
        ended = segment.closes
        if not (segment.speak or ended or (segment.breath and state.held)):
            # Words without sound: nothing to render, and no new knowledge about the future.
            end = max(0, (state.done + state.held) * self.FRAMES_PER_UNIT - self._lead_frames)
            return silent_frames(segment, end, self._width), state
        known = self._opened(state) if state.done + state.held == 0 else state
        left = known.ids
        ids, seen = self._encoder_input(left, segment)
        speeds = speeds_of(known.speeds, segment, len(ids))
        tones = tones_of(known.tones, segment, len(ids), len(left))
        # Units of the first phoneme that are final already.
        past = int(known.units.sum()) - known.held
        speed = np.float32(rendering.speed * self._pace(rendering.speaker))
        seen |= {"speed": np.array([speed], np.float32), "recent": state.recent}
        seen |= self._speaker_input("text", rendering.speaker)
        text = self._text(ids=ids, **state.memory, **seen)
        lasting = np.asarray(text["durations"] / speeds, np.float32)
        lasting[: len(left)] *= np.float32(segment.stretch)
        # Held-back sound may become longer with the new knowledge, but never shorter: its end has
        # been reported.
        least = np.ones(len(ids), np.int64)
        least[: len(left)] = known.units
        if state.done < self._lead_units:
            # The first pad, even if only its start is final.
            lasting[0] = self._lead_units
        units, owed = whole_units(lasting, least, speeds * speed != 1, state.owed)
        # Units of the encoded phonemes up to the last one spoken, and those that become final now.
        end = len(ids) if ended else len(left) + segment.speak
        spoken = int(units[:end].sum())
        commit = (
            spoken - past if ended else max(0, spoken - past - hold_back // self.FRAMES_PER_UNIT)
        )
        features, cache = self._features(text, units, tones, state, past, commit, rendering.speaker)

        cut = commit * self.FRAMES_PER_UNIT
        begin = state.done - past
        heard = self._audible_edges(units, begin)
        words = tuple(
            (int(heard[len(left) + a]), int(heard[len(left) + b])) for a, b in segment.spans
        )
        drawn = changed_durations(
            known.units * self.FRAMES_PER_UNIT,
            units * self.FRAMES_PER_UNIT,
            lambda: self._audible_edges(known.units, begin),
        )
        frames = Frames(features[:cut], features[cut:], words, ended, drawn=drawn)
        if ended:
            return frames, self.initial()
        # Phonemes that are entirely final now are never encoded again.
        final = min(end, int(np.searchsorted(np.cumsum(units), past + commit, side="right")))
        return frames, HeartState(
            ids=ids[final:end],
            units=units[final:end],
            speeds=speeds[final:end],
            tones=None if tones is None else tones[final:end],
            held=spoken - past - commit,
            done=state.done + commit,
            memory={
                name: remembered(known, text[f"next_{name}"][..., :final, :], self._window)
                for name, known in state.memory.items()
            },
            recent=np.concatenate([state.recent, text["next_recent"][:final]])[-2:],
            cache=cache,
            pitch=float(features[cut - 1, self.PITCH]) if cut else state.pitch,
            owed=float(owed[final]),
        )

    def _opened(self, state: HeartState) -> HeartState:
        """Return the state of a new sentence after its first pad."""
        return replace(
            state,
            ids=np.array([self._pad], np.int64),
            units=np.array([self._lead_units], np.int64),
            speeds=np.ones(1, np.float32),
            tones=None,
            held=self._lead_units,
        )

    def _features(
        self,
        text: Mapping[str, Floats],
        units: Ids,
        tones: Floats | None,
        state: HeartState,
        past: int,
        commit: int,
        speaker: int,
    ) -> tuple[Floats, Floats]:
        """Return the features (T, 130 or 131) of the units that become final and of those expected
        after them, and the prosody's next cache.

        ``units`` (N,): durations of the encoded phonemes, of which the first ``past`` units are
        final; ``tones`` (N, 5): their tones; ``commit``: units that become final.
        """
        # The last final unit is computed again, to see how its prosody changes with what is known
        # now.
        repeated = min(1, state.done)
        begin = max(0, past - repeated)
        rows = np.repeat(np.arange(len(units)), units.astype(np.intp))[begin:]
        encoding = text["prosody_encoding"]
        if repeated and not past:
            # It belongs to a phoneme that is not encoded again.
            encoding = np.concatenate([state.recent[1:, -encoding.shape[1] :], encoding])
            rows = np.append(0, rows + 1)
        # Units after the repeated one: the new final ones and those expected.
        wanted = min(commit + self._right_units, len(rows) - repeated)
        prosody = self._prosody(
            prosody_encoding=encoding[rows[: repeated + commit + self._right_units + self.REACH]],
            rows=count(wanted + repeated),
            commit=count(max(0, commit + repeated - 1)),
            cache=state.cache,
            **self._speaker_input("prosody", speaker),
        )
        sound = text["sound_encoding"]
        frames = np.repeat(
            rows[repeated : repeated + wanted] - (len(encoding) - len(sound)), self.FRAMES_PER_UNIT
        )
        repeated_frames = repeated * self.FRAMES_PER_UNIT
        f0 = prosody["f0"]
        energy = prosody["energy"][repeated_frames:]
        if tones is not None:
            # The unit that is computed again gets the tone of the next one, towards which the pitch
            # then glides.
            shown = np.concatenate(
                [tones[frames[:1]].repeat(repeated_frames, axis=0), tones[frames]]
            )
            shares = shares_of(units)[begin:]
            if repeated and not past:
                shares = np.append(np.float32(1), shares)
            over = shares[: repeated + wanted].repeat(self.FRAMES_PER_UNIT)
            f0 = toned_pitch(f0, shown, over)
            energy = energy + np.log(tones[frames, 2])
        f0 = self._glide(f0, repeated_frames, state.pitch)
        columns = [sound[frames], f0[:, None], energy[:, None]]
        if self._speakers is not None:
            columns.append(np.full((len(f0), 1), speaker, np.float32))
        return np.concatenate(columns, axis=1), prosody["next_cache"]

    def _speaker_input(self, graph: str, speaker: int) -> dict[str, Floats]:
        """Return a graph's input for a speaker; empty for a voice with one speaker."""
        return {} if self._speakers is None else {SPEAKER: self._speakers[speaker][graph]}

    def _pace(self, speaker: int) -> float:
        """Return a speaker's speed relative to the network's durations."""
        return 1.0 if self._speakers is None else pace_of(self._speakers[speaker])

    def _audible_edges(self, units: Ids, begin: int) -> Ids:
        """Return the frames (P + 1,) at which phonemes audibly begin, and at which the last one
        ends.

        ``units`` (P,): their durations; ``begin``: the unit of the sentence at which the first
        begins.
        """
        frames = edges_of(units, begin) * self.FRAMES_PER_UNIT
        return np.asarray(np.maximum(frames - self._lead_frames, 0))

    def _glide(self, f0: Floats, first: int, before: float) -> Floats:
        """Return the pitch from frame ``first`` on, in Hz, as a continuation of ``before``, the
        pitch of the frame spoken last.

        Expectations, and pitch with them, change with every new word; the glide hides the jump.
        """
        new = f0[first:]
        if not (first and len(self._glide_decay) and min(before, f0[first - 1]) > self.VOICED_HZ):
            return new
        gap = np.log(before / f0[first - 1])
        # After this many frames nothing is left of the gap.
        near = new[: len(self._glide_decay)]
        glided = near * np.exp(np.float32(gap) * self._glide_decay[: len(near)])
        return np.concatenate([np.where(near > self.VOICED_HZ, glided, near), new[len(near) :]])

    def _encoder_input(self, left: Ids, segment: Segment) -> tuple[Ids, dict[str, Floats]]:
        """Return the ids (N,) for the text encoders, and the context embedding if the voice takes
        one."""
        if self._futures is None:
            tail = (
                self._continuation if segment.speak < len(segment.ids) else self._blind_continuation
            )
            if segment.ends:
                tail = np.array([self._pad], np.int64)
            return np.concatenate([left, segment.ids, tail]), {}
        real = segment.ids[: len(segment.ids) - segment.predicted]
        closed = segment.ends and not segment.predicted
        tail = np.array([self._pad], np.int64) if closed else self._futures
        embedding = segment.embedding
        if embedding is None and segment.predicted and self._expect is not None:
            embedding = self._expect(ids=segment.ids[len(real) :])["context"]
        if embedding is None or closed:
            embedding = np.zeros(self._context, np.float32)
        return np.concatenate([left, real, tail]), {"context": embedding}


def remembered(before: Floats, new: Floats, window: int) -> Floats:
    """Return the last ``window`` keys and values (..., M, C) of the old ones followed by the new
    ones."""
    known = max(0, window - new.shape[-2])
    before = before[..., max(0, before.shape[-2] - known) :, :]
    return np.concatenate([before, new[..., -window:, :]], axis=-2)


def load_heart(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """Load a voice from ``text.onnx``, ``prosody.onnx``, ``decoder.onnx`` and perhaps
    ``expect.onnx``.

    ``expect.onnx`` may belong to another voice. A voice with several speakers also has
    ``speakers.npz``. One that borrows all graphs has nothing else: it is a further speaker of the
    lending voice and can be blended with its speakers.
    """
    heart = from_mapping(HeartConfig, config.model, where="model")
    graphs_folder = folder
    lender = None
    if heart.graphs is not None:
        graphs_folder = lent(
            heart.graphs, folder, "the graphs", [f"{name}.onnx" for name in OWN] + [SPEAKERS]
        )
        lender = read_config(graphs_folder)
    load = shared_graphs_of if config.speakers else graphs_of
    makers = load(graphs_folder, OWN, threads)
    if heart.context:
        expect_folder = (
            folder
            if heart.expect is None
            else lent(heart.expect, folder, "the context network", ["expect.onnx"])
        )
        makers += load(expect_folder, ("expect",), threads)

    def stages(*loaded: OnnxGraph) -> Stages:
        """Return both stages, and note the tables of the speakers, which the graphs check."""
        graphs = {graph.name: graph for graph in loaded}
        check_memory(graphs["text"], folder)
        if SPEAKERS in config.files:
            own = {name: graphs[name] for name in OWN}
            speaker_tables_of_voice.append(
                Speakers(tables_of(own, config, folder, lender, graphs_folder))
            )
        return heart_stages(
            graphs,
            heart,
            config.phonemes,
            speaker_tables_of_voice[0] if speaker_tables_of_voice else None,
        )

    # Filled by ``stages``, which gets the graphs once they are loaded.
    speaker_tables_of_voice = list[Speakers]()
    read = config if lender is None else replace(config, reads=lender.reads or lender.language)
    voice = phoneme_voice(read, *makers, stages=stages)
    if config.shape != Shape():
        assert isinstance(voice.synthesizer, Shapeable)
        voice = replace(voice, synthesizer=voice.synthesizer.shaped(config.shape))
    if not speaker_tables_of_voice:
        return voice

    def reading(language: str) -> Loaded:
        """Return the same voice with the front end of a speaker's language."""
        front = reader(language)
        # The voice's stand-in is an English word, which elsewhere would be read by other rules.
        is_english = language.lower().startswith("en")
        stand_in = config.stand_in if is_english else ""
        phonemizer = front.phonemizer(config.phonemes, stand_in=stand_in)
        return replace(
            voice, normalizer=front.normalizer, phonemizer=phonemizer, openers=front.openers
        )

    speakers, languages = numbered_speakers(config, heart, lender)
    return of_speakers(voice, speaker_tables_of_voice[0], speakers, languages, reading)


def check_memory(text: OnnxGraph, folder: Path) -> None:
    """VoiceError for a voice of an earlier version, whose text encoder remembers nothing."""
    if not text.inputs >= HeartAcoustic.MEMORY.keys():
        raise VoiceError(
            f"{folder} was made by an earlier version: make it again from its run, or by "
            f"`sayahead train voice --heart SETTINGS --acoustic {folder}`."
        )


def tables_of(
    graphs: Mapping[str, OnnxGraph],
    config: VoiceConfig,
    folder: Path,
    lender: VoiceConfig | None,
    home: Path,
) -> dict[str, Floats]:
    """Return the parameters of a voice's speakers, followed by those of the lending voice, if
    any."""
    tables = speaker_tables(folder / SPEAKERS, graphs, len(config.speakers))
    if lender is None:
        return tables
    theirs = speaker_tables(home / SPEAKERS, graphs, len(lender.speakers))
    return {name: np.concatenate([table, theirs[name]]) for name, table in tables.items()}


def numbered_speakers(
    config: VoiceConfig, heart: HeartConfig, lender: VoiceConfig | None
) -> tuple[dict[str, int], dict[int, str]]:
    """Return all speakers by name, numbered as in ``tables_of``, and the languages of those with
    their own, by number."""
    speakers = dict(config.speakers)
    languages = dict(heart.languages)
    if lender is not None:
        count = len(speakers)
        speakers = {name: number + count for name, number in lender.speakers.items()} | speakers
        languages = from_mapping(HeartConfig, lender.model, where="model").languages | languages
    return speakers, {speakers[name]: tag for name, tag in languages.items() if name in speakers}


def heart_stages(
    graphs: Mapping[str, OnnxGraph],
    heart: HeartConfig,
    phonemes: Mapping[str, int],
    speakers: Speakers | None,
) -> Stages:
    """Return both stages of a voice from its graphs."""
    vocoder = HeartVocoder(graphs["decoder"], right=heart.right, speakers=speakers)
    acoustic = HeartAcoustic(
        graphs, heart, phonemes, right_frames=vocoder.context, speakers=speakers
    )
    return acoustic, vocoder
