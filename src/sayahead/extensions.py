"""What other packages add to sayahead, by entry points: commands, policies, contexts, voices and
more."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sayahead.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
OURS = {
    "sayahead-lab": "lab",
    "sayahead-voices-papers": "voices/papers",
    "sayahead-voices-family": "voices/family",
}
"""The other packages of this repository and their folders in it."""


@functools.cache
def entry_points(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group, such as ``sayahead.policies``, by name; of two with one name,
    the first."""
    # Its import takes some of a short command's time.
    from importlib import metadata

    points: dict[str, EntryPoint] = {}
    for point in metadata.entry_points(group=group):
        points.setdefault(point.name, point)
    return points


class Extensible(MutableMapping[str, T]):
    """Names to what they stand for: the package's own, and after them those of other packages'
    entry points.

    A program may set further names for itself.

    Nothing is imported before it is looked up. The package's own names come first and are not asked
    of the entry points, since reading what every installed package declares takes longer than a
    short command."""

    def __init__(self, group: str, own: Mapping[str, str]) -> None:
        """``own``: name to ``module:attribute``, or a module alone."""
        self.group = group
        self._own = dict[str, str | T](own)

    def __getitem__(self, name: str) -> T:
        """ConfigError for another package's that cannot be imported."""
        if name in self._own:
            own = self._own[name]
            entry: T = load(own) if isinstance(own, str) else own
            return entry
        point = entry_points(self.group)[name]
        try:
            entry = point.load()
        except (ImportError, AttributeError) as error:
            package = point.dist.name if point.dist else point.value
            raise ConfigError(
                f"{name!r} comes with the package {package}, which cannot be loaded: {error}."
            ) from error
        return entry

    def __setitem__(self, name: str, made: T) -> None:
        self._own[name] = made

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in entry_points(self.group)

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in entry_points(self.group) if name not in self._own)

    @property
    def own(self) -> tuple[str, ...]:
        """Its own names, for which no entry point is read."""
        return tuple(self._own)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def load(place: str) -> Any:
    """The object at ``module:attribute``, or a module."""
    module, _, path = place.partition(":")
    target: Any = importlib.import_module(module)
    for attribute in filter(None, path.split(".")):
        target = getattr(target, attribute)
    return target


def folders(group: str) -> dict[Path, str]:
    """The folders of the packages that a group's entry points name, and their distributions; none
    is imported."""
    specs = {
        point: importlib.util.find_spec(point.module) for point in entry_points(group).values()
    }
    return {
        Path(place): point.module if point.dist is None else point.dist.name
        for point, spec in specs.items()
        for place in (spec and spec.submodule_search_locations) or ()
    }


def not_installed(what: str, package: str) -> str:
    """The error about a command or a voice of another package of ours: how to install it."""
    return (
        f"{what} is part of {package}, which is not installed. In a checkout: pip install"
        f" ./{OURS[package]}. Elsewhere, clone github.com/sayahead/sayahead first: no package index"
        " has it."
    )
