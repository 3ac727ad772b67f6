"""Servers for tests: real ones, on a port of their own, with the toy voice."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from sayahead.engine.stages import Frames
from sayahead.engine.synthesizer import Pauses, TwoStage
from sayahead.server.hub import Hub
from sayahead.server.operation.settings import settings_of
from sayahead.server.process.run import Server
from sayahead.server.voices import Voices
from sayahead.systems.loading import Loaded
from sayahead.text.reading.stream import new_reader
from sayahead.types import Rendering, Segment
from sayahead.voice import Voice
from sayahead.voices import Defaults, VoiceConfig
from support.loop_lag import MAX_S, LoopLag
from support.toy import HOP, RATE, ToyAcoustic, ToyPhonemizer, ToyState, ToyVocoder

KEY = "key-of-the-tests"
LEAVING_SOCKETS = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "ignore::ResourceWarning",
    "ignore::DeprecationWarning",
)
"""For published clients, and Ray, which leave sockets and processes of theirs to the garbage
collector."""


class SlowAcoustic(ToyAcoustic):
    """The toy, at a price; and it breaks at the word "explode"."""

    def __init__(self, step_s: float) -> None:
        self._step_s = step_s

    def step(
        self, segment: Segment, state: ToyState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, ToyState]:
        time.sleep(self._step_s)
        if "explode" in "".join(chr(i) for i in segment.ids[: segment.speak]):
            raise RuntimeError("A step broke.")
        return super().step(segment, state, rendering, hold_back=hold_back)


def toy_voice(step_s: float = 0.0) -> Voice:
    """A tone per letter, at 8 kHz."""
    config = VoiceConfig(
        format=3,
        name="toy",
        language="en",
        description="A tone per letter.",
        license="Apache-2.0",
        source="tests",
        kind="toy",
        sample_rate=RATE,
        hop_length=HOP,
        files={},
        lead_in_s=0.0,
        pause_s=0.1,
        speed=(0.5, 2.0),
        defaults=Defaults(1, 0.02, 0.02),
        model={},
    )
    synthesizer = TwoStage(
        SlowAcoustic(step_s), ToyVocoder(), sample_rate=RATE, pauses=Pauses(lead_in=10, pause=800)
    )
    return Voice(config, Loaded(synthesizer, new_reader, ToyPhonemizer()))


@dataclass(frozen=True, slots=True)
class Running:
    """A server that runs."""

    hub: Hub
    server: Server
    port: int

    @property
    def http(self) -> str:
        """Its address for requests."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws(self) -> str:
        """Its address for sockets."""
        return f"ws://127.0.0.1:{self.port}"

    def metric(self, name: str, **labels: str) -> float:
        """The value of one of its counters."""
        return self.hub.metrics.registry.get_sample_value(name, labels) or 0.0

    def settle(self, timeout_s: float = 10.0) -> None:
        """Wait until every connection is gone; AssertionError where one stays."""
        end = time.monotonic() + timeout_s
        while self.hub.connections and time.monotonic() < end:
            time.sleep(0.01)
        assert self.hub.connections == 0, f"{self.hub.connections} connections stay open"
        assert self.hub.taken == 0


@contextlib.contextmanager
def serving(
    *,
    step_s: float = 0.0,
    voice: Voice | None = None,
    installed: tuple[str, ...] = ("heart",),
    limits: dict[str, Any] | None = None,
    **settings: Any,
) -> Iterator[Running]:
    """A server with the toy voice (each step of which takes ``step_s``), or another, before those
    ``installed`` (none: all of them); settings as in Settings, at a port of its own."""
    # On a busy machine any text may pause: only who tests breaths wants them.
    calm: dict[str, Any] = {"port": 0, "breath_s": 0.0, "measure_s": 0.0, **settings}
    chosen = settings_of({"limits": {"sessions": 1000, **(limits or {})}, **calm})
    voices = Voices(installed)
    voices.put(voice or toy_voice(step_s))
    hub = Hub(chosen, voices=voices)
    server = Server(hub)
    lag = LoopLag()
    thread = threading.Thread(target=lag.watched, args=(server.run,), daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive(), "The server ended while it started."
        assert time.monotonic() < end, "The server does not start."
        time.sleep(0.005)
    lag.slow.clear()
    try:
        yield Running(hub, server, server.port)
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "The server does not end."
    assert not lag.slow, f"The event loop was held for more than {MAX_S} s: {lag.slow}"


def certified(folder: Path) -> tuple[str, str]:
    """Files with a private key and a certificate of this machine, for its name and its address."""
    key = str(folder / "key.pem")
    certificate = str(folder / "certificate.pem")
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext {names}".split()  # noqa: E501
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return key, certificate


def talk(address: str, run: Callable[[ClientConnection], Awaitable[None]], **options: Any) -> None:
    """Connect to a socket's address and run a conversation there."""

    async def whole() -> None:
        async with connect(address, **options) as connection:
            await run(connection)

    asyncio.run(whole())


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def onsets(text: str) -> list[tuple[str, float]]:
    """When the toy voice says each word, seconds."""
    session = toy_voice().session()
    session.push(text)
    session.finish()
    words = [word for chunk in session.chunks() for word in chunk.words]
    return [(text[word.start : word.end], word.onset_samples / RATE) for word in words]


def check_times(told: Sequence[tuple[str, float]], text: str) -> None:
    """The words of a text at the times at which they are heard, to 2 ms."""
    wanted = onsets(text)
    assert [word for word, _ in told] == [word for word, _ in wanted]
    assert [at for _, at in told] == pytest.approx([at for _, at in wanted], abs=0.002)
