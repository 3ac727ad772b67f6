"""Brazilian Portuguese: a tree that was learned reads words; secondary stress by rule; ends adapt
to what follows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sayahead.text.saying.romance.rules import PRIMARY, SECONDARY, TIE, VOWELS
from sayahead.text.saying.romance.tree import LearnedOrthography
from sayahead.text.tables import pairs

LETTERS = pairs("""
    a:ˈa b:bˈe c:sˈe d:dˈe e:ˈɛ f:ˈɛfy g:ʒˈe h:aɡˈa i:ˈi j:ʒˈɔtæ k:kˈa l:ˈɛly m:ˈeme n:ˈene o:ˈɔ p:pˈe q:kˈe r:ˈɛxe
    s:ˈɛsy t:tˈe u:ˈu v:vˈe w:dˈablju x:ʃˈis y:ˈipsiloŋ z:zˈe
""")  # noqa: E501
ELIDED = {"d": "d"}
OPEN = frozenset("aeiouyáéíóúâêôãõàü")
"""Letters of vowels."""
TAPPED = OPEN | {"h"}
"""Letters before which a final r is a tap."""
STRESSED = frozenset(PRIMARY + vowel for vowel in VOWELS)
VOICED = frozenset("bdɡvzʒmnlɾxʎɲjw")
"""Consonants before which a final s is z."""
NUCLEUS = re.compile("(?<![ˈˌ])(?<=[aeiouɛɔæɐ\u0303])[ɪʊ]\u0303?|(?<=ɾ)ə|(ˈ?[aeiouɛɔæɐɪʊy]\u0303?)")
"""What may be the core of a syllable is in a group; the second half of a diphthong is not."""

LINKED_X = re.compile("(?<=ʃˌi)s(?=[ˈˌ]?[aeiɛɔu])")
"""The end of the name of the letter x before a vowel."""


class Portuguese(LearnedOrthography):
    """Words of Brazilian Portuguese."""

    elided = ELIDED
    names = LETTERS
    vowels = "".join(sorted(OPEN))
    accents = "áéíóúâêô"

    def word(self, text: str) -> str:
        return weighed(super().word(text))

    def letters(self, text: str) -> str:
        return LINKED_X.sub("z", super().letters(text))

    def running(self, sounds: Sequence[str], words: Sequence[str]) -> list[str]:
        out = list[str]()
        for i, sound in enumerate(sounds):
            said, listed, tied = sound.partition(TIE)
            after = sounds[i + 1].lstrip("ˈˌ")[:1] if i + 1 < len(sounds) else ""
            letter = words[i + 1][:1].lower() if after else ""
            # The list says how a word ends before a vowel's letter; others change by what follows.
            if listed:
                out.append(tied if tied and letter in OPEN else said)
            else:
                out.append(adapted(said, words[i].lower(), after, letter))
        return out


def weighed(said: str) -> str:
    """Sounds of a word with its main stress and the others: on the first syllable, and every second
    one after it."""
    nuclei = [match.start(1) for match in NUCLEUS.finditer(said) if match[1]]
    main = next((number for number, place in enumerate(nuclei) if said[place] == PRIMARY), 0)
    if not main or len(nuclei) < 3:
        return said
    marked = {0, *range(2, main - 1, 2)}
    marks = {nuclei[number] for number in marked}
    return "".join(SECONDARY * (place in marks) + symbol for place, symbol in enumerate(said))


def adapted(said: str, word: str, after: str, letter: str) -> str:
    """A word before one that begins with this sound and letter."""
    vowel = after in VOWELS
    if said.endswith("s") and letter != "h" and (vowel or after in VOICED):
        return said[:-1] + "z"
    if said.endswith("y") and letter in OPEN:
        return said[:-1] + ("i" if said[-2:-1] in ("l", "r", "ɾ", "x") else "j")
    if vowel and word.endswith("o") and said.endswith("ʊ") and said[-3:-1] not in STRESSED:
        return said[:-1] + "w"
    if said.endswith("r") and vowel:
        return said[:-1] + ("ɾ" if letter in TAPPED else "ɹ")
    return said
