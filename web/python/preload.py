"""Everything that a session of the page may import or read: later there are no files
(``snapshot.mjs``)."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import web_voices

from sayahead.errors import SayaheadError
from sayahead.voice import Voice

TEXT = "Hello there: Dr. Smith paid $5 million, on March 3rd, 1999. Is it?"
MISTAKES: tuple[dict[str, Any], ...] = (
    {"policy": "nothing"},
    {"context": "nothing"},
    {"voice": "nobody"},
    {"speed": 99.0},
    {"lexicon": "nowhere"},
)

OTHERS = {"espeak", "romance"}
"""Packages of other languages."""


def modules() -> None:
    """Import what a session does, whatever its options."""
    for name in ("sayahead.engine", "sayahead.policies", "sayahead.text"):
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not OTHERS & {*found.name.split(".")}:
                importlib.import_module(found.name)


def reading(voice: Voice) -> None:
    """Read a text, so that what is remembered of words is there."""
    normalizer = voice.loaded.normalizer(0)
    words = [*normalizer.push(TEXT), *normalizer.flush()]
    voice.phonemizer.phonemize(words, left=[])


def mistakes(voice: Voice) -> None:
    """Make errors, whose messages look for what was meant."""
    for options in MISTAKES:
        try:
            voice.session(**options)
        except SayaheadError:
            continue
        raise AssertionError(options)


def loaded(folder: str) -> web_voices.Voices:
    """The page's voices, and all that they may want."""
    modules()
    voices = web_voices.made(folder)
    reading(voices("heart"))
    mistakes(voices("heart"))
    return voices
