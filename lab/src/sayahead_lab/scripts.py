"""Lists of texts in files: a line ``name|text`` each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from sayahead.errors import ConfigError

T = TypeVar("T")


class ScriptLine(NamedTuple):
    """An utterance's text."""

    name: str
    """What the utterance is called; its files have this name."""
    text: str
    """What is said."""


def read_texts(path: Path) -> list[ScriptLine]:
    """The texts of a UTF-8 file of ``name|text`` lines, in order.

    Where lines have more columns, as in LJ Speech's metadata, the last one is the text; empty lines
    are skipped. ConfigError where the file cannot be read or has no texts, and for a line without
    text, a name that cannot be a file's, and a name that appears twice.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read as UTF-8 text: {error}.") from error
    texts = dict[str, str]()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        name, *columns = (column.strip() for column in line.split("|"))
        if not columns or not name or set(name) & set("/\\"):
            raise ConfigError(f"{path}, line {number}: expected name|text, found {line[:60]!r}.")
        if name in texts:
            raise ConfigError(f"{path}, line {number}: the name {name!r} appears twice.")
        texts[name] = columns[-1]
    if not texts:
        raise ConfigError(f"{path} has no texts.")
    return [ScriptLine(name, text) for name, text in texts.items()]


def texts_at(path: Path, count: int) -> list[str]:
    """Up to ``count`` of a file's texts, at equal distances."""
    return [line.text for line in strided(read_texts(path), count)]


def strided(items: Sequence[T], count: int) -> list[T]:
    """Up to ``count`` of the items at equal distances, from the first on: the same ones each
    time."""
    return list(items[:: max(1, len(items) // count)][:count])
