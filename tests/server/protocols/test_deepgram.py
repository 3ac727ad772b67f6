"""Deepgram's socket: by hand, with its SDK, and with Pipecat's service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import numpy as np
import pytest
from support.servers import LEAVING_SOCKETS, Running, serving, toy_voice
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

TEXT = "Hello there, how are you today? I am fine. "
PATH = "/v1/speak?model=aura-2-thalia-en&encoding=linear16&sample_rate=8000"


class Talk:
    """A connection."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.sound = b""

    async def say(self, kind: str, **rest: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **rest}))

    async def hear(self) -> dict[str, Any] | bytes:
        message = await asyncio.wait_for(self.socket.recv(), 20)
        if isinstance(message, bytes):
            self.sound += message
            return message
        data = json.loads(message)
        assert isinstance(data, dict)
        return data

    async def until(self, kind: str) -> dict[str, Any]:
        while True:
            message = await self.hear()
            if isinstance(message, dict):
                assert message["type"] == kind
                return message

    async def closed(self) -> int:
        try:
            while True:
                await self.hear()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006

    def samples(self) -> Any:
        found = np.frombuffer(self.sound, "<i2") / np.float32(32767)
        self.sound = b""
        return found


def talk(address: str, run: Callable[[Talk], Awaitable[None]], **options: Any) -> None:
    async def whole() -> None:
        async with connect(address, **options) as socket:
            talking = Talk(socket)
            metadata = await talking.until("Metadata")
            assert metadata["request_id"]
            assert metadata["model_name"] == "toy"
            await run(talking)

    asyncio.run(whole())


def check(samples: Any, text: str) -> None:
    """What was flushed is what is spoken of a text that ends, but for the silence at its end."""
    wanted = toy_voice().synthesize(text)[:-800]
    assert len(samples) >= len(wanted)
    assert np.abs(samples[: len(wanted)] - wanted).max() < 1e-4


def test_flushes_and_clears_are_numbered_and_the_connection_goes_on(server: Running) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Clear")
        assert await talking.until("Cleared") == {"type": "Cleared", "sequence_id": 0}
        await talking.say("Flush")
        assert await talking.until("Flushed") == {"type": "Flushed", "sequence_id": 1}
        for number in (2, 3):
            await talking.say("Speak", text=TEXT)
            await talking.say("Flush")
            assert (await talking.until("Flushed"))["sequence_id"] == number
            check(talking.samples(), TEXT)

    talk(server.ws + PATH, run)
    server.settle()


@pytest.mark.parametrize(
    "query", ["encoding=mp3", "sample_rate=x", "sample_rate=1", "speed=fast", "container=wav"]
)
def test_a_query_that_cannot_be_is_refused(server: Running, query: str) -> None:
    with pytest.raises(InvalidStatus, match="400"):
        talk(f"{server.ws}/v1/speak?{query}", lambda talking: talking.say("Close"))


@pytest.mark.parametrize(
    ("encoding", "rate"), [("mulaw", 8000), ("alaw", 8000), ("linear16", 48000)]
)
def test_encodings(server: Running, encoding: str, rate: int) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Speak", text=TEXT)
        await talking.say("Close")
        await talking.closed()
        seconds = len(toy_voice().synthesize(TEXT)) / 8000
        assert len(talking.sound) == pytest.approx(
            seconds * rate * (2 if rate > 8000 else 1), rel=0.01
        )

    rest = "" if rate == 8000 else f"&sample_rate={rate}"
    talk(f"{server.ws}/v1/speak?encoding={encoding}{rest}", run)


def test_speech_over_http(server: Running) -> None:
    address = server.http + "/v1/speak"
    starts = {
        "": b"\xff",
        "encoding=linear16": b"RIFF",
        "encoding=opus": b"OggS",
        "encoding=flac": b"fLaC",
        "encoding=mulaw": b"RIFF",
        "encoding=alaw&container=wav": b"RIFF",
        "encoding=mulaw&container=none": b"",
        "encoding=mp3&bit_rate=48000": b"\xff",
    }
    for query, start in starts.items():
        answer = httpx.post(f"{address}?{query}", json={"text": TEXT})
        assert answer.headers["content-type"].startswith("audio/")
        assert len(answer.content) > 1000
        assert answer.content.startswith(start)
    for wrong in (
        "encoding=ogg",
        "encoding=mulaw&container=ogg",
        "sample_rate=x",
        "speed=0",
        "bit_rate=1",
    ):
        assert httpx.post(f"{address}?{wrong}", json={"text": TEXT}).status_code == 400
    assert httpx.post(address, json={"text": 5}).status_code == 400


def test_a_text_that_was_flushed_may_rest_and_go_on() -> None:
    async def run(talking: Talk) -> None:
        for _ in range(3):
            await talking.say("Speak", text="Hello there. ")
            await talking.say("Flush")
            await talking.until("Flushed")
            assert len(talking.samples()) > 0
            await asyncio.sleep(1.2)

    with serving(limits={"idle_most_s": 1.0}) as server:
        talk(server.ws + PATH, run)


@LEAVING_SOCKETS
@pytest.mark.usefixtures("leftovers")
class TestClients:
    """Clients as they are published."""

    def test_sdk(self, server: Running) -> None:
        sdk = pytest.importorskip("deepgram", reason="needs sayahead[compat]")
        from deepgram.environment import DeepgramClientEnvironment
        from deepgram.speak.v1.types import SpeakV1Text

        async def run() -> None:
            here = DeepgramClientEnvironment(
                base=server.http, production=server.ws, agent=server.ws, agent_rest=server.http
            )
            client = sdk.AsyncDeepgramClient(api_key="some-key", environment=here)
            sound = b""
            kinds = list[str]()
            async with client.speak.v1.connect(
                model="any", encoding="linear16", sample_rate="8000"
            ) as connection:
                await connection.send_text(SpeakV1Text(text=TEXT[:16]))
                async for message in connection:
                    if not isinstance(message, bytes):
                        kinds.append(message.type)
                        continue
                    if not sound:
                        await connection.send_text(SpeakV1Text(text=TEXT[16:]))
                        await connection.send_close()
                    sound += message
            assert kinds == ["Metadata"]
            assert (
                np.abs(
                    np.frombuffer(sound, "<i2") / np.float32(32767) - toy_voice().synthesize(TEXT)
                ).max()
                < 1e-4
            )

        asyncio.run(asyncio.wait_for(run(), 60))
        server.settle()

    def test_livekit(self, server: Running) -> None:
        plugin = pytest.importorskip("livekit.plugins.deepgram", reason="needs sayahead[compat]")
        import aiohttp

        async def run() -> None:
            async with aiohttp.ClientSession() as http:
                address = server.http + "/v1/speak"
                service = plugin.TTS(
                    base_url=address, api_key="some-key", http_session=http, sample_rate=8000
                )
                # The connection is used again for the second text.
                for _ in range(2):
                    stream = service.stream()
                    stream.push_text(TEXT[:24])
                    first = await asyncio.wait_for(anext(stream), 20)
                    stream.push_text(TEXT[24:])
                    stream.end_input()
                    events = [first, *[event async for event in stream]]
                    data = b"".join(bytes(event.frame.data) for event in events)
                    check(np.frombuffer(data, "<i2") / np.float32(32767), TEXT)
                    await stream.aclose()
                frame = await service.synthesize(TEXT).collect()
                assert frame.duration == pytest.approx(
                    len(toy_voice().synthesize(TEXT)) / 8000, abs=0.05
                )
                await service.aclose()

        asyncio.run(asyncio.wait_for(run(), 60))
        server.settle()
