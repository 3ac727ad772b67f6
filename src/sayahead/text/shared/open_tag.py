"""A tag that goes on after white space: whether what has come can become one, so that "a<b and c" stays text."""

from __future__ import annotations

import re

COMMENT = "<!--"
LONGEST = 400
"""Characters of a tag, beyond which its end is not waited for."""

_NAME = r"[A-Za-z_:@][\w:.@-]*"
_VALUE = r"(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=]+)"
_FLAGS = (
    "allowfullscreen async autofocus autoplay checked controls default defer disabled download hidden loop multiple "
    "muted open readonly required reversed selected"
)
"""Attributes of HTML that stand without a value; no others do, since words would."""
_ATTRIBUTE = rf"(?:{_NAME}\s*=\s*{_VALUE}|(?:{'|'.join(_FLAGS.split())})(?=[\s/>]))"
_BEGUN = re.compile(
    rf"<{_NAME}(?:\s+{_ATTRIBUTE})*(?:\s+(?:{_NAME}\s*(?:=\s*(?:\"[^\"<]*|'[^'<]*|{_VALUE})?)?)?)?\s*/?"
)
_SILENT = re.compile(rf"<{_NAME}(?:\s+{_ATTRIBUTE})*(?:\s+{_NAME}\s*=\s*[\"']?[^\s\"'<>]*)?[\"']?\s*/?")
_TAG = re.compile(rf"<{_NAME}(?:\s+{_ATTRIBUTE})*(?:\s+{_NAME})?\s*/?>")


def is_tag(text: str, *, line_ends: bool) -> bool | None:
    """Whether characters from "<" on are a tag; None while more may make them one. It ends with its line."""
    if line_ends or len(text) > LONGEST:
        return broken(text)
    if text.startswith(COMMENT):
        return True if text[-1] == ">" else None
    return True if _TAG.fullmatch(text) else None if _BEGUN.fullmatch(text) else False


def silent_part(text: str) -> int:
    """How many characters of a tag are silent: all, but where its end does not come only what is certainly of it.

    A value whose quotation mark is not closed ends at white space.
    """
    if text.startswith(COMMENT) or _TAG.fullmatch(text):
        return len(text)
    match = _SILENT.match(text)
    return match.end() if match else len(text)


def broken(text: str) -> bool:
    """Whether what may become a tag is one though its end does not come: a comment, or an attribute has its sign."""
    return text.startswith(COMMENT) or "=" in text
