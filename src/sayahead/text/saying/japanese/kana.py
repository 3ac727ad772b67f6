"""Katakana to phonemes, in misaki's spelling, which Kokoro learned from."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from sayahead.text.tables import lines_of

TABLE = Path(__file__).with_name("kana.txt")
SMALL = frozenset("ァィゥェォャュョヮ")
NASALS = {"m": "mpb", "ŋ": "kɡ", "ɲ": "ɲʨʥ", "n": "ntdɾzʦʣ"}
"""A syllable's nasal by the sound after it."""


@functools.cache
def table() -> Mapping[str, str]:
    """The phonemes of each kana, and of each with a small one behind it."""
    return dict(line.split() for line in lines_of(TABLE))


@functools.lru_cache(maxsize=16384)
def phonemes(kana: str) -> str:
    """The phonemes of a word in katakana."""
    sounds = [_sound(mora) for mora in moras(kana)]
    for place, sound in enumerate(sounds):
        if sound == "ɴ":
            after = next(iter(sounds[place + 1 : place + 2]), "")[:1]
            sounds[place] = next(
                (one for one, its in NASALS.items() if after and after in its), sound
            )
    return "".join(sounds)


def moras(kana: str) -> list[str]:
    """The moras of a word in katakana."""
    found: list[str] = []
    for char in kana:
        if char in SMALL and found:
            found[-1] += char
        else:
            found.append(char)
    return found


def _sound(mora: str) -> str:
    known = table()
    if mora in known:
        return known[mora]
    head, *small = [known.get(char, "") for char in mora]
    return head[:-1] + small[0] if small and head else head
