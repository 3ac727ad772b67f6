"""Brazilian Portuguese: a tree that was learned reads words; their ends adapt to the words that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sayahead.text.romance.rules import PRIMARY, VOWELS
from sayahead.text.romance.tree import LearnedOrthography

LETTERS = dict(
    pair.split(":")
    for pair in """
    a:ˈa b:bˈe c:sˈe d:dˈe e:ˈɛ f:ˈɛfy g:ʒˈe h:aɡˈa i:ˈi j:ʒˈɔtæ k:kˈa l:ˈɛly m:ˈeme n:ˈene o:ˈɔ p:pˈe q:kˈe r:ˈɛxe
    s:ˈɛsy t:tˈe u:ˈu v:vˈe w:dˈablju x:ʃˈis y:ˈipsiloŋ z:zˈe
    """.split()
)
ELIDED = {"d": "d"}
VOICED = frozenset("bdɡvzʒmnlɾx") | VOWELS
"""Sounds before which a final s is z."""


class Portuguese(LearnedOrthography):
    """Words of Brazilian Portuguese."""

    elided: Mapping[str, str] = ELIDED
    names = LETTERS
    vowels = "aeiouyáéíóúâêôãõàü"

    def running(self, sounds: Sequence[str], words: Sequence[str]) -> list[str]:
        out = list(sounds)
        for i, said in enumerate(sounds[:-1]):
            after = sounds[i + 1].lstrip("ˈˌ")[:1]
            vowel = after in VOWELS
            if not after:
                continue
            if said.endswith("s") and after in VOICED:
                out[i] = said[:-1] + "z"
            elif vowel and words[i].lower() == "o":
                out[i] = "o" if sounds[i + 1].startswith(PRIMARY) else "u"
            elif vowel:
                out[i] = before_vowel(said, after, sounds[i + 1])
        return out


def before_vowel(said: str, after: str, following: str) -> str:
    """A word before one that begins with a vowel, and sounds so."""
    if said.endswith("y") and after not in "oɛ":
        return said[:-1] + "j"
    if said.endswith("ʊ") and said[-2:-1] not in VOWELS and not (following[0] == PRIMARY and after in "io"):
        return said[:-1] + "w"
    if said.endswith("r"):
        return said[:-1] + ("ɹ" if after == "o" and following[0] == "o" else "ɾ")
    return said
