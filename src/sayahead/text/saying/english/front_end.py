"""English, American or British: the normalizer of this folder, phonemes by hibari-tts, letters by
``spelling``."""

from __future__ import annotations

from collections.abc import Mapping

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer
from sayahead.text.saying.english.spelling import EnglishSpeller

OPENERS = frozenset(
    "about above after although and as at because before below beneath beside between beyond but by"
    " during except for from if in inside into nor of on onto or over since so than that though"
    " through throughout till to toward towards under unless until upon what when where whereas"
    " which while who whom whose why with within without".split()
)
"""Conjunctions, prepositions and relatives: a phrase may pause before them."""


class English:
    """The front end of English: its normalizer, the phonemes of its lexicon, and letters."""

    openers = OPENERS

    def __init__(self, language: str = "en-US") -> None:
        """``language``: a BCP 47 tag; en-GB has British phonemes, all others American ones."""
        self._language = language_of(language)
        self._british = language.lower().replace("_", "-") == "en-gb"

    def normalizer(self, start: int = 0) -> TokenReader:
        return TokenReader(self._language, start)

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> EnglishPhonemizer:
        return EnglishPhonemizer(
            phonemes, stand_in=stand_in, inner_punctuation=inner_punctuation, british=self._british
        )

    def speller(self) -> EnglishSpeller:
        return EnglishSpeller()
