"""What surrounds a word in its token, and which of its letters a voice can read."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

from sayahead.text.shared.signs import is_picture, is_silent, micro, without_pictures
from sayahead.text.shared.tokens import Parts

ENDING = ".!?…。！？।॥؟۔։።᙮‼⁇⁈⁉｡．"
"""Marks that end a sentence."""
PAUSING = ",;:—、，；：،؛፣፤·"

_TAGS = (
    "a abbr b blockquote break br button center code dd details div dl dt em emphasis figure font form h1 h2 h3 h4 "
    "h5 h6 hr i iframe img input kbd label li link mark meta ol option p paragraph phoneme pre prosody s say-as "
    "script section select sentence small source span speak strong style sub summary sup svg table td th tr u ul "
    "video voice w audio lang think thinking"
)
TAG_NAMES = "|".join(_TAGS.split())
"""The tags of HTML and SSML, which are silent; another word in angle brackets is a placeholder, which is read."""
_TAG = re.compile(
    rf"</[A-Za-z][\w-]*>|<[A-Za-z][\w-]*/>|<(?:{TAG_NAMES})(?:[\s/][^<>]{{0,60}})?>|<!--[^>]*-->|\[\^[^\]]*\]",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"<([^\W\d_][^<>]*)>")
_NO_CENTS = re.compile(r"(?<=[0-9]),(?:--?|–)(?=\W*$)")
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#[0-9]{2,6}|#x[0-9A-Fa-f]{2,6});")
SIGN_OF = {"!=": "≠", "!==": "≠", "<=": "≤", ">=": "≥", "==": "=", "===": "=", "&&": "&", "+/-": "±"}
SIGN_OF |= {"->": "→", "-->": "→", "=>": "⇒", "<-": "←", "<->": "↔"}
_OPERATORS = re.compile(
    r"(?:^(?=\S+$)|(?<=[\w)\]]))(?:!==?|[<>]=|===?|&&|\+/-|-{1,2}>|=>|<-|<->)(?=$|[\w(\[.,;:+-])(?![-=<>]|-?>)"
)
_CITED = re.compile(r"(?<=[.,;:!?…\"”'’)])(?:\[[1-9][0-9]{0,2}\])+(?=\W*$)|(?<=\w)(?:\[[1-9][0-9]{0,2}\]){2,}(?=\W*$)")
_SHOWN_TAG = re.compile(r"(?:&lt;|`<)(/?)([A-Za-z][\w-]*)/?(?:&gt;|>`)")
_SUM = re.compile(r"(?:[0-9.,+*/^=()-]|(?<![^\W\d])[^\W\d](?![^\W\d]))+")
"""A calculation, whose stars are products: ``(3+4)*2``."""
_KEYCAP = re.compile("([0-9#*])\ufe0f?\u20e3")
_LEAD = re.compile(
    r"""(?:["'‘“„«‹(\[{*_`!?,;:|…–—)\]}»”’\s「『【《〈]|~~+|-+(?![\d.,]|[A-Z]{0,3}[$€£¥₹₽₩₪])|\.\.+|#+(?!\d)|>(?!\s*\d))*"""
)
_TRAIL = "\"'’”»›)]}」』】》〉*_`|~>- «„“–—" + ENDING + PAUSING
_MARK = re.compile(rf"\.{{2,}}|[{ENDING}{PAUSING}–]|(?<!-)--(?!-)")
_SAME = str.maketrans("。！？।॥؟۔։።｡．、，；：،؛፣–", ".!?..?....." + ",,;:,;,—")
_FOREIGN = (ENDING + PAUSING).replace("…", "").replace("—", "")
_SIGNS = re.compile(r"([%#@&+°€£¥√∛≤≥≠≈±×÷→←↑↓⇒∞∑∏∂∆½⅓⅔¼¾⅛§©®™])\1{3,}")
_STRENGTH = ["", ",", "—", ";", ":", ".", "…", "!", "?"]
_NARROW = str.maketrans("−‐‑‒―ʼ’⁄•‣", "----—''/  ", "™®©\xad")


def trim(raw: str) -> Parts:
    """A token without what surrounds the word, and the pause that surrounds it."""
    text = uncited(fold(raw))
    if "<" in text or "[^" in text:
        text = _PLACEHOLDER.sub(r" \1 ", _TAG.sub(" ", text))
    text = _NO_CENTS.sub("", text.strip())
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    core = text[start:].rstrip(_TRAIL)
    trail = text[start + len(core) :]
    if "(" in core and ")" not in core and ")" in trail:
        cut = trail.index(")") + 1
        core, trail = core + trail[:cut], trail[cut:]
    dotted = trail[:1] == "." and trail[1:2] != "."
    if "*" in core and _SUM.fullmatch(core):
        core = re.sub(r"(?<=[\w)])\*\*?(?=[\w(])", lambda m: "^" if m[0] == "**" else "×", core)
    elif "*" in core or "_" in core:
        core = re.sub(r"(?<=\w)[*_]{1,3}(?=\W|$)|(?<=\W)[*_]{1,3}(?=\w)", "", core)
    if dotted and (after := trail[1:].lstrip(")]}»”\"'"))[:1] in (",", ";", ":"):
        trail = after
    return Parts(core, strongest(trail if core else text), dotted=dotted)


def strongest(text: str) -> str:
    """The mark that stands for a run of punctuation, or nothing."""
    best = ""
    for mark in _MARK.findall(text):
        sign = "—" if mark == "--" else "…" if mark[:2] == ".." else mark.translate(_SAME)
        best = max(best, sign if sign in _STRENGTH else ".", key=_STRENGTH.index)
    return best


def shown(raw: str, mark: str) -> str:
    """The mark as its script writes it."""
    return next((c for c in reversed(raw) if not c.isascii() and c in _FOREIGN and c.translate(_SAME) == mark), mark)


def uncited(text: str) -> str:
    """A token without the numbers of sources after its mark: ``France.[1][2]``."""
    return _CITED.sub("", text) if "[" in text else text


def decoded(raw: str) -> str:
    """A token with its entities as characters; of a tag that it shows, its name: ``&lt;br&gt;`` br."""
    for _ in range(2):  # "&amp;lt;"
        raw = _ENTITY.sub(lambda m: html.unescape(m[0]), _SHOWN_TAG.sub(r" \1\2 ", raw))
    return raw


def fold(raw: str) -> str:
    """A token with one kind of dash and apostrophe, without emoji and invisible characters."""
    if "&" in raw or "`<" in raw:
        raw = decoded(raw)
    if "\\" in raw:
        raw = re.sub(r"\\(?=[^\w\s])", "", raw)
    if len(raw) > 1 and not raw.isalnum():
        raw = _OPERATORS.sub(lambda m: SIGN_OF[m[0]], raw)
    if raw.isascii():
        return raw
    text = without_pictures(micro(_KEYCAP.sub(r"\1 ", raw))).translate(_NARROW)
    return unicodedata.normalize("NFC", "".join(c if c.isascii() else _kept(c) for c in text))


@lru_cache(maxsize=4096)
def _kept(char: str) -> str:
    """A character as it may be read: figures of any script as ASCII, full width undone, emoji gone."""
    kind = unicodedata.category(char)
    raised = char in "⁰¹²³⁴⁵⁶⁷⁸⁹" or unicodedata.decomposition(char).startswith("<fraction>")
    if kind == "No" and not raised and unicodedata.normalize("NFKC", char).isdecimal():
        return unicodedata.normalize("NFKC", char)
    if kind == "Nd":
        return str(unicodedata.decimal(char))
    if kind in ("Cs", "Cn", "Co", "Cc") or (kind == "Cf" and char not in "\u200c\u200d"):
        return ""
    if char in "\ufe0e\ufe0f":
        return ""
    if (kind in ("So", "Sk") and is_silent(char)) or is_picture(char):
        return " "
    if kind == "Lm" and unicodedata.decomposition(char).startswith("<super>"):
        return unicodedata.normalize("NFKC", char)
    return unicodedata.normalize("NFKC", char) if unicodedata.east_asian_width(char) == "F" else char


@lru_cache(maxsize=4096)
def readable(char: str, scripts: tuple[str, ...]) -> bool:
    """Whether a letter belongs to one of the scripts or is Latin; figures, signs and marks belong to all."""
    kind, plain = unicodedata.category(char), unicodedata.normalize("NFKC", char)[:1]
    if kind[0] not in "LN" or kind in ("Nd", "No") or plain.isascii() or char in "ªºµ":
        return True
    return unicodedata.name(plain, "").startswith(("LATIN", "MODIFIER", *scripts))


def foreign_runs(raw: str, scripts: tuple[str, ...]) -> list[tuple[int, int]]:
    """The stretches ``[start, end)`` of a token that are in a script the voice cannot read."""
    runs: list[tuple[int, int]] = []
    for i, char in enumerate(raw):
        joined = bool(runs) and runs[-1][1] == i
        if not char.isascii() and (not readable(char, scripts) or (joined and unicodedata.category(char)[0] == "M")):
            runs[-1:] = [(runs[-1][0], i + 1)] if joined else [*runs[-1:], (i, i + 1)]
    return runs


def without(raw: str, runs: list[tuple[int, int]]) -> str:
    """A token with stretches of it taken out."""
    for start, end in reversed(runs):
        raw = f"{raw[:start]} {raw[end:]}"
    return raw


def once(text: str) -> str:
    """The text with a run of one sign cut to one: sixty signs are no sixty times its name."""
    return _SIGNS.sub(r"\1", text)
