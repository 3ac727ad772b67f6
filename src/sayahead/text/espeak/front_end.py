"""A front end for every language of espeak-ng."""

from __future__ import annotations

from collections.abc import Mapping

from sayahead.errors import ConfigError
from sayahead.text import Normalizer, Speller
from sayahead.text.english.front_end import OPENERS
from sayahead.text.english.normalizer import Normalizer as EnglishNormalizer
from sayahead.text.espeak.layout import Layout
from sayahead.text.espeak.phonemizer import EspeakPhonemizer
from sayahead.text.espeak.voices import voice_of
from sayahead.text.languages import record_of
from sayahead.text.shared.reader import Reader


class EspeakFrontEnd:
    """A front end for any language of espeak-ng: words by the data of the language, phonemes by espeak-ng.

    English has a normalizer of its own.
    """

    def __init__(self, language: str, *, voice: str = "", layout: Layout | None = None) -> None:
        """``voice`` is espeak-ng's, where it is not the language's own; ConfigError for a language it does not have."""
        self.language = language
        self.voice = voice_of(voice or language)
        self._layout = layout
        self._english = language.lower().replace("_", "-").split("-")[0] == "en"
        self.openers = OPENERS if self._english else record_of(language).openers

    def normalizer(self, start: int = 0) -> Normalizer:
        if self._english:
            return EnglishNormalizer(start)
        return Reader(record_of(self.language), start)

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> EspeakPhonemizer:
        """Without ``stand_in`` it is the language's own."""
        return EspeakPhonemizer(
            self.voice,
            phonemes,
            stand_in=stand_in or record_of(self.language).stand_in,
            layout=self._layout,
            inner_punctuation=inner_punctuation,
        )

    def speller(self) -> Speller:
        """ConfigError: letters of this language are not known."""
        raise ConfigError(f"There are no voices that read letters for the language {self.language!r}, only phonemes.")
