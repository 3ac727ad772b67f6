"""British English: the r that links words, and American phonemes said as British ones, for names of
our own list.

The lexicon, the network for unknown words and the rules of endings are hibari-tts's for British
English; they are misaki's, which Kokoro's British styles learned from.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

ADDED: dict[str, Any] = {
    "resume": {"DEFAULT": "ɹɪzjˈuːm", "NOUN": "ɹˈɛzjʊmˌA"},
    "resumes": {"DEFAULT": "ɹɪzjˈuːmz", "NOUN": "ɹˈɛzjʊmˌAz"},
    "Polish": {"DEFAULT": "pˈQlɪʃ", "VERB": "pˈɒlɪʃ"},
    "Z": "zˈɛd",
    "there'll": "ðɛːɹəl",
    "there've": "ðɛːɹəv",
    "that'll": "ðˈatᵊl",
    "should've": "ʃˈʊdəv",
    "who'll": "hˌuːl",
    "who're": "hˌuːə",
    "what're": "wˌɒtə",
    "where're": "wˌɛːɹə",
    "Alastair": "ˈalɪstə",
    "Anthony": "ˈantəni",
    "Birmingham": "bˈɜːmɪŋəm",
    "Boris": "bˈɒɹɪs",
    "Chiswick": "ʧˈɪzɪk",
    "Fulham": "fˈʊləm",
    "Holborn": "hˈQbᵊn",
    "Hugh": "hjˈuː",
    "Keir": "kˈɪə",
    "Margaret": "mˈɑːɡɹət",
    "Maurice": "mˈɒɹɪs",
    "Tottenham": "tˈɒtnəm",
}
"""Readings that the lexicon lacks, or has as Americans say them, where the network misses them."""
VOWELS = "AIOQWYaiuæɑɐɒɔəɛɜɪʊʌᵊᵻ"
"""Symbols that are vowels in either kind of English."""
_BEGINS = re.compile(f"[ˈˌ]?[{VOWELS}]")
_SPELLED_R = re.compile(r"(?:rr?h?|re)$", re.IGNORECASE)
_LOST_R = re.compile(r"(?:ə|[ɑɔɜɛ]ː)$")
_VOWEL = re.compile(f"([{VOWELS}])(ɹ?)(?=[ˈˌ]?(.?))")
_LETTERS = re.compile("[aeiou]+|y")
_BARE = {"æ": "a", "O": "Q", "u": "uː", "ᵻ": "ɪ", "ɜ": "ɜː"}
_CLOSED = {
    "ɑ": "ɑː",
    "ɔ": "ɔː",
    "O": "ɔː",
    "ɜ": "ɜː",
    "ɪ": "ɪə",
    "i": "ɪə",
    "ɛ": "ɛː",
    "A": "ɛː",
    "ʊ": "ʊə",
    "u": "ʊə",
}
"""Vowels before an r that is not said; with any other, a weak vowel takes its place ("fire")."""


_LONG = {"ɑ": "ɑː", "ɔ": "ɔː"}
"""Vowels that are longer where their letters are not rounded."""
ROUNDED = ("o", "ou")


def link(tokens: Sequence[Any]) -> None:
    """Give hibari's tokens of running text, in place, the r with which words go over to a vowel:
    "far away".

    It is that of the spelling: none is put between "law and". A mark parts words.
    """
    sounding = [token for token in tokens if token.phonemes]
    for token, following in itertools.pairwise(sounding):
        if _BEGINS.match(following.phonemes) and _lost_r(token.text, token.phonemes):
            token.phonemes += "ɹ"


def linking(resolve: Callable[[list[Any]], None]) -> Callable[[list[Any]], None]:
    """hibari's work on the tokens of a compound, and then the r between them: "far-off"."""

    def resolved(tokens: list[Any]) -> None:
        resolve(tokens)
        link(tokens)

    return resolved


def _lost_r(text: str, phonemes: str) -> bool:
    """Whether a word ends in an r that is said before a vowel alone; that of "genre" is said."""
    spoken = text[-2:].lower() == "re" and phonemes.endswith("ɹə")
    return not spoken and bool(_SPELLED_R.search(text) and _LOST_R.search(phonemes))


def from_american(phonemes: str, spelling: str) -> str:
    """A word's American phonemes as British ones; its spelling tells apart what Americans say
    alike."""
    small = spelling.lower()
    letters = _LETTERS.findall(small)
    if len(letters) > 1 and re.search("[^aeiou]e$", spelling):
        letters.pop()
    count = len(_VOWEL.findall(phonemes))
    if len(letters) != count:
        letters = ["o" if "o" in small and "a" not in small else ""] * count
    written = iter(letters)
    flap = "d" if "d" in spelling and "t" not in spelling else "t"
    said = _VOWEL.sub(lambda sound: _vowel(sound, next(written), small), phonemes)
    said = said.replace("T", flap)
    return re.sub("n(ˈ?)uː", r"nj\1uː", said) if "new" in small else said


def _vowel(sound: re.Match[str], written: str, spelling: str) -> str:
    """The British vowel, and the r where it is said, for an American one and its letters."""
    vowel, r, after = sound.groups()
    if not r:
        return _open(sound, written)
    if not after or after not in VOWELS:
        return _CLOSED.get(vowel, _BARE.get(vowel, vowel) + "ə" * (vowel != "ə"))
    return _before_r(sound, written, spelling) + r


def _open(sound: re.Match[str], written: str) -> str:
    """A vowel with no r behind it."""
    vowel = sound[1]
    if written in ROUNDED and vowel in "ɑɔ":
        return "ɒ"
    if vowel == "i":
        is_stressed = sound.string[sound.start() - 1 : sound.start()] in ("ˈ", "ˌ")
        return "iː" if is_stressed else "i"
    return _LONG.get(vowel) or _BARE.get(vowel, vowel)


def _before_r(sound: re.Match[str], written: str, spelling: str) -> str:
    """A vowel before an r that is said."""
    vowel = sound[1]
    doubled = {"ɔ": ("rr", "ɒ"), "ɜ": ("urr", "ʌ")}
    letters, short = doubled.get(vowel, ("", ""))
    if short and letters in spelling and (vowel == "ɜ" or written in ROUNDED):
        return short
    if vowel == "ɛ":
        open_a = re.search("ar(?:a|ah)$", spelling)
        return "ɑː" if open_a else {"a": "a", "e": "ɛ"}.get(written, "ɛː")
    if vowel == "ʊ":
        return "ʊə"
    return "ɔː" if vowel == "ɔ" else _open(sound, written)
