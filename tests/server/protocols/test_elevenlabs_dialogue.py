"""ElevenLabs' text to dialogue: by hand, with its SDK, with LiveKit's plugin and with Pipecat's
service."""

from __future__ import annotations

import asyncio
import base64
import json
import warnings
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest
from support.servers import LEAVING_SOCKETS, Running, check_times, serving, talk, toy_voice
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from sayahead import Voice
from sayahead.types import Floats

HELLO = "Hello there. "
FINE = "I am fine. "
TEXT = "Hello there, how are you today? I am fine. "
PATH = "/v1/text-to-dialogue"
QUERY = "?model_id=eleven_v4_turbo&output_format=pcm_8000&sync_alignment=true"
Message = dict[str, Any]


def ben() -> Voice:
    """A second toy, half as loud."""
    toy = toy_voice()
    return toy.described(replace(toy.config, name="ben", gain=0.5), toy.synthesizer)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving() as running:
        running.hub.voices.put(ben())
        running.hub.voices.put(toy_voice())
        yield running


def both() -> Floats:
    return np.concatenate([toy_voice().synthesize(HELLO), ben().synthesize(FINE)])


def samples_of(data: bytes) -> Floats:
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32767)


def sound(messages: list[Message]) -> Floats:
    return samples_of(
        b"".join(base64.b64decode(message.get("audio") or "") for message in messages)
    )


async def until_final(socket: ClientConnection, context: str | None = None) -> list[Message]:
    messages = list[Message]()
    while not (
        messages and messages[-1].get("is_final") and messages[-1].get("context_id") == context
    ):
        messages.append(json.loads(await asyncio.wait_for(socket.recv(), 20)))
        assert "error" not in messages[-1], messages[-1]
    return messages


def run(server: Running, path: str, go: Callable[[ClientConnection], Awaitable[None]]) -> None:
    talk(server.ws + PATH + path + QUERY, go)
    server.settle()


def test_two_voices_in_one_context(server: Running) -> None:
    async def go(socket: ClientConnection) -> None:
        await socket.send(json.dumps({"context_id": "a", "voices": ["toy", "ben"]}))
        for text, voice in ((HELLO[:6], "toy"), (HELLO[6:], "toy"), (FINE, "ben")):
            await socket.send(
                json.dumps({"context_id": "a", "inputs": [{"text": text, "voice_id": voice}]})
            )
        await socket.send(json.dumps({"context_id": "a", "close_context": True}))
        messages = await until_final(socket, "a")
        assert np.abs(sound(messages) - both()).max() < 1e-4
        timed = [message["alignment"] for message in messages if message.get("alignment")]
        assert (
            "".join(char for times in timed for char in times["chars"]).strip()
            == (HELLO + FINE).strip()
        )
        assert all(
            sorted(times["char_start_times_ms"]) == times["char_start_times_ms"] for times in timed
        )
        await socket.send(json.dumps({"close_socket": True}))

    run(server, "/multi-stream-input", go)


def test_a_context_without_text_stays_and_ends(server: Running) -> None:
    async def go(socket: ClientConnection) -> None:
        await socket.send(json.dumps({"context_id": "a", "voices": ["toy"]}))
        await socket.send(json.dumps({"context_id": "a", "keep_alive": True}))
        await socket.send(json.dumps({"context_id": "a", "close_context": True}))
        assert (await until_final(socket, "a"))[-1]["is_final"] is True
        await socket.send(
            json.dumps(
                {"context_id": "b", "voices": ["toy"], "inputs": [line(HELLO)], "flush": True}
            )
        )
        messages = list[Message]()
        while not (messages and messages[-1].get("is_final_audio_for_turn")):
            messages.append(json.loads(await asyncio.wait_for(socket.recv(), 20)))
        await socket.send(
            json.dumps({"context_id": "b", "inputs": [line(FINE)], "close_context": True})
        )
        messages += await until_final(socket, "b")
        wanted = toy_voice().synthesize(HELLO + FINE)
        assert np.abs(sound(messages)[: len(wanted)] - wanted).max() < 1e-4

    run(server, "/multi-stream-input", go)


def line(text: str, voice: str = "toy", **rest: Any) -> Message:
    return {"text": text, "voice_id": voice, **rest}


def test_the_single_socket_ends_with_its_text(server: Running) -> None:
    async def go(socket: ClientConnection) -> None:
        await socket.send(
            json.dumps({"voices": ["toy", "ben"], "inputs": [line(HELLO), line(FINE, "ben")]})
        )
        await socket.send(json.dumps({"close_socket": True}))
        messages = await until_final(socket)
        assert np.abs(sound(messages) - both()).max() < 1e-4
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1000

    run(server, "/stream-input", go)


def test_an_unknown_voice_is_the_first_one(server: Running) -> None:
    async def go(socket: ClientConnection) -> None:
        inputs = [line(HELLO, "x"), line(FINE, "ben"), line(HELLO, "x")]
        await socket.send(
            json.dumps({"voices": ["x", "ben"], "inputs": inputs, "close_socket": True})
        )
        wanted = np.concatenate([both(), toy_voice().synthesize(HELLO)])
        assert np.abs(sound(await until_final(socket)) - wanted).max() < 1e-4

    run(server, "/stream-input", go)


@pytest.mark.parametrize(
    "message",
    [
        {"inputs": [{"text": "Hello.", "voice_id": "toy"}]},
        {"voices": []},
        {"voices": ["toy"], "inputs": "Hello."},
        {"voices": ["toy"], "inputs": [{"text": "Hello."}]},
    ],
)
def test_what_cannot_be_read_closes_the_connection(server: Running, message: Message) -> None:
    async def go(socket: ClientConnection) -> None:
        await socket.send(json.dumps({"context_id": "a", **message}))
        told = json.loads(await asyncio.wait_for(socket.recv(), 20))
        assert told["error"] == "invalid_input_message"
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), 20)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008

    run(server, "/multi-stream-input", go)


@pytest.mark.parametrize("rest", ["", "/stream"])
def test_dialogue_over_http(server: Running, rest: str) -> None:
    address = f"{server.http}{PATH}{rest}?output_format=pcm_8000"
    body = {
        "inputs": [line(HELLO), line(FINE, "ben")],
        "model_id": "eleven_v3",
        "settings": {"stability": 0.5},
    }
    assert np.abs(samples_of(httpx.post(address, json=body).content) - both()).max() < 1e-4
    bodies: list[Message] = [{"inputs": []}, {"inputs": [{"text": "x"}]}, {}]
    for wrong in bodies:
        assert httpx.post(address, json=wrong).status_code == 400


@LEAVING_SOCKETS
@pytest.mark.usefixtures("leftovers")
class TestClients:
    """Clients as they are published."""

    def test_sdk(self, server: Running) -> None:
        sdk = pytest.importorskip("elevenlabs.client", reason="needs sayahead[compat]")
        from elevenlabs import DialogueInput

        client = sdk.ElevenLabs(api_key="some-key", base_url=server.http)
        inputs = [
            DialogueInput(text=HELLO, voice_id="toy"),
            DialogueInput(text=FINE, voice_id="ben"),
        ]
        for call in (client.text_to_dialogue.convert, client.text_to_dialogue.stream):
            data = b"".join(call(inputs=inputs, model_id="eleven_v3", output_format="pcm_8000"))
            assert np.abs(samples_of(data) - both()).max() < 1e-4

    def test_livekit(self, server: Running) -> None:
        plugin = pytest.importorskip("livekit.plugins.elevenlabs", reason="needs sayahead[compat]")
        import aiohttp

        async def go() -> None:
            async with aiohttp.ClientSession() as http:
                service = plugin.TTS(
                    base_url=server.http + "/v1",
                    api_key="some-key",
                    voice_id="toy",
                    model="eleven_v4_turbo",
                    encoding="pcm_8000",
                    http_session=http,
                )
                for _ in range(2):
                    stream = service.stream()
                    stream.push_text(TEXT)
                    stream.end_input()
                    events = [event async for event in stream]
                    data = b"".join(bytes(event.frame.data) for event in events)
                    wanted = toy_voice().synthesize(TEXT)
                    assert len(samples_of(data)) >= len(wanted) - 1000
                    await stream.aclose()
                frame = await service.synthesize(TEXT).collect()
                assert frame.duration == pytest.approx(
                    len(toy_voice().synthesize(TEXT)) / 8000, abs=0.05
                )
                await service.aclose()

        asyncio.run(asyncio.wait_for(go(), 60))
        server.settle()

    def test_pipecat(self, server: Running) -> None:
        pytest.importorskip("pipecat", reason="needs sayahead[compat]")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from pipecat.services.elevenlabs.dialogue.tts import (
                ElevenLabsDialogueTTSService as Service,
            )
            from support.pipecat_run import TOKENS, turn

        def service() -> Any:
            settings = Service.Settings(voice="toy", model="eleven_v4_turbo")
            return Service(api_key="some-key", url=server.ws, sample_rate=8000, settings=settings)

        heard = asyncio.run(turn(service(), TOKENS))
        assert heard.errors == []
        assert len(heard.samples()) >= len(toy_voice().synthesize("".join(TOKENS))) - 1600
        check_times(heard.words, "".join(TOKENS))
        server.settle()
