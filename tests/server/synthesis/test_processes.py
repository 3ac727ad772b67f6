"""Synthesis in processes of their own: the same sound, and a process that dies takes only its streams with it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest
from support.servers import Running, serving, toy_voice

from sayahead import ConfigError, VoiceError
from sayahead.client import Client, ServerError
from sayahead.server.messages import ContextOptions
from sayahead.server.synthesis.processes import ProcessEngine
from sayahead.server.synthesis.threads import Mark
from sayahead.types import Floats

TEXT = "Hello there, how are you today? I am fine. "


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(synthesis="processes", workers=2) as running:
        yield running


async def spoken(client: Client) -> Floats:
    return np.concatenate([chunk.samples async for chunk in client.stream([TEXT[:9], TEXT[9:]])])


def test_they_say_what_the_voice_says(server: Running) -> None:
    async def run() -> None:
        async with Client(server.ws) as client:
            for sound in await asyncio.gather(*(spoken(client) for _ in range(4))):
                assert np.abs(sound - toy_voice().synthesize(TEXT)).max() < 1e-4
            with pytest.raises(ServerError, match="failed"):
                [chunk async for chunk in client.stream(["explode now, please."])]

    asyncio.run(run())
    server.settle()
    assert [worker.streams for worker in server.hub.engine._workers] == [0, 0]  # type: ignore[attr-defined]


def test_one_that_dies_is_replaced(server: Running, caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        workers = server.hub.engine._workers  # type: ignore[attr-defined]
        end = time.monotonic() + 20
        # Whoever was here before may still be leaving; then one worker would get both.
        while any(worker.streams for worker in workers) and time.monotonic() < end:
            await asyncio.sleep(0.05)
        async with Client(server.ws) as client:
            speeches = [client.speech() for _ in range(2)]
            for speech in speeches:
                await speech.push(TEXT)
                await anext(speech)
            os.kill(workers[0]._process.pid, signal.SIGKILL)
            outcomes = list[str]()
            for speech in speeches:
                try:
                    await speech.push(TEXT)
                    await speech.finish()
                    outcomes.append("spoken" if [chunk async for chunk in speech] else "silent")
                except ServerError as error:
                    outcomes.append(error.code)
            assert sorted(outcomes) == ["failed", "spoken"]
            end = time.monotonic() + 20
            while not workers[0]._process.is_alive() and time.monotonic() < end:
                await asyncio.sleep(0.05)
            for _ in range(4):
                assert len(await spoken(client)) > 0

    with caplog.at_level(logging.ERROR):
        asyncio.run(run())
    assert "another takes its place" in caplog.text


def nobody(name: str) -> None:
    raise VoiceError(f"There is no voice {name!r}.")


def test_one_that_cannot_start_says_why() -> None:
    engine = ProcessEngine(nobody, processes=1, first=["x"])  # type: ignore[arg-type]
    try:
        with pytest.raises(VoiceError, match="There is no voice 'x'"):
            engine.start()
    finally:
        engine.close()


def test_options_that_cannot_be_are_told(server: Running) -> None:
    async def run() -> None:
        engine = server.hub.engine
        with pytest.raises(ConfigError, match="speed is 9"):
            await engine.open("toy", ContextOptions(speed=9.0))
        stream = await engine.open("toy", ContextOptions())
        pieces = [await stream.pull([TEXT, Mark(True)], deadline=0.0)]
        while (piece := await stream.pull([], deadline=0.0)) is not None:
            pieces.append(piece)
        assert b"".join(piece.data for piece in pieces if piece is not None)
        stream.close()

    asyncio.run(run())
