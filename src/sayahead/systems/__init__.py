"""Systems: what can speak, one file each; kinds of voices by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sayahead.extensions import Extensible
from sayahead.systems.loading import Loaded
from sayahead.voices import VoiceConfig

KINDS: Extensible[Callable[[VoiceConfig, Path, int], Loaded]] = Extensible(
    "sayahead.systems",
    {
        **{
            name: f"sayahead.systems.{name}:load_{name}"
            for name in ("heart", "ma", "saeki", "mohan", "vits", "kokoro")
        },
        "process": "sayahead.systems.external:load_process",
    },
)
"""Loaders by the name of the kind in voice.json; each takes a voice's description, its folder and
the number of threads."""
