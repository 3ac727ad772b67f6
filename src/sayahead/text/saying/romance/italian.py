"""Italian: a tree that was learned tells where the stress is and which vowels are open; words stand
for themselves."""

from __future__ import annotations

from collections.abc import Sequence

from sayahead.text.saying.romance.rules import fitted, strong
from sayahead.text.saying.romance.tree import LearnedOrthography
from sayahead.text.tables import pairs

LETTERS = pairs("""
    a:ˈaː b:bˈi c:tʃˈi d:d̪ˈiː e:ˈeː f:ˈɛffe g:dʒˈi h:ˈakːa i:ˈiː j:ˌi_lˈuŋɡa k:kˈapːa l:ˈɛlle m:ˈɛmme n:ˈɛnne o:ˈɔː
    p:pˈi q:kˈu r:ˈɛrɾe s:ˈɛsse t:tˈɪ u:ˈuː v:vˈu w:dˌopːjavˈu x:ˈiks y:ˈipsilon z:dzˈɛta
""")  # noqa: E501
ELIDED = pairs("""
    l:l un:ʊn d:d c:tʃ s:s m:m t:t v:v n:n gl:ʎ dell:dell nell:nell all:all dall:dall sull:sʊll quell:kwell bell:bell
    quest:kwest nessun:nessʊn ciascun:tʃaskʊn com:kom dov:dov sant:sant
""")  # noqa: E501


class Italian(LearnedOrthography):
    """Words of Italian."""

    elided = ELIDED
    names = LETTERS
    vowels = "aeiouyàèìòùéóáíú"

    def letters(self, text: str) -> str:
        return super().letters(text).replace("ˌu", "ˌʊ")

    def running(self, sounds: Sequence[str], words: Sequence[str]) -> list[str]:
        out = [fitted(*pair) for pair in zip(sounds, [*sounds[1:], ""], strict=False)]
        for i, word in enumerate(words):
            # "questo è" has its main stress on "questo".
            if i and word == "è" and words[i - 1].lower() in ("questo", "questa"):
                out[i - 1] = strong(out[i - 1])
                out[i] = "ˌɛ"
        return out
