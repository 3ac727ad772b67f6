"""Nothing is left of sessions that are over, however they ended: 2,000 with SAYAHEAD_TESTS=full, 40
otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.effort import FULL
from support.protocols import CLIENTS, Client, Google, Jambonz, RefusedError
from support.servers import Running, free_port, serving
from websockets.exceptions import ConnectionClosed

from sayahead.research import Session
from sayahead.server.hub import Lease
from sayahead.server.utterance import Utterance

pytest.importorskip("grpc", reason="needs sayahead[grpc]")

SESSIONS = 2000 if FULL else 40
AT_ONCE = 8
GROWTH_MB = 8.0
"""More than the noise of the C library's heaps, less than a thousand sessions of 10 kB."""
POOLED = 8
"""Threads that pools may still make: fewer than one for each of the fewest sessions."""
PARTS = ("Hello there, ", "how are you today? ", "I am fine, ", "and so is everybody. ")
KEPT = (Session, Utterance, Lease)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(grpc_port=free_port(), wyoming=f"tcp://127.0.0.1:{free_port()}") as running:
        yield running


def left(server: Running) -> dict[str, int]:
    """What there is of all that a session takes."""
    gc.collect()
    files = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    loop = server.server.servers[0].get_loop()
    # Google's client has threads of its own.
    threads = sum("grpc" not in thread.name.lower() for thread in threading.enumerate())
    objects = Counter(type(each).__name__ for each in gc.get_objects() if isinstance(each, KEPT))
    return {"files": files, "tasks": len(asyncio.all_tasks(loop)), "threads": threads, **objects}


def memory_mb() -> float:
    """What the process has, in MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def one(server: Running, client: type[Client], dice: random.Random) -> None:
    """A session that ends somehow."""
    async with client.open(server, {}, "", "toy") as connection:
        end = dice.choice(("end", "end", "cancel", "hang up", "nothing"))
        if not client.streams:
            end = dice.choice(("end", "hang up"))
        if client is Jambonz and end == "end":
            # No message says that a text is over.
            end = "cancel"
        for part in PARTS[: dice.randint(1, 4)]:
            await connection.text(part)
        if end in ("end", "hang up") and (end == "end" or not client.streams):
            await connection.end()
        if end == "end":
            await connection.rest()
        elif end == "cancel":
            await connection.cancel()
        elif end == "hang up":
            await connection.hang_up()


async def many(server: Running, count: int, dice: random.Random) -> None:
    # gRPC's client leaves threads and files of its own for a while.
    kinds = iter(
        [dice.choice([each for each in CLIENTS if each is not Google]) for _ in range(count)]
    )

    async def work() -> None:
        for kind in kinds:
            # Who is refused by a busy server has had a session, too.
            with contextlib.suppress(RefusedError, ConnectionClosed):
                async with asyncio.timeout(30):
                    await one(server, kind, dice)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


@pytest.mark.timeout(1800 if FULL else 300)
def test_nothing_is_left_of_sessions_that_are_over(server: Running) -> None:
    dice = random.Random(1)
    asyncio.run(many(server, 26, dice))
    server.settle()
    before = left(server)
    begin_mb = memory_mb() if FULL else 0.0
    half_mb = 0.0
    for half in (1, 2):
        asyncio.run(many(server, SESSIONS // 2, dice))
        server.settle()
        if FULL:
            half_mb, last_mb = memory_mb(), half_mb
            print(
                json.dumps(
                    {
                        "sessions": half * SESSIONS // 2,
                        "memory_mb": round(half_mb, 1),
                        **left(server),
                    }
                )
            )
    after = left(server)
    # Pools make their threads when they need them.
    assert after.pop("threads") <= before.pop("threads") + POOLED
    assert after == before
    if FULL:
        assert half_mb - last_mb < GROWTH_MB, f"{begin_mb:.1f}, {last_mb:.1f}, {half_mb:.1f} MB"
