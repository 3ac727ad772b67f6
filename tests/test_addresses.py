"""A client with several addresses: a server that is full, gone or slow is passed over."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
from support.servers import KEY, serving

from sayahead.client import Client, ServerError
from sayahead.errors import ConfigError


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"ws://127.0.0.1:{probe.getsockname()[1]}"


async def spoken(*urls: str, key: str | None = None) -> float:
    async with Client(urls, key=key) as client:
        return sum([chunk.duration_s async for chunk in client.stream(["Hello ", "there."])])


def test_who_is_gone_or_silent_is_passed_over() -> None:
    with serving() as running, socket.create_server(("127.0.0.1", 0)) as silent:
        asyncio.run(spoken_by_all(running.ws, nobody(), f"ws://127.0.0.1:{silent.getsockname()[1]}"))


async def spoken_by_all(*urls: str) -> None:
    """Whichever address is tried first."""
    for _ in range(4):
        assert await spoken(*urls) > 0.2


def test_who_is_full_is_passed_over() -> None:
    async def main(full: str, free: str) -> None:
        async with Client(full) as first:
            speech = first.speech()
            await speech.push("It stays ")
            await anext(speech)
            with pytest.raises(ServerError) as refused:
                await spoken(full, full)
            assert refused.value.code == "overloaded"
            for _ in range(4):
                assert await spoken(full, free) > 0.2

    with serving(limits={"sessions": 1}, breath_s=0.05) as full, serving() as free:
        asyncio.run(main(full.ws, free.ws))


def test_a_wrong_key_is_wrong_everywhere() -> None:
    with serving(keys=(f"me:{KEY}",)) as running:
        with pytest.raises(ServerError) as refused:
            asyncio.run(spoken(running.ws, running.ws, key="wrong-key"))
        assert refused.value.code == "unauthorized"
        assert asyncio.run(spoken(running.ws, running.ws, key=KEY)) > 0.2


def test_three_tries_and_no_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"ws://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        with pytest.raises(ServerError, match="did not answer in time"):
            asyncio.run(spoken(url, url, url, url))
        assert time.monotonic() - begun > Client.TRIES * Client.TRY_S
    with pytest.raises(ConfigError, match="at least one server"):
        Client([])
