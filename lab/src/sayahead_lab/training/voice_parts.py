"""Parts of voices: trained models in a voice's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.loop.task import M

Written = tuple[list[Path], dict[str, Any]]
"""Files in a voice's folder, and a table of voice.json about them."""

LANGUAGES = {
    "en-US": "American English",
    "en-GB": "British English",
    "fr-FR": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt-BR": "Brazilian Portuguese",
}
"""Names of languages that voices are trained in, by their tags."""


@dataclass(frozen=True, slots=True)
class VoicePart(Generic[M]):
    """A vocoder of mel frames, or the common fields of an acoustic model."""

    kind: str
    """Its name in voice.json."""
    title: str
    """Its name for readers."""
    write: Callable[[Trained[Any, M], Path], Written]
    """Writes its graphs into a folder; the table is that of the stage."""


@dataclass(frozen=True, slots=True)
class Acoustic(VoicePart[M]):
    """An acoustic model."""

    model: Mapping[str, str] = field(default_factory=dict)
    """Further entries of the voice's ``model`` table."""
    hold_back_s: float = 0.0
    """Seconds of sound that the voice holds back."""
    lookahead: int = 0
    """The voice's words of lookahead."""
    words: int = 1
    """Fewest words of a chunk."""
    characters: bool = False
    """Whether it reads characters: the voice has no phonemes then."""
