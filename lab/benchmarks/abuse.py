"""What others notice of one client that takes what it can get: their first sound, /health, and the
server's memory.

    python lab/benchmarks/abuse.py --results lab/benchmarks/results/server/abuse.md

Each attack of ``attacks.py`` (``--only storm`` for those whose names begin so) has a server of its
own, with default limits, and comes from another address than the others, who are one conversation
after the other. These are measured before, beside and after it, since a machine is not the same for
long: ``of alone`` is the p95 beside it over that of before and after. ``memory`` is the most above
what there was before, ``load`` that of all that ran here."""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from attacks import ATTACKS, Target, pour
from sayahead.engine.onnx import cores
from sayahead.server.protocols.wyoming import own_address
from served import SOURCE, Health, Version, event, started
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from sayahead_lab.results import kept, options, publish, table

HEADING = (
    "attack|turns|failed|alone p50, ms|p95|beside it p50, ms|p95|p95 of alone|/health p50, ms|p95"
    "|ready|memory, MB|load"
)
COLUMNS = (
    "attack turns failed alone_p50_ms alone_p95_ms p50_ms p95_ms of_alone health_p50_ms"
    " health_p95_ms ready memory_mb load"
).split()
TURN_S = 20.0
LIMITS = {"few files": (resource.RLIMIT_NOFILE, 64), "full disk": (resource.RLIMIT_FSIZE, 40_000)}
"""What the servers of some attacks may have: of files, and bytes of one, which the account of their
usage reaches."""


async def turn(port: int) -> float:
    """Seconds from a turn's text to its first sound, on a connection of its own."""
    async with connect(f"ws://127.0.0.1:{port}/v1/stream", max_queue=None) as connection:
        await connection.recv()
        start_s = time.perf_counter()
        await connection.send(event("input_text.append", text="Hello there, how are you? "))
        await connection.send(event("input_text.end"))
        while not isinstance(await connection.recv(), bytes):
            pass
        return time.perf_counter() - start_s


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


class Watch(Health):
    """Reads the memory, too, while inside."""

    def __init__(self, version: Version) -> None:
        super().__init__(version.port)
        self.most_mb = version.rss_mb
        self._version = version
        self._weighing = threading.Thread(target=self._weigh)

    def __enter__(self) -> Watch:
        self._weighing.start()
        super().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._weighing.join()

    def _weigh(self) -> None:
        while not self._over.wait(0.02):
            self.most_mb = max(self.most_mb, self._version.rss_mb)


@contextmanager
def attacked(name: str, target: Target) -> Iterator[None]:
    """While inside, another process carries out an attack."""
    where = [target.host, *map(str, (target.http, target.wyoming, target.google))]
    process = subprocess.Popen(
        [sys.executable, __file__, "--attack", name, *where], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(2.0)
    try:
        yield
        if process.poll() is not None:
            raise SystemExit(f"The attack {name!r} ended by itself.")
    finally:
        process.kill()
        process.wait()


async def turns(port: int, seconds: float) -> tuple[list[float], int]:
    """First sounds of short turns one after the other, and how many failed."""
    waits = list[float]()
    failed = 0
    end = time.monotonic() + seconds
    while len(waits) < 5 or time.monotonic() < end:
        try:
            async with asyncio.timeout(TURN_S):
                waits.append(await turn(port))
        except (OSError, TimeoutError, WebSocketException):
            failed += 1
            waits.append(TURN_S)
        await asyncio.sleep(0.1)
    return waits, failed


def measure(name: str, seconds: float, *arguments: str) -> dict[str, Any]:
    """One attack on a new server."""
    wyoming = free_port()
    google = free_port()
    listening = f"--host 0.0.0.0 --wyoming tcp://0.0.0.0:{wyoming} --grpc-port {google}".split()
    limits = [most for kind, most in LIMITS.items() if name.startswith(kind)]
    folder = tempfile.TemporaryDirectory()
    usage = ("--usage", str(Path(folder.name, "usage.db")))
    version = started("after", SOURCE, *listening, *usage, *arguments, limits=limits)
    try:
        asyncio.run(turns(version.port, 1.0))
        alone, _ = asyncio.run(turns(version.port, seconds / 2))
        before_mb = version.rss_mb
        with (
            attacked(name, Target(own_address(), version.port, wyoming, google)),
            Watch(version) as watch,
        ):
            waits, failed = asyncio.run(turns(version.port, seconds))
        time.sleep(1.0)
        later, _ = asyncio.run(turns(version.port, seconds / 2))
    finally:
        version.stop()
        folder.cleanup()
    row: dict[str, Any] = {"attack": name, "turns": len(waits), "failed": failed}
    for prefix, values in (("alone_", [*alone, *later]), ("", waits), ("health_", watch.took_s)):
        for q in (50, 95):
            row[f"{prefix}p{q}_ms"] = round(float(np.percentile(values, q)) * 1000)
    row["of_alone"] = round(row["p95_ms"] / row["alone_p95_ms"], 2)
    row["ready"] = f"{np.mean(watch.ready or [False]):.0%}"
    return row | {
        "memory_mb": round(watch.most_mb - before_mb),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    """Measure, and write a file."""
    parser = options(__doc__, "results", seconds=10.0, only=("",))
    parser.add_argument("--attack", nargs=5, help=argparse.SUPPRESS)
    arguments, rest = parser.parse_known_args()
    if arguments.attack:
        name, host, *ports = arguments.attack
        # Elsewhere it would have a machine of its own.
        os.nice(19)
        print("begun", flush=True)
        pour(name, Target(host, *map(int, ports)))
    found = {row["attack"]: row for row in kept(arguments.results).get("rows", [])}
    for name in ATTACKS:
        if name.startswith(tuple(arguments.only)):
            found[name] = measure(name, arguments.seconds, *rest)
            rows = [found[name] for name in ATTACKS if name in found]
            lines = table(HEADING, [[str(row[column]) for column in COLUMNS] for row in rows])
            publish(arguments.results, lines, {"cores": cores(), "rows": rows})


if __name__ == "__main__":
    main()
