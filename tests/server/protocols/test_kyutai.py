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


async def say(socket: ClientConnection, kind: str, **rest: Any) -> None:
    await socket.send(msgpack.packb({"type": kind, **rest}))


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


def seconds(heard: list[Message]) -> float:
    return sum(len(message["pcm"]) for message in heard if message["type"] == "Audio") / 24000


@pytest.mark.parametrize("end", ["Eos", b"\0"])
def test_words_are_spoken_as_they_come_with_their_times(server: Running, end: str | bytes) -> None:
    async def run(socket: ClientConnection) -> None:
        assert await hear(socket) == {"type": "Ready"}
        sent = TEXT.split()
        for word in sent[:4]:
            await say(socket, "Text", text=word)
        first = await hear(socket)
        while first["type"] != "Audio":
            first = await hear(socket)
        assert 0 < len(first["pcm"]) <= 1920
        # A text frame is text.
        await socket.send(" ".join(sent[4:]))
        await (socket.send(end) if isinstance(end, bytes) else say(socket, end))
        heard, code = await rest(socket)
        assert code == 1000
        assert seconds([first, *heard]) == pytest.approx(len(toy_voice().synthesize(TEXT)) / 8000, abs=0.01)
        words = [message for message in heard if message["type"] == "Text"]
        assert [word["text"] for word in words] == sent[-len(words) :]
        assert all(word["start_s"] < word["stop_s"] for word in words)
        starts = [word["start_s"] for word in words]
        assert starts == sorted(starts)

    talk(server.ws + PATH + "PcmMessagePack", run)
    server.settle()


def test_all_words_have_their_times(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        await say(socket, "Voice", embeddings=[0.5] * 10, shape=[1, 10])
        for word in TEXT.split():
            await say(socket, "Text", text=word)
        await say(socket, "Eos")
        heard, _ = await rest(socket)
        session = toy_voice().session()
        session.push(TEXT)
        session.finish()
        wanted = list[float]()
        while (chunk := session.pull()) is not None:
            wanted += [word.onset / 8000 for word in chunk.words]
        told = [message["start_s"] for message in heard if message["type"] == "Text"]
        assert told == pytest.approx(wanted, abs=0.001)

    talk(server.ws + PATH + "PcmMessagePack", run)


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
            unpacked: Message = msgpack.unpackb(message) if packed else {"type": "OggOpus", "data": message}
            assert unpacked["type"] in ("Text", "OggOpus")
            data += unpacked.get("data", b"")
        assert socket.close_code == 1000
        if "Opus" in form:
            assert data.startswith(b"OggS")
        else:
            assert len(data) == pytest.approx(len(toy_voice().synthesize(TEXT)) / 8000 * 96000, rel=0.02)

    for form in ("Pcm", "OggOpus", "OggOpusMessagePack"):
        talk(server.ws + PATH + form, run)
    with pytest.raises(InvalidStatus, match="400"):
        talk(server.ws + PATH + "Wav", run)


@pytest.mark.parametrize("message", [b"", b"\xc1", b"\x93\x01", msgpack.packb([1]), msgpack.packb({"type": "Text"})])
def test_what_is_no_message_is_told(server: Running, message: bytes) -> None:
    async def run(socket: ClientConnection) -> None:
        await socket.send(message)
        assert (await hear(socket))["type"] == "Ready"
        assert (await hear(socket))["type"] == "Error"
        await say(socket, "Eos")
        assert await rest(socket) == ([], 1000)

    talk(server.ws + PATH + "PcmMessagePack", run)


def test_keys_and_places() -> None:
    async def run(socket: ClientConnection) -> None:
        assert (await hear(socket))["type"] == "Ready"
        async with connect(f"{full.ws}{PATH}PcmMessagePack&auth_id={KEY}") as other:
            assert (await hear(other))["type"] == "Error"
            assert await rest(other) == ([], 1013)

    with serving(keys=(KEY,), limits={"sessions": 1}) as full:
        talk(full.ws + PATH + "PcmMessagePack", run, additional_headers={"kyutai-api-key": KEY})
        with pytest.raises(InvalidStatus, match="401"):
            talk(full.ws + PATH + "PcmMessagePack", run)


def test_who_sends_no_text_is_left() -> None:
    async def run(socket: ClientConnection) -> None:
        await socket.send("Hello there")
        heard, code = await rest(socket)
        assert heard[-1]["type"] == "Error"
        assert code == 1008

    with serving(limits={"idle_most_s": 0.3}) as server:
        talk(server.ws + PATH + "PcmMessagePack", run)
        server.settle()
