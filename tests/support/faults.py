"""A proxy between a client and a server, whose connections can be cut, closed, slowed down or left
without a word."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Self

BITE = 700
"""Bytes that a slow connection passes on at once, each time the event loop comes round."""


class Link:
    """One connection through the proxy."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._client = client
        self._server = server
        self._flows = {client: asyncio.Event(), server: asyncio.Event()}
        for flow in self._flows.values():
            flow.set()
        self._is_slow = False

    async def pass_on(self, reader: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        """Pass on what comes, to its end."""
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                size = BITE if self._is_slow else len(data)
                for at in range(0, len(data), size):
                    await self._flows[to].wait()
                    to.write(data[at : at + size])
                    await to.drain()
                    await asyncio.sleep(0)
            await self._flows[to].wait()
            if to.can_write_eof():
                to.write_eof()

    def cut(self) -> None:
        """End both connections at once, with what was under way."""
        for writer in (self._client, self._server):
            writer.transport.abort()

    def close(self) -> None:
        """End both connections after what was under way."""
        for writer in (self._client, self._server):
            writer.close()

    def half_close(self) -> None:
        """Tell the client that nothing more comes; what it sends still arrives."""
        self._flows[self._client].clear()
        with contextlib.suppress(OSError):
            self._client.write_eof()

    def deafen(self) -> None:
        """Pass on nothing of the server's any more."""
        self._flows[self._client].clear()

    def silence(self) -> None:
        """Pass on nothing any more; both believe to be connected."""
        for flow in self._flows.values():
            flow.clear()

    def slow_down(self) -> None:
        """Pass on everything, a little at a time."""
        self._is_slow = True


FAULTS: dict[str, Callable[[Link], None]] = {
    "cut": Link.cut,
    "closed": Link.close,
    "half-closed": Link.half_close,
    "deaf": Link.deafen,
    "silent": Link.silence,
    "slow": Link.slow_down,
}
"""What can happen to a connection."""


class Proxy:
    """Passes connections on to a port of this machine; a fault befalls those that are open, and no
    later one."""

    def __init__(self, port: Callable[[], int]) -> None:
        self._to = port
        self.port = 0
        self.links = list[Link]()
        self._linked = asyncio.Event()
        self._tasks = set[asyncio.Task[None]]()

    @classmethod
    @contextlib.asynccontextmanager
    async def before(cls, port: int | Callable[[], int]) -> AsyncIterator[Self]:
        """A proxy before a port, or before those that are given for each connection, on the running
        event loop."""
        proxy = cls(port if callable(port) else lambda: port)
        listener = await asyncio.start_server(proxy._connected, "127.0.0.1", 0)
        proxy.port = listener.sockets[0].getsockname()[1]
        try:
            yield proxy
        finally:
            listener.close()
            for task in proxy._tasks:
                task.cancel()
            await asyncio.gather(*proxy._tasks, return_exceptions=True)
            # Transports that are cut are closed in the next turn.
            await asyncio.sleep(0)

    async def linked(self) -> None:
        """Wait until there is a connection."""
        await self._linked.wait()

    def fail(self, fault: str) -> None:
        """Let a fault befall all connections."""
        for link in self.links:
            FAULTS[fault](link)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Streams keep no reference to what serves them, and mind tasks that are cancelled.
        own = asyncio.current_task()
        assert own is not None
        self._tasks.add(own)
        with contextlib.suppress(OSError, asyncio.CancelledError), contextlib.ExitStack() as ending:
            ending.callback(self._tasks.discard, own)
            ending.callback(writer.transport.abort)
            there, server = await asyncio.open_connection("127.0.0.1", self._to())
            ending.callback(server.transport.abort)
            link = Link(writer, server)
            self.links.append(link)
            ending.callback(self.links.remove, link)
            self._linked.set()
            await asyncio.gather(link.pass_on(reader, server), link.pass_on(there, writer))
            link.close()
            await asyncio.gather(writer.wait_closed(), server.wait_closed())
