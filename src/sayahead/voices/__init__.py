"""The voices that come with the package, a folder each."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where they lie."""


def installed_voices() -> dict[str, Path]:
    """The voices that came with the package, by name."""
    return {path.parent.name: path.parent for path in sorted(FOLDER.glob("*/voice.json"))}
