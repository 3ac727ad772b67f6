"""Languages by their BCP 47 tags, as espeak-ng names them."""

from __future__ import annotations

from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.text.tables import pairs
from sayahead.types import subtags

VOICES = frozenset(
    """
    af am an ar as az ba be bg bn bpy bs ca cmn cs cv cy da de el en-029 en en-gb-scotland en-gb-x-rp en-us eo
    es es-419 et eu fa fi fr-be fr-ch fr ga gd gn grc gu hak haw he hi hr ht hu hy hyw ia id io is it ja jbo
    ka kk kl kn ko kok ku ky la lb lfn lt ltg lv mi mk ml mr ms mt my nb nci ne nl nog om or pa pap pl pt
    pt-br py qu quc ro ru sd shn si sk sl smj sq sr sv sw ta te th tk tn tr tt ug uk ur uz vi vi-vn-x-central
    vi-vn-x-south yue
    """.split()  # noqa: E501
)
"""Names under which espeak-ng 1.51 and 1.52 find their voices: most are the tags of their
languages."""

_SAME = pairs("""
    en-gb:en fr-fr:fr zh:cmn zh-hk:yue zh-mo:yue no:nb nn:nb iw:he in:id tl:id en-ca:en-us en-ph:en-us fr-lu:fr-be
""")  # noqa: E501
_SAME |= {
    f"es-{region}": "es-419"
    for region in "ar bo cl co cr cu do ec gt hn mx ni pa pe pr py sv us uy ve".split()
}
"""Tags that are read by a voice of another name. Those of nn and tl are the nearest there are."""


def voice_of(language: str) -> str:
    """The voice of espeak-ng that reads a language ("de-DE", "pt_BR", "zh"); ConfigError where none
    does.

    Names of voices as Piper's configurations have them ("en-gb-x-rp", "fr-fr") do as well.
    """
    parts = subtags(language)
    for count in range(len(parts), 0, -1):
        tag = "-".join(parts[:count])
        if voice := _SAME.get(tag, tag if tag in VOICES else ""):
            return voice
    names = {*VOICES, *_SAME}
    raise ConfigError(
        f"There is no text front end for the language {language!r}{nearest(parts[0], names)}."
    )
