"""Voices that are another one with its pitch and formants changed, or one of its speakers: a
description alone."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from sayahead.config import nearest
from sayahead.errors import VoiceError
from sayahead.types import Shape
from sayahead.voice import SHAPED
from sayahead.voices import check_shape, installed_voices, read_config
from sayahead.voices.install.add import MADE, Added, settle, workplace
from sayahead.voices.write import write_voice

OWN = ("learned", "distilled", "hidden", "agent", "gain")
"""What the voice that is shaped keeps to itself."""


def shape_voice(
    base: str,
    name: str,
    shape: Shape,
    *,
    speaker: str | None = None,
    description: str | None = None,
    replace: bool = False,
) -> Added:
    """Add a voice ``name``: an installed one, or one of its speakers, with another shape.

    ConfigError or VoiceError where it cannot be.
    """
    check_shape(shape)
    if base not in installed_voices():
        raise VoiceError(f"There is no voice {base!r}{nearest(base, installed_voices())}.")
    with workplace() as work:
        write_shaped(
            installed_voices()[base],
            name,
            shape,
            work / MADE,
            speaker=speaker,
            description=description,
        )
        return settle(work, None, replace=replace)


def write_shaped(
    lender: Path,
    name: str,
    shape: Shape,
    folder: Path,
    *,
    speaker: str | None = None,
    description: str | None,
    **own: Any,
) -> None:
    """The folder of a shaped voice: its voice.json, and the papers of the one in the folder
    ``lender``.

    ``speaker``: one of that voice's; ``own``: what else voice.json says.
    """
    config = read_config(lender)
    base = config.name
    if config.kind == SHAPED:
        lender_name = config.model["voice"]
        of = "".join(f" --speaker {name}" for name in config.speakers)
        raise VoiceError(
            f"The voice {base!r} is made of {lender_name!r}: shape that one (--from"
            f" {lender_name}{of})."
        )
    about = {key: value for key, value in asdict(config).items() if key not in OWN}
    about |= {
        "name": name,
        "kind": SHAPED,
        "model": {"voice": base},
        "shape": asdict(shape),
        "gain": 1.0,
    }
    if speaker is not None:
        if speaker not in config.speakers:
            raise VoiceError(
                f"The voice {base!r} has no speaker {speaker!r}{nearest(speaker, config.speakers)}."
            )
        spoken = config.model.get("languages", {})
        about |= {
            "speakers": {speaker: config.speakers[speaker]},
            "language": spoken.get(speaker, config.language),
        }
    about |= own
    told = (
        f"{speaker} of {base}"
        if speaker
        else f"{config.description.split(';')[0]}; shaped from {base}"
    )
    about["description"] = description or told
    write_voice(folder, about, papers=lender)
