"""Parts of voices: what trained models become in a voice's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

from sayahead.training.loop.task import M
from sayahead.training.loop.trained import Trained

Written = tuple[list[Path], dict[str, Any]]
"""Files in a voice's folder, and a table of voice.json about them."""


@dataclass(frozen=True, slots=True)
class Part(Generic[M]):
    """A vocoder of mel frames, or what an acoustic model has in common with one."""

    kind: str
    """What voice.json calls it."""
    title: str
    """What a person calls it."""
    write: Callable[[Trained[Any, M], Path], Written]
    """Writes its graphs into a folder; the table is that of the stage."""


@dataclass(frozen=True, slots=True)
class Acoustic(Part[M]):
    """An acoustic model."""

    model: Mapping[str, str] = field(default_factory=dict)
    """What the voice's ``model`` table says besides."""
    hold_back_s: float = 0.0
    """Seconds of sound that the voice holds back."""
    lookahead: int = 0
    """The voice's words of lookahead."""
    words: int = 1
    """Least words of a chunk."""
    characters: bool = False
    """Whether it reads characters: the voice has no phonemes then."""
