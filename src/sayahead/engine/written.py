"""A word as captions show it: its part of the source text, without the markup that nobody reads."""

from __future__ import annotations

import re

from sayahead.engine.heard import Transcript

_TAG = re.compile(
    r"</?(?:speak|break|phoneme|sub|say-as|prosody|p|s|emphasis|mark|voice|lang|w|audio|desc)\b[^<>]*>",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\]\([^()]*(?:\([^()]*\)[^()]*)*\)")
"""The end of a link: ``](https://...)``."""
_BEFORE = re.compile(r"(?<!\w)(?:[*_`]+|~~)(?=[^\s*_`~])")
_AFTER = re.compile(r"(?<=[^\s*_`~])(?:[*_`]+|~~)(?!\w)")
"""Emphasis and code, before and after a word."""
_HEADING = re.compile(r"\A\s*#{1,6}\s+")


CLOSING = "\"'”’»)]}"
"""What closes, and is no part of a word that is read."""
OPENING = "\"'“‘«„‚([{¿¡"
"""What opens before a word."""
MAX_CLOSING = 3


def as_written(source: str) -> str:
    """The source text of a word as a reader sees it; empty where it has none of its own.

    SSML's tags, links' addresses and the signs of emphasis and code are left out, and so is a
    bracket whose partner is not there. White space is one blank.
    """
    text = _ADDRESS.sub("", _TAG.sub("", source))
    if "[" in text and "]" not in text:
        text = text.replace("![", "").replace("[", "")
    elif "]" in text and "[" not in text:
        text = text.replace("]", "")
    text = _AFTER.sub("", _BEFORE.sub("", _HEADING.sub("", text)))
    return " ".join(text.split()) or " ".join(source.split())


def written_at(transcript: Transcript, start: int, end: int) -> str:
    """A word of a text as a reader sees it, with the quotes and brackets that touch it, if they are
    there."""
    source = transcript.part(start, end)
    before = transcript.part(max(0, start - MAX_CLOSING), start) if source else ""
    behind = transcript.part(end, end + MAX_CLOSING) if source else ""
    opens = before[len(before.rstrip(OPENING)) :]
    return as_written(opens + source + behind[: len(behind) - len(behind.lstrip(CLOSING))])
