"""English: the normalizer of this folder, phonemes by hibari-tts, letters by ``spelling``."""

from __future__ import annotations

from collections.abc import Mapping

from sayahead.text.english.spelling import EnglishSpeller
from sayahead.text.normalizer import Normalizer
from sayahead.text.phonemizer import EnglishPhonemizer


class English:
    """See FrontEnd."""

    def normalizer(self, start: int = 0) -> Normalizer:
        """See FrontEnd."""
        return Normalizer(start)

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> EnglishPhonemizer:
        """See FrontEnd."""
        return EnglishPhonemizer(phonemes, stand_in=stand_in, inner_punctuation=inner_punctuation)

    def speller(self) -> EnglishSpeller:
        """See FrontEnd."""
        return EnglishSpeller()
