"""What surrounds a word in its token: quotes, brackets, markdown, emoji, other scripts, line markers."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from sayahead.text.english import tables
from sayahead.text.english.numbers import fraction
from sayahead.text.shared.punctuation import TAG_NAMES, decoded, readable, strongest, uncited
from sayahead.text.shared.signs import is_picture, is_silent, without_pictures
from sayahead.text.shared.tokens import Parts

_KEYCAP = re.compile("([0-9]?)[#*]?\ufe0f?\u20e3")
_ESCAPE = re.compile(r"\\(?=[^\w\s])")
_TAG = re.compile(rf"</[A-Za-z][\w-]*>|<[A-Za-z][\w-]*/>|<(?:{TAG_NAMES})>|<!--[^>]*-->|\[\^[^\]]*\]", re.IGNORECASE)
"""Silent; another word in angle brackets is a placeholder, which is read."""
OPEN_TAG = re.compile(rf"<(?:(?:{TAG_NAMES})(?:\s[^<>]*)?|!--[^>]*)$")
"""A tag of HTML or SSML that goes on after white space."""
_SUPERSCRIPT = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUBSCRIPT = re.compile("[₀₁₂₃₄₅₆₇₈₉]{2,}")
_VULGAR = re.compile("([0-9]*)([¼½¾⅐-⅞])([-–](?=[0-9]))?")
_SAME = {
    "'": "’‘ʼ′‛",
    '"': "“”„‟«»″‹›「」『』",
    "-": "‐‑‒",
    "—": "―",
    "#": "№",
    "/": "⁄",
    ".": "。",
    ",": "、︐",
    " ": "•·‣",
}
_MUSIC = str.maketrans({"♯": "#", "♭": "b"})
_TUNED = re.compile(r"\b[A-G][♯♭](m\b)?")
_ALIKE = str.maketrans(
    {char: plain for plain, chars in _SAME.items() for char in chars}
    | dict.fromkeys("™®℠©")
    | {subscript: f"_{digit}" for digit, subscript in enumerate("₀₁₂₃₄₅₆₇₈₉")}
)
_LEAD = re.compile(
    r"""(?:["'(\[{*_`!?,;:|¿¡…–—)\]}\s]|~~+|~(?![\d/$£€¥])|-+(?![\d.$£€¥-])|--+|\.\.+|<(?![\d\s=.$-])|/+$)*"""
)
_TRAIL = "\"')]}*_`!?,;:|….–—~>- "
_PRODUCT = re.compile(r"^[^*]*(?<![A-Za-z])[A-Za-z0-9)]\*[A-Za-z0-9(](?![A-Za-z])[^*]*$")
_APOSTROPHE = re.compile(r"[0-9]{2}(?:'?s)?\b(?![.,:–-]?[0-9]|-[A-Z]|[%°/x×])")
MICRO = re.compile(r"(?:^|\d|/)[\u00b5μ](?:[gmslLAVWFU]|IU|mol|Sv)\b")
_CHARGE = re.compile(r"[A-Z][A-Za-z0-9_()]*\^[0-9]?|Cl|Br|OH|NO_?3|HCO_?3|HSO_?4")
OHM = re.compile(r"^\W*(?:[0-9.,]*[kMmG]?)Ω\W*$")


def _lowered(m: re.Match[str]) -> str:
    return "_" + unicodedata.normalize("NFKC", m[0])


def _tuned(m: re.Match[str]) -> str:
    """``F♯`` F sharp, ``C♯m7`` as ``C#m7``: a note's name with its sign."""
    alone = m.end() == len(m.string) or not m.string[m.end()].isalnum()
    name = f"{m[0][0]} {'sharp' if m[0][1] == '♯' else 'flat'}{' minor' if m[1] else ''}"
    return name if alone else m[0].translate(_MUSIC)


def _vulgar(m: re.Match[str]) -> str:
    whole, sign, _ = m.groups()
    above, _, below = unicodedata.normalize("NFKC", sign).partition("⁄")
    name = fraction(int(above), int(below or 1))
    to = " to " if m[3] else ""
    return f"{whole} and {name.replace('one ', 'a ', 1)}{to}" if whole else name + to


@lru_cache(maxsize=4096)
def _plain_char(char: str) -> str:
    """A folded character as it may be read: digits of any script as ASCII, emoji as space, invisible ones gone."""
    kind = unicodedata.category(char)
    if (figure := unicodedata.digit(char, None)) is not None:
        return str(figure)
    if kind[0] in "LN":
        return char if readable(char, ()) or char in "μΩ" else " "
    if kind in ("Cf", "Cs", "Cn", "Co", "Cc") or kind[0] == "M":
        return ""
    if kind in ("Sm", "Sc") or char in "°§¶…–—":
        return char
    return " " if is_silent(char) or is_picture(char) else f" {char} " if char != "★" else char


def fold(raw: str) -> str:
    """A token in plain characters: one kind of quote and dash, ligatures and full width undone, emoji gone."""
    if "&" in raw or "`<" in raw:
        raw = decoded(raw)
    if "\\" in raw:
        raw = _ESCAPE.sub("", raw)
    if raw.isascii():
        return raw
    raw = re.sub(r"(?<=[0-9])º", "°", re.sub(r"^N[º°]$", "No.", raw))
    raw = _TUNED.sub(_tuned, without_pictures(_KEYCAP.sub(r"\1 ", raw)))
    text = _SUPERSCRIPT.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]), raw)
    text = unicodedata.normalize("NFKC", _VULGAR.sub(_vulgar, _SUBSCRIPT.sub(_lowered, text).translate(_ALIKE)))
    if "μ" in text and not MICRO.search(text):
        text = text.replace("μ", " ")
    if "Ω" in text and not OHM.search(text):
        text = text.replace("Ω", " ")
    return "".join(c if c.isascii() else _plain_char(c) for c in text)


_LONE = re.compile(r"([(\"'“*_]*)<([A-Za-z][A-Za-z0-9]*)\s*/?>([)\"'”*_.,;:!?]*)")


def named_tag(raw: str, left: str) -> str:
    """A token that is an opening tag alone, with its name in its place where the words speak of it: "use a <div>"."""
    m = _LONE.fullmatch(raw) if left.lower() in tables.BEFORE_TAGS else None
    return f"{m[1]}{m[2]}{m[3]}" if m else raw


def trim(text: str) -> Parts:
    """A folded token without what surrounds the word, and the pause that surrounds it."""
    text = uncited(text)
    if "<" in text or "[^" in text:
        text = _TAG.sub(" ", text)
        text = re.sub(r"(?<=\w)<([A-Za-z]\w*)>", r" \1 ", text)
    text = text.strip()
    if "*" in text and not _PRODUCT.search(text):
        text = re.sub(r"(?<=\w)\*{1,3}(?=[^\W\d_])", "", text)
    if "=" in text:
        text = re.sub(r"^==(?=[A-Za-z])|(?<=[A-Za-z])==(?=\W*$)", "", text)
    if "][" in text:
        text = re.sub(r"\]\[[^\]]*\]", "]", text)
    if "~" in text:
        text = re.sub(r"(?<=\w)~([0-9]+)~", r"_\1", text.replace("~~", ""))
    if "^" in text:
        text = re.sub(r"(?<=\w)\^(\w+)\^", r"^\1", text)
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    if text[:2] == "::" and start == 2 and text[2:3].isalnum():
        start = 0
    if text[start - 1 : start] == "'" and _APOSTROPHE.match(text, start):
        start -= 1
    core = text[start:].rstrip(_TRAIL)
    if text[start + len(core) :][:1] in ("-", "−") and _CHARGE.fullmatch(core):
        core += "-"
    trail = text[start + len(core) :]
    if text[:1] == "'" and core in ("em", "n"):
        core = "'" + core
    before = "(" if "(" in text[:start] and core else ""
    after = ")" if ")" in trail and core and ("(" not in core or "))" in trail) else ""
    if "(" in core and ")" not in core and after:
        after = ""
    dotted = trail[:1] == "." and trail[1:2] != "."
    if dotted and trail[1:2] in (",", ";", ":"):
        trail = trail[1:]
    return Parts(core, strongest(trail if core else text), before, after, dotted)
