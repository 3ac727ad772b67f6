"""Frozen dataclasses from and to JSON and TOML, strict: an unknown or missing key is named with its path."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from sayahead.errors import ConfigError

T = TypeVar("T")


def from_mapping(kind: type[T], data: object, *, where: str) -> T:
    """A ``kind`` from parsed JSON or TOML; ``where`` begins the path that an error names."""
    if not isinstance(data, Mapping):
        raise ConfigError(f"{where}: expected a table with keys, found {describe(data)}.")
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in data:
        if key not in fields:
            raise ConfigError(f"{where}: unknown key {key!r}{nearest(str(key), fields)}.")
    values = {}
    for name, field in fields.items():
        if name in data:
            values[name] = convert(hints[name], data[name], where=f"{where}: {name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ConfigError(f"{where}: the key {name!r} is missing.")
    return kind(**values)


def convert(hint: Any, value: object, *, where: str) -> Any:
    """``value`` as the annotated type ``hint``, or a ConfigError that names ``where``."""
    if hint is Any:
        return value
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return from_mapping(hint, value, where=where)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        return convert(next(a for a in arguments if a is not type(None)), value, where=where)
    if origin is dict and isinstance(value, Mapping):
        return {str(key): convert(arguments[1], item, where=f"{where}.{key}") for key, item in value.items()}
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(convert(arguments[0], item, where=f"{where}[{i}]") for i, item in enumerate(value))
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    raise ConfigError(f"{where}: expected {getattr(hint, '__name__', hint)}, found {describe(value)}.")


def describe(value: object) -> str:
    """A value as an error shows it."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def nearest(word: str, known: typing.Iterable[str]) -> str:
    """``" (did you mean 'x'?)"``, or the choices, or nothing: the end of an error about an unknown word."""
    choices = sorted(known)
    close = difflib.get_close_matches(word, choices, n=1)
    if close:
        return f" (did you mean {close[0]!r}?)"
    return f" (known: {', '.join(choices)})" if choices else ""
