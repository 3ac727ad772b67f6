"""How much memory a server keeps of what one client pours over it, on two versions.

    python lab/benchmarks/floods.py --before ../older/src --json \
        lab/benchmarks/results/server/floods.json

Each flood goes on for a minute against a server of its own, connecting again whenever it is cut
off. Its memory is read four times a second; what is left is that of ten seconds after the end.
``--before`` is the source folder of an older version.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from served import SOURCE, Version, event, frame, opened, started

Send = Callable[[socket.socket, bytes], None]


def heads(port: int, send: Send) -> None:
    """Headers without end."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
        send(peer, b"GET /health HTTP/1.1\r\n")
        while True:
            send(peer, b"".join(b"X-%d: " % n + b"a" * 500 + b"\r\n" for n in range(100)))


def one_header(port: int, send: Send) -> None:
    """One header without end."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
        send(peer, b"GET /health HTTP/1.1\r\nX: ")
        while True:
            send(peer, b"a" * 65536)


def body(port: int, send: Send) -> None:
    """A body without end."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
        send(
            peer,
            b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:"
            b" chunked\r\n\r\n",
        )
        while True:
            send(peer, b"10000\r\n" + b"a" * 65536 + b"\r\n")


def flushes(port: int, send: Send) -> None:
    """Flushes with long names."""
    with opened(port, timeout_s=5) as peer:
        message = frame(event("input_text.flush", flush_id="x" * 60000))
        send(peer, frame(event("input_text.append", text="Hello there, ")))
        while True:
            send(peer, message)


def pings(port: int, send: Send) -> None:
    """Pings whose answers are not read."""
    with opened(port, timeout_s=5) as peer:
        while True:
            send(peer, frame(b"x" * 120, opcode=9) * 100)


def rates(port: int, send: Send) -> None:
    """Texts at one sample rate after another, opened and cancelled."""
    with opened(port, timeout_s=5) as peer:
        for n in itertools.count():
            session = {"sample_rate": 8000 + 7919 * n % 40000}
            send(peer, frame(event("session.update", session=session)))
            send(peer, frame(event("input_text.append", context_id=str(n), text="Hello ")))
            send(peer, frame(event("input_text.cancel", context_id=str(n))))
            time.sleep(0.002)


def signs(port: int, send: Send) -> None:
    """Eight texts of words that are long to say."""
    with opened(port, timeout_s=5) as peer:
        for n in range(8):
            for _ in range(4):
                send(
                    peer,
                    frame(
                        event("input_text.append", context_id=str(n), text=("≤" * 60 + " ") * 32)
                    ),
                )
        while peer.recv(1 << 20):
            time.sleep(0.01)
            send(peer, b"")


ENOUGH_MB = 1000
"""A flood that has taken so much is over."""
FLOODS = (heads, one_header, body, flushes, pings, rates, signs)


def flood(version: Version, act: Callable[..., None], seconds: float) -> dict[str, Any]:
    """Most memory above the beginning, and what is left of it, MB."""
    begin = version.rss_mb
    sent = 0
    started_s = time.monotonic()
    end = started_s + seconds

    class OverError(Exception):
        """The time is up."""

    def send(peer: socket.socket, data: bytes) -> None:
        nonlocal sent
        if time.monotonic() > end:
            raise OverError
        peer.sendall(data)
        sent += len(data)

    def pour() -> None:
        while time.monotonic() < end:
            with contextlib.suppress(OverError, OSError):
                act(version.port, send)

    thread = threading.Thread(target=pour, daemon=True)
    most = begin
    thread.start()
    while time.monotonic() < end:
        time.sleep(0.25)
        most = max(most, version.rss_mb)
        if most - begin > ENOUGH_MB:
            end = time.monotonic()
    lasted_s = time.monotonic() - started_s
    time.sleep(10.0)
    after = version.rss_mb
    row = {
        "flood": act.__name__,
        "version": version.name,
        "seconds": round(lasted_s),
        "sent_mb": round(sent / 1e6),
    }
    return row | {
        "begin_mb": round(begin),
        "most": round(most - begin),
        "after": round(after - begin),
    }


async def warm(version: Version) -> None:
    """Speak once, so that what a server keeps anyway is there."""
    from fairness import turn

    for _ in range(3):
        await turn(version.port)


def main() -> None:
    """Measure, and write a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="source folder of an older version")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long each flood lasts (default: 60)"
    )
    parser.add_argument(
        "floods", nargs="*", help=f"some of: {', '.join(act.__name__ for act in FLOODS)}"
    )
    arguments = parser.parse_args()
    sources = {"before": arguments.before.resolve()} if arguments.before else {}
    sources["after"] = SOURCE
    rows = list[dict[str, Any]]()
    table = [
        "| flood | version | seconds | sent, MB | memory, MB | most above | left above |",
        "|---|---|" + "--:|" * 5,
    ]
    print("\n".join(table))
    for act in FLOODS:
        for name, source in sources.items():
            if arguments.floods and act.__name__ not in arguments.floods:
                continue
            version = started(name, source)
            try:
                asyncio.run(warm(version))
                rows.append(flood(version, act, arguments.seconds))
            finally:
                version.stop()
            form = (
                "| {flood} | {version} | {seconds} | {sent_mb} | {begin_mb} | {most:+} |"
                " {after:+} |"
            )
            table.append(form.format(**rows[-1]))
            print(table[-1], flush=True)
    if arguments.json:
        data = {"seconds": arguments.seconds, "rows": rows}
        arguments.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        arguments.json.with_suffix(".md").write_text("\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
