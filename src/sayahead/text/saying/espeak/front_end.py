"""A front end for every language of espeak-ng, with its phonemes: made by rules for some, by
espeak-ng for others."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sayahead.errors import ConfigError, SayaheadError
from sayahead.text.languages import record_of
from sayahead.text.languages.espeak_voices import voice_of
from sayahead.text.saying.clauses import ClausePhonemizer
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.espeak.phonemizer import EspeakPhonemizer
from sayahead.text.saying.front_end import DataFrontEnd
from sayahead.text.saying.layout import Layout
from sayahead.text.saying.mixed import mixed
from sayahead.text.saying.romance import LANGUAGES, ROUGH, sounds_of

PHONEMES = "SAYAHEAD_PHONEMES"
"""Environment variable: ``espeak`` for espeak-ng's phonemes in languages that have rules of their
own."""


class EspeakFrontEnd(DataFrontEnd):
    """A front end for any language of espeak-ng: words by the data of the language, espeak-ng's
    phonemes.

    Languages that have rules (``text/saying/romance``) do without it; where these are rough, only
    if it is not there."""

    def __init__(self, language: str, *, voice: str = "", layout: Layout | None = None) -> None:
        """``voice`` is espeak-ng's, where it is not the language's own; ConfigError for a language
        it does not have."""
        super().__init__(language)
        self.voice = voice_of(voice or language)
        self._layout = layout
        self.stand_in = record_of(language).stand_in

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> ClausePhonemizer:
        """Without ``stand_in`` it is the language's own."""
        stand_in = stand_in or self.stand_in
        marks = inner_punctuation
        if self.voice not in LANGUAGES or wants_espeak() or (self.voice in ROUGH and there()):
            return EspeakPhonemizer(
                self.voice,
                phonemes,
                stand_in=stand_in,
                layout=self._layout,
                inner_punctuation=marks,
            )
        sounds = mixed(sounds_of(self.voice, stand_in), self.voice)
        return ClausePhonemizer(sounds, phonemes, layout=self._layout, inner_punctuation=marks)


def wants_espeak() -> bool:
    """Whether espeak-ng is to make all phonemes; ConfigError for a choice that there is not."""
    choice = os.environ.get(PHONEMES) or "rules"
    if choice not in ("rules", "espeak"):
        raise ConfigError(f"{PHONEMES} is {choice!r}, but must be rules or espeak.")
    return choice == "espeak"


def there() -> bool:
    """Whether there is an espeak-ng."""
    try:
        ESPEAK.about()
    except SayaheadError:
        return False
    return True
