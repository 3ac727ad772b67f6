"""JavaScript's side of the page's voice. The memory that the page starts from was made without
any."""

from __future__ import annotations

from typing import Any

from pyodide.ffi import to_js

__all__ = ["connect", "engine", "to_js"]

_engine: Any = None


def connect(made: Any) -> None:
    """From now on this is what makes sound (``engine.js``)."""
    global _engine
    _engine = made


def engine() -> Any:
    """What makes sound."""
    return _engine
