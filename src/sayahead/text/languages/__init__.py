"""Which record reads a language; those without one of their own leave figures to espeak-ng."""

from __future__ import annotations

import functools
from pathlib import Path

from sayahead.text.languages.data_file import read_record
from sayahead.text.languages.espeak_voices import voice_of
from sayahead.text.languages.record import Record
from sayahead.text.tables import pairs
from sayahead.types import subtags

DATA = Path(__file__).parent / "data"
RECORDS = tuple(sorted(path.stem for path in DATA.glob("*.txt")))
"""Tags of the languages that have a data file; a country's begins with its language's: "pt-br"."""
READ = tuple(tag for tag in RECORDS if "-" not in tag and tag != "en")
"""Languages that are read in full by the shared reader."""

_LIKE = dict.fromkeys("en-au en-ie en-in en-nz en-za".split(), "en-gb") | {"cmn": "zh"}
"""Tags that are read as another one."""
_DOT_ORDINALS = frozenset(
    "bs cs da de et eu fi fo hr hu is ka lb lv nb nn no pl sk sl sr tr".split()
)
_UNSPACED = frozenset("cmn zh yue hak ja th my shn lo km".split())
_CJK = "CJK IDEOGRAPHIC BOPOMOFO"
_SCRIPTS = {
    _CJK: "cmn zh yue hak",
    f"HIRAGANA KATAKANA {_CJK}": "ja",
    f"HANGUL {_CJK}": "ko",
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
    "CHEROKEE": "chr",
}
"""Scripts of languages that are not written in Latin letters."""
_STAND_INS = pairs("""
    LATIN:tata CYRILLIC:дом GREEK:σπίτι ARABIC:بیت HEBREW:בית DEVANAGARI:घर BENGALI:ঘর GURMUKHI:ਘਰ GUJARATI:ઘર ORIYA:ଘର
    TAMIL:வீடு TELUGU:ఇల్లు KANNADA:ಮನೆ MALAYALAM:വീട് SINHALA:ගෙදර THAI:บ้าน MYANMAR:အိမ် GEORGIAN:სახლი ARMENIAN:տուն
    ETHIOPIC:ቤት HANGUL:집 CHEROKEE:ᎦᎵᏦᏕ CJK:家 HIRAGANA:いえ
""")  # noqa: E501
"""What is read after the words in sight, by script."""


@functools.cache
def record_of(language: str) -> Record:
    """The record of a language by its tag: its own, or one that knows sentences and scripts alone.

    ConfigError for a language that espeak-ng does not have.
    """
    parts = subtags(language)
    country = "-".join(parts[:2])
    for tag in (_LIKE.get(country, country), voice_of(language), parts[0]):
        if tag in RECORDS:
            return read_record(DATA / f"{tag}.txt")
    name = parts[0]
    written = (scripts for scripts, tags in _SCRIPTS.items() if name in tags.split())
    scripts = tuple(next(written, "LATIN").split())
    return Record(
        tag=name,
        stand_in=_STAND_INS[scripts[0]],
        scripts=scripts,
        spaced=name not in _UNSPACED,
        question=";" if name in ("el", "grc") else "",
        dot_ordinals=name in _DOT_ORDINALS,
    )
