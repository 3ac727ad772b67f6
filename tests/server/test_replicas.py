"""Half of a fleet is killed under its conversations: each goes on, and says every word once."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.effort import FULL
from support.toy_server import ToyServer

from sayahead.client import AsyncClient, ServerError
from sayahead.client.wire import ELSEWHERE

SERVERS, CONVERSATIONS = (4, 200) if FULL else (2, 24)
SETTINGS: dict[str, Any] = {
    "step_words": 1,
    "token_secret": "a-secret-of-the-whole-fleet",
    "limits": {"sessions": 1000, "requests_per_s": 10_000},
}
AHEAD = 4
"""Words that are written before the first of them is heard."""
WORDS = "Hello there, how are you today? I am fine, and so is everybody who was asked.".split()


def text_of(seed: int) -> list[str]:
    return [f"{word} " for word in random.Random(seed).choices(WORDS, k=30)]


class Fleet:
    """Servers, of which half are killed once half of all words have been heard."""

    def __init__(self, servers: list[ToyServer], total: int) -> None:
        self.servers = servers
        self._left = total // 2
        self.is_halved = asyncio.Event()

    def heard(self, count: int) -> None:
        """Some words were heard."""
        self._left -= count
        if self._left <= 0 and not self.is_halved.is_set():
            for server in self.servers[::2]:
                server.kill()
            self.is_halved.set()


async def converse(fleet: Fleet, words: list[str]) -> int:
    """Have a text spoken; how often it moved to another server."""
    async with connected(fleet) as client:
        await told_by(client, fleet, words)
        return client.resumed


@contextlib.asynccontextmanager
async def connected(fleet: Fleet) -> AsyncIterator[AsyncClient]:
    """A client of the fleet: a busy machine takes nobody new for a while."""
    while True:
        client = AsyncClient([server.ws for server in fleet.servers])
        try:
            await client.__aenter__()
            break
        except ServerError as error:
            if error.code not in ELSEWHERE:
                raise
    try:
        yield client
    finally:
        await client.__aexit__(None, None, None)


async def told_by(client: AsyncClient, fleet: Fleet, words: list[str]) -> None:
    """Write a text a few words ahead of its sound; its last words once servers were killed."""
    speech = client.open_speech()
    room = asyncio.Semaphore(AHEAD)

    async def write() -> None:
        for number, word in enumerate(words):
            await room.acquire()
            if number == len(words) - AHEAD:
                await fleet.is_halved.wait()
            await speech.push(word)
        await speech.finish()

    writing = asyncio.create_task(write())
    try:
        async for chunk in speech:
            fleet.heard(len(chunk.words))
            for _ in chunk.words:
                room.release()
        await writing
    finally:
        writing.cancel()
    text = "".join(words)
    assert [text[word.start : word.end] for word in speech.words] == text.split()
    assert all(a.onset_samples <= b.onset_samples for a, b in itertools.pairwise(speech.words))


@pytest.mark.timeout(900 if FULL else 120)
def test_no_conversation_is_lost_with_half_of_the_servers() -> None:
    async def talk(servers: list[ToyServer]) -> None:
        texts = [text_of(seed) for seed in range(CONVERSATIONS)]
        fleet = Fleet(servers, sum(len(text) for text in texts))
        moved = await asyncio.gather(*(converse(fleet, text) for text in texts))
        # Those of the servers that were killed, and no others: which ones is drawn.
        assert set(moved) == {0, 1}

    with contextlib.ExitStack() as stack:
        servers = [ToyServer(**SETTINGS) for _ in range(SERVERS)]
        for server in servers:
            server.start()
        for server in servers[1::2]:
            stack.callback(server.kill)
        asyncio.run(talk(servers))
