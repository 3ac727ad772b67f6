"""Kyutai's socket, with the messages of its scripts."""

from __future__ import annotations

import asyncio
from typing import Any

import msgpack
import pytest
from support.servers import KEY, Running, serving, talk, toy_voice
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

TEXT = "Hello there, how are you today? I am fine."
PATH = "/api/tts_streaming?voice=expresso/any.wav&format="
Message = dict[str, Any]


async def hear(socket: ClientConnection) -> Message:
    message = await asyncio.wait_for(socket.recv(), 20)
    assert isinstance(message, bytes)
    data = msgpack.unpackb(message)
    assert isinstance(data, dict)
    return data


async def rest(socket: ClientConnection) -> tuple[list[Message], int]:
    heard = list[Message]()
    try:
        while True:
            heard.append(await hear(socket))
    except ConnectionClosed as closed:
        return heard, closed.rcvd.code if closed.rcvd else 1006


def test_formats(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        packed = form.endswith("MessagePack")
        if packed:
            assert (await hear(socket))["type"] == "Ready"
        await socket.send(TEXT)
        await socket.send(b"\0")
        data = b""
        async for message in socket:
            assert isinstance(message, bytes)
            unpacked: Message = (
                msgpack.unpackb(message) if packed else {"type": "OggOpus", "data": message}
            )
            assert unpacked["type"] in ("Text", "OggOpus")
            data += unpacked.get("data", b"")
        assert socket.close_code == 1000
        if "Opus" in form:
            assert data.startswith(b"OggS")
        else:
            assert len(data) == pytest.approx(
                len(toy_voice().synthesize(TEXT)) / 8000 * 96000, rel=0.02
            )

    for form in ("Pcm", "OggOpus", "OggOpusMessagePack"):
        talk(server.ws + PATH + form, run)
    with pytest.raises(InvalidStatus, match="400"):
        talk(server.ws + PATH + "Wav", run)


def test_who_finds_no_place_is_told() -> None:
    async def run(socket: ClientConnection) -> None:
        assert (await hear(socket))["type"] == "Ready"
        async with connect(f"{full.ws}{PATH}PcmMessagePack&auth_id={KEY}") as other:
            refused = await hear(other)
            assert refused["type"] == "Error"
            assert other.response is not None
            assert refused["request_id"] == other.response.headers["x-request-id"]
            assert await rest(other) == ([], 1013)

    with serving(keys=(KEY,), limits={"sessions": 1}) as full:
        talk(full.ws + PATH + "PcmMessagePack", run, additional_headers={"kyutai-api-key": KEY})


def test_who_sends_no_text_is_left() -> None:
    async def run(socket: ClientConnection) -> None:
        await socket.send("Hello there")
        heard, code = await rest(socket)
        assert heard[-1]["type"] == "Error"
        assert code == 1008

    with serving(limits={"idle_most_s": 0.3}) as server:
        talk(server.ws + PATH + "PcmMessagePack", run)
        server.settle()
