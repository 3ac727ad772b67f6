"""Systems: what can speak, one file each; kinds of voices by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sayahead.config import deferred
from sayahead.systems.loading import Loaded
from sayahead.voices import VoiceConfig

KINDS: dict[str, Callable[[VoiceConfig, Path, int], Loaded]] = {
    "heart": deferred("sayahead.systems.heart", "load_heart"),
    "ma": deferred("sayahead.systems.ma", "load_ma"),
    "saeki": deferred("sayahead.systems.saeki", "load_saeki"),
    "mohan": deferred("sayahead.systems.mohan", "load_mohan"),
    "vits": deferred("sayahead.systems.vits", "load_vits"),
    "kokoro": deferred("sayahead.systems.kokoro", "load_kokoro"),
    "process": deferred("sayahead.systems.external", "load_process"),
}
"""Each kind's loader by its name in voice.json; it takes a voice's description, its folder and CPU threads."""

CHARACTER_KINDS = frozenset({"mohan"})
"""Kinds whose voices read characters, not words."""
