"""A store of which any one operation fails, or takes long: bills are exact, sound leaves, and the
file stays whole.

Each statement of SQLite's of a small history fails once, and each once more by hanging; then the
whole is looked at."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.effort import FULL

from sayahead.errors import ConfigError
from sayahead.server.operation import usage as usage_module
from sayahead.server.operation import usage_file
from sayahead.server.operation.keys import Terms
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.usage import UnreadableError, Usage
from sayahead.server.operation.usage_file import File, today

TEXTS = 5
HANG_S = 0.06
"""Longer than sound waits here, shorter than a reader does."""


class Faults:
    """Counts statements, and has one of them fail."""

    def __init__(self, at: int, fault: Callable[[], None]) -> None:
        self.count = 0
        self._at = at
        self._fault = fault
        self._lock = threading.Lock()

    def statement(self) -> None:
        """One more; it may not come to it."""
        with self._lock:
            self.count += 1
            now = self.count == self._at
        if now:
            self._fault()


def fail() -> None:
    raise sqlite3.OperationalError("disk I/O error")


def lock() -> None:
    raise sqlite3.OperationalError("database is locked")


def hang() -> None:
    time.sleep(HANG_S)


FAULTS = {"fails": fail, "is locked": lock, "hangs": hang}


def connections_of(faults: Faults) -> type[sqlite3.Connection]:
    """Connections whose statements may fail."""

    class Connection(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            # What takes back is what SQLite does by itself where it can do nothing else.
            if arguments[0] != "rollback":
                faults.statement()
            return super().execute(*arguments)

        def executemany(self, *arguments: Any) -> sqlite3.Cursor:
            faults.statement()
            return super().executemany(*arguments)

    return Connection


async def history(path: Path) -> None:
    """Texts of a key on a server that keeps its usage in a file."""
    usage = Usage(File(str(path)), Metrics())
    loop = asyncio.get_running_loop()
    usage.own()
    terms = Terms(characters_per_day=1000)
    try:
        for number in range(TEXTS):
            assert usage.refusal("acme", terms, 10) is None
            usage.add("acme", "native", "toy", requests=1, characters=10, audio_s=0.5)
            left = loop.create_future()
            usage.after(lambda left=left: left.set_result(None))  # type: ignore[misc]
            async with asyncio.timeout(5):
                await left
            # Behind a fault, the counting by day has its own beside what cannot be read.
            assert usage.totals("acme")[0] >= 10
            if number % 2:
                try:
                    rows = await usage.read(lambda: usage.rows("", today()))
                    assert sum(row.characters for row in rows) == 10 * (number + 1)
                except UnreadableError:
                    pass
        end = time.monotonic() + 5
        while sum(row.characters for row in await asyncio.to_thread(readable, usage)) != 10 * TEXTS:
            assert time.monotonic() < end
        usage.take("acme", 1)
    finally:
        usage.close()


def readable(usage: Usage) -> list[Any]:
    """What was used, as soon as it can be read."""
    try:
        return usage.rows("", today())
    except OSError:
        return []


@pytest.mark.parametrize("name", FAULTS)
def test_any_one_statement_may_fail(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_module, "SENT_S", HANG_S / 3)
    monkeypatch.setattr(usage_module, "FRESH_S", 0.005)
    monkeypatch.setattr(usage_module, "AGAIN_S", 0.005)
    known = usage_file.connected
    at = 1
    step = 1 if FULL else 3
    while True:
        faults = Faults(at, FAULTS[name])
        kind = connections_of(faults)
        monkeypatch.setattr(
            usage_file,
            "connected",
            lambda file, wait_s, kind=kind: sqlite3.connect(
                file or ":memory:",
                timeout=wait_s,
                isolation_level=None,
                check_same_thread=False,
                factory=kind,
            ),
        )
        path = tmp_path / f"{at}.db"
        try:
            asyncio.run(history(path))
        except ConfigError:
            # It did not begin: the operator is told.
            assert faults.count == at
        else:
            monkeypatch.setattr(usage_file, "connected", known)
            store = File(str(path))
            (row,) = store.rows("", today())
            assert (row.requests, row.characters, row.audio_s) == (
                TEXTS,
                10 * TEXTS,
                0.5 * TEXTS,
            ), f"statement {at}"
            assert store._reading.base.execute("pragma integrity_check").fetchone() == ("ok",)
            store.close()
        if faults.count < at:
            break
        at += step
    assert at > 20
