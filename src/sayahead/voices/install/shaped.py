"""Voices that are another one with its pitch and formants changed: a description, and no bytes of their own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from sayahead.config import nearest
from sayahead.errors import VoiceError
from sayahead.types import Shape
from sayahead.voice import SHAPED
from sayahead.voices import check_shape, installed_voices, read_config
from sayahead.voices.install.add import MADE, Added, settle, workplace
from sayahead.voices.write import write_voice

OWN = ("learned", "distilled", "hidden", "agent", "gain")
"""What the voice that is shaped keeps to itself."""


def shape_voice(base: str, name: str, shape: Shape, *, description: str | None = None, replace: bool = False) -> Added:
    """Add a voice ``name``: an installed one with another shape. ConfigError or VoiceError where it cannot be."""
    check_shape(shape)
    with workplace() as work:
        write_shaped(base, name, shape, work / MADE, description=description)
        return settle(work, None, replace=replace)


def write_shaped(base: str, name: str, shape: Shape, folder: Path, *, description: str | None) -> None:
    """The folder of a shaped voice: its voice.json, and the papers of the voice that it is made of."""
    if base not in installed_voices():
        raise VoiceError(f"There is no voice {base!r}{nearest(base, installed_voices())}.")
    lender = installed_voices()[base]
    config = read_config(lender)
    if config.kind == SHAPED:
        raise VoiceError(f"The voice {base!r} is a shaped one itself: shape the voice {config.model['voice']!r}.")
    about = {key: value for key, value in asdict(config).items() if key not in OWN}
    about |= {"name": name, "kind": SHAPED, "model": {"voice": base}, "shape": asdict(shape), "gain": 1.0}
    about["description"] = description or f"{config.description.split(';')[0]}; shaped from {base}"
    write_voice(folder, about, papers=lender)
