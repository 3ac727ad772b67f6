"""The parts of a loaded voice, and helpers that most kinds share."""

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
    """The parts of a voice. It has a phonemizer if it reads words, or a speller if it reads
    characters."""

    synthesizer: AnySynthesizer
    """Makes the sound."""
    normalizer: Callable[[int], Normalizer]
    """Makes a normalizer for the text from a position of the source on."""
    phonemizer: Phonemizer | None = None
    """Makes phonemes from words, if the voice reads words."""
    speller: Speller | None = None
    """Makes letters from words, if the voice reads characters."""
    openers: frozenset[str] = frozenset()
    """Words of the language, in lower case, before which a speaker may pause: "and", "because"."""
    policy: str = ""
    """Default policy of sessions; empty for the usual one."""
    policies: Mapping[str, Callable[..., Policy]] = field(default_factory=dict)
    """Makers of policies that the voice has learned, by name."""
    contexts: Mapping[str, Callable[..., ContextPredictor]] = field(default_factory=dict)
    """Makers of context predictors that the voice has learned, by name."""
    blend: Callable[[str], int] | None = None
    """Returns the number of a blend of speakers; ConfigError for an invalid one."""
    other: Callable[[int], tuple[str, Callable[[], Loaded]] | None] | None = None
    """For a speaker's number: the tag of the language, if it is not the voice's, and the voice that
    reads it."""

    @property
    def unit(self) -> Unit:
        """What the voice reads and its policies decide on."""
        return "words" if self.speller is None else "characters"


Stages = tuple[AcousticModel[Any], Vocoder[Any]]
Loader = TypeVar("Loader", bound=Callable[..., Loaded])


def reads_characters(load: Loader) -> Loader:
    """Mark a loader whose voices read characters, so that this is known before one is loaded."""
    vars(load)["unit"] = "characters"
    return load


def phoneme_voice(
    config: VoiceConfig, *tasks: Callable[[], Any], stages: Callable[..., Stages]
) -> Loaded:
    """Return a voice of two stages that reads the phonemes of its language, or of the one that
    ``reads`` names. ConfigError if it has no phonemes.

    ``tasks`` load its graphs in threads of their own while this one loads the front end, which
    takes as long; ``stages`` makes the stages from what the tasks return.
    """
    if not config.phonemes:
        raise ConfigError("phonemes is empty: the voice would read nothing.")

    def load_front_end() -> tuple[FrontEnd, Phonemizer]:
        front = front_end(config.reads or config.language)
        return front, front.phonemizer(
            config.phonemes, stand_in=config.stand_in, inner_punctuation=config.inner_punctuation
        )

    *loaded, (front, phonemizer) = beside(*tasks, load_front_end)
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
    """Return the synthesizer of two stages, with the voice's pauses; ``first_frames``: as for
    TwoStage."""
    rate = config.sample_rate
    pauses = Pauses(lead_in=round(config.lead_in_s * rate), pause=round(config.pause_s * rate))
    return TwoStage(acoustic, vocoder, sample_rate=rate, pauses=pauses, first_frames=first_frames)


def ids_of(symbols: str, phonemes: Mapping[str, int]) -> Ids:
    """Return the ids (P,) of a string of phonemes, without those that the voice does not have."""
    return np.array([phonemes[symbol] for symbol in symbols if symbol in phonemes], np.int64)
