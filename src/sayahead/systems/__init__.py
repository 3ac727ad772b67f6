"""Systems: what can speak, one file each; kinds of voices by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sayahead.systems.heart import load_heart
from sayahead.systems.loading import Loaded
from sayahead.systems.ma import load_ma
from sayahead.systems.mohan import load_mohan
from sayahead.systems.process import load_process
from sayahead.systems.saeki import load_saeki
from sayahead.systems.vits import load_vits
from sayahead.voices import VoiceConfig

KINDS: dict[str, Callable[[VoiceConfig, Path, int], Loaded]] = {
    "heart": load_heart,
    "ma": load_ma,
    "saeki": load_saeki,
    "mohan": load_mohan,
    "vits": load_vits,
    "process": load_process,
}
"""Each kind's loader by its name in voice.json; it takes a voice's description, its folder and CPU threads."""

CHARACTER_KINDS = frozenset({"mohan"})
"""Kinds whose voices read characters, not words."""
