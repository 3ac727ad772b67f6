"""What a loaded voice consists of, and the parts that most kinds share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from sayahead.engine.context import ContextPredictor
from sayahead.engine.onnx import beside
from sayahead.engine.policy import Policy, Unit
from sayahead.engine.stages import AcousticModel, Vocoder
from sayahead.engine.synthesizer import AnySynthesizer, Pauses, TwoStage
from sayahead.errors import ConfigError
from sayahead.text import FrontEnd, Normalizer, Phonemizer, Speller, front_end
from sayahead.types import Ids
from sayahead.voices import VoiceConfig


@dataclass(frozen=True, slots=True)
class Loaded:
    """A voice's parts: what reads and what speaks. A phonemizer reads words, a speller reads
    characters."""

    synthesizer: AnySynthesizer
    """What speaks."""
    normalizer: Callable[[int], Normalizer]
    """Makes a normalizer for text from a given place in the source on."""
    phonemizer: Phonemizer | None = None
    """Makes phonemes of words, if the voice reads words."""
    speller: Speller | None = None
    """Makes letters of words, if it reads characters."""
    openers: frozenset[str] = frozenset()
    policy: str = ""
    """The policy of sessions that choose none; empty: what is usual for what the voice reads."""
    policies: Mapping[str, Callable[..., Policy]] = field(default_factory=dict)
    """Makers of policies that the kind's voices learn, by name."""
    contexts: Mapping[str, Callable[..., ContextPredictor]] = field(default_factory=dict)
    """The same of context predictors."""
    blend: Callable[[str], int] | None = None
    """The number of a speaker who is none of the voice's, but a blend of these; ConfigError for
    what is no blend."""
    other: Callable[[int], tuple[str, Callable[[], Loaded]] | None] | None = None
    """For a speaker by number who speaks another language than the voice's: its tag, and what makes
    the same voice reading it, which takes time."""

    @property
    def unit(self) -> Unit:
        """What the voice reads, and what its policies decide on."""
        return "words" if self.speller is None else "characters"


Stages = tuple[AcousticModel[Any], Vocoder[Any]]
Loader = TypeVar("Loader", bound=Callable[..., Loaded])


def reads_characters(load: Loader) -> Loader:
    """Marks the loader of a kind whose voices read characters, for those who ask before a voice is
    loaded."""
    vars(load)["unit"] = "characters"
    return load


def phoneme_voice(
    config: VoiceConfig, *tasks: Callable[[], Any], stages: Callable[..., Stages]
) -> Loaded:
    """A voice of two stages that reads the phonemes of its language; ConfigError for one without a
    front end.

    ``tasks`` load its graphs while its front end is loaded; ``stages`` makes the stages of what
    they return."""
    if not config.phonemes:
        raise ConfigError("phonemes is empty: the voice would read nothing.")

    def reads() -> tuple[FrontEnd, Phonemizer]:
        front = front_end(config.reads or config.language)
        inner = config.inner_punctuation
        return front, front.phonemizer(
            config.phonemes, stand_in=config.stand_in, inner_punctuation=inner
        )

    *loaded, (front, phonemizer) = beside(*tasks, reads)
    return Loaded(
        two_stages(config, *stages(*loaded)), front.normalizer, phonemizer, openers=front.openers
    )


def two_stages(
    config: VoiceConfig,
    acoustic: AcousticModel[Any],
    vocoder: Vocoder[Any],
    *,
    first_frames: int = 0,
) -> TwoStage[Any, Any]:
    """The synthesizer of two stages, with the voice's pauses around sentences; ``first_frames``:
    see TwoStage."""
    rate = config.sample_rate
    pauses = Pauses(lead_in=round(config.lead_in_s * rate), pause=round(config.pause_s * rate))
    return TwoStage(acoustic, vocoder, sample_rate=rate, pauses=pauses, first_frames=first_frames)


def ids_of(symbols: str, phonemes: Mapping[str, int]) -> Ids:
    """(P,) ids of a string of phonemes, without those that the voice does not have."""
    return np.array([phonemes[symbol] for symbol in symbols if symbol in phonemes], np.int64)
