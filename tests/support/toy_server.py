"""A server with the toy voice in a process of its own, which can be killed: `python -m
support.toy_server SETTINGS`."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from support.servers import free_port


class ToyServer:
    """It runs; killed and started again, it has the same port and files."""

    def __init__(self, *, step_s: float = 0.0, lag: Path | None = None, **settings: Any) -> None:
        """``lag``: a file to which it writes what holds its event loop for too long."""
        self.port = free_port()
        self._settings = {"step_s": step_s, "lag": lag and str(lag), "port": self.port, **settings}
        self.http, self.ws = f"http://127.0.0.1:{self.port}", f"ws://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "support.toy_server", json.dumps(self._settings)]
        paths = [str(Path(__file__).parents[1]), *sys.path]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 200
        while True:
            try:
                if httpx.get(f"{self.http}/health", timeout=5).status_code == 200:
                    return
            except httpx.HTTPError:
                assert self._process.poll() is None, "The server ended while it started."
                assert time.monotonic() < end, "The server does not start."
                time.sleep(0.02)

    def processes(self) -> list[int]:
        """The processes that serve, where there are several; on Linux."""
        assert self._process is not None
        found = list[int]()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == self._process.pid:
                found.append(int(folder.name))
        return sorted(found)

    def send(self, number: int) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self, number: int = signal.SIGKILL) -> int:
        """End it by a signal; its exit status."""
        self.send(number)
        assert self._process is not None
        assert self._process.stdin is not None
        status = self._process.wait(60)
        self._process.stdin.close()
        return status


class Clock:
    """The process's wall clock, which a signal sets forward and back by an hour, in turn."""

    SIGNAL = getattr(signal, "SIGRTMIN", None)

    def __init__(self) -> None:
        self._true = time.time
        self._offsets = itertools.cycle((3600.0, -3600.0, 0.0))
        self._offset_s = 0.0
        time.time = self.time
        if self.SIGNAL is not None:
            signal.signal(self.SIGNAL, self._step)

    def time(self) -> float:
        """In place of ``time.time``."""
        return self._true() + self._offset_s

    def _step(self, *_: object) -> None:
        self._offset_s = next(self._offsets)


def main() -> None:
    """Serve until the end."""
    from sayahead.server.hub import Hub
    from sayahead.server.operation import logs
    from sayahead.server.operation.settings import settings_of
    from sayahead.server.process.run import Server
    from sayahead.server.process.supervisor import Supervisor
    from sayahead.server.voices import Voices
    from support.loop_lag import LoopLag
    from support.servers import toy_voice

    def end_with_the_test() -> None:
        # Not by sys.stdin, whose lock a process that is forked meanwhile would never get.
        while os.read(0, 1024):
            pass
        os._exit(1)

    threading.Thread(target=end_with_the_test, daemon=True).start()
    Clock()
    given = json.loads(sys.argv[1])
    step_s = given.pop("step_s")
    lag = given.pop("lag")
    method = given.pop("method", None)
    voices = Voices(("heart",))
    voices.put(toy_voice(step_s))
    calm = {"breath_s": 0.0, "measure_s": 0.0, "page": False}
    settings = settings_of({**calm, **given})
    if (processes := given.get("processes", 1)) > 1:
        logs.set_up("json")
        given = None if method == "spawn" else voices
        supervisor = Supervisor(settings, processes, voices=given, method=method)
        raise SystemExit(supervisor.run())
    server = Server(Hub(settings, voices=voices))

    def tell(step: str) -> None:
        if lag is not None and server.started:
            with open(lag, "a", encoding="utf-8") as file:
                file.write(step + "\n")

    LoopLag(tell).watched(server.run)


if __name__ == "__main__":
    main()
