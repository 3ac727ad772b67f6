"""A real Firefox for the package's tests: Debian's firefox-esr without a window, driven by
WebDriver BiDi."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox") or ""
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Page:
    """A tab."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._ask("session.new", capabilities={})
        self._context = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def goto(self, address: str) -> None:
        """Open a page, and wait until it is there."""
        self._ask("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def evaluate(self, script: str) -> Any:
        """What an async function without parameters comes to, as JSON."""
        expression = f"({script})().then(JSON.stringify)"
        target = {"context": self._context}
        answer = self._ask(
            "script.evaluate", expression=expression, target=target, awaitPromise=True
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"]["value"])

    def _ask(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            told = json.loads(self._socket.recv(timeout=300))
            if told.get("id") == number:
                assert told["type"] == "success", told
                return told["result"]


@contextlib.contextmanager
def firefox(preferences: Mapping[str, bool | int] | None = None) -> Iterator[Page]:
    """A tab of a fresh Firefox."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory() as profile:
        command = [
            FIREFOX,
            "--headless",
            "--no-remote",
            "--profile",
            profile,
            "--remote-debugging-port",
            "0",
        ]
        chosen = (
            f'user_pref("{name}", {json.dumps(value)});\n'
            for name, value in (preferences or {}).items()
        )
        (Path(profile) / "user.js").write_text("".join(chosen), encoding="utf-8")
        log = Path(profile) / "log"
        with log.open("w") as written:
            process = subprocess.Popen(command, stderr=written)
        try:
            end = time.monotonic() + 120
            while (found := LISTENS.search(log.read_text())) is None:
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.1)
            with connect(f"{found[1]}/session", max_size=None, ping_interval=None) as socket:
                yield Page(socket)
        finally:
            process.terminate()
            process.wait(timeout=60)
