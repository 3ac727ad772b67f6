"""Voices as folders: the fields of voice.json, its graphs, and the folders that come with the
package."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayahead.config import check_number, check_whole, from_mapping, nearest
from sayahead.contexts.distilled import DistilledConfig
from sayahead.contexts.hidden_states import HiddenConfig
from sayahead.errors import ConfigError, VoiceError
from sayahead.extensions import not_installed
from sayahead.policies.agent import AgentConfig
from sayahead.policies.learned import LearnedConfig
from sayahead.types import Shape, subtags
from sayahead.voices.locations import ELSEWHERE, FOLDER, installed_voices, located

__all__ = [
    "DEFAULT",
    "FOLDER",
    "FORMAT",
    "GENDERS",
    "Defaults",
    "VoiceConfig",
    "chosen",
    "installed_voices",
    "located",
    "read_config",
    "speaks",
    "upgraded",
]

FORMAT = 3
"""Version of voice.json's format; 2 is still read."""
GENDERS = ("", "female", "male")
TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
"""A language: a BCP 47 tag, as far as voices have one."""
DEFAULT = "heart"
"""The voice that speaks where none is chosen."""
PAPERS = ("ma", "saeki", "mohan")
"""Kinds of voices that reproduce a paper."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a session of this voice uses unless its caller chooses otherwise."""

    lookahead: int
    """Words of lookahead, LookaheadK's k."""
    hold_back_s: float
    """Seconds of sound held back at the right end."""
    blind_hold_back_s: float
    """The same where a SPEAK sees no real future, as with LookaheadK(0)."""
    words: int = 1
    """Minimum words of a chunk, LookaheadK's ``words``."""
    context: str = "none"
    """What stands in for the future: none, or distilled, the voice's own predictor."""


@dataclass(frozen=True, slots=True)
class VoiceConfig:
    """voice.json: everything about a voice except its graphs."""

    format: int
    """Version of this file's format."""
    name: str
    """What ``load_voice`` and ``--voice`` call it."""
    language: str
    """BCP 47 tag."""
    description: str
    """One line for a person."""
    license: str
    """SPDX identifier of the voice's licence."""
    source: str
    """Where its weights come from."""
    kind: str
    """Which system runs it: a key of ``systems.KINDS``."""
    sample_rate: int
    """Samples per second."""
    files: dict[str, str]
    """File name to the SHA-256 of its content."""
    speed: tuple[float, ...]
    """Least and largest speed."""
    defaults: Defaults
    """What sessions use unless their caller chooses otherwise."""
    model: dict[str, Any]
    """Settings of the kind; see its module in ``systems``."""
    consent: str = ""
    """Who agreed to it, in the words of its maker, where it was made of somebody's speech."""
    hop_length: int = 1
    """Samples per frame, if the voice has frames."""
    lead_in_s: float = 0.02
    """Most silence before a sentence's first audible sample."""
    pause_s: float = 0.4
    """Silence after a sentence's last audible sample."""
    shape: Shape = field(default_factory=Shape)
    """Changes to pitch and formants, for voices of source and filter."""
    gain: float = 1.0
    """Factor on all samples, so that voices are equally loud."""
    phonemes: dict[str, int] = field(default_factory=dict)
    """Phoneme symbol to id, if the voice reads phonemes."""
    speakers: dict[str, int] = field(default_factory=dict)
    """Name of a speaker to its number, if the voice has several; one alone if it is one speaker of
    another voice."""
    gender: str = ""
    """How the voice sounds: female or male; empty where its maker has not said."""
    reads: str = ""
    """Tag of the language whose phonemes the voice learned, where that is another: a Briton taught
    by American ones."""
    stand_in: str = ""
    """Word read after the visible ones while the sentence goes on, only for their pronunciation."""
    inner_punctuation: bool = True
    """Whether the model knows punctuation inside a sentence."""
    distilled: DistilledConfig | None = None
    """The voice's own context predictor (Saeki-b), if it has one."""
    hidden: HiddenConfig | None = None
    """The same of a language model's hidden states, if it has one."""
    learned: LearnedConfig | None = None
    """The voice's own policy over words, if it has learned one."""
    agent: AgentConfig | None = None
    """The same for a voice that reads characters (Mohan)."""

    @property
    def research(self) -> bool:
        """Whether it reproduces a paper, after which it is named: ma-lj, saeki-waveglow."""
        return self.kind in PAPERS and self.name.startswith(f"{self.kind}-")

    def __post_init__(self) -> None:
        check_whole("sample_rate", self.sample_rate, 1000, 192000)
        check_whole("hop_length", self.hop_length, 1, self.sample_rate)
        check_number("lead_in_s", self.lead_in_s, 0.0, 10.0)
        check_number("pause_s", self.pause_s, 0.0, 10.0)
        check_number("gain", self.gain, 0.0, 100.0)
        check_shape(self.shape)
        if len(self.speed) != 2:
            raise ConfigError(
                f"speed is {self.speed!r}, but must be two numbers: the least and the largest."
            )
        check_number("speed[1]", self.speed[1], 0.1, 10.0)
        check_number("speed[0]", self.speed[0], 0.1, self.speed[1])
        for name in ("hold_back_s", "blind_hold_back_s"):
            check_number(f"defaults: {name}", getattr(self.defaults, name), 0.0, 2.0)
        if self.gender not in GENDERS:
            raise ConfigError(f"gender is {self.gender!r}, but must be female, male or empty.")
        for symbol, number in self.phonemes.items():
            check_whole(f"phonemes: {symbol!r}", number, 0, 10000)


def check_shape(shape: Shape) -> None:
    """Raise ConfigError for a shape out of bounds."""
    check_number("pitch", shape.pitch, -24.0, 24.0)
    check_number("pitch_range", shape.pitch_range, 0.0, 3.0)
    check_number("formants", shape.formants, 0.5, 2.0)


def read_config(folder: Path) -> VoiceConfig:
    """Read a voice's description without loading the voice. VoiceError if it is missing, damaged or
    of another format."""
    path = folder / "voice.json"
    if not path.is_file():
        if str(folder) in ELSEWHERE:
            raise VoiceError(not_installed(f"The voice {str(folder)!r}", ELSEWHERE[str(folder)]))
        known = nearest(str(folder), installed_voices())
        raise VoiceError(
            f"There is no voice {str(folder)!r}{known}: it is neither installed nor a folder with"
            " voice.json. To add one by name: sayahead voices add NAME (sayahead voices catalogue"
            " lists them)."
        )
    try:
        config = from_mapping(
            VoiceConfig, upgraded(json.loads(path.read_text(encoding="utf-8"))), where=str(path)
        )
    except (ConfigError, ValueError, RecursionError, OSError) as error:
        raise VoiceError(f"The voice in {folder} cannot be read: {error}") from error
    if config.format != FORMAT:
        raise VoiceError(
            f"{path}: format {config.format} is not supported; this version of sayahead reads"
            f" {FORMAT}."
        )
    return config


def chosen(language: str | None = None, gender: str | None = None) -> str:
    """Return the name of the first installed voice of a language (a BCP 47 tag) and a gender; the
    default voice comes first.

    Voices of one speaker precede those of several. VoiceError if none is installed.
    """
    if language is None and gender is None:
        return DEFAULT
    ranked = list[tuple[bool, bool, int, str]]()
    for order, (name, folder) in enumerate(installed_voices().items()):
        try:
            config = read_config(folder)
        except VoiceError:
            continue
        if (
            (gender is None or config.gender == gender)
            and speaks(config.language, language or "")
            and not config.research
        ):
            ranked.append((len(config.speakers) > 1, name != DEFAULT, order, name))
    if not ranked:
        raise VoiceError(why_none(language, gender))
    return min(ranked)[-1]


def why_none(language: str | None, gender: str | None) -> str:
    """Return the error message when no voice matches."""
    if gender not in (None, *GENDERS):
        return f"gender is {gender!r}, but must be {' or '.join(filter(None, GENDERS))}."
    if language and not TAG.fullmatch(language):
        return f"language is {language!r}, but must be a tag, such as en or pt-BR."
    kind = f"{gender} voice" if gender else "voice"
    catalogue_hint = (
        f", and sayahead voices catalogue {language} those to be added" if language else ""
    )
    return (
        f"No {kind} that speaks {language or 'anything'} is installed (sayahead voices lists those"
        f" that are{catalogue_hint})."
    )


def speaks(language: str, wanted: str) -> bool:
    """Return whether a language is the wanted one or a variety of it; always if nothing is
    wanted."""
    wanted_tags = subtags(wanted)
    return not wanted or subtags(language)[: len(wanted_tags)] == wanted_tags


def upgraded(data: Any) -> Any:
    """Convert a voice.json of format 2 to format 3, in which two kinds have new names."""
    if not isinstance(data, Mapping) or data.get("format") != 2:
        return data
    data = {**data, "format": FORMAT}
    if data.get("kind") == "deepvoice3":
        data["kind"] = "ma"
    model = data.get("model")
    vocoder = model.get("vocoder") if isinstance(model, Mapping) else None
    if isinstance(vocoder, Mapping) and vocoder.get("kind") == "melvocoder":
        data["model"] = {**model, "vocoder": {**vocoder, "kind": "mel"}}
    return data
