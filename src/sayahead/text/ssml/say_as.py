"""What SSML's ``<say-as>`` makes of a text, by the language."""

from __future__ import annotations

import importlib
from collections.abc import Callable

SayAs = Callable[[str, str, str], str]
"""Content, ``interpret-as`` and ``format`` to words as they are spoken; empty: the text is read as it stands."""

LANGUAGES = {"en": "sayahead.text.english.say_as"}
"""Modules by the first part of a language's tag."""
SPELLED = ("characters", "spell-out", "verbatim", "digits")


def say_as_of(language: str) -> SayAs:
    """What a language says; languages without a module of their own spell, and no more."""
    name = language.lower().replace("_", "-").split("-")[0]
    if name not in LANGUAGES:
        return spelled
    say_as: SayAs = importlib.import_module(LANGUAGES[name]).say_as
    return say_as


def spelled(text: str, kind: str, form: str) -> str:
    """Characters one by one, where that is asked for."""
    return " ".join(char.upper() for char in text if char.isalnum()) if kind in SPELLED else ""
