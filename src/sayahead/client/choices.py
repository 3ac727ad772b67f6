"""What a client may choose for what it has spoken, as keyword arguments, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

Named = str | Mapping[str, Any] | None
"""A policy or context by name, ``learned:price=2``, or as a table, ``{"name": "learned", "price":
2}``."""


class Choices(TypedDict, total=False):
    """What ``session`` in the server's session.update takes."""

    voice: str | None
    language: str | None
    encoding: Literal["pcm_s16le"]
    sample_rate: int | None
    idle_s: float | None
    breath_s: float | None
    policy: Named
    context: Named
    hold_back_s: float | None
    k2: int
    delta: int | None
    speed: float
    volume: float
    seed: int
    speaker: str | int | None
    pitch: float | None
    pitch_range: float | None
    formants: float | None
    keep_up: bool | Named
    lexicon: Mapping[str, str] | None
    step_words: int | None
    markup: str
