"""Where words may end in scripts that put no spaces between them, as far as the characters
themselves tell."""

from __future__ import annotations

import functools
import unicodedata

HAN = 3
OTHERS = 8
"""Longest stretch without a better place to cut, in characters: of Chinese characters, of
others."""
_PARTICLES = frozenset("的了着过吗呢吧啊呀嘛们")
"""What ends Chinese words, unless it opens them."""
_GO_ON = frozenset("解确士")
"""Not before these: 不了解, 的确, 的士."""
_TRAILING = frozenset("ーะาำๅๆฯ")
_LEADING = frozenset("เแโใไ")
"""What belongs to the letter before it, and to the one after: a Japanese long vowel, Thai
vowels."""
_HONORIFICS = ("お", "ご", "御")


@functools.lru_cache(maxsize=4096)
def script(char: str) -> str:
    """``HAN``, ``HIRAGANA``, ``KATAKANA``, ``LATIN`` (figures too), or nothing."""
    if char.isascii():
        return "LATIN"
    name = unicodedata.name(char, "")
    if name.startswith(("CJK UNIFIED", "CJK COMPAT", "IDEOGRAPHIC")):
        return "HAN"
    return next((script for script in ("HIRAGANA", "KATAKANA") if name.startswith(script)), "")


def parts(text: str, char: str) -> bool:
    """Whether a word may end after a text without white space, before a letter or figure.

    Japanese words mostly begin with kanji or katakana and go on with hiragana; Chinese ones end
    with their particles. Longer stretches are cut anyway, so that nothing waits for long."""
    before = script(text[-1])
    here = script(char)
    is_long = len(text) >= OTHERS
    if char in _TRAILING or text[-1] in _LEADING:
        return False
    if here == before == "HAN":
        return _parts_han(text, char, is_long=is_long)
    if here == before or not (here and before):
        return is_long and not char.isascii()
    if here == "HIRAGANA":
        return is_long
    return not text[-1].isdecimal() if before == "LATIN" else text not in _HONORIFICS


def _parts_han(text: str, char: str, *, is_long: bool) -> bool:
    """The same between two Chinese characters."""
    is_behind = text[-1] in _PARTICLES
    goes_on = char in _PARTICLES or (is_behind and char in _GO_ON)
    least = 2 if is_behind else HAN
    return is_long or (len(text) >= least and not goes_on)
