"""One process of a server with several: its connections and commands come from the supervisor."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from sayahead.server.operation.counters import Process
from sayahead.server.operation.siblings import Siblings

log = logging.getLogger("sayahead.server")
ANSWER_S = 1.0
"""Time for the other processes to answer."""
BEAT_S = 0.25
"""Interval of the heartbeat."""
AT_ONCE = 64
"""Most connections taken in one turn of the event loop."""
LINE_BYTES = 1 << 24
"""Longest message between processes."""


class Handed(socket.socket):
    """A socket that calls ``tell`` when it is closed."""

    tell: Callable[[], None] | None = None

    def close(self) -> None:
        tell, self.tell = self.tell, None
        super().close()
        if tell is not None:
            tell()


def address(host: str, port: int) -> str:
    """Return the name of an address between processes."""
    return f"{host} {port}"


class Child(Siblings):
    """The other processes, reached through the supervisor."""

    def __init__(
        self,
        *arguments: Any,
        door: socket.socket,
        line: socket.socket,
        numbers: Mapping[str, int],
        **options: Any,
    ) -> None:
        """``door``: receives connections, each with its address; ``line``: carries messages;
        ``numbers``: the port of each address. The rest is that of ``Siblings``."""
        super().__init__(*arguments, **options)
        self._door = door
        self._line = line
        self._numbers = numbers
        self._makers = dict[str, Callable[[], asyncio.BaseProtocol]]()
        self._writer: asyncio.StreamWriter | None = None
        self._open_questions = dict[int, asyncio.Future[list[Any]]]()
        self._question_count = 0
        self._closed_count = 0
        self._unacknowledged_count = 0
        self._tasks = set[asyncio.Task[Any]]()

    def number(self, host: str, port: int) -> int:
        return self._numbers.get(address(host, port), port)

    @contextlib.asynccontextmanager
    async def listening(
        self, host: str, port: int, make: Callable[[], asyncio.BaseProtocol]
    ) -> AsyncIterator[int]:
        """Serve the connections to an address that the supervisor hands over, while inside."""
        self._makers[address(host, port)] = make
        try:
            yield self.number(host, port)
        finally:
            del self._makers[address(host, port)]

    @contextlib.asynccontextmanager
    async def joined(self, beat: Callable[[], None]) -> AsyncIterator[None]:
        """Receive connections and messages while inside; ``beat`` is called at each heartbeat to
        publish the state."""
        loop = asyncio.get_running_loop()
        reader, self._writer = await asyncio.open_connection(sock=self._line, limit=LINE_BYTES)
        self._spawn(self._read(reader))
        self._spawn(self._beat(beat))
        self._door.setblocking(False)
        loop.add_reader(self._door, self._receive)
        self._write({"what": "started"})
        try:
            yield
        finally:
            loop.remove_reader(self._door)
            for task in self._tasks:
                task.cancel()
            self._writer.close()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _beat(self, beat: Callable[[], None]) -> None:
        """Publish the heartbeat until cancelled."""
        while True:
            beat()
            self.counters.tell(Process.BEAT, time.monotonic())
            await asyncio.sleep(BEAT_S)

    # Connections.

    def _receive(self) -> None:
        """Take connections from the supervisor and acknowledge them."""
        for _ in range(AT_ONCE):
            try:
                name, files, _, _ = socket.recv_fds(self._door, 256, 1)
            except (BlockingIOError, InterruptedError):
                break
            if not files:
                # The supervisor has gone; ``_read`` handles that.
                asyncio.get_running_loop().remove_reader(self._door)
                break
            self._unacknowledged_count += 1
            peer = Handed(fileno=files[0])
            peer.tell = self._on_closed
            self._spawn(self._begin(name.decode(), peer))
        if self._unacknowledged_count:
            with contextlib.suppress(BlockingIOError):
                self._door.send(str(self._unacknowledged_count).encode())
                self._unacknowledged_count = 0

    async def _begin(self, name: str, peer: Handed) -> None:
        """Serve a connection with the protocol of its address."""
        make = self._makers.get(name)
        try:
            if make is None:
                raise OSError(f"Nobody listens at {name}.")
            peer.setblocking(False)
            await asyncio.get_running_loop().connect_accepted_socket(make, peer)
        except OSError:
            peer.close()

    def _on_closed(self) -> None:
        self._closed_count += 1
        self.counters.tell(Process.CLOSED, self._closed_count)

    # Messages.

    async def ask(self, what: str, value: Any = None) -> list[Any]:
        """Ask all other processes through the supervisor."""
        if self._writer is None:
            return []
        self._question_count += 1
        number = self._question_count
        future = self._open_questions[number] = asyncio.get_running_loop().create_future()
        self._write({"what": what, "value": value, "ask": number})
        try:
            # Twice the time, because the supervisor itself waits that long for answers; it may have
            # gone itself.
            return await asyncio.wait_for(future, 2 * ANSWER_S)
        except TimeoutError:
            return []
        finally:
            del self._open_questions[number]

    def tell(self, index: int, what: str, value: Any = None) -> None:
        self._write({"what": what, "value": value, "to": index})

    def _write(self, row: dict[str, Any]) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(json.dumps(row).encode() + b"\n")

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Handle the supervisor's messages; when it has gone, finish the texts and end."""
        with contextlib.suppress(OSError):
            while line := await reader.readline():
                row = json.loads(line)
                if "answers" in row:
                    future = self._open_questions.get(row["answers"])
                    if future is not None and not future.done():
                        future.set_result(row["values"])
                else:
                    self._spawn(self._answer(row))
        # Without a supervisor, no connection comes any more, and nobody would end this process.
        if (drain := self.handlers.get("drain")) is not None:
            log.error("The supervisor has gone: this process lets its texts end, and ends.")
            await drain(None)

    async def _answer(self, row: dict[str, Any]) -> None:
        """Carry out another process's request, and answer if it wants that."""
        handler = self.handlers.get(row["what"])
        value = None
        try:
            value = None if handler is None else await handler(row.get("value"))
        except Exception:
            log.exception("What another process asked for failed", extra={"what": row["what"]})
        if row.get("ask") is not None:
            self._write({"answer": row["ask"], "value": value})
