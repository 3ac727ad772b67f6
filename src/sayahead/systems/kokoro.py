"""Kokoro and other StyleTTS 2 in one graph, by whole utterances: phonemes, a style and a speed to samples.

StyleTTS 2 (Li et al., NeurIPS 2023) normalizes over the whole utterance and reads it in both directions, so the graph
as published says nothing of a sentence before it has all of it. Each SPEAK is a separate utterance: a sentence
(``wait-all``, the default), or a piece of one (``independent``).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.errors import ConfigError, VoiceError
from sayahead.sound.pcm import audible
from sayahead.systems.loading import Loaded
from sayahead.text import front_end
from sayahead.text.espeak.misaki import Misaki
from sayahead.types import Floats, Ids, Rendering, Segment, Speech
from sayahead.voices import VoiceConfig

EDGE = 0
"""Id at both ends of an utterance."""
TOKENS = ("tokens", "input_ids")
"""Names that exporters give the input of ids."""
INSIDE_S = 0.05
"""Silence kept after a piece of a sentence."""


@dataclass(frozen=True, slots=True)
class KokoroConfig:
    """A Kokoro voice's ``model`` table."""

    espeak: str
    """The voice of espeak-ng whose phonemes it reads, in misaki's spelling."""
    longest: int = 508
    """Most phonemes of one utterance; longer ones are said in parts."""

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise ConfigError(f"longest is {self.longest}, but must be at least 1.")


@dataclass(frozen=True, slots=True)
class KokoroState:
    """How a session is rendered, and how many samples it has got."""

    rendering: Rendering
    """Its speaker and speed."""
    emitted: int = 0
    """Samples handed out."""


class KokoroSynthesizer:
    """Whole utterances by one graph. Word timings are shares of the audible sound by phonemes: the graph tells none."""

    def __init__(self, graph: OnnxGraph, styles: Floats, config: VoiceConfig, *, longest: int) -> None:
        """``styles`` (K, R, D): of each speaker, a row for each count of phonemes."""
        self.sample_rate, self._graph, self._styles, self._longest = config.sample_rate, graph, styles, longest
        self._tokens = next(name for name in TOKENS if name in graph.shapes)
        self._space = config.phonemes.get(" ", -1)
        self._lead_in = round(config.lead_in_s * self.sample_rate)
        self._pause, self._inside = (round(s * self.sample_rate) for s in (config.pause_s, INSIDE_S))

    def initial(self, rendering: Rendering) -> KokoroState:
        return KokoroState(rendering)

    def step(self, segment: Segment, state: KokoroState) -> tuple[Speech, KokoroState]:
        ended, at = segment.ends and segment.speak == len(segment.ids), state.emitted
        ids = segment.ids[: segment.speak]
        if not len(ids):
            return Speech(np.zeros(0, np.float32), ((at, at),) * len(segment.words), ended=ended), state
        speed = state.rendering.speed
        if segment.speeds is not None:
            speed *= float(np.mean(segment.speeds[: segment.speak]))
        parts = [self._say(part, state.rendering.speaker, speed) for part in self._parts(ids)]
        samples, first, last = self._cut(np.concatenate(parts), segment.pause if ended else None)
        share = (last - first) / segment.speak
        words = tuple((at + first + round(a * share), at + first + round(b * share)) for a, b in segment.words)
        return Speech(samples, words, ended=ended), KokoroState(state.rendering, at + len(samples))

    def _parts(self, ids: Ids) -> list[Ids]:
        """An utterance, in parts that end at spaces where it is too long for one."""
        parts = list[Ids]()
        while len(ids) > self._longest:
            spaces = np.flatnonzero(ids[: self._longest] == self._space)
            end = int(spaces[-1]) + 1 if len(spaces) else self._longest
            parts, ids = [*parts, ids[:end]], ids[end:]
        return [*parts, ids]

    def _say(self, ids: Ids, speaker: int, speed: float) -> Floats:
        """(S,) samples of an utterance."""
        style = self._styles[speaker, min(len(ids), self._styles.shape[1]) - 1]
        tokens = np.concatenate([[EDGE], ids, [EDGE]]).astype(np.int64)[None]
        made = self._graph(**{self._tokens: tokens}, style=style[None], speed=np.array([speed], np.float32))
        return np.asarray(next(iter(made.values())), np.float32).reshape(-1)

    def _cut(self, samples: Floats, pause: float | None) -> tuple[Floats, int, int]:
        """Samples with bounded silence around them, and where what is heard begins and ends in them."""
        heard = audible(samples)
        if not len(heard):
            return samples[: self._inside], 0, min(len(samples), self._inside)
        begin, end = max(0, int(heard[0]) - self._lead_in), int(heard[-1]) + 1
        kept = samples[begin:end]
        after = self._inside if pause is None else round(self._pause * pause)
        tail = samples[end : end + after]
        silence = np.zeros(after - len(tail), np.float32)
        return np.concatenate([kept, tail, silence]), int(heard[0]) - begin, len(kept)


def load_kokoro(config: VoiceConfig, folder: Path, threads: int) -> Loaded:
    """A voice whose folder has ``model.onnx`` and ``styles.npy``, (K, R, D) with a table for each speaker."""
    model = from_mapping(KokoroConfig, config.model, where="model")
    graph, path = OnnxGraph(folder / "model.onnx", threads=threads), folder / "styles.npy"
    try:
        styles = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise VoiceError(f"{path} cannot be read: {error}") from error
    wanted, most = graph.shapes.get("style", ()), max(config.speakers.values(), default=0)
    if not {"style", "speed"} <= graph.inputs or not graph.inputs & set(TOKENS):
        raise VoiceError(f"{folder / 'model.onnx'} takes {sorted(graph.inputs)}, not tokens, style and speed.")
    if styles.ndim != 3 or not styles.size or styles.shape[0] <= most or (wanted[-1:] not in ((), styles.shape[-1:])):
        raise VoiceError(f"{path} is {styles.shape}, but must be (speakers, rows, {wanted[-1]}).")
    front = front_end(config.language, espeak=model.espeak, layout=Misaki(language=config.language))
    phonemizer = front.phonemizer(config.phonemes, stand_in=config.stand_in, inner_punctuation=config.inner_punctuation)
    synthesizer = KokoroSynthesizer(graph, styles.astype(np.float32), config, longest=model.longest)
    return Loaded(synthesizer, front.normalizer, phonemizer, openers=front.openers, policy="wait-all")
