"""jambonz' socket, with the messages of its example for vendors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from support.servers import KEY, Running, serving, toy_voice
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

TEXT = "Hello there, how are you today? I am fine."
PATH = "/v1/jambonz?voice=toy&language=en-US"


def talk(address: str, run: Callable[[ClientConnection], Awaitable[None]], key: str = "any") -> None:
    async def whole() -> None:
        async with connect(address, additional_headers={"Authorization": f"Bearer {key}"}) as socket:
            await run(socket)

    asyncio.run(whole())


async def say(socket: ClientConnection, kind: str, **rest: str) -> None:
    await socket.send(json.dumps({"type": kind, **rest}))


async def hear(socket: ClientConnection) -> str | bytes:
    return await asyncio.wait_for(socket.recv(), 20)


async def sound(socket: ClientConnection, size: int) -> bytes:
    """So many bytes of it."""
    data = b""
    while len(data) < size:
        message = await hear(socket)
        assert isinstance(message, bytes), message
        assert len(message) <= 640
        data += message
    return data


async def rest_of(socket: ClientConnection) -> tuple[int, int]:
    """The size of all that comes, and the closing code."""
    size = 0
    try:
        while True:
            size += len(await hear(socket))
    except ConnectionClosed as closed:
        return size, closed.rcvd.code if closed.rcvd else 1006


def test_text_is_spoken_as_it_comes(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        connected = json.loads(await hear(socket))
        assert connected == {"type": "connect", "data": {"sample_rate": 16000, "base64_encoding": False}}
        words = TEXT.split()
        for word in words[:4]:
            await say(socket, "stream", text=word)
        # Before the rest is written.
        first = await sound(socket, 640)
        for word in words[4:]:
            await say(socket, "stream", text=word)
        await say(socket, "flush")
        whole = len(toy_voice().synthesize(TEXT + " ")) * 2 * 2
        rest = await sound(socket, whole - len(first) - 1000)
        assert len(first) + len(rest) <= whole + 1000
        # The call goes on with another text.
        await say(socket, "stream", text="And more.")
        await say(socket, "flush")
        assert await sound(socket, 640)
        await say(socket, "stop")
        assert (await rest_of(socket))[1] == 1000

    talk(server.ws + PATH, run)
    server.settle()


def test_stop_is_silence(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        await hear(socket)
        await say(socket, "stream", text="word " * 500)
        await sound(socket, 640)
        await say(socket, "stop")
        heard, _ = await rest_of(socket)
        assert heard < len(toy_voice().synthesize("word " * 500)) * 2

    talk(server.ws + PATH, run)
    server.settle()


def test_the_rate_of_a_telephone(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        assert json.loads(await hear(socket))["data"]["sample_rate"] == 8000

    talk(server.ws + PATH + "&sampleRate=8000", run)
    with pytest.raises(InvalidStatus, match="400"):
        talk(server.ws + PATH + "&sampleRate=12345", run)


def test_wrong_messages_are_errors_and_the_call_goes_on(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        await hear(socket)
        for message in ("no JSON", b"\x00\x01", '{"type": "sing"}', '{"type": "stream"}', "[]"):
            await socket.send(message)
            answer = json.loads(await hear(socket))
            assert answer["type"] == "error"
            assert answer["error"].endswith(".")
        await say(socket, "stream", text="Still here.")
        await say(socket, "flush")
        assert await sound(socket, 640)

    talk(server.ws + PATH, run)


def test_a_key_is_needed_where_there_is_one() -> None:
    async def run(socket: ClientConnection) -> None:
        assert json.loads(await hear(socket))["type"] == "connect"

    with serving(keys=(f"me:{KEY}",)) as running:
        talk(running.ws + PATH, run, key=KEY)
        with pytest.raises(InvalidStatus, match="401"):
            talk(running.ws + PATH, run, key="wrong")
