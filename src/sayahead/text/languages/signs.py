"""Signs that no language has a word for: what is a picture, what is silent and why, how Unicode
calls the rest."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from sayahead.text.tables import lines_of

SILENT = {
    "quotation marks and brackets": "\"'`´‘’‚‛“”„‟«»‹›()[]{}⟨⟩「」『』【】《》〈〉❝❞❛❜〝〞⌉⌋",
    "marks of pauses and ends, heard as such": ".,;:!?…—–¿¡、。，；：！？।॥؟۔։።؛،፣᙮‼⁇⁈⁉｡．·",
    "marks of Markdown, and of footnotes": "*_~|#`^†‡⁂※",
    "hyphens within and between words": "-‐‑‒―­⁃",
    "bullets and ornaments": "•‣▪▫■□●○◦◆◇◘◙►▶▷▸▹➤➢➣➔➜❖⦿⦾∙⋅",
    "lines and boxes that are drawn": "".join(map(chr, range(0x2500, 0x25A0))),
    "legal marks": "™®©℠℗",
    "marks of other letters": "ʼʻʹʺˈˌːˑ¨˙˚¸˝˛ˇ˘¯",
    "what stands for bytes that are no text": "\ufffc\ufffd",
    "notes of music around what is sung": "♩♪♫♬",
}
"""Signs that are silent by themselves, by the reason. Some are said where they stand beside figures
or in addresses."""

_PICTURES = re.compile(
    "[\U0001f000-\U0001faff\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a1"
    "\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c"
    "\u274e\u2753-\u2755\u2757\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55]"
)
"""What Unicode shows as a picture by itself; others do with U+FE0F after them."""
_SHOWN = re.compile("[\u2194-\u21aa\u2300-\u27bf\u2b00-\u2bff\u3030\u303d\u3297\u3299]\ufe0f")
_MUTE = frozenset("".join(SILENT.values()))
_KNOWN = {
    "⌘": "command",
    "⌥": "option",
    "⇧": "shift",
    "⌃": "control",
    "★": "star",
    "☆": "star",
    "✓": "check",
    "✔": "check",
    "✗": "cross",
    "✘": "cross",
    "♥": "heart",
    "♡": "heart",
    "☎": "telephone",
    "∙": "",
}


@lru_cache(maxsize=4096)
def is_picture(char: str) -> bool:
    """Whether a character is an emoji that needs no mark to be one."""
    return _PICTURES.match(char) is not None


@lru_cache(maxsize=4096)
def is_silent(char: str) -> bool:
    """Whether a sign is on the list of what says nothing by itself."""
    return char in _MUTE or char == "\ufffd" or unicodedata.category(char)[0] in "CZM"


@cache
def _names() -> Mapping[str, Mapping[str, str]]:
    """Languages' names of signs: CLDR's table, by language and sign."""
    (_, *languages), *rows = (
        line.split("\t") for line in lines_of(Path(__file__).with_name("signs.txt"))
    )
    return {tag: {row[0]: row[at] for row in rows} for at, tag in enumerate(languages, 1)}


@lru_cache(maxsize=4096)
def name_of(char: str, language: str = "en") -> str:
    """What a sign is called where a language's own table has no word for it; nothing if it is mute
    or has no name.

    In the languages of CLDR's table that is CLDR's name, elsewhere Unicode's in short.
    """
    if is_silent(char) or is_picture(char):
        return ""
    if language in _names():
        return _names()[language].get(char, "")
    if char in _KNOWN:
        return _KNOWN[char]
    name = unicodedata.name(char, "").lower()
    name = re.sub(r"^(?:black|white|heavy|n-ary|greek)\s|\s(?:sign|symbol)$", "", name)
    return " ".join(re.sub(r"[-0-9]+", " ", name).split())
