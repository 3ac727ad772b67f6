"""The default voice as a teacher: whole sentences with durations, pitch and features, from text
alone.

The graph of the package hibari-tts (Apache-2.0), of which the default voice is made, runs a
sentence at once and in int8 throughout: about three times as fast as the three streaming graphs.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.sound.pcm import audible, to_pcm16
from sayahead.text import Normalizer as AnyNormalizer
from sayahead.text import Phonemizer
from sayahead.text.reading.stream import new_reader
from sayahead.text.saying.english.phonemizer import PAUSES, EnglishPhonemizer
from sayahead.types import Floats, Ids, Pronunciation, Word
from sayahead.voices import FOLDER, VoiceConfig

from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.store import About, Item

RATE = 24000
HOP = 300
"""The teacher's own: samples per second, samples a frame."""
UNIT = 2
"""Frames in a unit of its durations."""
EARLY = 4
"""Frames by which its sound is ahead of its durations: as measured, phonemes so shifted explain the
mel best."""
DURATIONS = "/Clip_output_0"
FEATURES = "/dec_norm/LayerNormalization_output_0"
"""Tensors of its graph: units of each id (P + 2,), and what its last layer gets (1, T, 256)."""
"""-50 dBFS, a session's threshold of silence."""
PUNCTUATION = ("all", "final")
Frames = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TeacherSpec:
    """A corpus's settings for the teacher; ``open`` loads it."""

    front_end: MelFrontEnd
    """Front end of its frames."""
    punctuation: str = "all"
    """all, or final: only the sentence's last punctuation reaches the teacher (Ma 5.1)."""
    lead: int = 4
    """Frames (12.5 ms) that are kept of the first pad. The first phoneme is audible up to three
    frames early."""
    tail: int = 12
    """Frames kept after the last audible one."""
    seed: int = 0
    """Seed of its noise, together with each item's name."""
    audio: bool = True
    """Whether items have samples."""
    features: bool = False
    """Whether items have features."""

    def __post_init__(self) -> None:
        if self.punctuation not in PUNCTUATION:
            raise ConfigError(f"punctuation is {self.punctuation!r}, but must be all or final.")
        if self.lead < 1 or self.tail < 4:
            raise ConfigError(
                f"lead is {self.lead} and tail {self.tail}, but must be at least 1 and 4 frames."
            )
        front = self.front_end
        if self.features and (front.sample_rate, front.hop) != (RATE, HOP):
            raise ConfigError(
                f"The teacher has features for each {HOP} samples at {RATE} Hz, not for each"
                f" {front.hop} at {front.sample_rate} Hz: make the corpus without features, or with"
                " the front end ma."
            )

    def about(self) -> About:
        source = {
            "kind": "teacher",
            "voice": f"hibari-tts {importlib.metadata.version('hibari-tts')}",
            "early": str(EARLY),
            "lead": str(self.lead),
            "tail": str(self.tail),
            "audio": str(self.audio).lower(),
            "features": str(self.features).lower(),
        }
        return About(self.front_end, *inventory(), source, self.punctuation, self.seed)

    def open(self) -> VoiceTeacher:
        """The teacher, loaded."""
        return VoiceTeacher(self)


@dataclass(frozen=True, slots=True)
class Take:
    """A sentence as the teacher speaks it, ends trimmed."""

    edges: Frames
    """(P + 3,) first frame of each id with the pads, and T."""
    f0: Floats
    """(T,) Hz, below 40 where there is no voice."""
    samples: Floats
    """(T * 300,)"""
    features: Floats | None = None
    """(T, 256), or none"""
    energy: Floats | None = None
    """(T,) as the default voice has it, or none"""


class VoiceTeacher:
    """A source that speaks texts with a teacher voice: items, one per sentence."""

    def __init__(self, spec: TeacherSpec) -> None:
        self.spec = spec
        config = voice_config()
        self._normalizer: Callable[[], AnyNormalizer] = new_reader
        self._pad = int(config.model["pad"])
        self._phonemes = config.phonemes
        self._phonemizer: Phonemizer = load_reader(self.spec.punctuation == "all")
        self._pauses = frozenset(
            config.phonemes[mark] for mark in PAUSES if mark in config.phonemes
        )
        self._graph = load_graph()

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        """The sentences of a text; and the names of those without a sound, which are left out."""
        normalizer = self._normalizer()
        sentences = list(split([*normalizer.push(text), *normalizer.flush()]))
        items = []
        left_out = [] if sentences else [name]
        for number, words in enumerate(sentences, 1):
            item_name = name if len(sentences) == 1 else f"{name}.{number}"
            pronounced = self._phonemizer.phonemize(words, left=[])
            ids = np.concatenate([word.ids for word in pronounced])
            if all(int(i) in self._pauses for i in ids):
                left_out.append(item_name)
            else:
                items.append(
                    self._item(
                        item_name, " ".join(word.text for word in words), ids, spans(pronounced)
                    )
                )
        return items, left_out

    def _item(self, name: str, text: str, ids: Ids, words: NDArray[np.int16]) -> Item:
        spec = self.spec
        front = self.spec.front_end
        take = self.speak(ids, name)
        edges = take.edges
        samples = take.samples
        f0 = take.f0
        energy = take.energy
        if (front.sample_rate, front.hop) != (RATE, HOP):
            samples = resample(samples, RATE, front.sample_rate)
            edges = np.rint(edges * (HOP / RATE * front.sample_rate / front.hop)).astype(np.int64)
            nearest = np.rint(
                np.arange(edges[-1]) * (front.hop / front.sample_rate * RATE / HOP)
            ).astype(np.int64)
            f0 = f0[np.minimum(nearest, len(f0) - 1)]
            energy = None if energy is None else energy[np.minimum(nearest, len(energy) - 1)]
        size = int(edges[-1]) * front.hop
        pcm = to_pcm16(np.pad(samples[:size], (0, max(0, size - len(samples)))))
        # Frames of the samples as stored, so that readers compute the same.
        mel = front.log_mel(pcm.astype(np.float32) / np.float32(32767))
        return Item(
            name=name,
            text=text,
            ids=ids.astype(np.int16),
            words=words,
            durations=np.diff(edges).astype(np.int16),
            f0=np.where(f0 < 40, 0, f0).astype(np.float16),
            mel=mel.astype(np.float16),
            audio=pcm if spec.audio else None,
            features=(
                take.features.astype(np.float16)
                if spec.features and take.features is not None
                else None
            ),
            energy=None if energy is None else energy.astype(np.float16),
        )

    def speak(self, ids: Ids, name: str) -> Take:
        """The sentence of phoneme ids (P,), without pads; its noise is drawn by the name and the
        spec's seed."""
        from hibari import dsp

        padded = np.concatenate([[self._pad], ids, [self._pad]])[None].astype(np.int64)
        names = ["lh", "theta", "ln", "lr", "phi", "f0", DURATIONS, FEATURES]
        *parts, units, features = self._graph.run(
            names, {"ids": padded, "speed": np.ones(1, np.float32)}
        )
        digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
        samples = dsp.synth(
            *(part[0] for part in parts), np.random.default_rng([self.spec.seed, digest])
        )
        edges = np.concatenate([[0], np.cumsum(np.rint(units).astype(np.int64) * UNIT)])
        marks = len(list(itertools.takewhile(self._pauses.__contains__, ids[::-1].tolist())))
        first, edges = trim(edges, samples, marks, lead=self.spec.lead, tail=self.spec.tail)
        end = first + int(edges[-1])
        return Take(
            edges, parts[5][0, first:end], samples[first * HOP : end * HOP], features[0, first:end]
        )


def trim(edges: Frames, samples: Floats, marks: int, *, lead: int, tail: int) -> tuple[int, Frames]:
    """Frames to cut off the front, and the edges (P + 3,) of the pads and phonemes in the rest.

    ``edges`` are those of the whole by the teacher's durations, ``marks`` the number of ids after
    the last phoneme that sounds. All phonemes are moved to where they are heard, ``EARLY`` frames
    to the front; of the first pad ``lead`` frames are kept. At the end the teacher is silent for
    half a second, most of which it counts to the last phoneme: ``tail`` frames are kept after the
    last audible one; the phoneme gets two of them, marks and pad share the rest.
    """
    total = int(edges[-1])
    edges = np.maximum(edges - EARLY, 0)
    loud = audible(samples)
    silent = int(loud[-1]) // HOP + 1 if len(loud) else 0
    last = len(edges) - 3 - marks
    sounding = min(int(edges[last + 1]), max(silent, int(edges[last])) + 2)
    end = min(total, max(silent, sounding - 2) + tail)
    edges[last + 1 :] = np.rint(np.linspace(min(sounding, end), end, marks + 2))
    first = max(0, int(edges[1]) - lead)
    edges -= first
    edges[0] = 0
    return first, edges


def split(words: Sequence[Word]) -> list[list[Word]]:
    """The sentences; the last word of each ends it, as ``Session`` has it."""
    sentences: list[list[Word]] = [[]]
    for word in words:
        sentences[-1].append(word)
        if word.ends:
            sentences.append([])
    return [
        [*sentence[:-1], replace(sentence[-1], ends=True)] for sentence in sentences if sentence
    ]


def spans(words: Sequence[Pronunciation]) -> NDArray[np.int16]:
    """(N, 2) sounding phonemes of each word, in the ids of all, as ``Session`` joins them."""
    starts = np.cumsum([0, *(len(word.ids) for word in words[:-1])])
    edges = [
        (start + word.first, start + word.end) for start, word in zip(starts, words, strict=True)
    ]
    return np.array(edges, np.int16).reshape(-1, 2)


def voice_config() -> VoiceConfig:
    """The default voice's phonemes and settings, without its graphs."""
    path = FOLDER / "heart" / "voice.json"
    return from_mapping(VoiceConfig, json.loads(path.read_text(encoding="utf-8")), where=str(path))


def inventory() -> tuple[dict[str, int], int]:
    """The front end's: symbol to id, and the pad's id."""
    config = voice_config()
    return dict(config.phonemes), int(config.model["pad"])


@functools.cache
def load_reader(inner_punctuation: bool) -> EnglishPhonemizer:
    """The default voice's front end, loaded once in a process."""
    config = voice_config()
    return EnglishPhonemizer(
        config.phonemes, stand_in=config.stand_in, inner_punctuation=inner_punctuation
    )


@functools.cache
def load_graph() -> Any:
    """ONNX Runtime's session of the package's own graph, with durations and features among its
    outputs."""
    import hibari
    import onnx
    import onnxruntime

    model = onnx.load(str(Path(hibari.__file__).parent / "assets" / "hibari.onnx"))
    for name in (DURATIONS, FEATURES):
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Sentences differ in length: a memory plan for each would only pile up.
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def seed_of(seed: int, name: str) -> int:
    """The seed of the noise of an item: by a corpus's seed and the item's name."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:4], "big")


def resample(samples: Floats, rate: int, target: int) -> Floats:
    """Samples (S,) at another rate."""
    if rate == target:
        return samples
    import soxr

    resampled: Floats = np.asarray(soxr.resample(samples, rate, target), np.float32)
    return resampled
