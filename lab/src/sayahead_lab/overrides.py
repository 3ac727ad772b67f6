"""``--set KEY=VALUE``: another value for a key of a recipe or an experiment, without a copy of its
file."""

from __future__ import annotations

import argparse
import copy
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sayahead.config import nearest
from sayahead.errors import ConfigError

Override = tuple[str, Any]
"""A path of keys joined by dots, and the value."""


def override(text: str) -> Override:
    """``train.steps=100`` as its path and value: TOML's if it is that, otherwise the text
    itself."""
    path, sign, value = text.partition("=")
    if not sign or not all(path.split(".")):
        raise argparse.ArgumentTypeError(
            f"expected KEY=VALUE such as train.steps=100, found {text!r}"
        )
    try:
        return path, tomllib.loads(f"value = {value}")["value"]
    except ValueError:
        return path, value


def overridden(
    data: Mapping[str, Any], overrides: Sequence[Override], *, where: str
) -> dict[str, Any]:
    """A copy of parsed TOML with other values.

    Tables that a path names are made where they are missing, so that the file's own checks judge
    the keys. In a list of tables, such as an experiment's conditions, the next part of a path is a
    table's name or number, or ``*`` for all."""
    changed = copy.deepcopy(dict(data))
    for path, value in overrides:
        *folders, key = path.split(".")
        tables: list[Any] = [changed]
        for folder in folders:
            tables = [
                inner
                for table in tables
                for inner in within(table, folder, f"{where}: --set {path}")
            ]
        for table in tables:
            if not isinstance(table, dict):
                raise ConfigError(f"{where}: --set {path}: there is no table to set {key!r} in.")
            table[key] = value
    return changed


def within(table: Any, folder: str, where: str) -> Iterator[Any]:
    """The tables that one part of a path names in a table or a list of tables."""
    if isinstance(table, dict):
        yield table.setdefault(folder, {})
        return
    if not isinstance(table, list):
        raise ConfigError(f"{where}: {folder!r} is within no table.")
    names = {
        str(one.get("name", number)): one
        for number, one in enumerate(table)
        if isinstance(one, dict)
    }
    numbers = {str(number): one for number, one in enumerate(table)}
    if folder == "*":
        yield from table
    elif folder in {**numbers, **names}:
        yield {**numbers, **names}[folder]
    else:
        raise ConfigError(f"{where}: there is no {folder!r}{nearest(folder, names)}.")
