"""Vocoders of mel frames by name; a voice may borrow another's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayahead.config import from_mapping, nearest
from sayahead.engine.files import check_file, inside
from sayahead.engine.stages import Vocoder
from sayahead.errors import ConfigError, VoiceError
from sayahead.extensions import Extensible
from sayahead.voices import located, read_config


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A vocoder that lies in another voice's folder."""

    voice: str
    """The other voice's name: a folder beside this voice's, or one that came with the package."""
    files: dict[str, str]
    """Its files to the SHA-256 of their content."""


def borrowed(table: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], Path]:
    """The lender's vocoder table and folder; VoiceError where its files are not there, or are others."""
    loan = from_mapping(Borrowed, table, where="model: vocoder")
    beside = inside(folder.parent, loan.voice)
    lender = next((place for place in (beside, located(loan.voice)) if (place / "voice.json").is_file()), None)
    if lender is None:
        raise VoiceError(f"The voice in {folder} needs the vocoder of the voice {loan.voice!r}, which is not there.")
    for file, digest in loan.files.items():
        check_file(inside(lender, file), digest)
    return read_config(lender).model["vocoder"], lender


def load_mel_vocoder(table: Mapping[str, Any], folder: Path, threads: int) -> Vocoder[Any]:
    """The vocoder of mel frames that a ``model`` table has under ``vocoder``; ConfigError for an unknown kind."""
    if "voice" in table:
        table, folder = borrowed(table, folder)
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in VOCODERS:
        raise ConfigError(f"model: vocoder: kind {kind!r} is unknown{nearest(str(kind), VOCODERS)}.")
    return VOCODERS[kind]({key: value for key, value in table.items() if key != "kind"}, folder, threads)


VOCODERS: Extensible[Callable[[Mapping[str, Any], Path, int], Vocoder[Any]]] = Extensible(
    "sayahead.vocoders",
    {name: f"sayahead.vocoders.{name}:load_{name}" for name in ("mel", "clarinet", "wavernn", "waveglow")},
)
"""Loaders of vocoders of mel frames, for any kind that makes these; by the name of the task that trained them."""
