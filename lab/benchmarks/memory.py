"""How much memory a server takes for each session that is open and in the middle of a sentence.

    python lab/benchmarks/memory.py --results lab/benchmarks/results/server/memory.md

Each session has a socket of its own and a sentence without end: first enough words to fill what the
voice remembers of a sentence, and once these have been heard one every four seconds. Memory is the
median of twenty readings within ten seconds, after a wait in which the server gives back what is
free."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import numpy as np
from sayahead.engine.onnx import cores
from served import SOURCE, Version, event, started
from websockets.asyncio.client import ClientConnection, connect

from sayahead_lab.results import options, publish, table

WORDS = (
    "and then the quiet travellers went on along the river past the old mill where nobody had lived"
    " for years while the evening light fell slowly over distant hills"
).split()
WORD_S = 4.0
HEARD_S = 6.0
"""Seconds of sound from which the first words count as heard."""
SETTLE_S = 12.0
RATE = 24000
HEADING = "open sessions|server, MB|above none, MB|a session, MB"


class Session:
    """A sentence that goes on and on."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.heard_s = 0.0
        """Seconds of sound that have come."""
        self._tasks = [asyncio.create_task(self.write()), asyncio.create_task(self.read())]

    async def write(self) -> None:
        """Words: many, then one now and then."""
        await self._socket.send(event("session.update", session={"breath_s": 0}))
        await self._socket.send(event("input_text.append", text=" ".join(WORDS) + " "))
        for word in itertools.cycle(WORDS):
            await asyncio.sleep(WORD_S)
            await self._socket.send(event("input_text.append", text=word + " "))

    async def read(self) -> None:
        """Whatever comes."""
        async for message in self._socket:
            if isinstance(message, bytes):
                self.heard_s += len(message) / 2 / RATE
            elif '"error"' in message:
                raise SystemExit(message)

    async def close(self) -> None:
        """Leave."""
        for task in self._tasks:
            task.cancel()
        await self._socket.close()


async def settled_mb(version: Version, seconds: float) -> float:
    """The server's memory: median over ten seconds, after a wait in which it gives back what is
    free."""
    await asyncio.sleep(seconds)
    readings = list[float]()
    for _ in range(20):
        readings.append(version.rss_mb)
        await asyncio.sleep(0.5)
    return float(np.median(readings))


async def measure(version: Version, counts: list[int]) -> list[dict[str, Any]]:
    """A row for each number of sessions, in rising order; the first is without any."""
    rows = list[dict[str, Any]]()
    sessions = list[Session]()
    url = f"ws://127.0.0.1:{version.port}/v1/stream"
    for count in counts:
        while len(sessions) < count:
            socket = await connect(url, compression=None, max_size=None)
            await socket.recv()
            sessions.append(Session(socket))
            await asyncio.sleep(0.1)
        while any(session.heard_s < HEARD_S for session in sessions):
            await asyncio.sleep(0.2)
        rss_mb = await settled_mb(version, SETTLE_S)
        rows.append(row(count, rss_mb, rows[0]["rss_mb"] if rows else rss_mb))
        print(rows[-1], flush=True)
    for session in sessions:
        await session.close()
    left_mb = await settled_mb(version, SETTLE_S)
    return [*rows, row(0, left_mb, rows[0]["rss_mb"])]


def row(sessions: int, rss_mb: float, none_mb: float) -> dict[str, Any]:
    """What so many sessions take, and each of them, above what none take."""
    above = rss_mb - none_mb
    each = round(above / sessions, 2) if sessions else None
    figures = {"rss_mb": round(rss_mb, 1), "above_mb": round(above, 1), "session_mb": each}
    return {"sessions": sessions, **figures}


async def warm(version: Version) -> None:
    """Speak half a minute, so that what all sessions share is there."""
    async with connect(
        f"ws://127.0.0.1:{version.port}/v1/stream", compression=None, max_size=None
    ) as socket:
        await socket.recv()
        await socket.send(event("input_text.append", text=" ".join(WORDS * 4)))
        await socket.send(event("input_text.end"))
        while '"speech.done"' not in str(await socket.recv()):
            pass


def main() -> None:
    """Measure, and write a file."""
    arguments = options(__doc__, "results", sessions=(1, 10, 50, 100)).parse_args()
    version = started("now", SOURCE, "--set", f"limits.sessions={max(arguments.sessions)}")
    try:
        asyncio.run(warm(version))
        rows = asyncio.run(measure(version, [0, *sorted(arguments.sessions)]))
    finally:
        version.stop()
    cells = [["" if value is None else str(value) for value in row.values()] for row in rows]
    publish(arguments.results, table(HEADING, cells, words=0), {"cores": cores(), "rows": rows})


if __name__ == "__main__":
    main()
