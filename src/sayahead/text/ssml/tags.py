"""Tags as characters: what may become one, and what it says."""

from __future__ import annotations

import html
import logging
import re
from dataclasses import dataclass

from sayahead.text.saying.transcription import ALPHABETS

log = logging.getLogger("sayahead")

MAX_TAG = 1000
LONGEST_BREAK_S = 10.0
"""Characters of a tag, beyond which it is text; seconds of a break."""
_NAME = r"[A-Za-z][\w:.-]*"
_VALUE = r"(?:\"[^\"<]*\"|'[^'<]*')"
_ATTRIBUTES = rf"(?:\s+{_NAME}\s*=\s*{_VALUE})*"
_TAG = re.compile(rf"<(/?)({_NAME})({_ATTRIBUTES})\s*(/?)>")
_ATTRIBUTE = re.compile(rf"({_NAME})\s*=\s*({_VALUE})")
_DIRECTIONS = (
    "laugh|chuckl|giggl|sigh|whisper|cough|gasp|sob|cries|crying|sniff|groan|moan|yawn|"
    "clears? throat|inhal|exhal|breath|pause|applau|clap|music|shout|scream|sing|humm|excited|sad|"
    "angr|happ|sarcas|curious|nervous|mischiev|tired|surprised|cheer|snort|gulp|wheez|snicker|"
    "mumbl|stammer|stutter"
)
"""What stage directions in brackets have among their words: ``[laughs]``, ``[sighs deeply]``."""
_STAGE = rf"\[(?=[a-z ]*\b(?:{_DIRECTIONS}))[a-z][a-z ]{{0,38}}\]"
_MARKUP = {
    "<": (
        rf"<!--(?s:.*?)-->|<\?(?s:.*?)(?<=\?)>|{_TAG.pattern}",
        rf"<(?:!(?:-(?:-(?s:.*))?)?|\?(?s:.*)|/(?:{_NAME}\s*)?|{_NAME}{_ATTRIBUTES}"
        rf"(?:\s+(?:{_NAME}\s*(?:=\s*(?:\"[^\"<]*|'[^'<]*|{_VALUE})?)?)?)?\s*/?)?",
    ),
    "&": (
        "&(?:[A-Za-z]{0,8}|#[0-9]{0,6}|#x[0-9A-Fa-f]{0,6});",
        "&(?:[A-Za-z]{0,8}|#[0-9]{0,6}|#x[0-9A-Fa-f]{0,6})",
    ),
    "[": (rf"{_STAGE}(?=[^(\[])", rf"\[(?:[a-z][a-z ]{{0,38}})?|{_STAGE}"),
}
"""Tags, entities and stage directions that are no links, and what may still become one, by what
they begin with."""
_PATTERNS = {
    opener: (re.compile(whole), re.compile(begun)) for opener, (whole, begun) in _MARKUP.items()
}
OPENERS = re.compile(r"[<&\[]")
_TIME = re.compile(r"\+?([0-9]*\.?[0-9]+)\s*(ms|s)", re.I)
_STRENGTHS = {
    "none": 0.0,
    "x-weak": 0.1,
    "weak": 0.25,
    "medium": 0.5,
    "strong": 0.75,
    "x-strong": 1.2,
}
_RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.6}


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag in the text."""

    name: str
    """In small letters, without a prefix."""
    attributes: dict[str, str]
    """Decoded, by their names in small letters."""
    start: int
    """Where it begins in the source."""
    closes: bool = False
    """Whether it is a closing tag."""
    empty: bool = False
    """Whether it closes itself."""


def size_of(text: str, *, over: bool) -> int | None:
    """How many characters of a text that begins with an opener are a tag, an entity or a stage
    direction; None while more must come, unless it is ``over``."""
    whole, begun = _PATTERNS[text[0]]
    if (match := whole.match(text, 0, MAX_TAG)) is not None:
        return match.end()
    may_go_on = not over and len(text) < MAX_TAG and begun.fullmatch(text)
    return None if may_go_on else 0


def tag_of(text: str, start: int) -> Tag | None:
    """A complete tag that begins at a place of the source; None for a comment."""
    if (match := _TAG.fullmatch(text)) is None:
        return None
    pairs = _ATTRIBUTE.findall(match[3])
    attributes = {
        name.rpartition(":")[2].lower(): html.unescape(value[1:-1]) for name, value in pairs
    }
    return Tag(
        match[2].rpartition(":")[2].lower(), attributes, start, bool(match[1]), bool(match[4])
    )


def break_s(tag: Tag) -> float:
    """Seconds of a break; half a second where it does not say."""
    time = tag.attributes.get("time")
    if time is None:
        return _STRENGTHS.get(tag.attributes.get("strength", "medium").lower(), 0.5)
    if not (match := _TIME.fullmatch(time.strip())):
        log.warning(
            "<break> (character %d): time is %r, but must be such as 500ms or 1.5s.",
            tag.start,
            time,
        )
        return 0.5
    return min(float(match[1]) / (1000 if match[2].lower() == "ms" else 1), LONGEST_BREAK_S)


def rate_of(text: str, tag: Tag) -> float:
    """The factor of a rate: a name, "120%", "+20%", "1.2"; 1 with a warning for anything else."""
    text = text.strip().lower()
    if text in _RATES:
        return _RATES[text]
    match = re.fullmatch(r"([+-]?)([0-9]*\.?[0-9]+)(%?)", text)
    if not match or not float(match[2]):
        log.warning(
            "<%s> (character %d): %r is no speed; use such as fast, 120%% or 1.2.",
            tag.name,
            tag.start,
            text,
        )
        return 1.0
    value = float(match[2]) / (100 if match[3] else 1)
    return max(0.1, 1 + value * (-1 if match[1] == "-" else 1)) if match[1] else value


def alphabet_of(tag: Tag) -> str:
    """The alphabet of a ``<phoneme>``: ours, or as it is named there."""
    name = tag.attributes.get("alphabet", "ipa").lower()
    own = name.removeprefix("x-")
    return own if own in ALPHABETS else name


def is_censored(tag: Tag) -> bool:
    """Whether an element asks for what is within not to be said."""
    return tag.name == "say-as" and kind_of(tag) in ("expletive", "bleep")


def kind_of(tag: Tag) -> str:
    """What ``<say-as>`` takes its content for."""
    return tag.attributes.get("interpret-as", "").lower()
