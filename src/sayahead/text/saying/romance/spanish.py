"""Spanish: spelling decides all, stress included; words lean on their neighbours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sayahead.text.saying.romance.rules import VOWELS, Orthography, Rules, stressed
from sayahead.text.tables import pairs

SOUNDS = Rules("""
    (?<=^)ps                    s
    ^hi(?=e)                    j
    hu(?=[aeiáéí])              w
    ch                          tʃ
    (?<=^de)sh                  s
    sh                          ʃ
    ph                          f
    qu(?=[eiéí])                k
    q                           k
    gü(?=[eiéí])                ɣU
    ng$                         ŋ
    (?<=n)gu(?=[eiéí])          ɡ
    gu(?=[eiéí])                ɣ
    g(?=[eiéíy])                x
    (?<=n)g                     ɡ
    g(?![aouáóúrlh])            ɡ
    g                           ɣ
    c(?=[eiéíy])                θ
    ck?                         k
    [zç]                        θ
    ll                          ʎ
    ñ                           ɲ
    n(?=[bpv]|f[rl])             m
    n(?=j|g(?![nm]))            ŋ
    n(?=[iyu][aeoáéó])(?<![n])  n
    n                           n
    j                           x
    rr                          r
    (?<=[nls])r(?=[aeiouáéíóú]) r
    ^r                          r
    r                           ɾ
    ^x                          s
    x                           ks
    (?<=[nm])[bv]               b
    [bv](?![aeiouyáéíóúlrsj])   b
    [bv]                        β
    (?<=n)d                     d
    d(?=u[aeo])                 d
    d(?![aeiouyáéíóúrhw])       d
    d                           ð
    p(?=t)                      pː
    (?<=u)y$                    j
    (?<=[aeoáéó])y(?![aeiouáéíóú])  ɪ
    y(?=[aeiouáéíóú])           ʝ
    (?<=[bcdfgptvlr][lr])i(?=[aeoáéóuú])  I
    (?<=[bcdfgptvlr][lr])u(?=[aeoáéóií])  U
    (?<=^[lr])i(?=[aeoáéóuú])  I
    (?<=^[lr])u(?=[aeoáéóií])  U
    (?<=[ae])i(?![aeouáéíóú])  ɪ
    (?<=o)i(?![aeouáéíóú])      ɪ
    (?<=[ae])u(?![aeiouáéíóúy])  ʊ
    (?<=o)u(?![aeiouáéíóúy])    w
    [iy](?=[aeoáéóuú])          j
    u(?=[aeoáéóií])             w
    [yîï]                       i
    th                          t
    h
    [àâä]                       a
    [èêë]                       e
    [òôö]                       o
    [ùûü]                       u
    a                           a
    e                           e
    i                           i
    o                           o
    u                           u
    á                           á
    é                           é
    í                           í
    ó                           ó
    ú                           ú
    f                           f
    k                           k
    l                           l
    m                           m
    p                           p
    s                           s
    t                           t
    w                           w
    """)
"""``I`` and ``U`` are vowels between two consonants and another vowel."""
PLAIN = str.maketrans("áéíóúIU", "aeiouiu")
NUCLEI = "aeiouIUáéíóú"
OPEN_END = re.compile("(?:[aeiou]|[^aeiou]y|(?:[aeiouáéíóúmn]|^)[ns]|m|ng)$")
"""Ends of words whose stress is on the last vowel but one."""
LETTERS = pairs("""
    a:ˈa b:βˈe c:θˈe d:ðˈe e:ˈe f:ˈefe g:xˈe h:ˈatʃe i:ˈi j:xˈota k:kˈa l:ˈele m:ˈeme n:ˈene ñ:ˈeɲe o:ˈo p:pˈe q:kˈu
    r:ˈere s:ˈese t:tˈe u:ˈu v:ˈuβe w:ˌuβe_ðˈoβle x:ˈekis y:ˌiɣɾiˈeɣa z:θˈeta
""")  # noqa: E501
"""Names of letters, stressed at their first vowel."""
OPEN_NAME = re.compile("ˈe(?=[^ˈˌ]+$)")
"""The e of a letter's name that ends a word of letters: "ele", not "e"."""
CLOSED_E = re.compile("e[nŋ][^aeiouIUjw]")
"""A stressed e that is open."""


STOPS = {"β": "b", "ð": "d", "ɣ": "ɡ"}
"""What begins a clause, or follows a nasal, for what follows other sounds."""
PLACES = {"b": "m", "v": "m", "p": "m", "fr": "m", "fl": "m", "g": "ŋ"}
"""What n becomes before words that begin with these letters."""
SOFT = {stop: soft for soft, stop in STOPS.items()}


class Spanish(Orthography):
    """Words of Spanish."""

    names = LETTERS
    vowels = "aeiouyáéíóúüàèìòùâêîôûäëïö"

    def __init__(self, *, lisps: bool = True) -> None:
        """``lisps``: whether c before e, and z, are not s, and ll is not y."""
        self._lisps = lisps

    def word(self, text: str) -> str:
        if text.endswith("mente") and len(text) > 7:
            return self.word(text[:-5]) + "mˈente"
        return self.adapted(self._stressed(text))

    def adapted(self, said: str) -> str:
        return said if self._lisps else said.replace("θ", "s").replace("ʎ", "ʝ")

    def _stressed(self, text: str) -> str:
        """A word's sounds with its stress: on the accent, else on the last vowel or the one before,
        by how it ends."""
        sounds = SOUNDS(text)
        nuclei = [place for place, symbol in enumerate(sounds) if symbol in NUCLEI]
        if not nuclei:
            return sounds
        accents = [number for number, place in enumerate(nuclei) if sounds[place] in "áéíóú"]
        full = [number for number, place in enumerate(nuclei) if sounds[place] not in "IU"] or [0]
        main = (
            accents[0]
            if accents
            else full[max(0, len(full) - 2)]
            if OPEN_END.search(text)
            else full[-1]
        )
        place = nuclei[main]
        if not accents and CLOSED_E.match(sounds, place):
            sounds = sounds[:place] + "ɛ" + sounds[place + 1 :]
        said = stressed(
            sounds, nuclei, main, others=lambda number: sounds[nuclei[number]] not in "IU"
        )
        return said.translate(PLAIN)

    def letters(self, text: str) -> str:
        return OPEN_NAME.sub("ˈɛ", super().letters(text))

    def running(self, sounds: Sequence[str], words: Sequence[str]) -> list[str]:
        """Stops are hard at a clause's start and after a nasal, and soft before a vowel; n takes
        the place of what follows."""
        out = list(sounds)
        for i, said in enumerate(out):
            before = out[i - 1][-1:] if i else "#"
            after, letter = (
                (out[i + 1].lstrip("ˈˌ")[:1], words[i + 1][:2].lower())
                if i + 1 < len(out)
                else ("#", "")
            )
            first = said.lstrip("ˈˌ")[:1]
            if first in STOPS and before in ("#", "n", "m", "ŋ"):
                said = said.replace(first, STOPS[first], 1)
            elif first == "ʝ" and before == "n":
                said = said.replace("ʝ", "dʒ", 1)
            if said.endswith("n") and (place := PLACES.get(letter) or PLACES.get(letter[:1])):
                said = said[:-1] + place
            elif said[-1:] in SOFT and after in VOWELS:
                said = said[:-1] + SOFT[said[-1]]
            out[i] = said
        return out
