"""Cartesia's socket: by hand, with its SDK, and with Pipecat's service."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import httpx
import numpy as np
import pytest
from support.servers import LEAVING_SOCKETS, Running, check_times, serving, talk, toy_voice
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from sayahead.text.styles.table import STYLES
from sayahead.types import Delivery

TEXT = "Hello there, how are you today? I am fine. "
PATH = "/tts/websocket"
FORM = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000}
Message = dict[str, Any]


async def say(socket: ClientConnection, context: str, text: str, **rest: Any) -> None:
    message = {
        "context_id": context,
        "model_id": "sonic",
        "transcript": text,
        "voice": {"mode": "id", "id": "any"},
        "output_format": FORM,
        "add_timestamps": True,
        **rest,
    }
    await socket.send(json.dumps(message))


async def hear(socket: ClientConnection) -> Message:
    message = json.loads(await asyncio.wait_for(socket.recv(), 20))
    assert isinstance(message, dict)
    return message


async def until_done(socket: ClientConnection) -> list[Message]:
    heard = [await hear(socket)]
    while not heard[-1]["done"]:
        heard.append(await hear(socket))
    return heard


def sound(heard: list[Message]) -> Any:
    data = b"".join(
        base64.b64decode(message["data"]) for message in heard if message["type"] == "chunk"
    )
    return np.frombuffer(data, "<i2") / np.float32(32767)


def words(heard: list[Message]) -> list[tuple[str, float]]:
    told = [message["word_timestamps"] for message in heard if message["type"] == "timestamps"]
    return [pair for times in told for pair in zip(times["words"], times["start"], strict=True)]


def test_contexts_flushes_and_cancelling(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        await say(socket, "a", "One two ", flush=True, **{"continue": True})
        await say(socket, "b", "Seven. ", add_timestamps=False)
        heard = list[Message]()
        while {message["type"] for message in heard} != {
            "chunk",
            "timestamps",
            "flush_done",
            "done",
        }:
            heard.append(await hear(socket))
        assert [m["flush_id"] for m in heard if m["type"] == "flush_done"] == [1]
        assert {m["context_id"] for m in heard if m["type"] == "timestamps"} == {"a"}
        assert (
            np.abs(
                sound([m for m in heard if m["context_id"] == "b"])
                - toy_voice().synthesize("Seven. ")
            ).max()
            < 1e-4
        )
        await socket.send(json.dumps({"context_id": "a", "cancel": True}))
        assert await until_done(socket) == [
            {"type": "done", "context_id": "a", "status_code": 200, "done": True}
        ]
        # Nothing is left to cancel, and the name is free.
        await socket.send(json.dumps({"context_id": "a", "cancel": True}))
        await say(socket, "a", "Again. ")
        assert len(sound(await until_done(socket))) == len(toy_voice().synthesize("Again. "))

    talk(server.ws + PATH, run)
    server.settle()


def test_each_message_may_have_its_volume_pace_and_emotion(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        more = {"continue": True}
        await say(socket, "a", "One two. ", generation_config={"volume": 0.5}, **more)
        await say(
            socket, "a", "Three four. ", generation_config={"volume": 1.0, "emotion": "sad"}, **more
        )
        await say(socket, "a", "Five six.")
        session = toy_voice().session(volume=0.5)
        session.push("One two. ")
        session.deliver(STYLES["tired"].joined(Delivery(volume=2.0)))
        session.push("Three four. Five six.")
        session.finish()
        wanted = np.concatenate([chunk.samples for chunk in session.chunks()])
        assert np.abs(sound(await until_done(socket)) - wanted).max() < 1e-4

    talk(server.ws + PATH, run)


def test_an_emotion_holds_from_the_first_word(server: Running) -> None:
    address = server.http + "/tts/bytes"
    body = {"transcript": "One two. ", "output_format": FORM}
    for emotion in ("sad", ["melancholic"], ["sadness:high", "sad:high"]):
        answer = httpx.post(address, json=body | {"generation_config": {"emotion": emotion}})
        session = toy_voice().session()
        session.deliver(STYLES["tired"])
        session.push("One two. ")
        session.finish()
        wanted = np.concatenate([chunk.samples for chunk in session.chunks()])
        assert (
            np.abs(np.frombuffer(answer.content, "<i2") / np.float32(32767) - wanted).max() < 1e-4
        )


def test_words_are_told_as_they_were_written_or_as_they_are_spoken(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        for normalized, name in ((False, "Dr."), (True, "Doctor")):
            await say(socket, "a", "So Dr. Smith came. ", use_normalized_timestamps=normalized)
            assert [word for word, _ in words(await until_done(socket))] == [
                "So",
                name,
                "Smith",
                "came.",
            ]
        # Of an amount's figures and its currency, one word each, only the first is written.
        await say(socket, "b", "Pay $10-$15 now. ")
        assert [word for word, _ in words(await until_done(socket))] == ["Pay", "$10-$15", "now."]

    talk(server.ws + PATH, run)


@pytest.mark.parametrize(
    ("message", "context"),
    [
        ("nonsense", None),
        ("[]", None),
        ('{"context_id": 5}', None),
        ('{"context_id": "c", "transcript": 5}', "c"),
        ('{"context_id": "c", "output_format": 5}', "c"),
        ('{"context_id": "c", "voice": []}', "c"),
        ('{"context_id": "c", "output_format": {"container": "wav"}}', "c"),
        ('{"context_id": "c", "output_format": {"encoding": "mp3"}}', "c"),
        ('{"context_id": "c", "output_format": {"sample_rate": 1}}', "c"),
        ('{"context_id": "c", "generation_config": {"speed": 1e99}}', "c"),
        ('{"context_id": "c", "pronunciation_dict_id": "none"}', "c"),
        ('{"context_id": "c", "pronunciation_dict_id": []}', "c"),
        ('{"context_id": "c", "generation_config": {"speed": 1e999}}', None),
        ('{"context_id": "c", "generation_config": {"speed": NaN}}', None),
        (b"\x00", None),
    ],
)
def test_what_is_wrong_is_told_of_its_context_and_the_connection_stays(
    server: Running, message: str | bytes, context: str | None
) -> None:
    async def run(socket: ClientConnection) -> None:
        await socket.send(message)
        error = await hear(socket)
        assert (error["type"], error["context_id"], error["status_code"], error["done"]) == (
            "error",
            context,
            400,
            True,
        )
        await say(socket, "c", "Hello. ")
        assert len(sound(await until_done(socket))) > 0

    talk(server.ws + PATH, run)
    server.settle()


def test_speech_over_http(server: Running) -> None:
    body = {"transcript": TEXT, "voice": {"mode": "id", "id": "any"}}
    address = server.http + "/tts/bytes"
    for container, start in (("wav", b"RIFF"), ("mp3", b"\xff")):
        answer = httpx.post(
            address, json={**body, "output_format": {"container": container, "sample_rate": 44100}}
        )
        assert answer.headers["content-type"].startswith("audio/")
        assert answer.content.startswith(start)
    for encoding, code in (("pcm_s16le", 1), ("pcm_f32le", 3), ("pcm_alaw", 6), ("pcm_mulaw", 7)):
        form = {"container": "wav", "encoding": encoding, "sample_rate": 8000}
        data = httpx.post(address, json={**body, "output_format": form}).content
        assert int.from_bytes(data[20:22], "little") == code
    for wrong in (
        {},
        {"transcript": ""},
        {**body, "output_format": {"container": "ogg"}},
        {**body, "voice": []},
    ):
        assert httpx.post(address, json=wrong).status_code == 400


def test_a_dictionary_of_the_server_is_chosen_by_its_id(server: Running) -> None:
    rules = [{"type": "alias", "string_to_replace": "SQL", "alias": "sequel"}]
    made = httpx.post(
        f"{server.http}/v1/pronunciation-dictionaries/add-from-rules",
        json={"name": "n", "rules": rules},
    )
    named = {"pronunciation_dict_id": made.json()["id"]}
    wanted = toy_voice().synthesize("They sequel it. ")

    async def run(socket: ClientConnection) -> None:
        await say(socket, "c", "They SQL it. ", **named)
        heard = sound(await until_done(socket))
        assert len(heard) == len(wanted)
        assert np.abs(heard - wanted).max() < 1e-4
        await say(socket, "d", "They SQL it. ")
        assert len(sound(await until_done(socket))) != len(wanted)

    talk(server.ws + PATH, run)
    body = {"transcript": "They SQL it. ", "voice": "any", "output_format": FORM}
    raw = httpx.post(server.http + "/tts/bytes", json={**body, **named}).content
    assert np.abs(np.frombuffer(raw, "<i2") / np.float32(32767) - wanted).max() < 1e-4
    answer = httpx.post(server.http + "/tts/bytes", json={**body, "pronunciation_dict_id": "none"})
    assert answer.status_code == 400
    assert "There is no pronunciation dictionary 'none'" in answer.json()["message"]


def test_a_connection_that_idles_is_closed() -> None:
    async def run(socket: ClientConnection) -> None:
        error = await hear(socket)
        assert (error["type"], error["context_id"], error["error_code"]) == ("error", None, "idle")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008

    with serving(limits={"idle_most_s": 0.3}) as server:
        talk(server.ws + PATH, run)


@LEAVING_SOCKETS
@pytest.mark.usefixtures("leftovers")
class TestClients:
    """Clients as they are published."""

    def test_sdk(self, server: Running) -> None:
        sdk = pytest.importorskip("cartesia", reason="needs sayahead[compat]")

        async def run() -> None:
            client = sdk.AsyncCartesia(
                api_key="some-key", base_url=server.http, websocket_base_url=server.ws
            )
            async with client.tts.websocket_connect() as connection:
                context = connection.context(
                    model_id="sonic",
                    voice={"mode": "id", "id": "any"},
                    output_format=FORM,
                    add_timestamps=True,
                )
                await context.push(TEXT[:16])
                heard = list[Message]()
                pushed = False
                async for message in context.receive():
                    heard.append(message.model_dump())
                    if not pushed:
                        assert message.type == "chunk"
                        pushed = True
                        await context.push(TEXT[16:])
                        await context.no_more_inputs()
            assert heard[-1]["type"] == "done"
            assert np.abs(sound(heard) - toy_voice().synthesize(TEXT)).max() < 1e-4
            check_times(words(heard), TEXT)
            await client.close()

        asyncio.run(run())
        server.settle()

    def test_livekit(self, server: Running) -> None:
        plugin = pytest.importorskip("livekit.plugins.cartesia", reason="needs sayahead[compat]")
        import aiohttp

        # The plugin sends whole sentences; by words, it breaks (its word stream has no ``closed``).
        text = "Hello there, how are you today? I am quite fine, and so are all the others. "

        async def run() -> None:
            async with aiohttp.ClientSession() as http:
                service = plugin.TTS(
                    base_url=server.http,
                    api_key="some-key",
                    http_session=http,
                    sample_rate=8000,
                    voice="any",
                )
                # The connection is used again for the second text.
                for _ in range(2):
                    stream = service.stream()
                    data = b""
                    told = list[Any]()
                    stream.push_text(text[:60])
                    first = await asyncio.wait_for(anext(stream), 20)
                    stream.push_text(text[60:])
                    stream.end_input()
                    events = [first, *[event async for event in stream]]
                    for event in events:
                        data += bytes(event.frame.data)
                        told += event.frame.userdata.get("lk.timed_transcripts", [])
                    assert (
                        np.abs(np.frombuffer(data, "<i2") / np.float32(32767) - whole).max() < 1e-4
                    )
                    check_times([(str(word).strip(), word.start_time) for word in told], text)
                    await stream.aclose()
                frame = await service.synthesize(text).collect()
                assert frame.duration == pytest.approx(len(whole) / 8000, abs=0.05)
                await service.aclose()

        whole = toy_voice().synthesize(text)
        asyncio.run(asyncio.wait_for(run(), 60))
        server.settle()
