"""Front ends: what makes words or phonemes of a text."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Callable
from typing import Any

from sayahead.errors import ConfigError
from sayahead.text import front_end

from sayahead_lab.eval.text.suites import Case

_TAGS = {"pt": "pt-BR"}
"""The suites' Portuguese is that of Brazil."""
Sounds = Callable[[str, str], str]
"""Phonemes of a text in a language, without stress, marks and spaces."""


def words(case: Case) -> str:
    """What sayahead says of a case."""
    return said(case.written, case.language)


def said(text: str, language: str) -> str:
    """What sayahead says of a text."""
    normalizer = front_end(_TAGS.get(language, language)).normalizer()
    return " ".join(word.text for word in normalizer.push(text) + normalizer.flush())


def bare(phonemes: str) -> str:
    """Phonemes without what depends on pauses and stress."""
    return (
        re.sub(r"[\W_ˈˌː]", "", re.sub(r"\([a-z-]+\)", "", phonemes))
        .replace("ə", "ɐ")
        .replace("ʌ", "ɐ")
    )


def espeak() -> Sounds:
    """espeak-ng on the text as it stands: what Piper's voices are given."""
    from sayahead.text.saying.espeak.client import ESPEAK

    @functools.cache
    def sounds(text: str, language: str) -> str:
        voice = {"en": "en-us", "pt": "pt-br"}.get(language, language)
        return bare("".join(ESPEAK.clauses(voice, text)))

    return sounds


def misaki() -> Sounds:
    """misaki's English, what Kokoro's voices are given."""
    for package in ("misaki", "en_core_web_sm"):
        if importlib.util.find_spec(package) is None:
            what = "misaki[en]" if package == "misaki" else f"spaCy's {package}, which misaki needs"
            raise ConfigError(f"{package} is not installed: install {what}, or leave misaki out.")
    en: Any = importlib.import_module("misaki.en")
    g2p = en.G2P(trf=False, british=False, fallback=None)

    @functools.cache
    def sounds(text: str, language: str) -> str:
        return bare(g2p(text)[0])

    return sounds


PEERS: dict[str, tuple[Callable[[], Sounds], tuple[str, ...]]] = {
    "espeak-ng": (espeak, ("en", "de", "es", "fr", "it", "pt")),
    "misaki": (misaki, ("en",)),
}
"""Other front ends, and the languages that they have. They make phonemes, so they are judged by
these."""


def sounds_same(case: Case, sounds: Sounds, read: Callable[[str, str], str] | None = None) -> bool:
    """Whether a front end makes the same phonemes of the text as of one of its readings.

    With ``read`` the text is made into words by it first, and these are given to the front end.
    """
    text = read(case.written, case.language) if read else case.written
    heard = sounds(text, case.language)
    return any(heard == sounds(spoken, case.language) for spoken in case.spoken)
