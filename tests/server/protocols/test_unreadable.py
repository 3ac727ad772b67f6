"""A text of which the voice can read nothing is an error in every protocol; one word is enough for
a success."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import msgpack
import pytest
from support.servers import Running, serving, talk
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from sayahead import load_voice

TEXT = "你好，世界"
MIXED = "你好 hello."


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(voice=load_voice("heart")) as running:
        yield running


HTTP: dict[str, tuple[str, dict[str, Any], str]] = {
    "openai": ("/v1/audio/speech", {"model": "tts-1", "voice": "alloy"}, "input"),
    "openai events": (
        "/v1/audio/speech",
        {"model": "tts-1", "voice": "alloy", "stream_format": "sse"},
        "input",
    ),
    "openai pcm": (
        "/v1/audio/speech",
        {"model": "tts-1", "voice": "alloy", "response_format": "pcm"},
        "input",
    ),
    "elevenlabs": ("/v1/text-to-speech/any", {}, "text"),
    "elevenlabs stream": ("/v1/text-to-speech/any/stream", {}, "text"),
    "elevenlabs times": ("/v1/text-to-speech/any/with-timestamps", {}, "text"),
    "elevenlabs lines": ("/v1/text-to-speech/any/stream/with-timestamps", {}, "text"),
    "cartesia": (
        "/tts/bytes",
        {"output_format": {"container": "wav", "sample_rate": 24000}},
        "transcript",
    ),
    "deepgram": ("/v1/speak", {}, "text"),
}


@pytest.mark.parametrize("name", HTTP)
def test_over_http(server: Running, name: str) -> None:
    path, body, field = HTTP[name]
    answer = httpx.post(server.http + path, json={**body, field: TEXT})
    assert answer.status_code == 400
    assert "The voice heart can read nothing of this text, '你好 世界'" in answer.text
    answer = httpx.post(server.http + path, json={**body, field: MIXED})
    assert answer.status_code == 200
    assert len(answer.content) > 1000
    server.settle()


async def rest(socket: ClientConnection) -> list[Any]:
    """All messages, to the end of the connection."""
    heard = list[Any]()
    try:
        while True:
            heard.append(await asyncio.wait_for(socket.recv(), 20))
    except ConnectionClosed:
        return heard


SOCKETS: dict[str, tuple[str, list[Any]]] = {
    "elevenlabs": (
        "/v1/text-to-speech/any/stream-input",
        [{"text": " "}, {"text": "TEXT"}, {"text": ""}],
    ),
    "elevenlabs contexts": (
        "/v1/text-to-speech/any/multi-stream-input",
        [{"text": "TEXT", "context_id": "a", "flush": True}],
    ),
    "deepgram": ("/v1/speak", [{"type": "Speak", "text": "TEXT"}, {"type": "Flush"}]),
    "jambonz": ("/v1/jambonz", [{"type": "stream", "text": "TEXT"}, {"type": "flush"}]),
}


@pytest.mark.parametrize("text", [TEXT, "hello."])
@pytest.mark.parametrize("name", SOCKETS)
def test_over_a_socket(server: Running, name: str, text: str) -> None:
    path, messages = SOCKETS[name]

    async def run(socket: ClientConnection) -> None:
        for message in messages:
            await socket.send(json.dumps(message).replace("TEXT", text))
        told = False
        sound = False
        while not (told or sound):
            answer = await asyncio.wait_for(socket.recv(), 20)
            told = "can read nothing of this text" in str(answer)
            sound = isinstance(answer, bytes) or bool(json.loads(answer).get("audio"))
        assert (told, sound) == (text == TEXT, text != TEXT)

    talk(server.ws + path, run)
    server.settle()


def test_over_cartesias_socket(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        heard = list[dict[str, Any]]()
        await socket.send(json.dumps({"context_id": "a", "transcript": TEXT}))
        while not heard or not heard[-1]["done"]:
            heard.append(json.loads(await asyncio.wait_for(socket.recv(), 20)))
        assert [(each["type"], each["error_code"]) for each in heard] == [("error", "unreadable")]

    talk(server.ws + "/tts/websocket", run)
    server.settle()


def test_over_kyutais_socket(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        await socket.send(TEXT)
        await socket.send(b"\0")
        heard = [msgpack.unpackb(each) for each in await rest(socket)]
        assert [each["type"] for each in heard] == ["Ready", "Error"]

    talk(server.ws + "/api/tts_streaming?voice=any&format=PcmMessagePack", run)
    server.settle()


def test_a_sentence_that_cannot_be_read_between_others_is_a_warning(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        heard = list[Any]()
        for text in ("Hello.", TEXT, "Bye."):
            await socket.send(json.dumps({"type": "Speak", "text": text}))
            await socket.send(json.dumps({"type": "Flush"}))
        while sum('"Flushed"' in str(each) for each in heard) < 3:
            heard.append(await asyncio.wait_for(socket.recv(), 20))
        kinds = [json.loads(each)["type"] if isinstance(each, str) else "sound" for each in heard]
        told = [
            kind for at, kind in enumerate(kinds) if kind != "sound" or kinds[at - 1] != "sound"
        ]
        assert told == ["Metadata", "sound", "Flushed", "Warning", "Flushed", "sound", "Flushed"]

    talk(server.ws + "/v1/speak", run)
    server.settle()
