"""Texts by name in a folder that the processes of one server share: what one puts there, all
have."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

TOUCH_S = 10.0
"""How often it is noted that a text is used."""


class Shelf:
    """A folder of texts, each a file; names are the server's own, never a client's."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is made if need be."""
        folder.mkdir(exist_ok=True)
        self._folder = folder
        # Which file each name had when it was read last, and when its use was noted.
        self._seen = dict[str, int]()
        self._touched = dict[str, float]()

    def changes(self) -> Iterator[tuple[str, str | None]]:
        """Names with texts that others have put there since this was asked last; None: they were
        taken away."""
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
        """Put a text there, whole or not at all."""
        beside = self._folder / f".{name}.{os.getpid()}"
        beside.write_text(text, encoding="utf-8")
        self._seen[name] = beside.stat().st_ino
        beside.replace(self._folder / name)

    def take(self, name: str) -> None:
        """Take a text away. Harmless when repeated."""
        self._seen.pop(name, None)
        (self._folder / name).unlink(missing_ok=True)

    def use(self, name: str) -> None:
        """Note that a text is used."""
        now = time.monotonic()
        if now > self._touched.get(name, -TOUCH_S) + TOUCH_S:
            self._touched[name] = now
            try:
                os.utime(self._folder / name)
            except FileNotFoundError:
                del self._touched[name]

    def used(self, name: str) -> float:
        """When a text was used last in any process, by ``time.monotonic``."""
        try:
            return time.monotonic() - (time.time() - (self._folder / name).stat().st_mtime)
        except FileNotFoundError:
            return time.monotonic()
