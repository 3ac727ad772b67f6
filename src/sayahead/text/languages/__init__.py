"""Which record reads a language; those without one of their own leave figures to espeak-ng."""

from __future__ import annotations

import functools
import importlib

from sayahead.text.espeak.voices import voice_of
from sayahead.text.shared.record import Record

RECORDS = {
    "de": "sayahead.text.german.record.GERMAN",
    "fr": "sayahead.text.french.record.FRENCH",
    "es": "sayahead.text.spanish.record.SPANISH",
    "es-419": "sayahead.text.spanish.record.AMERICAN",
    "it": "sayahead.text.italian.record.ITALIAN",
    "pt": "sayahead.text.portuguese.record.PORTUGUESE",
    "pt-br": "sayahead.text.portuguese.record.BRAZILIAN",
}
"""Languages that are read in full, by the first part of their tags."""

_DOT_ORDINALS = frozenset("bs cs da de et eu fi fo hr hu is ka lb lv nb nn no pl sk sl sr tr".split())
_UNSPACED = frozenset("cmn zh yue hak ja th my shn lo km".split())
_SCRIPTS = {
    "CYRILLIC": "ba be bg bn-cyrl cv kk ky mk nog ru sr tt uk mn",
    "GREEK": "el grc",
    "ARABIC": "ar fa ug ur sd ku",
    "HEBREW": "he iw yi",
    "DEVANAGARI": "hi kok mr ne",
    "BENGALI": "bn bpy as",
    "GURMUKHI": "pa",
    "GUJARATI": "gu",
    "ORIYA": "or",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "SINHALA": "si",
    "THAI": "th",
    "MYANMAR": "my shn",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy hyw",
    "ETHIOPIC": "am ti",
    "HANGUL": "ko",
    "CHEROKEE": "chr",
}
_CJK = ("CJK", "IDEOGRAPHIC", "BOPOMOFO")
_STAND_INS = dict(
    pair.split(":")
    for pair in """
    LATIN:tata CYRILLIC:дом GREEK:σπίτι ARABIC:بیت HEBREW:בית DEVANAGARI:घर BENGALI:ঘর GURMUKHI:ਘਰ GUJARATI:ઘર ORIYA:ଘର
    TAMIL:வீடு TELUGU:ఇల్లు KANNADA:ಮನೆ MALAYALAM:വീട് SINHALA:ගෙදර THAI:บ้าน MYANMAR:အိမ် GEORGIAN:სახლი ARMENIAN:տուն
    ETHIOPIC:ቤት HANGUL:집 CHEROKEE:ᎦᎵᏦᏕ CJK:家 HIRAGANA:いえ
    """.split()
)
"""What is read behind the words in sight, by script."""
_OWN_STAND_INS = {"en": "people"}


@functools.cache
def record_of(language: str) -> Record:
    """The record of a language by its tag: its own, or one that knows sentences and scripts alone.

    ConfigError for a language that espeak-ng does not have.
    """
    parts = language.replace("_", "-").lower().split("-")
    for tag in (voice_of(language), "-".join(parts[:2]), parts[0]):
        if tag in RECORDS:
            module, name = RECORDS[tag].rsplit(".", 1)
            record: Record = getattr(importlib.import_module(module), name)
            return record
    name = parts[0]
    scripts: tuple[str, ...]
    if name in ("ja",):
        scripts = ("HIRAGANA", "KATAKANA", *_CJK)
    elif name in ("cmn", "zh", "yue", "hak"):
        scripts = _CJK
    else:
        scripts = tuple(script for script, tags in _SCRIPTS.items() if name in tags.split()) or ("LATIN",)
    scripts += _CJK if name == "ko" else ()
    return Record(
        tag=name,
        stand_in=_OWN_STAND_INS.get(name, _STAND_INS[scripts[0]]),
        scripts=scripts,
        spaced=name not in _UNSPACED,
        question=";" if name in ("el", "grc") else "",
        dot_ordinals=name in _DOT_ORDINALS,
    )
