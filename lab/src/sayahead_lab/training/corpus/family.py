"""Voices of the family as teachers: whole sentences with durations, pitch and energy of the default
voice's networks.

They speak several languages, of which the package's aligner reads one, and far faster than Kokoro,
who taught them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sayahead.engine.files import sha256
from sayahead.engine.synthesizer import TwoStage
from sayahead.errors import ConfigError
from sayahead.systems.heart import HeartAcoustic
from sayahead.types import Floats, Ids, Rendering, Segment
from sayahead.voice import SHAPED, load_voice
from sayahead.voices import VoiceConfig, located, read_config

from sayahead_lab.training.corpus.kokoro import PAUSES, front_of
from sayahead_lab.training.corpus.store import ACCENT, About
from sayahead_lab.training.corpus.teacher import HOP, Take, TeacherSpec, VoiceTeacher, seed_of
from sayahead_lab.training.corpus.vits import trim_heard

PITCH = HeartAcoustic.PITCH
ENERGY = HeartAcoustic.PITCH + 1
"""Columns of what the acoustic networks make."""


@dataclass(frozen=True, slots=True)
class FamilySpec(TeacherSpec):
    """A corpus's settings for a voice of one speaker of several, all of the default voice's
    networks."""

    voice: str = ""
    """The voice's name or folder."""

    def __post_init__(self) -> None:
        super(FamilySpec, self).__post_init__()
        if self.features:
            raise ConfigError(
                "A voice of several speakers' networks has no features: make the corpus without"
                " them."
            )

    def about(self) -> About:
        """What it says of the corpus, with the digest of voice.json, which names the networks."""
        config = read_config(located(self.voice))
        source = {
            "kind": "family",
            "voice": config.name,
            "digest": sha256(located(self.voice) / "voice.json")[:16],
            "language": config.language,
            **({ACCENT: "British"} if config.language == "en-GB" else {}),
            "lead": str(self.lead),
            "tail": str(self.tail),
            "audio": str(self.audio).lower(),
        }
        pad = int(read_config(located(str(config.model["voice"]))).model["pad"])
        return About(
            self.front_end, dict(config.phonemes), pad, source, self.punctuation, self.seed
        )

    def open(self) -> FamilyTeacher:
        """The teacher, loaded."""
        return FamilyTeacher(self)


def of_family(config: VoiceConfig) -> bool:
    """Whether a voice is one speaker of several of the default voice's networks, as they are: not
    shaped further."""
    if config.kind != SHAPED or not config.speakers:
        return False
    plain = (config.shape.pitch, config.shape.pitch_range, config.shape.formants) == (0.0, 1.0, 1.0)
    return plain and read_config(located(str(config.model["voice"]))).kind == "heart"


class FamilyTeacher(VoiceTeacher):
    """From a text to items, one a sentence, with exact durations, pitch and energy."""

    def __init__(self, spec: FamilySpec) -> None:
        voice = load_voice(spec.voice)
        config = voice.config
        stages = voice.synthesizer
        assert isinstance(stages, TwoStage)
        self.spec = spec
        self._phonemes = config.phonemes
        self._gain = np.float32(config.gain)
        self._normalizer, self._phonemizer = front_of(
            config.language, self._phonemes, spec.punctuation == "all"
        )
        self._pauses = frozenset(self._phonemes[mark] for mark in PAUSES if mark in self._phonemes)
        self._acoustic = stages.acoustic
        self._vocoder = stages.vocoder
        [self._speaker] = config.speakers.values()

    def speak(self, ids: Ids, name: str) -> Take:
        """The sentence of phoneme ids (P,), without pads; its noise is drawn by the name and the
        spec's seed."""
        whole = Segment(ids, len(ids), tuple((at, at + 1) for at in range(len(ids))), True)
        rendering = Rendering(seed=seed_of(self.spec.seed, name), speaker=self._speaker)
        frames = self._acoustic.step(whole, self._acoustic.initial(), rendering, hold_back=0)[0]
        features: Floats = frames.final
        samples = self._vocoder.step(
            features, features[:0], self._vocoder.initial(0), seed=rendering.seed, ended=True
        )[0]
        edges = np.array(
            [0, *(begin for begin, _ in frames.words), frames.words[-1][1], len(features)], np.int64
        )
        first, edges = trim_heard(edges, samples, lead=self.spec.lead, tail=self.spec.tail)
        end = first + int(edges[-1])
        sound = samples[first * HOP : end * HOP] * self._gain
        return Take(edges, features[first:end, PITCH], sound, energy=features[first:end, ENERGY])
