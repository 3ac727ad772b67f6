"""English, American or British: the normalizer of this folder, phonemes by hibari-tts, letters by
``spelling``."""

from __future__ import annotations

from collections.abc import Mapping

from sayahead.text.saying.english.phonemizer import EnglishPhonemizer
from sayahead.text.saying.english.spelling import EnglishSpeller
from sayahead.text.saying.front_end import DataFrontEnd
from sayahead.types import subtags


class English(DataFrontEnd):
    """The front end of English: its normalizer, the phonemes of its lexicon, and letters."""

    def __init__(self, language: str = "en-US") -> None:
        """``language``: a BCP 47 tag; en-GB has British phonemes, all others American ones."""
        super().__init__(language)
        self._british = subtags(language) == ["en", "gb"]

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> EnglishPhonemizer:
        return EnglishPhonemizer(
            phonemes, stand_in=stand_in, inner_punctuation=inner_punctuation, british=self._british
        )

    def speller(self) -> EnglishSpeller:
        return EnglishSpeller()
