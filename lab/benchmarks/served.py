"""Servers in processes of their own, for benchmarks that watch them, and what is needed to be rude
to them."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

SOURCE = Path(__file__).resolve().parents[2] / "src"
HANDSHAKE = (
    b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@dataclass(slots=True)
class Version:
    """A server that runs."""

    name: str
    url: str
    process: subprocess.Popen[str]
    arguments: tuple[str, ...] = ()
    events: Counter[str] = field(default_factory=Counter)
    """Lines of its log by level and event."""

    @property
    def port(self) -> int:
        """The port of its URL."""
        return int(self.url.rpartition(":")[2])

    @property
    def processes(self) -> list[Path]:
        """Where the system tells of its processes, of which there may be several."""
        found = [Path(f"/proc/{self.process.pid}")]
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, IndexError):
                if int(stat(folder)[1]) == self.process.pid:
                    found.append(folder)
        return found

    @property
    def memories_mb(self) -> list[float]:
        """Memory of each process; what several share is divided among them."""
        lines = [
            line
            for folder in self.processes
            for line in (folder / "smaps_rollup").read_text(encoding="ascii").splitlines()
        ]
        return [int(line.split()[1]) / 1000 for line in lines if line.startswith("Pss:")]

    @property
    def rss_mb(self) -> float:
        """Its memory; what its processes share counts once."""
        return sum(self.memories_mb)

    @property
    def descriptors(self) -> int:
        """Files and sockets that it has open."""
        return sum(len(os.listdir(folder / "fd")) for folder in self.processes)

    @property
    def times_s(self) -> dict[Path, float]:
        """Processor time that each process has taken."""
        ticks = os.sysconf("SC_CLK_TCK")
        return {
            folder: sum(int(stat(folder)[at]) for at in (11, 12)) / ticks
            for folder in self.processes
        }

    @property
    def processor_s(self) -> float:
        """Processor time that it has taken."""
        return sum(self.times_s.values())

    def stop(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()


class Health:
    """Asks for /health and /ready again and again, on a thread, while inside."""

    def __init__(self, port: int) -> None:
        self.took_s = list[float]()
        """How long each answer about its health took."""
        self.ready = list[bool]()
        self._url = f"http://127.0.0.1:{port}"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self) -> Health:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        with httpx.Client(base_url=self._url, timeout=10) as http:
            while not self._over.wait(0.2):
                begin = time.perf_counter()
                try:
                    http.get("/health").raise_for_status()
                    self.took_s.append(time.perf_counter() - begin)
                    self.ready.append(http.get("/ready").is_success)
                except httpx.HTTPError:
                    self.took_s.append(10.0)


def stat(folder: Path) -> list[str]:
    """What the system tells of a process, from its state on."""
    return (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def started(
    name: str = "after",
    source: Path = SOURCE,
    *arguments: str,
    limits: Iterable[tuple[int, int]] = (),
    entry: Sequence[str] = ("-m", "sayahead"),
) -> Version:
    """A server of the version in a source folder, on a port of its own; ``limits`` are those of
    ``resource``, ``entry`` is what Python runs."""

    def limit() -> None:
        for kind, most in limits:
            resource.setrlimit(kind, (most, most))

    fixed = "serve --port 0 --log json --voice heart".split()
    command = [sys.executable, *entry, *fixed, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=limit
    )
    assert process.stderr is not None
    for line in process.stderr:
        row = json.loads(line)
        if row["event"] == "listening" and row["url"].startswith("http"):
            version = Version(name, row["url"], process, arguments)
            # A pipe that nobody reads would stop the server.
            threading.Thread(target=count, args=(version,), daemon=True).start()
            return version
    raise SystemExit(f"The server {name} did not start.")


def count(version: Version) -> None:
    """Count the lines of a server's log until it ends."""
    assert version.process.stderr is not None
    for line in version.process.stderr:
        try:
            row = json.loads(line)
        except ValueError:
            version.events["not JSON"] += 1
        else:
            version.events[f"{row.get('level', '').lower()}: {row.get('event', '')}"] += 1


def event(kind: str, **rest: Any) -> str:
    """A message of the native protocol."""
    return json.dumps({"type": kind, **rest})


def frame(message: str | bytes, *, opcode: int = 1) -> bytes:
    """A masked WebSocket frame of any size; the mask is 0."""
    data = message.encode() if isinstance(message, str) else message
    if len(data) < 126:
        size = bytes([0x80 | len(data)])
    elif len(data) < 1 << 16:
        size = b"\xfe" + len(data).to_bytes(2, "big")
    else:
        size = b"\xff" + len(data).to_bytes(8, "big")
    return bytes([0x80 | opcode]) + size + bytes(4) + data


def opened(port: int, host: str = "127.0.0.1") -> socket.socket:
    """A connection to the native socket, its handshake done."""
    peer = socket.create_connection((host, port), timeout=60)
    peer.sendall(HANDSHAKE)
    peer.recv(4096)
    return peer
