"""Interrupted anywhere, a turn says exactly what was heard, and the next one begins at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from support.effort import FULL
from support.servers import serving
from support.turns import Conversation, InLoop, InThreads, counted_voice

from sayahead.client import Client
from sayahead.client.blocking import SyncClient

PARTS = 10
HISTORIES = 20_000 if FULL else 500
SOCKETS = 500 if FULL else 30
"""How many conversations are held, half of them with asyncio."""


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever, daemon=True)
    thread.start()
    yield running
    running.call_soon_threadsafe(running.stop)
    thread.join(10)
    running.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_what_was_heard_is_exact_in_this_process(part: int, loop: asyncio.AbstractEventLoop) -> None:
    voice = counted_voice()
    for seed in range(part, HISTORIES, PARTS):
        speaker = InLoop(voice, loop) if seed // PARTS % 2 else InThreads(voice)
        Conversation(seed, speaker, loop=bool(seed // PARTS % 2)).hold()


def test_what_was_heard_is_exact_over_sockets(loop: asyncio.AbstractEventLoop) -> None:
    with serving(voice=counted_voice(), step_words=1) as running:
        with SyncClient(running.ws) as client:
            for seed in range(0, SOCKETS, 2):
                Conversation(seed, InThreads(client), loop=False).hold()

        async def connected() -> Client:
            return await Client(running.ws).__aenter__()

        other = asyncio.run_coroutine_threadsafe(connected(), loop).result(30)
        for seed in range(1, SOCKETS, 2):
            Conversation(seed, InLoop(other, loop), loop=True).hold()
        asyncio.run_coroutine_threadsafe(other.__aexit__(), loop).result(30)
        running.settle()
