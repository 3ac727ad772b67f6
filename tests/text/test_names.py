"""Frequent names of people, firms and cities, against pronunciations of CMUdict and such as one
person judged right."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from support import readings

from sayahead.text.reading.stream import normalize

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("names.tsv").read_text("utf-8").splitlines()[1:]
]
SOUNDS = dict(
    pair.split("=")
    for pair in (
        "AA=ɑ AE=æ AH=ə AO=ɔ AW=W AY=I B=b CH=ʧ D=d DH=ð EH=ɛ ER=əɹ EY=A F=f G=ɡ HH=h IH=ɪ IY=i"
        " JH=ʤ K=k L=l M=m N=n NG=ŋ OW=O OY=Y P=p R=ɹ S=s SH=ʃ T=t TH=θ UH=ʊ UW=u V=v W=w Y=j Z=z"
        " ZH=ʒ"
    ).split()
)
"""Kokoro's symbols for those of CMUdict."""
VOWELS = "ɑæəɔWIɛAɪiOYʊu"
ALIKE = str.maketrans({"ᵻ": "ə", "ᵊ": "ə", "ʌ": "ə", "ɪ": "ə", "ɜ": "ə", "T": "t"})
"""Vowels that differ by their stress alone, and the flap."""


def heard(phonemes: str) -> tuple[str, int]:
    """The sounds of a name, and which of its vowels is stressed; of a single one that says
    nothing."""
    marked = re.sub("[^ˈa-zA-Zɑæəɔɛʊʃʒθðŋɡɹʧʤ]", "", phonemes.translate(ALIKE))
    marked = re.sub("ɔ(?!ɹ)", "ɑ", marked)
    before, _, _ = marked.partition("ˈ")
    vowels = sum(sound in VOWELS for sound in marked)
    return marked.replace("ˈ", ""), sum(sound in VOWELS for sound in before) if vowels > 1 else 0


def written(arpabet: str) -> str:
    """Phonemes of CMUdict in Kokoro's symbols."""
    return "".join(
        "ˈ" * (sound[-1] == "1") + SOUNDS[sound.rstrip("012")] for sound in arpabet.split()
    )


def spoken(name: str) -> str:
    """The phonemes of a name in a sentence."""
    made = readings.phonemizer().phonemize(normalize(f"I saw {name} there."), left=[])
    return "".join(readings.SYMBOLS[symbol] for symbol in made[2].ids)


def test_the_list_is_as_it_should_be() -> None:
    groups = Counter(group for group, *_ in ROWS)
    assert groups.pop("company") == groups.pop("city") == 100
    assert len(groups) == 10
    assert set(groups.values()) == {20}


@pytest.mark.parametrize("group", sorted({group for group, *_ in ROWS}))
def test_names_are_pronounced_as_accepted(group: str) -> None:
    wrong = []
    for _, name, dictionary, judged in (row for row in ROWS if row[0] == group):
        accepted = [
            heard(written(one))
            for one in f"{dictionary} | {judged}".split(" | ")
            if one.strip("- ")
        ]
        if heard(spoken(name)) not in accepted:
            wrong.append(f"{name} {spoken(name)}")
    assert not wrong, "\n".join(wrong)


def test_a_wrong_stress_or_vowel_is_found() -> None:
    assert heard("mˈæɹiə") != heard(written("M ER0 IY1 AH0"))
    assert heard("məɹsˈɛdz") != heard(written("M ER0 S EY1 D IY0 Z"))
