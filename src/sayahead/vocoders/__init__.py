"""Vocoders of mel frames by name; a voice may borrow another's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sayahead.config import from_mapping, nearest
from sayahead.engine.files import Borrowed
from sayahead.engine.stages import Vocoder
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible
from sayahead.voices import read_config
from sayahead.voices.loans import lent


def borrowed(table: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], Path]:
    """Return the vocoder table and folder of the voice that lends a vocoder. VoiceError if its
    files are missing or differ."""
    lender = lent(from_mapping(Borrowed, table, where="model: vocoder"), folder, "the vocoder")
    return read_config(lender).model["vocoder"], lender


def load_mel_vocoder(table: Mapping[str, Any], folder: Path, threads: int) -> Vocoder[Any]:
    """Load the vocoder of mel frames from a ``model`` table's entry ``vocoder``. ConfigError for an
    unknown kind."""
    if "voice" in table:
        table, folder = borrowed(table, folder)
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in VOCODERS:
        raise ConfigError(
            f"model: vocoder: kind {kind!r} is unknown{nearest(str(kind), VOCODERS)}."
        )
    return VOCODERS[kind](
        {key: value for key, value in table.items() if key != "kind"}, folder, threads
    )


VOCODERS: Extensible[Callable[[Mapping[str, Any], Path, int], Vocoder[Any]]] = Extensible(
    "sayahead.vocoders",
    {
        name: f"sayahead.vocoders.{name}:load_{name}"
        for name in ("mel", "clarinet", "wavernn", "waveglow")
    },
)
"""Loaders of vocoders of mel frames, for all kinds that produce these; named like the tasks that
trained them."""
