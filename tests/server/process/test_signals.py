"""Signals that mean nothing to a server end no text."""

from __future__ import annotations

import json
import signal
import sys

import pytest
from support.toy_server import ToyServer
from websockets.sync.client import connect

from sayahead.server.process.run import MEANINGLESS


@pytest.mark.skipif(sys.platform == "win32", reason="has none of them")
def test_signals_without_a_meaning_end_no_text() -> None:
    """SIGUSR1 ended a server in the middle of a text."""
    server = ToyServer(step_s=0.02)
    server.start()
    try:
        with connect(server.ws + "/v1/stream") as socket:
            for kind, more in (
                ("append", {"text": "Hello there, how are you today? " * 3}),
                ("end", {}),
            ):
                socket.send(json.dumps({"type": f"input_text.{kind}", **more}))
            signals = [getattr(signal, name) for name in MEANINGLESS if hasattr(signal, name)]
            while True:
                message = socket.recv(20)
                if signals:
                    server.send(signals.pop())
                if isinstance(message, str) and json.loads(message)["type"] == "speech.done":
                    break
        assert not signals
    finally:
        assert server.kill(signal.SIGTERM) in (0, -signal.SIGTERM)
