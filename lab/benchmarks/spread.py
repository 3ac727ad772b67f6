"""How evenly connections spread over processes, by each way in which several can serve one port.

python lab/benchmarks/spread.py --json lab/benchmarks/results/spread.json

Three ways: all processes accept from one listening socket; each has a socket of its own on the port
(SO_REUSEPORT), and the kernel chooses by the connection's hash; one process accepts and hands each
connection to whoever has the fewest. Clients open connections and keep them, first 10, then 1,000;
a row has how many each process holds."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

PROCESSES, ROUNDS = 4, 5
CONNECTIONS = (10, 1000)
AT_ONCE = 128
"""Connections that an event loop accepts in one go, as a server's does."""


class Held(asyncio.Protocol):
    """A connection that is answered at once and kept."""

    def __init__(self, held: list[asyncio.Transport]) -> None:
        self._held = held

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._held.append(transport)
        transport.write(b".")


def listening(port: int, *, reuse: bool) -> socket.socket:
    """A socket that listens on a port of this machine."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if reuse:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(AT_ONCE)
    listener.setblocking(False)
    return listener


def accepting(listener: socket.socket, control: Connection) -> None:
    """Serve until told to end, then tell how many connections there were."""

    async def serve() -> None:
        held = list[asyncio.Transport]()
        loop = asyncio.get_running_loop()
        await loop.create_server(lambda: Held(held), sock=listener, backlog=AT_ONCE)
        await asyncio.to_thread(control.recv)
        control.send(len(held))

    asyncio.run(serve())


def receiving(door: socket.socket, control: Connection) -> None:
    """The same with connections that another process has accepted."""

    async def serve() -> None:
        held = list[asyncio.Transport]()
        loop = asyncio.get_running_loop()
        tasks = set[asyncio.Task[Any]]()

        def receive() -> None:
            _, files, _, _ = socket.recv_fds(door, 16, 1)
            peer = socket.socket(fileno=files[0])
            tasks.add(loop.create_task(loop.connect_accepted_socket(lambda: Held(held), peer)))

        loop.add_reader(door, receive)
        await asyncio.to_thread(control.recv)
        control.send(len(held))

    asyncio.run(serve())


def handing(listener: socket.socket, doors: list[socket.socket]) -> None:
    """Accept, and hand each connection to the process that was given the fewest."""
    given = [0] * len(doors)
    listener.setblocking(True)
    while True:
        peer, _ = listener.accept()
        number = min(range(len(doors)), key=lambda each: given[each])
        socket.send_fds(doors[number], [b"."], [peer.fileno()])
        given[number] += 1
        peer.close()


@contextlib.contextmanager
def shared() -> Iterator[tuple[int, list[Connection]]]:
    """Processes that accept from one socket."""
    listener = listening(0, reuse=False)
    with running([(accepting, listener)] * PROCESSES) as controls:
        yield listener.getsockname()[1], controls


@contextlib.contextmanager
def reused() -> Iterator[tuple[int, list[Connection]]]:
    """Processes that have a socket each."""
    first = listening(0, reuse=True)
    port = first.getsockname()[1]
    listeners = [first, *(listening(port, reuse=True) for _ in range(PROCESSES - 1))]
    with running([(accepting, each) for each in listeners]) as controls:
        for each in listeners:
            each.close()
        yield port, controls


@contextlib.contextmanager
def handed() -> Iterator[tuple[int, list[Connection]]]:
    """Processes that are handed connections."""
    listener = listening(0, reuse=False)
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(PROCESSES)]
    with running([(receiving, theirs) for _, theirs in pairs]) as controls:
        doors = [ours for ours, _ in pairs]
        process = multiprocessing.get_context("fork").Process(
            target=handing, args=(listener, doors), daemon=True
        )
        process.start()
        try:
            yield listener.getsockname()[1], controls
        finally:
            process.kill()
            process.join()


@contextlib.contextmanager
def running(servers: list[tuple[Callable[..., None], socket.socket]]) -> Iterator[list[Connection]]:
    """Processes that serve, and what controls them."""
    context = multiprocessing.get_context("fork")
    pairs = [context.Pipe() for _ in servers]
    processes = [
        context.Process(target=target, args=(given, theirs), daemon=True)
        for (target, given), (_, theirs) in zip(servers, pairs, strict=True)
    ]
    for process in processes:
        process.start()
    try:
        yield [ours for ours, _ in pairs]
    finally:
        for process in processes:
            process.kill()
            process.join()


async def opened(port: int, count: int) -> list[float]:
    """Open so many connections; milliseconds until each was answered."""
    gate = asyncio.Semaphore(100)

    async def one() -> tuple[float, asyncio.StreamWriter]:
        async with gate:
            begun = time.perf_counter()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await reader.readexactly(1)
            return 1000 * (time.perf_counter() - begun), writer

    rows = await asyncio.gather(*(one() for _ in range(count)))
    return [took for took, _ in rows]


def measured(way: Callable[[], Any], count: int) -> dict[str, Any]:
    """How many each process holds, and how long a connection took."""
    with way() as (port, controls):
        time.sleep(0.3)
        took = asyncio.run(opened(port, count))
        for control in controls:
            control.send(None)
        return {
            "held": [control.recv() for control in controls],
            "median_ms": statistics.median(took),
        }


def main() -> None:
    """Measure each way in turns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = list[dict[str, Any]]()
    for count in CONNECTIONS:
        for way in (shared, reused, handed):
            rounds = [measured(way, count) for _ in range(ROUNDS)]
            most = [max(each["held"]) * PROCESSES / count for each in rounds]
            row = {"way": way.__name__, "connections": count, "processes": PROCESSES}
            row |= {
                "held": [each["held"] for each in rounds],
                "fullest_over_fair": round(statistics.mean(most), 2),
            }
            row["median_ms"] = round(statistics.median(each["median_ms"] for each in rounds), 2)
            rows.append(row)
            print(json.dumps(row), flush=True)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
