"""Everything that a session of the page may import or read: later there are no files
(``snapshot.mjs``)."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import web_voices

from sayahead.errors import SayaheadError
from sayahead.voice import Voice

TEXTS = {
    "en": "Hello there: Dr. Smith paid $5 million, on March 3rd, 1999. Is it?",
    "es": "Hola: el doctor pagó 5 millones, el 3 de marzo de 1999. ¿Es así?",
    "fr": "Bonjour : le docteur a payé 5 millions, le 3 mars 1999. C'est un workshop ?",
    "it": "Ciao: il dottore ha pagato 5 milioni, il 3 marzo 1999. È un workshop?",
    "pt": "Olá: o doutor pagou 5 milhões, em 3 de março de 1999. É um workshop?",
}
"""A text of each language, by the first part of its tag."""
MISTAKES: tuple[dict[str, Any], ...] = (
    {"policy": "nothing"},
    {"context": "nothing"},
    {"voice": "nobody"},
    {"speed": 99.0},
    {"lexicon": "nowhere"},
)

OTHERS = {"japanese", "mandarin"}
"""Packages of languages that no voice here speaks."""


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
    text = TEXTS[voice.config.language.partition("-")[0]]
    words = [*normalizer.push(text), *normalizer.flush()]
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
    for name in voices.languages.values():
        reading(voices(name))
        mistakes(voices(name))
    return voices
