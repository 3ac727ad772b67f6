"""First sound of a short turn while another client has eight contexts of a hostile text open, on
two versions.

    python lab/benchmarks/fairness.py --before ../older/src --json \
        lab/benchmarks/results/server/fairness.json

``--before`` is the source folder of an older version (a git worktree); without it, only this one is
measured. Each text is measured on both before the next one, so that whatever else the machine does
falls on both."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.engine.onnx import cores
from served import SOURCE, Version, event, frame, opened, started
from websockets.asyncio.client import connect

PROSE = "The quick brown fox jumps over the lazy dog, and then it sleeps for a while. "
ANSWER = (
    "See https://example.com/docs/v2/api?page=3&sort=date at commit"
    " d41d8cd98f00b204e9800998ecf8427e, please. "
)
TEXTS = {
    "prose": PROSE,
    "addresses and hashes": ANSWER,
    "digits": "9" * 60 + " ",
    "letters": "W" * 60 + " ",
    "paths": "/a/b/c" * 10 + " ",
    "signs": "≤" * 60 + " ",
    "two signs": "≤√" * 30 + " ",
    "tags": "<prosody rate='fast'>a</prosody> ",
    "open tags": "<prosody rate='fast'>a ",
}
CONTEXTS = 8
CHARACTERS = 16000
MESSAGE = 2000
HEADER = (
    "| beside | version | turns | alone p50, ms | p95 | beside it p50, ms | p95 | of alone p50 |"
    " p95 | server, MB |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
)
ROW = (
    "| {text} | {version} | {turns} | {alone_p50_ms} | {alone_p95_ms} | {p50_ms} | {p95_ms} |"
    " {of_alone_p50} | {of_alone_p95} | {rss_mb} |"
)
TURN = "Hello there, how are you? "


async def turn(port: int) -> float:
    """Seconds from a turn's text to its first sound, on a connection of its own."""
    async with connect(f"ws://127.0.0.1:{port}/v1/stream", max_queue=None) as connection:
        await connection.recv()
        start_s = time.perf_counter()
        await connection.send(event("input_text.append", text=TURN))
        await connection.send(event("input_text.end"))
        while not isinstance(await connection.recv(), bytes):
            pass
        return time.perf_counter() - start_s


def attack(port: int, text: str) -> None:
    """Open the contexts, and read all that comes, until killed; without a protocol, so that the
    reader costs little."""
    whole = (text * (CHARACTERS // len(text) + 1))[:CHARACTERS]
    with opened(port) as peer:
        # A server that it keeps busy may say nothing for long.
        peer.settimeout(None)
        peer.sendall(frame(event("session.update", session={"markup": "ssml"})))
        for name in range(CONTEXTS):
            for at in range(0, CHARACTERS, MESSAGE):
                part = whole[at : at + MESSAGE]
                peer.sendall(frame(event("input_text.append", context_id=str(name), text=part)))
        while peer.recv(1 << 20):
            time.sleep(0.01)


@contextlib.asynccontextmanager
async def hostile(port: int, text: str) -> AsyncIterator[None]:
    """While inside, another process has its contexts open."""
    if not text:
        yield
        return
    command = [sys.executable, __file__, "--attack", str(port), text]
    process = subprocess.Popen(command)
    await asyncio.sleep(2.0)
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def measure(version: Version, text: str, *, turns: int, limit_s: float) -> dict[str, Any]:
    """p50 and p95 of a turn's first sound, milliseconds; at least four turns, then until the time
    is up."""
    waits = list[float]()
    end = time.monotonic() + limit_s
    async with hostile(version.port, text):
        while len(waits) < turns and (len(waits) < 4 or time.monotonic() < end):
            waits.append(await turn(version.port))
            await asyncio.sleep(0.1)
        rss = version.rss_mb
    await asyncio.sleep(1.0)
    p50, p95 = (round(float(np.percentile(waits, q)) * 1000) for q in (50, 95))
    return {
        "version": version.name,
        "turns": len(waits),
        "p50_ms": p50,
        "p95_ms": p95,
        "rss_mb": round(rss),
    }


async def settle(versions: list[Version]) -> None:
    """Wait until the servers are done with what was sent to them, a minute at most."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        before = sum(version.processor_s for version in versions)
        await asyncio.sleep(1.0)
        if sum(version.processor_s for version in versions) - before < 0.1:
            return


async def run(versions: list[Version], *, turns: int, limit_s: float) -> list[dict[str, Any]]:
    """A row for each text and version; alone is measured right before, since a machine is not the
    same for long.

    No server is still at work on an earlier text then.
    """
    rows = list[dict[str, Any]]()
    for version in versions:
        await turn(version.port)
    for name, text in TEXTS.items():
        for version in versions:
            await settle(versions)
            alone = await measure(version, "", turns=turns, limit_s=limit_s)
            row = {"text": name, **await measure(version, text, turns=turns, limit_s=limit_s)}
            for q in ("p50", "p95"):
                row[f"alone_{q}_ms"] = alone[f"{q}_ms"]
                row[f"of_alone_{q}"] = round(row[f"{q}_ms"] / alone[f"{q}_ms"], 2)
            rows.append(row)
            print(ROW.format(**row), flush=True)
    return rows


def main() -> None:
    """Measure, and write a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="source folder of an older version")
    parser.add_argument(
        "--json", type=Path, help="where to write the figures, and beside it the table"
    )
    parser.add_argument("--turns", type=int, default=20, help="turns for each text (default: 20)")
    parser.add_argument(
        "--limit", type=float, default=15.0, help="seconds for each text (default: 15)"
    )
    parser.add_argument("--attack", nargs=2, metavar=("PORT", "TEXT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.attack:
        attack(int(arguments.attack[0]), arguments.attack[1])
        return
    sources = {"before": arguments.before} if arguments.before else {}
    sources["after"] = SOURCE
    versions = list[Version]()
    try:
        for name, source in sources.items():
            versions.append(started(name, source.resolve()))
        print(HEADER)
        rows = asyncio.run(run(versions, turns=arguments.turns, limit_s=arguments.limit))
    finally:
        for version in versions:
            version.stop()
    if arguments.json:
        load = os.getloadavg()[0]
        data = {
            "cores": cores(),
            "load": round(load, 1),
            "contexts": CONTEXTS,
            "characters": CHARACTERS,
            "rows": rows,
        }
        arguments.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        arguments.json.with_suffix(".md").write_text(
            "\n".join([HEADER, *(ROW.format(**row) for row in rows)]) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
