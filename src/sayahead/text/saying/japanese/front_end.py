"""The front end of Japanese: words by OpenJTalk's accent phrases, figures by the rules of its data
file, phonemes as Kokoro reads them."""

from __future__ import annotations

from collections.abc import Mapping

from sayahead.errors import ConfigError
from sayahead.text import Speller
from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.text.saying.clauses import ClausePhonemizer
from sayahead.text.saying.japanese.openjtalk import morphemes
from sayahead.text.saying.japanese.sounds import JapaneseSounds


class Japanese:
    """Japanese."""

    openers: frozenset[str] = frozenset()

    def __init__(self, language: str = "ja") -> None:
        """``language``: a BCP 47 tag."""
        self._language = language_of(language)

    def normalizer(self, start: int = 0) -> TokenReader:
        return TokenReader(self._language, start)

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> ClausePhonemizer:
        """ConfigError where OpenJTalk is not installed. ``stand_in`` changes nothing."""
        morphemes("")
        return ClausePhonemizer(JapaneseSounds(), phonemes, inner_punctuation=inner_punctuation)

    def speller(self) -> Speller:
        raise ConfigError("Voices that read letters do not know the characters of Japanese.")
