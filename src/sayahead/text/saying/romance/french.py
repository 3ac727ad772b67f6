"""French: a tree that was learned reads words; what they say before a vowel, liaison, follows from
their spelling."""

from __future__ import annotations

from collections.abc import Sequence

from sayahead.text.saying.romance.rules import PRIMARY, TIE, VOWELS
from sayahead.text.saying.romance.tree import LearnedOrthography
from sayahead.text.tables import pairs

LETTERS = pairs("""
    a:ˈa b:bˈe c:sˈe d:dˈe e:ˈə f:ˈɛf g:ʒˈe h:ˈaʃ i:ˈi j:ʒˈi k:kˈa l:ˈɛl m:ˈɛm n:ˈɛn o:ˈo p:pˈe q:kˈy r:ˈɛʁ s:ˈɛs t:tˈe
    u:ˈy v:vˈe w:dubləvˈe x:ˈiks y:iɡʁˈɛk z:zˈɛd
""")  # noqa: E501
ELIDED = pairs("""
    l:l d:d n:n s:s c:s j:ʒ m:m t:t qu:k jusqu:ʒysk lorsqu:lɔʁsk puisqu:pyisk quoiqu:kwak
""")
APART = frozenset(
    "afin avec haut haute hauts hautes hauteur hauteurs hasard hasards honte hors huit huitième"
    " héros haine halte handicap hangar harnais hérisson hibou hiérarchie homard housse hausse"
    " hollande hongrie haricot haricots hâte ou oui onze ouistiti yaourt hall hamac hameau hanche"
    " harem hernie hockey hutte hache haie hockey".split()
)
"""Words before which there is no liaison, though they begin with a vowel."""
ENDS = {"six": ("s", "z"), "dix": ("s", "z"), "huit": ("t", "t")}
"""Numbers that lose their last sound before a consonant: what it is at the end of a clause, and
before a vowel."""
NASAL = "\u0303"
"""Written above vowels through the nose."""
PRONOUNS = frozenset(
    "ils elles qui que ne se me te nous vous lui leur les en ceux-ci celles-ci".split()
)
LEANING = frozenset({"sont", "ont"})
"""Verbs that lean on a pronoun before them."""


def tied(word: str, said: str) -> str:
    """What most words of this spelling say before a vowel: plurals z, verbs t."""
    if word.endswith("es") or (word[-1:] in ("s", "x", "z") and said[-1:] not in ("s", "z", "")):
        return "z"
    return "t" if word.endswith("ait") or (word.endswith("ent") and said[-1:] != NASAL) else ""


def linked(sound: str, before: str, word: str, after: str, start: str) -> str:
    """A word between two others, of which the second one begins with a sound; none at the end of a
    clause."""
    said, listed, liaison = sound.partition(TIE)
    vowel = start != "" and start in VOWELS and after not in APART
    if ends := ENDS.get(word.rpartition("-")[2]):
        clause_end, tie = ends
        said = said.rstrip("szt") + (tie if vowel else "" if start else clause_end)
    elif word in LEANING and before.rpartition("'")[2] in PRONOUNS:
        said = said.replace(PRIMARY, "")
    if vowel and not ends:
        return (liaison or said) if listed else said + tied(word, said)
    return said


class French(LearnedOrthography):
    """Words of French."""

    elided = ELIDED
    names = LETTERS
    vowels = "aeiouyàâäéèêëîïôöùûüœæ"

    def running(self, sounds: Sequence[str], words: Sequence[str]) -> list[str]:
        small = ["", *(word.lower() for word in words), ""]
        starts = [*(sound.lstrip("ˈˌ")[:1] for sound in sounds[1:]), ""]
        return [
            linked(sound, small[i - 1], small[i], small[i + 1], starts[i - 1])
            for i, sound in enumerate(sounds, start=1)
        ]
