"""A folder of named texts that the processes of one server share."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

TOUCH_S = 10.0
"""Interval of recording that a text is in use."""


class Shelf:
    """A folder with one file per text. Names come from the server, never from a client."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is made if need be."""
        folder.mkdir(exist_ok=True)
        self._folder = folder
        # Inode of each file when it was read last, and the last time its use was recorded.
        self._seen = dict[str, int]()
        self._touched = dict[str, float]()

    def changes(self) -> Iterator[tuple[str, str | None]]:
        """Yield (name, text) of all files that other processes have changed since the last call;
        None for a removed text."""
        with os.scandir(self._folder) as entries:
            files = {
                entry.name: entry.inode() for entry in entries if not entry.name.startswith(".")
            }
        for name in [name for name in self._seen if name not in files]:
            del self._seen[name]
            yield name, None
        for name, inode in files.items():
            if self._seen.get(name) != inode:
                try:
                    text = (self._folder / name).read_text(encoding="utf-8")
                except FileNotFoundError:
                    continue
                self._seen[name] = inode
                yield name, text

    def put(self, name: str, text: str) -> None:
        """Write a text atomically."""
        temporary = self._folder / f".{name}.{os.getpid()}"
        temporary.write_text(text, encoding="utf-8")
        self._seen[name] = temporary.stat().st_ino
        temporary.replace(self._folder / name)

    def take(self, name: str) -> None:
        """Remove a text. Calling it again does nothing."""
        self._seen.pop(name, None)
        (self._folder / name).unlink(missing_ok=True)

    def use(self, name: str) -> None:
        """Record that a text is in use."""
        now = time.monotonic()
        if now > self._touched.get(name, -TOUCH_S) + TOUCH_S:
            self._touched[name] = now
            try:
                os.utime(self._folder / name)
            except FileNotFoundError:
                del self._touched[name]

    def used(self, name: str) -> float:
        """Return when a text was last used in any process, by ``time.monotonic``."""
        try:
            return time.monotonic() - (time.time() - (self._folder / name).stat().st_mtime)
        except FileNotFoundError:
            return time.monotonic()
