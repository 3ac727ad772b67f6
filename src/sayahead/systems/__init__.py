"""Kinds of voices: from a folder's graphs and its ``model`` table to an acoustic model and a vocoder."""

from __future__ import annotations

from sayahead.systems.heart import load_heart
from sayahead.systems.ma import load_deepvoice3
from sayahead.systems.mohan import load_mohan
from sayahead.systems.saeki import load_saeki

KINDS = {"heart": load_heart, "deepvoice3": load_deepvoice3, "saeki": load_saeki, "mohan": load_mohan}
"""Each kind's loader, by the name in voice.json."""


CHARACTERS = frozenset({"mohan"})
"""Kinds whose voices read characters; the others read words."""
