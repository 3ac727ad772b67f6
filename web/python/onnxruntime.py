"""What hibari-tts wants of ``onnxruntime``, by the page's JavaScript: only its network of unknown
words is run so."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from bridge import engine, to_js

__version__ = "web"


class SessionOptions:
    """Options, none of which changes anything."""

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Ignored."""


class InferenceSession:
    """A graph of one input of whole numbers (1, N) and one such output."""

    def __init__(self, path: str | Path, *_: Any, **__: Any) -> None:
        self._name = Path(path).stem
        self._made = functools.lru_cache(maxsize=1024)(self._run)

    def run(self, _: object, given: Mapping[str, Any]) -> list[list[Any]]:
        """Its one output, for its one input."""
        ((name, values),) = given.items()
        return [[np.array(self._made(name, *values[0]))]]

    def _run(self, name: str, *numbers: int) -> list[int]:
        return list(engine().whole(self._name, name, to_js(numbers)))
