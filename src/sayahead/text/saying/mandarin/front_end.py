"""The front end of Mandarin: words by the dictionary, figures by the rules of its data file,
phonemes as Kokoro reads them."""

from __future__ import annotations

from collections.abc import Mapping

from sayahead.errors import ConfigError
from sayahead.text import Speller
from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.text.saying.clauses import ClausePhonemizer
from sayahead.text.saying.mandarin.sounds import MandarinSounds


class Mandarin:
    """Mandarin in simplified or traditional characters."""

    openers: frozenset[str] = frozenset()

    def __init__(self, language: str = "zh") -> None:
        """``language``: a BCP 47 tag."""
        self._language = language_of(language)

    def normalizer(self, start: int = 0) -> TokenReader:
        return TokenReader(self._language, start)

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> ClausePhonemizer:
        """``stand_in`` changes nothing: what follows a word changes only the tone of its last
        syllable."""
        return ClausePhonemizer(MandarinSounds(), phonemes, inner_punctuation=inner_punctuation)

    def speller(self) -> Speller:
        raise ConfigError("Voices that read letters do not know the characters of Mandarin.")
