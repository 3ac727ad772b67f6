"""How speakers of other languages say English words: American phonemes (misaki's) as phonemes of
their own language (espeak-ng's).

A weak vowel is said as it is spelled in most of them, so the spelling is asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

VOWELS = "AIOWYaiuæɑɔɛəɚɜɪʊʌᵊᵻ"
"""Phonemes that are vowels."""
_WEAK_R = re.compile(f"əɹ(?![{VOWELS}ˈˌ])")
_SOUND = re.compile(rf"([ˈˌ]?)([{VOWELS}])|(.)")
_LETTERS = re.compile("[aeiou]+|y")
_SILENT = re.compile("(?<=[^aeiou])e$")
_NEW = re.compile("n([ˈˌ]?)u")
"""As outside of America."""
FLAP = "T"
"""A t or a d between vowels, as Americans say it; the spelling tells which."""

Vowel = str | Mapping[str, str]
"""What stands for a vowel: always the same, or by its letters, with "" for all others."""


@dataclass(frozen=True, slots=True)
class Accent:
    """How one language's speakers say English."""

    vowels: Mapping[str, Vowel]
    consonants: Mapping[str, str]
    rules: tuple[tuple[str, str], ...] = ()
    """Patterns, and what is put in their place at last, one after the other."""

    def said(self, phonemes: str, spelling: str) -> str:
        """A word's American phonemes in the language's own."""
        small = spelling.lower()
        flap = "d" if "d" in small and "t" not in small else "t"
        phonemes = _WEAK_R.sub("ɚ", phonemes).replace(FLAP, flap)
        if "new" in small:
            phonemes = _NEW.sub(r"nj\1u", phonemes)
        sounds = list(_SOUND.finditer(phonemes))
        letters = iter(_spelled(small, sum(bool(sound[2]) for sound in sounds)))
        said = ""
        for sound in sounds:
            if sound[2]:
                said += self._vowel(sound[2], sound[1], next(letters))
            else:
                said += self.consonants.get(sound[3], sound[3])
        for pattern, replacement in self.rules:
            said = re.sub(pattern, replacement, said)
        return said

    def _vowel(self, vowel: str, stress: str, letters: str) -> str:
        if vowel == "ɚ" and vowel not in self.vowels:
            return self._vowel("ə", stress, letters) + self.consonants.get("ɹ", "ɹ")
        own = self.vowels[vowel]
        if isinstance(own, str):
            return stress + own
        return stress + (own.get(letters) or own[""])


def _spelled(spelling: str, count: int) -> list[str]:
    """The letters of each of a word's vowels; nothing where they cannot be told apart."""
    for text in (spelling, _SILENT.sub("", spelling)):
        found = _LETTERS.findall(text)
        if len(found) == count:
            return found
    return [""] * count


_DIPHTHONGS = {"A": "eɪ", "I": "aɪ", "O": "o", "W": "aʊ", "Y": "oɪ"}
_PLAIN = {"ɪ": "i", "ᵻ": "i", "i": "i", "ʊ": "u", "u": "u"}
_AFFRICATES = {"ʤ": "dʒ", "ʧ": "tʃ"}
_AS_SPELLED = {"a": "a", "e": "e", "i": "i", "o": "o", "u": "u", "ou": "o", "": "e"}
_AS_SPELLED_R = {"o": "o", "u": "u", "": "e"}
_ROUND = {"o": "o", "": "a"}

GERMAN = Accent(
    vowels={
        "A": "eː",
        "I": "aɪ",
        "O": "oː",
        "W": "aʊ",
        "Y": "ɔø",
        "a": "a",
        "ɑ": {"o": "ɔ", "": "ɑː"},
        "ɔ": "ɔ",
        "ʌ": "a",
        "æ": "ɛ",
        "ɛ": "ɛ",
        "ɜ": "œ",
        "ɚ": "ɜ",
        "ə": {"o": "ɔ", "u": "ʊ", "": "ə"},
        "ᵊ": {"o": "ɔ", "": "ə"},
        "ɪ": "ɪ",
        "ᵻ": "ɪ",
        "i": "iː",
        "ʊ": "ʊ",
        "u": "uː",
    },
    consonants=_AFFRICATES | {"w": "v", "θ": "s", "ð": "z"},
    rules=(
        ("^ɹ", "r"),
        ("ɹ", "ɾ"),
        # Weak at the end, as in Party.
        ("(?<=[^ˈˌ])iː$", "i"),
        ("iːəl$", "iəl"),
    ),
)
SPANISH = Accent(
    vowels=_DIPHTHONGS
    | _PLAIN
    | {
        "a": "a",
        "ɑ": _ROUND,
        "ɔ": "o",
        "ʌ": "a",
        "æ": "a",
        "ɛ": "e",
        "ɜ": _AS_SPELLED_R,
        "ə": _AS_SPELLED,
        "ᵊ": _AS_SPELLED,
    },
    consonants={"ʤ": "ʝ", "ʧ": "tʃ", "h": "x", "z": "s", "v": "b", "ð": "d", "ʒ": "ʝ"},
    rules=(
        ("^s(?=[bdfɡklmnptθɹ])", "es"),
        ("^ɹ", "r"),
        ("(?<=[nls])ɹ", "r"),
        ("ɹ", "ɾ"),
        ("(?<=[aeiouɪʊ])b(?=[ˈˌaeiouɾl])", "β"),
        ("(?<=[aeiouɪʊ])d(?=[ˈˌaeiouɾ])", "ð"),
        ("(?<=[aeiouɪʊ])ɡ(?=[ˈˌaeiouɾl])", "ɣ"),
    ),
)
FRENCH = Accent(
    vowels=_PLAIN
    | {
        "A": "ɛ",
        "I": "aj",
        "O": "o",
        "W": "aw",
        "Y": "ɔj",
        "a": "a",
        "ɑ": {"o": "ɔ", "": "a"},
        "ɔ": "ɔ",
        "ʌ": "œ",
        "æ": "a",
        "ɛ": "ɛ",
        "ɜ": "œ",
        "ə": {"o": "ɔ", "a": "a", "": "œ"},
        "ᵊ": {"o": "ɔ", "": "œ"},
    },
    consonants=_AFFRICATES | {"h": "", "ɹ": "ʁ", "θ": "s", "ð": "z"},
    rules=(
        # The last full vowel has the stress.
        ("[ˈˌ]", ""),
        ("([aeiouɔœɛ])(?=[^aeiouɔœɛ]*$)", r"ˈ\1"),
    ),
)
ITALIAN = Accent(
    vowels=_PLAIN
    | {
        "A": "ei",
        "I": "ai",
        "O": "o",
        "W": "au",
        "Y": "ɔi",
        "a": "a",
        "ɑ": {"o": "ɔ", "": "a"},
        "ɔ": "ɔ",
        "ʌ": "a",
        "æ": "ɛ",
        "ɛ": "ɛ",
        "ɜ": {"o": "ɔ", "u": "u", "": "ɛ"},
        "ə": _AS_SPELLED,
        "ᵊ": _AS_SPELLED,
    },
    consonants=_AFFRICATES | {"h": "", "ɹ": "r", "θ": "t", "ð": "d"},
    rules=(("s(?=[bdɡlmnrvz])", "z"), ("ŋ$", "ŋɡ")),
)
PORTUGUESE = Accent(
    vowels=_DIPHTHONGS
    | _PLAIN
    | {
        "O": "ow",
        "a": "a",
        "ɑ": {"o": "ɔ", "": "a"},
        "ɔ": "ɔ",
        "ʌ": "a",
        "æ": "ɛ",
        "ɛ": "ɛ",
        "ɜ": {"o": "ɔ", "u": "u", "": "ɛ"},
        "ə": _AS_SPELLED,
        "ᵊ": _AS_SPELLED,
    },
    consonants=_AFFRICATES | {"h": "x", "θ": "t", "ð": "d"},
    rules=(("^s(?=[bdfɡklmnptɹ])", "is"), ("^ɹ", "x"), ("ɹ", "ɾ"), ("l(?![ˈˌaeiouɔɛwj])", "ʊ")),
)
BRAZILIAN = Accent(
    PORTUGUESE.vowels,
    PORTUGUESE.consonants,
    (*PORTUGUESE.rules, ("t(?=[ˈˌ]?i)", "tʃ"), ("d(?=[ˈˌ]?i)", "dʒ")),
)
AMERICAN_SPANISH = Accent(SPANISH.vowels, {**SPANISH.consonants, "θ": "t"}, SPANISH.rules)

ACCENTS = {
    "de": GERMAN,
    "es": SPANISH,
    "es-419": AMERICAN_SPANISH,
    "fr": FRENCH,
    "it": ITALIAN,
    "pt": PORTUGUESE,
    "pt-br": BRAZILIAN,
}
"""By espeak-ng's name of the voice."""
