"""Words as captions show them: as in the source text, without markup that is not read."""

from __future__ import annotations

import functools
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
"""Characters that close a quotation or bracket after a word."""
OPENING = "\"'“‘«„‚([{¿¡"
"""Characters that open one before a word."""
MAX_CLOSING = 3


@functools.lru_cache(maxsize=4096)
def as_written(source: str) -> str:
    """Return a word's source text as a reader sees it; empty if it has none.

    Tags of SSML, addresses of links, marks of emphasis and code, and unpaired square brackets are
    removed. White space becomes single spaces.
    """
    text = _ADDRESS.sub("", _TAG.sub("", source))
    if "[" in text and "]" not in text:
        text = text.replace("![", "").replace("[", "")
    elif "]" in text and "[" not in text:
        text = text.replace("]", "")
    text = _AFTER.sub("", _BEFORE.sub("", _HEADING.sub("", text)))
    return " ".join(text.split()) or " ".join(source.split())


def written_at(transcript: Transcript, start: int, end: int) -> str:
    """Return the word at ``start`` to ``end`` as a reader sees it, with the quotes and brackets
    that touch it."""
    source = transcript.part(start, end)
    before = transcript.part(max(0, start - MAX_CLOSING), start) if source else ""
    after = transcript.part(end, end + MAX_CLOSING) if source else ""
    opening = before[len(before.rstrip(OPENING)) :]
    return as_written(opening + source + after[: len(after) - len(after.lstrip(CLOSING))])
