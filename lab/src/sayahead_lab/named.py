"""What a command names: an entry of a table, or a function of anybody's, ``FILE.py:FUNCTION``."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from sayahead.config import nearest
from sayahead.errors import ConfigError

T = TypeVar("T")


def named(table: Mapping[str, T], name: str, what: str) -> T:
    """The table's entry, or what stands at ``FILE.py:FUNCTION`` or ``module:function``.

    ConfigError says ``what`` it should have been where there is no such thing.
    """
    place, colon, attribute = name.rpartition(":")
    if not colon:
        if name not in table:
            raise ConfigError(
                f"{what} {name!r} is not known{nearest(name, table)}; one of your own is"
                " FILE.py:FUNCTION."
            )
        return table[name]
    try:
        found: T = getattr(module_of(place), attribute)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
        raise ConfigError(f"{what} {name!r} cannot be loaded: {reason}.") from error
    return found


def module_of(place: str) -> Any:
    """A module by its file or name; whatever its import raises."""
    if not place.endswith(".py"):
        return importlib.import_module(place)
    path = Path(place).resolve(strict=True)
    module = types.ModuleType(f"sayahead_own_{path.stem}")
    module.__file__ = str(path)
    # Dataclasses look up their module.
    sys.modules[module.__name__] = module
    # Compiled here: Python's cache takes a file that changed within a second for the one before it.
    exec(compile(path.read_bytes(), path, "exec"), module.__dict__)
    return module
