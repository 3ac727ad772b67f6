"""The other processes of a server, as one of them sees them: what they share, and what they ask of
each other."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from sayahead.server.operation.counters import SharedCounters

ALIVE_S = 2.0
"""A process without a heartbeat for this long counts as stopped."""


class Siblings:
    """What the processes of a server share. This class serves a server of one process, which has
    nobody to ask."""

    def __init__(
        self,
        counters: SharedCounters | None = None,
        *,
        name: str = "",
        secret: bytes = b"",
        folder: Path | None = None,
        measured: int = 0,
    ) -> None:
        """``name`` and ``secret``: the same in all processes of the server; ``folder``: for files
        that only they share; ``measured``: the number of places that was measured for this machine,
        or 0."""
        self.counters = counters or SharedCounters()
        """The shared counters."""
        self.name = name or secrets.token_hex(8)
        self.secret = secret or secrets.token_bytes(32)
        self.folder, self.measured = folder, measured
        self.handlers: dict[str, Callable[[Any], Awaitable[Any]]] = {}
        """Handlers of other processes' questions, by name."""

    @property
    def index(self) -> int:
        """Number of this process."""
        return self.counters.index

    @property
    def count(self) -> int:
        """Number of processes."""
        return self.counters.processes

    @property
    def leads(self) -> bool:
        """Whether this process does what only one has to do, such as announcements."""
        return self.index == 0

    async def ask(self, what: str, value: Any = None) -> list[Any]:
        """Ask all other processes; return the answers that come in time."""
        return []

    def tell(self, index: int, what: str, value: Any = None) -> None:
        """Ask another process without waiting for its answer."""

    def number(self, host: str, port: int) -> int:
        """Return the actual port for one from the settings, which may be 0."""
        return port

    @contextlib.asynccontextmanager
    async def listening(
        self, host: str, port: int, make: Callable[[], asyncio.BaseProtocol]
    ) -> AsyncIterator[int]:
        """Listen on an address of the settings while inside, with a protocol from ``make`` for each
        connection; yields the actual port."""
        server = await asyncio.get_running_loop().create_server(make, host, port)
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            server.close()
