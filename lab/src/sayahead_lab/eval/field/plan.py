"""What a field's TOML says: which engines speak which texts on which clocks, and how often."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sayahead.config import from_mapping
from sayahead.errors import ConfigError

from sayahead_lab.eval.experiment.conditions import Clock, located
from sayahead_lab.eval.experiment.frozen import digest, frozen
from sayahead_lab.eval.peers.worker import digest as file_digest
from sayahead_lab.scripts import ScriptLine, read_texts, strided

GIVEN = Clock("given", "all-at-once")
"""The zero of every engine: all text is there."""
OWN = (GIVEN.name, "whole", "measured", "wall")
"""What a field calls its own files."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field's TOML. ConfigError for what cannot be run."""

    engines: tuple[str, ...]
    """Names of peers, or FILE.py:FUNCTION."""
    texts: tuple[str, ...]
    """Frozen texts by name, or files of name|text."""
    clocks: tuple[Clock, ...]
    """How text arrives; all at once is always measured beside them."""
    count: int = 20
    """Texts of each set, evenly spaced."""
    repeats: int = 3
    """How often each text is spoken."""
    computing: str = "wall"
    """What counts as an engine's computing where its times follow from a measurement: the ``wall``
    clock's time, or that of the ``processor``, for a machine that others use, too."""
    checked: int = 3
    """Texts that an engine whose times follow from one measurement speaks on the wall clock, too,
    every repeat."""

    def __post_init__(self) -> None:
        if min(self.count, self.repeats) < 1:
            raise ConfigError("A field needs a count and repeats of at least 1.")
        if self.computing not in ("wall", "processor"):
            raise ConfigError(f"computing is {self.computing!r}, but must be wall or processor.")
        for clock in self.clocks:
            if clock.name in OWN:
                raise ConfigError(
                    f"A clock cannot be called {clock.name!r}: a field has files of that name."
                )

    def lines(self) -> list[ScriptLine]:
        """What is spoken; ConfigError where two texts have one name."""
        lines = [line for name in self.texts for line in strided(texts_of(name), self.count)]
        if len({line.name for line in lines}) < len(lines):
            raise ConfigError(f"Two texts of {', '.join(self.texts)} have one name.")
        return lines

    def digests(self) -> dict[str, str]:
        """The digest of each set of texts."""
        return {
            name: file_digest(name)[:16] if "." in name else digest(name) for name in self.texts
        }


def main_clock(clocks: Iterable[str]) -> str:
    """The clock that is listened to: the first beside all at once, if there is one."""
    return [GIVEN.name, *(name for name in clocks if name != GIVEN.name)][:2][-1]


def texts_of(name: str) -> list[ScriptLine]:
    """The texts of a frozen set, or of a file."""
    return read_texts(Path(name)) if "." in name else frozen(name)


def is_field(path: Path) -> bool:
    """Whether a TOML file describes a field, rather than an experiment; false for what cannot be
    read."""
    try:
        return "engines" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def load_field(path: Path) -> Field:
    """The field in a TOML file; ConfigError says what is wrong in it, and where. Paths are relative
    to the file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    field = from_mapping(Field, data, where=str(path))
    texts = tuple(str(path.parent / name) if "." in name else name for name in field.texts)
    engines = tuple(str(path.parent / name) if ".py:" in name else name for name in field.engines)
    clocks = tuple(located(clock, path.parent) for clock in field.clocks)
    return replace(field, texts=texts, engines=engines, clocks=clocks)
