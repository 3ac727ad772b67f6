"""English words inside text of another script, in the phonemes that Kokoro's voices of all
languages share."""

from __future__ import annotations

import functools

from sayahead.text import Phonemizer
from sayahead.types import Word

MAX_KNOWN = 4096
"""Words whose phonemes are remembered."""
_SYMBOLS = {chr(code): code for code in range(0x20, 0x2000)} | {"ᵊ": 0x1D4A, "ᵻ": 0x1D7B}


@functools.lru_cache(maxsize=MAX_KNOWN)
def english_phonemes(word: str) -> str:
    """How an English word by itself is said."""
    pronunciation = _phonemizer().phonemize([Word(word, 0, 0, ends=True)], left=[])[0]
    return "".join(chr(symbol) for symbol in pronunciation.ids).strip()


@functools.cache
def _phonemizer() -> Phonemizer:
    from sayahead.text.saying.english.phonemizer import EnglishPhonemizer

    return EnglishPhonemizer(_SYMBOLS, stand_in="")
