"""A VITS voice as a teacher: whole sentences with the durations from which its own networks made
them.

Piper's English voices read espeak-ng's phonemes. Here they are given the front end's own, spelled
as espeak-ng would: what is heard is then what a pupil reads, phoneme by phoneme, and no aligner has
to find it."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np
from sayahead.config import from_mapping
from sayahead.engine.files import sha256
from sayahead.errors import ConfigError
from sayahead.sound.pcm import audible
from sayahead.systems.vits import VitsConfig, vits_stages
from sayahead.types import Floats, Ids, Rendering, Segment
from sayahead.voices import VoiceConfig, located, read_config

from sayahead_lab.training.aligner.sounds import FRONT_END
from sayahead_lab.training.corpus.recordings import pitch
from sayahead_lab.training.corpus.store import About
from sayahead_lab.training.corpus.teacher import (
    HOP,
    RATE,
    Frames,
    Take,
    TeacherSpec,
    VoiceTeacher,
    inventory,
    resample,
    seed_of,
)

VOWELS = "AIOQWYaeiouæɑɐɒɔəɛɜɪʊʌᵊᵻ"
ESPEAK = {
    "A": "eɪ",
    "I": "aɪ",
    "O": "oʊ",
    "W": "aʊ",
    "Y": "ɔɪ",
    "ʤ": "dʒ",
    "ʧ": "tʃ",
    "T": "ɾ",
    "ᵊ": "ə",
    "ɑ": "ɑː",
    "ɔ": "ɔː",
    "ɜ": "ɜː",
    "u": "uː",
    "ī": "iː",
    "əɹ": "ɚ",
    "ɜɹ": "ɜː",
    "—": ",",
    "…": ".",
}
"""The front end's phonemes as espeak-ng spells American English, where the two differ; ``ī`` is a
stressed ``i``."""
STRESSED = re.compile("(?<=[ˈˌ])i")
GROUPS = re.compile(f"[əɜ]ɹ(?![ˈˌ]?[{VOWELS}])|.")
"""What is spelled together: ``ɹ`` colours the vowel before it unless it begins the next one."""


@dataclass(frozen=True, slots=True)
class VitsSpec(TeacherSpec):
    """A corpus's settings for a VITS voice as its teacher."""

    voice: str = ""
    """The voice's name or folder."""

    def __post_init__(self) -> None:
        super(VitsSpec, self).__post_init__()
        if self.features:
            raise ConfigError(
                "A VITS voice has no features of the default voice: make the corpus without them."
            )
        config = read_config(located(self.voice))
        if not tells_durations(config):
            raise ConfigError(
                f"The voice {config.name!r} does not read espeak-ng's phonemes of English."
            )

    def about(self) -> About:
        """What it says of the corpus, with the digest of voice.json, which has those of the voice's
        files."""
        folder = located(self.voice)
        source = {
            "kind": "vits",
            "voice": read_config(folder).name,
            "digest": sha256(folder / "voice.json")[:16],
            "lead": str(self.lead),
            "tail": str(self.tail),
            "audio": str(self.audio).lower(),
        }
        return About(self.front_end, *inventory(), source, self.punctuation, self.seed)

    def open(self) -> VitsTeacher:
        """The teacher, loaded."""
        return VitsTeacher(self)


def tells_durations(config: VoiceConfig) -> bool:
    """Whether a voice can be given the English front end's phonemes and says how long each of them
    lasts."""
    espeak = config.kind == "vits" and config.model.get("spelling") == "espeak"
    return espeak and config.language.lower().startswith("en")


class VitsTeacher(VoiceTeacher):
    """From a text to items, one a sentence, with exact durations; pitch is measured."""

    def __init__(self, spec: VitsSpec) -> None:
        super().__init__(spec)
        folder = located(spec.voice)
        nothing = np.zeros(0, np.int64)
        self._config = read_config(folder)
        self._vits = from_mapping(VitsConfig, self._config.model, where="model")
        self._acoustic, self._vocoder = vits_stages(self._config, folder, 1, (nothing, nothing))
        self._symbols = {number: symbol for symbol, number in self._phonemes.items()}

    def speak(self, ids: Ids, name: str) -> Take:
        """The sentence of phoneme ids (P,), without pads; its noise is drawn by the name and the
        spec's seed."""
        groups = spelled("".join(self._symbols[int(number)] for number in ids))
        known = self._config.phonemes
        unknown = [
            symbol
            for _, theirs in groups
            for symbol in theirs
            if symbol not in known and symbol.isalpha()
        ]
        if unknown:
            raise ConfigError(
                f"The voice {self._config.name!r} has no phoneme {unknown[0]!r}, which {name}"
                " needs."
            )
        tokens = [[known[symbol] for symbol in theirs if symbol in known] for _, theirs in groups]
        phonemes = np.array(list(itertools.chain.from_iterable(tokens)), np.int64)
        units, samples = self._said(phonemes, seed_of(self.spec.seed, name))
        counts = [(many, len(own)) for (many, _), own in zip(groups, tokens, strict=True)]
        scale = self._config.hop_length / self._config.sample_rate * RATE / HOP
        edges = np.rint(phoneme_edges(units, counts) * scale).astype(np.int64)
        samples = resample(samples, self._config.sample_rate, RATE)
        samples = np.pad(samples, (0, max(0, int(edges[-1]) * HOP - len(samples))))[
            : int(edges[-1]) * HOP
        ]
        first, edges = trim_heard(edges, samples, lead=self.spec.lead, tail=self.spec.tail)
        samples = samples[first * HOP : (first + int(edges[-1])) * HOP]
        return Take(edges, pitch(samples, FRONT_END).astype(np.float32), samples)

    def _said(self, phonemes: Ids, seed: int) -> tuple[Ids, Floats]:
        """(2 P + 3,) frames of each token of a sentence of its phonemes (P,), and the samples (S,)
        of all of them."""
        acoustic = self._acoustic
        vocoder = self._vocoder
        rendering = Rendering(seed=seed)
        whole = Segment(phonemes, len(phonemes), (), True)
        frames = acoustic.step(whole, acoustic.initial(), rendering, hold_back=0)[0].final
        samples = vocoder.step(frames, frames[:0], vocoder.initial(0), seed=seed, ended=True)[0]
        begin = np.array([self._vits.begin, self._vits.pad])
        end = np.array([self._vits.end])
        lasting = acoustic.read(
            np.concatenate([begin, acoustic.padded(phonemes), end]), 0, rendering
        )[2]
        units = np.maximum(np.ceil(lasting), 1).astype(np.int64)
        assert units.sum() == len(frames)
        return units, samples * np.float32(self._config.gain)


def spelled(symbols: str) -> list[tuple[int, str]]:
    """A sentence of the front end's phonemes as espeak-ng spells it: groups of so many of them, and
    their spelling."""
    return [
        (len(group), ESPEAK.get(group, group))
        for group in GROUPS.findall(STRESSED.sub("ī", symbols))
    ]


def phoneme_edges(units: Ids, counts: list[tuple[int, int]]) -> Floats:
    """(P + 3,) first frame of the pads and phonemes, and T, by the frames of a voice's tokens (2 Q
    + 3,).

    ``counts``: phonemes and tokens of each group; its phonemes share evenly what its tokens last.
    Between two tokens is a pad, which sounds like both: each gets half of it.
    """
    ends = np.cumsum(units)
    middles = (ends[0:-2:2] + ends[1:-1:2]) / 2
    at = np.cumsum([0, *(own for _, own in counts)])
    edges = [middles[0]]
    for number, (many, _) in enumerate(counts):
        begin = middles[at[number]]
        end = middles[at[number + 1]]
        edges += [begin + (end - begin) * (one + 1) / many for one in range(many)]
    return np.array([0, *edges, ends[-1]], np.float32)


def trim_heard(edges: Frames, samples: Floats, *, lead: int, tail: int) -> tuple[int, Frames]:
    """Frames to cut off the front, and the edges (P + 3,) of the pads and phonemes in the rest.

    At most ``lead`` frames of the first pad are kept, and ``tail`` after the last audible one.
    """
    loud = audible(samples)
    heard = int(loud[-1]) // HOP + 1 if len(loud) else 0
    first = max(0, int(edges[1]) - lead)
    cut: Frames = np.minimum(edges, max(heard + tail, first + 1)) - first
    cut[0] = 0
    return first, cut
