"""Voices of random weights, a folder each: small graphs that
``lab/tests/lab_support/toy_voices.py`` makes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from sayahead import Voice, load_voice
from support.command import kept

TOYS = Path(__file__).parent


def toy(name: str) -> Voice:
    """One of them, loaded once a process."""
    return kept(TOYS / name)


def changed(
    one: str, folder: Path, /, *, model: dict[str, Any] | None = None, **keys: Any
) -> Voice:
    """One of them, copied to a folder that is not there, with other keys in its description and in
    its ``model``."""
    shutil.copytree(TOYS / one, folder)
    path = folder / "voice.json"
    about = json.loads(path.read_text(encoding="utf-8")) | keys
    about["model"] |= model or {}
    path.write_text(json.dumps(about), encoding="utf-8")
    return load_voice(folder)
