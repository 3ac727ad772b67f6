"""How speakers of other languages say English words: American phonemes (misaki's) as phonemes of
their own language (espeak-ng's), by ``accents.txt``.

A weak vowel is said as it is spelled in most of them, so the spelling is asked for it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sayahead.text.tables import lines_of, pairs

TABLE = Path(__file__).with_name("accents.txt")
VOWELS = "AIOWYaiuæɑɔɛəɚɜɪʊʌᵊᵻ"
"""Phonemes that are vowels."""
_WEAK_R = re.compile(f"əɹ(?![{VOWELS}ˈˌ])")
_SOUND = re.compile(f"([{VOWELS}])|.")
_LETTERS = re.compile("[aeiou]+|y")
_SILENT = re.compile("(?<=[^aeiou])e$")
_NEW = re.compile("(?<=n)([ˈˌ]?)u")
"""As it is not said outside of America."""
FLAP = "T"
"""A t or a d between vowels, as Americans say it; the spelling tells which."""
NOTHING = "-"


@dataclass(slots=True)
class Accent:
    """How one language's speakers say English."""

    sounds: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """What stands for a phoneme, by the letters that spell it, with "" for all others; a phoneme
    that is not here stays."""
    rules: list[tuple[str, str]] = field(default_factory=list)
    """Patterns, and what is put in their place at last, one after the other."""

    def said(self, phonemes: str, spelling: str) -> str:
        """A word's American phonemes in the language's own."""
        small = spelling.lower()
        flap = "d" if "d" in small and "t" not in small else "t"
        phonemes = _WEAK_R.sub("ɚ" if "ɚ" in self.sounds else "əɹ", phonemes).replace(FLAP, flap)
        if "new" in small:
            phonemes = _NEW.sub(r"j\1u", phonemes)
        vowels = _SOUND.findall(phonemes)
        letters = iter(_spelled(small, len("".join(vowels))))
        said = _SOUND.sub(
            lambda sound: self._own(sound[0], next(letters) if sound[1] else ""), phonemes
        )
        for pattern, replacement in self.rules:
            said = re.sub(pattern, replacement, said)
        return said

    def _own(self, phoneme: str, letters: str) -> str:
        own = self.sounds.get(phoneme, {"": phoneme})
        return own.get(letters, own[""])


def _spelled(spelling: str, count: int) -> list[str]:
    """The letters of each of a word's vowels; nothing where they cannot be told apart."""
    for text in (spelling, _SILENT.sub("", spelling)):
        found = _LETTERS.findall(text)
        if len(found) == count:
            return found
    return [""] * count


@functools.cache
def accents() -> dict[str, Accent]:
    """All of them, by espeak-ng's name of the voice."""
    known = dict[str, Accent]()
    accent = Accent()
    for line in lines_of(TABLE):
        head, *rest = ("" if part == NOTHING else part for part in line.split())
        if head == "voice":
            like = known.get(rest[-1], Accent())
            accent = known[rest[0]] = Accent(dict(like.sounds), list(like.rules))
        elif head == "rule":
            pattern, replacement = rest
            accent.rules.append((pattern, replacement))
        else:
            accent.sounds[head] = {"": rest[0], **pairs(" ".join(rest[1:]), "=")}
    return known
