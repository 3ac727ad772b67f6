"""What a kind of voice is loaded to, and the parts that most kinds share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sayahead.engine.policy import Unit
from sayahead.engine.stages import AcousticModel, Vocoder
from sayahead.engine.synthesizer import AnySynthesizer, Pauses, TwoStage
from sayahead.text import Normalizer, Phonemizer, Speller, front_end
from sayahead.types import Ids
from sayahead.voices import VoiceConfig


@dataclass(frozen=True, slots=True)
class Loaded:
    """A voice's parts: what reads, and what speaks. It reads words by a phonemizer, or characters by a speller."""

    synthesizer: AnySynthesizer
    """What speaks."""
    normalizer: Callable[[int], Normalizer]
    """Makes what reads text from a place of the source on."""
    phonemizer: Phonemizer | None = None
    """What makes phonemes of words, where it reads words."""
    speller: Speller | None = None
    """What makes letters of words, where it reads characters."""

    @property
    def unit(self) -> Unit:
        """What it reads, and what its policies decide on."""
        return "words" if self.speller is None else "characters"


def phoneme_voice(config: VoiceConfig, acoustic: AcousticModel[Any], vocoder: Vocoder[Any]) -> Loaded:
    """A voice of two stages that reads the phonemes of its language; ConfigError for one without a front end."""
    front = front_end(config.language)
    phonemizer = front.phonemizer(config.phonemes, stand_in=config.stand_in, inner_punctuation=config.inner_punctuation)
    return Loaded(two_stages(config, acoustic, vocoder), front.normalizer, phonemizer)


def two_stages(config: VoiceConfig, acoustic: AcousticModel[Any], vocoder: Vocoder[Any]) -> TwoStage[Any, Any]:
    """The synthesizer of two stages, with the voice's pauses around sentences."""
    rate = config.sample_rate
    pauses = Pauses(lead_in=round(config.lead_in_s * rate), pause=round(config.pause_s * rate))
    return TwoStage(acoustic, vocoder, sample_rate=rate, pauses=pauses)


def ids_of(symbols: str, phonemes: Mapping[str, int]) -> Ids:
    """(P,) ids of a string of phonemes; what the voice has no id for is left out."""
    return np.array([phonemes[symbol] for symbol in symbols if symbol in phonemes], np.int64)
