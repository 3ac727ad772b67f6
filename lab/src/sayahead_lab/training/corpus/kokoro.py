"""Kokoro as a teacher: whole sentences with the durations, pitch and energy from which its own decoder made them.

Its networks and the default voice's have one clock (a unit is two frames of 300 samples at 24 kHz) and one inventory of
phonemes, so what its graph computes inside is all that a pupil has to say (Kokoro-82M by hexgrad, Apache-2.0). No
aligner is needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from sayahead.config import from_mapping, nearest
from sayahead.errors import ConfigError
from sayahead.sound.pcm import audible
from sayahead.systems.kokoro import EDGE, TOKENS, KokoroConfig
from sayahead.text import Normalizer, Phonemizer, front_end
from sayahead.text.espeak.misaki import Misaki
from sayahead.types import Floats, Ids
from sayahead.voices import VoiceConfig, located, read_config

from sayahead_lab.training.corpus.store import About
from sayahead_lab.training.corpus.teacher import (
    EARLY,
    HOP,
    UNIT,
    Frames,
    Take,
    TeacherSpec,
    VoiceTeacher,
    inventory,
    load_reader,
)

DURATIONS, PITCH, ENERGY = (
    "/encoder/Round_output_0",
    "/encoder/F0_proj/Conv_output_0",
    "/encoder/N_proj/Conv_output_0",
)
"""Tensors of its graph: units of each id (1, P + 2), Hz and energy of each frame (1, 1, 2 x units)."""
PAUSES = ";:,.!?—…"
"""Marks; a sentence of these alone has no sound."""


@dataclass(frozen=True, slots=True)
class KokoroSpec(TeacherSpec):
    """A corpus's settings for Kokoro as its teacher."""

    voice: str = "kokoro"
    """Name or folder of a voice of the kind kokoro (``sayahead voices add kokoro.onnx``)."""
    speaker: str = ""
    """Name of its style; empty: the first one."""

    def __post_init__(self) -> None:
        super(KokoroSpec, self).__post_init__()
        if self.features:
            raise ConfigError("Kokoro has no features of the default voice: make the corpus without them.")
        config = self.config()
        if self.speaker and self.speaker not in config.speakers:
            raise ConfigError(
                f"The voice {config.name!r} has no speaker {self.speaker!r}{nearest(self.speaker, config.speakers)}."
            )

    @property
    def folder(self) -> Path:
        """The voice's folder."""
        return located(self.voice)

    def config(self) -> VoiceConfig:
        """The voice's description; ConfigError where it is of another kind."""
        config = read_config(self.folder)
        if config.kind != "kokoro":
            raise ConfigError(f"The voice {config.name!r} is of the kind {config.kind!r}, not kokoro.")
        return config

    def about(self) -> About:
        """What it says of the corpus, with the digest of the voice's files."""
        config = self.config()
        source = {
            "kind": "kokoro",
            "voice": f"{config.name}, {self.speaker or next(iter(config.speakers), '')}",
            "digest": hashlib.sha256((self.folder / "voice.json").read_bytes()).hexdigest()[:16],
            "language": config.language,
            "early": str(EARLY),
            "lead": str(self.lead),
            "tail": str(self.tail),
            "audio": str(self.audio).lower(),
        }
        return About(self.front_end, dict(config.phonemes), EDGE, source, self.punctuation, self.seed)

    def open(self) -> KokoroTeacher:
        """The teacher, loaded."""
        return KokoroTeacher(self)


class KokoroTeacher(VoiceTeacher):
    """From a text to items, one a sentence, with exact durations, pitch and energy."""

    def __init__(self, spec: KokoroSpec) -> None:
        config = spec.config()
        self.spec, self._phonemes = spec, config.phonemes
        self._normalizer, self._phonemizer = front_of(config, spec.punctuation == "all")
        self._pauses = frozenset(config.phonemes[mark] for mark in PAUSES if mark in config.phonemes)
        self._graph = load_tapped(spec.folder / "model.onnx")
        self._tokens = next(name for name in TOKENS if name in {one.name for one in self._graph.get_inputs()})
        styles = np.load(spec.folder / "styles.npy", allow_pickle=False)
        self._style = np.asarray(styles[config.speakers.get(spec.speaker, 0)], np.float32)

    def speak(self, ids: Ids, name: str) -> Take:
        """The sentence of phoneme ids (P,), without pads; the ``name`` draws nothing, since there is no noise."""
        if len(ids) > len(self._style):
            raise ConfigError(f"The sentence {name} has {len(ids)} phonemes; Kokoro says {len(self._style)} at most.")
        tokens = np.concatenate([[EDGE], ids, [EDGE]])[None].astype(np.int64)
        fed = {self._tokens: tokens, "style": self._style[len(ids) - 1][None], "speed": np.ones(1, np.float32)}
        samples, units, f0, energy = (
            np.asarray(value, np.float32).reshape(-1)
            for value in self._graph.run([self._graph.get_outputs()[0].name, DURATIONS, PITCH, ENERGY], fed)
        )
        first, edges = trim_exact(np.rint(units).astype(np.int64), samples, lead=self.spec.lead, tail=self.spec.tail)
        end = first + int(edges[-1])
        return Take(edges, f0[first:end], samples[first * HOP : end * HOP], energy=energy[first:end])


def trim_exact(units: Ids, samples: Floats, *, lead: int, tail: int) -> tuple[int, Frames]:
    """Frames to cut off the front, and the edges (P + 3,) of the pads and phonemes in the rest.

    Silence at the end is taken from the last durations, each of which keeps a unit, but ``tail`` frames after the last
    audible one. All phonemes are moved to where they are heard, ``EARLY`` frames to the front; of the first pad
    ``lead`` frames are kept, or fewer if it has fewer.
    """
    loud = audible(samples)
    silent = int(loud[-1]) // HOP + 1 if len(loud) else 0
    over = int(units.sum()) - -(-(silent + tail) // UNIT)
    units = units.copy()
    for place in range(len(units) - 1, -1, -1):
        shorter = min(max(0, over), max(0, int(units[place]) - 1))
        units[place] -= shorter
        over -= shorter
    edges = np.concatenate([[0], np.maximum(np.cumsum(units) * UNIT - EARLY, 1)])
    first = max(0, int(edges[1]) - lead)
    edges -= first
    edges[0] = 0
    return first, edges


def front_of(config: VoiceConfig, inner_punctuation: bool) -> tuple[Callable[[], Normalizer], Phonemizer]:
    """What makes a normalizer, and a phonemizer: for English the default voice's own, which spells as Kokoro does."""
    if config.phonemes == inventory()[0] and config.language.lower().startswith("en"):
        return front_end(config.language).normalizer, load_reader(inner_punctuation)
    espeak = from_mapping(KokoroConfig, config.model, where="model").espeak
    front = front_end(config.language, espeak=espeak, layout=Misaki(language=config.language))
    return front.normalizer, front.phonemizer(config.phonemes, inner_punctuation=inner_punctuation)


def load_tapped(path: Path) -> Any:
    """ONNX Runtime's session of Kokoro's graph with three more outputs; ConfigError for another export's graph."""
    model = onnx.load(str(path))
    there = {name for node in model.graph.node for name in node.output}
    missing = [name for name in (DURATIONS, PITCH, ENERGY) if name not in there]
    if missing:
        raise ConfigError(f"{path} is another export of Kokoro: it has no {missing[0]}, which tells what it says.")
    for name in (DURATIONS, PITCH, ENERGY):
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
