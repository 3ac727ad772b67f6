"""What a client may choose for what it has spoken, as keyword arguments, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from sayahead.engine.options import PlainOptions

Named = str | Mapping[str, Any] | None
"""A policy or context by name, ``learned:price=2``, or as a table, ``{"name": "learned", "price":
2}``."""


class Choices(PlainOptions, total=False):
    """Keyword arguments of ``session`` in the server's session.update: voice, format, and session
    options that can be sent."""

    voice: str | None
    language: str | None
    encoding: Literal["pcm_s16le"]
    sample_rate: int | None
    idle_s: float | None
    breath_s: float | None
    policy: Named
    context: Named
    keep_up: bool | Named
    lexicon: Mapping[str, str] | None
