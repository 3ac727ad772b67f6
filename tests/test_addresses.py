"""A client with several addresses: a server that is full, gone or slow is passed over."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import pytest
from support.servers import KEY, Running, serving

from sayahead.client import AsyncClient, ServerError
from sayahead.client.wire import Wire
from sayahead.errors import ConfigError
from sayahead.server.hub import Hub


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"ws://127.0.0.1:{probe.getsockname()[1]}"


async def spoken(*urls: str, key: str | None = None) -> float:
    async with AsyncClient(urls, key=key) as client:
        return sum([chunk.duration_s async for chunk in client.stream(["Hello ", "there."])])


def test_who_is_gone_or_silent_is_passed_over() -> None:
    with serving() as running, socket.create_server(("127.0.0.1", 0)) as silent:
        asyncio.run(
            spoken_by_all(running.ws, nobody(), f"ws://127.0.0.1:{silent.getsockname()[1]}")
        )


async def spoken_by_all(*urls: str) -> None:
    """Whichever address is tried first."""
    for _ in range(4):
        assert await spoken(*urls) > 0.2


def test_who_is_full_is_passed_over() -> None:
    async def main(full: str, free: str) -> None:
        async with AsyncClient(full) as first:
            speech = first.open_speech()
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


def test_who_is_slow_is_waited_for_where_nobody_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a long way, or on a loaded machine, three tries of half a second were all too short."""
    connect = Wire.connect

    async def slow(*given: Any, **rest: Any) -> Wire:
        await asyncio.sleep(0.5)
        return await connect(*given, **rest)

    monkeypatch.setattr(Wire, "connect", slow)
    monkeypatch.setattr(AsyncClient, "TRIES_S", (0.05, 0.1, 10.0))
    with serving() as running, serving() as other:
        assert asyncio.run(spoken(running.ws, other.ws)) > 0.2


@pytest.mark.parametrize(("what", "value"), [("late", True), ("capacity", 0)])
@pytest.mark.parametrize("secret", [None, "shared-by-both"])
def test_who_has_begun_elsewhere_is_let_in_where_others_are_late(
    monkeypatch: pytest.MonkeyPatch, what: str, value: int, secret: str | None
) -> None:
    """Where a server went, those that were left were late for a while, or had fewer places on a
    machine that other programs used, and its conversations were refused."""

    async def main(running: Running, other: Running) -> None:
        async with AsyncClient([running.ws, other.ws]) as client:
            speech = client.open_speech()
            await speech.push("Hello there, ")
            words = [word.text for word in (await anext(speech)).words]
            monkeypatch.setattr(Hub, what, value)
            with pytest.raises(ServerError, match="at capacity"):
                await spoken(running.ws)
            # As the death of a server does.
            client._wire._socket.transport.abort()
            await speech.push("how are you?")
            await speech.finish()
            words += [word.text async for chunk in speech for word in chunk.words]
            assert (words, client.resumed) == (["Hello", "there,", "how", "are", "you?"], 1)

    with serving(token_secret=secret) as running, serving(token_secret=secret) as other:
        asyncio.run(main(running, other))


def test_three_tries_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AsyncClient, "TRIES_S", (0.1, 0.2, 0.4))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"ws://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        with pytest.raises(ServerError, match="did not answer in time"):
            asyncio.run(spoken(url, url, url, url))
        assert time.monotonic() - begun > sum(AsyncClient.TRIES_S)
    with pytest.raises(ConfigError, match="at least one server"):
        AsyncClient([])
