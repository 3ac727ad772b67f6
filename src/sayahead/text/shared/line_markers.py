"""What the first token of a line makes of the line."""

from __future__ import annotations

import re
import unicodedata

BULLETS = frozenset("-*+•‣◦▪")
OF_THEIR_OWN = ("item", "heading", "table", "fence", "code")
"""Kinds of lines that no next line goes on with."""
_LETTERED = re.compile(r"\(?(?:[a-h](\))?)?|\([0-9]{1,2}(\))?")
_KEYCAP = re.compile("[0-9]\ufe0f?(\u20e3)?")
_PICTURE = re.compile("[\u2192\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_PICTURES = ("So", "Sk", "Mn", "Me", "Cf")
"""Categories of the characters of an emoji."""
_NUMBERED = re.compile(r"\d{1,3}[.)]")
_RULE = re.compile(r"([-*_=])\1{2,}|\|?(?::?-{2,}:?\|?)+")


def line_marker(text: str, *, done: bool, quoted: bool) -> str | None:
    """What the first token of a line makes of the line, or None while its characters do not tell yet.

    ``item``, ``heading``, ``quote``, ``table``, ``rule``, ``fence``, or an empty string for plain text; ``done`` says
    that white space has followed, ``quoted`` that the line before is a quote, which goes on.
    """
    if not text:
        return None
    if text[0] == ">":
        if len(text) == 1 and not done:
            return None
        return "" if quoted or text[1:2].isdigit() or text[1:2] == "=" else "quote"
    if text[0] == "|":
        return "table"
    if text[0] == "`":
        return "fence" if text.startswith("```") else (None if text.strip("`") == "" and not done else "")
    if lettered := _LETTERED.fullmatch(text) or (None if text.isascii() else _KEYCAP.fullmatch(text)):
        return None if not done else "item" if any(lettered.groups()) else ""
    if _PICTURE.match(text):
        pictured = text == "→" or all(unicodedata.category(char) in _PICTURES for char in text)
        return "" if not pictured else "item" if done else None
    if text in BULLETS and (done or text in "-*+"):
        return "item" if done else None
    if text[0] in "-*_=" and not text.strip(text[0]):
        return None if not done else "rule" if len(text) > 2 else ""
    if text[0] == "#":
        return (None if not done else "heading") if len(text) < 7 and not text.strip("#") else ""
    if text[0].isdigit() and text.isascii():
        if text.isdigit() and len(text) < 4:
            return "" if done else None
        return (None if not done else "item") if _NUMBERED.fullmatch(text) else ""
    return ""


def is_rule(text: str) -> bool:
    """Whether a token only draws a line."""
    return text[:1] in "-*_=|:" and bool(_RULE.fullmatch(text))
