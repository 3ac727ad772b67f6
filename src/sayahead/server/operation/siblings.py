"""The other processes of a server as one of them sees them: what they share, what they ask of each
other."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from sayahead.server.operation.counters import SharedCounters

ALIVE_S = 2.0
"""A process that has said nothing for so long is not counted on."""


class Siblings:
    """What the processes of a server share; a server of one process has no siblings, and shares
    with nobody."""

    def __init__(
        self,
        counters: SharedCounters | None = None,
        *,
        name: str = "",
        secret: bytes = b"",
        folder: Path | None = None,
        measured: int = 0,
    ) -> None:
        """``name`` and ``secret``: the server's, the same in all of its processes; ``folder``: for
        files that only they share; ``measured``: how many places the machine was measured to have,
        0: not yet."""
        self.counters = counters or SharedCounters()
        """Counts of all processes."""
        self.name = name or secrets.token_hex(8)
        self.secret = secret or secrets.token_bytes(32)
        self.folder, self.measured = folder, measured
        self.asked: dict[str, Callable[[Any], Awaitable[Any]]] = {}
        """What others may ask of this process, by name."""

    @property
    def index(self) -> int:
        """Which one of the processes this is."""
        return self.counters.index

    @property
    def count(self) -> int:
        """How many processes there are."""
        return self.counters.processes

    @property
    def leads(self) -> bool:
        """Whether this process does what one does for all: announcements, and lines of the log that
        all would write."""
        return self.index == 0

    async def ask(self, what: str, value: Any = None) -> list[Any]:
        """What each other process answers that answers in time."""
        return []

    def tell(self, index: int, what: str, value: Any = None) -> None:
        """Ask something of one other process, whose answer does not matter."""

    def number(self, host: str, port: int) -> int:
        """The port that stands for one of the settings, where that is 0."""
        return port

    @contextlib.asynccontextmanager
    async def listening(
        self, host: str, port: int, make: Callable[[], asyncio.BaseProtocol]
    ) -> AsyncIterator[int]:
        """Serve an address of the settings while inside, each connection by what ``make`` makes;
        the port's number."""
        server = await asyncio.get_running_loop().create_server(make, host, port)
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            server.close()
