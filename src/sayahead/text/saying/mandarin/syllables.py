"""Syllables of Mandarin as Kokoro reads them: pinyin with a figure for its tone to IPA with arrows
for tones."""

from __future__ import annotations

import functools
import re

INITIALS = {
    "b": "p",
    "p": "pʰ",
    "m": "m",
    "f": "f",
    "d": "t",
    "t": "tʰ",
    "n": "n",
    "l": "l",
    "g": "k",
    "k": "kʰ",
    "h": "x",
    "j": "ʨ",
    "q": "ʨʰ",
    "x": "ɕ",
    "zh": "ꭧ",
    "ch": "ꭧʰ",
    "sh": "ʂ",
    "r": "ɻ",
    "z": "ʦ",
    "c": "ʦʰ",
    "s": "s",
}
FINALS = {
    "a": "a0",
    "ai": "ai0",
    "an": "a0n",
    "ang": "a0ŋ",
    "ao": "au0",
    "e": "ɤ0",
    "ê": "ɛ0",
    "ei": "ei0",
    "en": "ə0n",
    "eng": "ə0ŋ",
    "er": "ɚ0",
    "i": "i0",
    "ia": "ja0",
    "ian": "jɛ0n",
    "iang": "ja0ŋ",
    "iao": "jau0",
    "ie": "je0",
    "in": "i0n",
    "ing": "i0ŋ",
    "io": "jɔ0",
    "iong": "jʊ0ŋ",
    "iu": "jou0",
    "o": "wo0",
    "ong": "ʊ0ŋ",
    "ou": "ou0",
    "u": "u0",
    "ua": "wa0",
    "uai": "wai0",
    "uan": "wa0n",
    "uang": "wa0ŋ",
    "ueng": "wə0ŋ",
    "ui": "wei0",
    "un": "wə0n",
    "uo": "wo0",
    "v": "y0",
    "van": "ɥɛ0n",
    "ve": "ɥe0",
    "vn": "y0n",
}
"""The tone stands where the figure is."""
WHOLE = {"o": "ɔ0", "hm": "hm0", "hng": "hŋ0", "m": "m0", "n": "n0", "ng": "ŋ0"}
"""Syllables that are no initial and final."""
TONES = {"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": ""}
BUZZED = frozenset(("zh", "ch", "sh", "r", "z", "c", "s"))
"""Initials after which an i is none: they go on instead."""
PALATAL = frozenset("jqx")
"""Initials after which u is ü."""
_INITIAL = re.compile("zh|ch|sh|[bpmfdtnlgkhjqxrzcs]|")
_WHOLE_FINALS = {"you": "iu", "yo": "o", "wei": "ui", "wen": "un"}
_HEADS = {"yu": "v", "yi": "i", "y": "i", "wu": "u", "w": "u"}
"""How syllables without an initial begin, and their finals."""


@functools.lru_cache(maxsize=2048)
def phonemes(syllable: str) -> str:
    """The phonemes of a syllable such as ``zhong1``; nothing for what is none."""
    letters, tone = syllable[:-1].replace("ü", "v").replace("u:", "v"), syllable[-1:]
    if tone not in TONES:
        return ""
    sound = WHOLE.get(letters) or _sound(letters)
    return sound.replace("0", TONES[tone])


def _sound(letters: str) -> str:
    """Initial and final, with 0 for the tone: Pinyin writes ü as u after j, q and x, and one i for
    two sounds."""
    initial = _INITIAL.match(letters)
    head = initial[0] if initial else ""
    tail = letters[len(head) :]
    if not head:
        tail = _without_initial(letters)
    elif head in PALATAL and tail[:1] == "u":
        tail = f"v{tail[1:]}"
    if head in BUZZED and tail == "i":
        return f"{INITIALS[head]}ɨ0"
    final = FINALS.get(tail, "")
    return INITIALS.get(head, "") + final if final else ""


def _without_initial(letters: str) -> str:
    if letters in _WHOLE_FINALS:
        return _WHOLE_FINALS[letters]
    head = next((head for head in _HEADS if letters.startswith(head)), "")
    return _HEADS.get(head, "") + letters[len(head) :]
