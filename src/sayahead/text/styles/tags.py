"""Tags of styles as characters: what may become one, and what it asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sayahead.text.styles.table import ELEMENTS, EMPHASIS, KEYS, KNOWN, NAMES, SOUNDS, style
from sayahead.types import PLAIN, Delivery

MAX_TAG = 64
"""Characters of a tag, beyond which it is text."""
MAX_PAUSE_S = 10.0
_BRACKET = re.compile(r"\[(/?)([A-Za-z][^\[\]<>\n]*)\]")
_ELEMENT = re.compile(r"<(/?)([A-Za-z_-]+)((?:\s+[a-z]+\s*=\s*[\"'][^\"'<>\n]*[\"'])*)\s*/?>")
_BEGUN = re.compile(r"\[/?(?:[A-Za-z][^\[\]<>\n]*)?|</?(?:[A-Za-z_-]+(?:\s[^<>\n]*)?)?")
_PAIR = re.compile(r"\s*([a-z]+)\s*[:=]\s*[\"']?([^\"']*?)[\"']?\s*")
_VALUE = re.compile(r"(?:value|ratio|name|time|level)\s*=\s*[\"']([^\"']*)[\"']")
_NUMBER = re.compile(r"([+-]?[0-9]*\.?[0-9]+)\s*(%|x|ms|s|st)?")
_WORDS = re.compile(r"[a-z'-]+")


@dataclass(frozen=True, slots=True)
class Change:
    """What a tag asks for."""

    style: Delivery | None = None
    """Another style from here on."""
    pace: float | None = None
    """Another pace from here on."""
    volume: float | None = None
    """Another volume from here on."""
    pitch: float | None = None
    """So many semitones from here on."""
    emphasis: Delivery | None = None
    """Another emphasis from here on."""
    pause_s: float = 0.0
    """Seconds of silence here."""
    is_sound: bool = False
    """Whether it asks for a sound that nobody can make, or for somebody else: it is told."""


CLOSING = Change(style=PLAIN, pace=1.0, volume=1.0, pitch=0.0)
"""The end of what a tag has changed."""
_LENGTHS = {"": 0.6, "short ": 0.3, "brief ": 0.3, "long ": 1.2}
"""Seconds of ``[pause]``, ``[long pause]``."""
_PAUSE = re.compile(
    r"(?P<length>(?:short |brief |long )?)(?:pause|pauses|break)|(?:pause|break)\s+(?P<time>.*)"
)
_KEY = re.compile(r"([a-z]+)\s*[:=]")
_TOLD = KNOWN | KEYS | {"pauses", "short", "brief", "long"}
"""Words that tags may have."""


def may_become(text: str) -> bool:
    """Whether characters may become a tag that changes something."""
    if len(text) > MAX_TAG or _BEGUN.fullmatch(text) is None:
        return False
    inner = text[1:].lstrip("/").lower()
    if text[0] == "<":
        return _may_be_element(inner)
    if (key := _KEY.match(inner)) is not None:
        return key[1] in KEYS
    words = _WORDS.findall(inner)
    # The last word may go on.
    begun = words.pop() if words and (inner[-1].isalpha() or inner[-1] in "'-") else ""
    return all(word in _TOLD for word in words) and any(name.startswith(begun) for name in _TOLD)


def _may_be_element(inner: str) -> bool:
    name, blank, _ = inner.partition(" ")
    return name in ELEMENTS if blank else any(each.startswith(name) for each in ELEMENTS)


def change_of(text: str, *, attributes: bool = True) -> Change | None:
    """What a whole tag asks for; None for what is no tag of styles. ``attributes``: whether
    ``<speed>`` is one."""
    if (tag := _BRACKET.fullmatch(text)) is not None:
        return _described(tag[2].lower(), closes=bool(tag[1]))
    tag = _ELEMENT.fullmatch(text)
    name = tag[2].lower() if tag else ""
    if tag is None or name not in ELEMENTS or (name == "speed" and not attributes):
        return None
    value = _VALUE.search(tag[3])
    if name == "emphasis":
        level = "none" if tag[1] else value[1].lower() if value else "moderate"
        return Change(emphasis=EMPHASIS[level]) if level in EMPHASIS else None
    inner = f"{name}={value[1].lower()}" if value and name in KEYS and not tag[1] else name
    return _described(inner, closes=bool(tag[1]))


def _described(inner: str, *, closes: bool) -> Change | None:
    """What the words in a bracket ask for."""
    if (pair := _PAIR.fullmatch(inner)) is not None and pair[1] in KEYS:
        return _valued(pair[1], pair[2])
    if (pause := _PAUSE.fullmatch(inner)) is not None:
        return (
            Change(pause_s=_LENGTHS[pause[1]])
            if pause[1] in _LENGTHS
            else _valued("pause", pause[2])
        )
    words = set(_WORDS.findall(inner))
    if closes and words <= KNOWN | KEYS and words & {*NAMES, *KEYS}:
        return CLOSING
    if not words <= KNOWN:
        return None
    if words & SOUNDS:
        return Change(is_sound=True)
    name = next((name for name in _WORDS.findall(inner) if name in NAMES), None)
    return None if name is None else Change(style=style(name))


def _valued(key: str, value: str) -> Change | None:
    """What ``key=value`` asks for."""
    if key == "voice":
        # Where others may speak, this was read before; here nobody is called that.
        return Change(is_sound=True)
    number = _NUMBER.fullmatch(value.strip())
    if key in ("emotion", "style", "tone", "mood"):
        found = style(value) or next(filter(None, map(style, _WORDS.findall(value))), None)
        return None if found is None else Change(style=found)
    if number is None:
        named = style(value)
        return None if named is None else Change(style=named)
    amount = float(number[1])
    if key in ("pause", "break"):
        return Change(
            pause_s=min(max(amount / (1000 if number[2] == "ms" else 1), 0.0), MAX_PAUSE_S)
        )
    if key == "pitch":
        return Change(pitch=min(max(amount, -12.0), 12.0))
    factor = amount / 100 if number[2] == "%" else amount
    factor = 1 + factor if number[1][0] in "+-" else factor
    factor = min(max(factor, 0.3), 3.0)
    return Change(volume=factor) if key == "volume" else Change(pace=factor)
