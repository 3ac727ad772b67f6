"""Shaped voices: a description that refers to another voice, with changed pitch and formants or one
of its speakers."""

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

NOT_INHERITED = ("learned", "distilled", "hidden", "agent", "gain")
"""Fields of the base voice that a shaped voice does not inherit."""


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

    ConfigError or VoiceError if that is not possible.
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
    """Write the folder of a shaped voice: voice.json, and the licence documents of the voice in
    ``lender``.

    ``speaker``: a speaker of that voice; ``own``: further fields of voice.json.
    """
    config = read_config(lender)
    base = config.name
    if config.kind == SHAPED:
        lender_name = config.model["voice"]
        speaker_option = "".join(f" --speaker {name}" for name in config.speakers)
        raise VoiceError(
            f"The voice {base!r} is made of {lender_name!r}: shape that one (--from"
            f" {lender_name}{speaker_option})."
        )
    about = {key: value for key, value in asdict(config).items() if key not in NOT_INHERITED}
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
    default_description = (
        f"{speaker} of {base}"
        if speaker
        else f"{config.description.split(';')[0]}; shaped from {base}"
    )
    about["description"] = description or default_description
    write_voice(folder, about, papers=lender)
