"""A family of voices in one folder: each speaker of a voice as a voice by name, which shares its
networks."""

from __future__ import annotations

from pathlib import Path

from sayahead.types import Shape
from sayahead.voice import load_voice
from sayahead.voices import read_config
from sayahead.voices.install.kokoro.files import LANGUAGES as STYLES
from sayahead.voices.install.shaped import write_shaped
from sayahead.voices.install.trial import measure
from sayahead.voices.write import change_voice

from sayahead_lab.training.voice_parts import LANGUAGES

GENDERS = {"f": "female", "m": "male"}
"""By the second letter of Kokoro's styles: ``am_michael`` is American and male."""


def write_speakers(folder: Path) -> list[Path]:
    """Write a folder beside a voice's for each of its speakers, who can then be called by name; the
    folders.

    Each has a gain of its own, so that all are equally loud; who is named like one of Kokoro's
    styles is of its language, whatever the phonemes that taught it are of.
    """
    config = read_config(folder)
    languages = config.model.get("languages", {})
    made = list[Path]()
    for speaker in config.speakers:
        place = folder.parent / speaker
        style = speaker[2:3] == "_"
        read = languages.get(speaker, config.language)
        language = STYLES.get(speaker[:1] if style else "", read)
        gender = GENDERS.get(speaker[1:2], "") if style else ""
        spoken = LANGUAGES.get(language, language)
        about = f"{spoken}, {gender}" if gender else spoken
        own = {"gender": gender, "language": language, "reads": read if read != language else ""}
        write_shaped(
            folder,
            speaker,
            Shape(),
            place,
            speaker=speaker,
            description=f"{about}; taught by Kokoro",
            **own,
        )
        change_voice(place, {"gain": round(measure(load_voice(place)).gain, 4)})
        made.append(place)
    return made
