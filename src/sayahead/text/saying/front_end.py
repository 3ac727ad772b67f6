"""What front ends share: words and letters by the data of the language, phonemes by what makes
them."""

from __future__ import annotations

from collections.abc import Mapping

from sayahead.errors import ConfigError
from sayahead.text import Normalizer, Speller
from sayahead.text.languages import record_of
from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.text.saying.clauses import ClausePhonemizer, Sounds
from sayahead.text.saying.letters import LetterSpeller


class DataFrontEnd:
    """Words and letters by the language's data file."""

    def __init__(self, language: str) -> None:
        """``language``: a BCP 47 tag."""
        self.language = language
        self.openers = frozenset(record_of(language).table("openers"))

    def normalizer(self, start: int = 0) -> Normalizer:
        return TokenReader(language_of(self.language), start)

    def speller(self) -> Speller:
        """ConfigError where the language's letters are not known."""
        if not (letters := record_of(self.language).accented):
            raise ConfigError(
                f"Voices that read letters do not know those of the language {self.language!r}."
            )
        return LetterSpeller(letters)


class UnspacedFrontEnd(DataFrontEnd):
    """A language without spaces, whose phonemes are made clause by clause."""

    def sounds(self) -> Sounds:
        """What makes its phonemes. ConfigError where that is not installed."""
        raise NotImplementedError

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> ClausePhonemizer:
        """``stand_in`` changes nothing: what follows changes a word's last syllable at most."""
        return ClausePhonemizer(self.sounds(), phonemes, inner_punctuation=inner_punctuation)
