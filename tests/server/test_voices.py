"""Voices chosen by name, speaker and language, through every protocol that can name them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from support.servers import Running, free_port, serving, toy_voice
from websockets.asyncio.client import connect

from sayahead.client import AsyncClient, ServerError
from sayahead.engine.options import SessionOptions
from sayahead.engine.session import Session
from sayahead.errors import VoiceError
from sayahead.server.voices import Voices
from sayahead.systems.loading import Loaded
from sayahead.text import Normalizer
from sayahead.text.reading.language import language_of
from sayahead.voice import Voice

Opened = list[tuple[str, Any]]


class Noted(Voice):
    """A toy voice that notes which of its speakers was asked for."""

    opened: Opened

    def session(self, record: SessionOptions | None = None, /, **options: Any) -> Session:
        assert record is not None
        self.opened.append((self.config.name, record.speaker))
        return super().session(record, **options)


def noted(opened: Opened, name: str, language: str, speakers: tuple[str, ...] = ()) -> Voice:
    toy = toy_voice()
    numbers = {speaker: number for number, speaker in enumerate(speakers)}
    voice = Noted(replace(toy.config, name=name, language=language, speakers=numbers), toy.loaded)
    voice.opened = opened
    return voice


@pytest.fixture(scope="module")
def opened() -> Opened:
    return []


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(opened: Opened, port: int) -> Iterator[Running]:
    with serving(wyoming=f"tcp://127.0.0.1:{port}") as running:
        for voice in (
            noted(opened, "pierre", "fr-FR"),
            noted(opened, "anna", "de-DE", ("low", "high")),
            noted(opened, "joao", "pt-PT"),
            noted(opened, "ana", "pt-BR"),
            noted(opened, "amy", "en-GB"),
        ):
            running.hub.voices.put(voice)
        yield running


def test_a_voice_is_found_by_name_speaker_and_language(server: Running) -> None:
    voices: Voices = server.hub.voices
    assert voices.find(None) == ("amy", None)
    assert voices.find("anna") == ("anna", None)
    assert voices.find("anna:high") == ("anna", "high")
    assert voices.find(None, language="de") == ("anna", None)
    assert voices.find(None, language="pt_BR") == ("ana", None)
    assert voices.find(None, language="pt-PT") == ("joao", None)
    assert voices.find(None, language="en-GB") == ("amy", None)
    assert voices.find("Rachel", any_voice=True, language="fr") == ("pierre", None)
    assert voices.find("Rachel", any_voice=True, language="ja") == ("amy", None)
    assert voices.find("pierre", any_voice=True, language="de") == ("pierre", None)
    for wanted, language, message in (
        ("ann", None, "no voice 'ann'"),
        ("anna:hihg", None, "no speaker 'hihg'.*high"),
        (None, "ja", "No voice speaks 'ja'"),
    ):
        with pytest.raises(VoiceError, match=message):
            voices.find(wanted, language=language)
    assert {"anna", "anna:low", "anna:high", "pierre"} <= {name for name, _ in voices.listed()}


def test_openai_lists_and_chooses(server: Running, opened: Opened) -> None:
    listed = httpx.get(server.http + "/v1/audio/voices").json()
    assert {"anna", "anna:low", "anna:high", "pierre"} <= {row["id"] for row in listed["voices"]}
    assert next(row for row in listed["details"] if row["id"] == "anna")["speakers"] == [
        "low",
        "high",
    ]
    body = {"model": "tts-1", "input": "Hello.", "response_format": "pcm"}
    for more, wanted in (
        ({"voice": "anna:low"}, ("anna", "low")),
        ({"voice": "alloy", "language": "fr"}, ("pierre", None)),
        ({"voice": "alloy"}, ("amy", None)),
    ):
        assert httpx.post(server.http + "/v1/audio/speech", json=body | more).status_code == 200
        assert opened[-1] == wanted
    answer = httpx.post(server.http + "/v1/audio/speech", json=body | {"voice": "anna:middle"})
    assert answer.status_code == 400
    assert "no speaker 'middle'" in answer.json()["error"]["message"]


def test_elevenlabs_lists_and_chooses(server: Running, opened: Opened) -> None:
    rows = httpx.get(server.http + "/v1/voices").json()["voices"]
    assert {row["voice_id"]: row["labels"]["language"] for row in rows}["anna:high"] == "de-DE"
    assert httpx.get(server.http + "/v1/voices/anna:high").json()["voice_id"] == "anna:high"
    speech = server.http + "/v1/text-to-speech/"
    for voice, more, wanted in (
        ("anna:high", {}, ("anna", "high")),
        ("21m00Tcm4TlvDq8ikWAM", {"language_code": "pt-BR"}, ("ana", None)),
    ):
        assert httpx.post(speech + voice, json={"text": "Hello.", **more}).status_code == 200
        assert opened[-1] == wanted

    async def run() -> None:
        async with connect(
            f"{server.ws}/v1/text-to-speech/unknown/stream-input?language_code=fr"
        ) as connection:
            for text in (" ", "Hello there. ", ""):
                await connection.send(json.dumps({"text": text}))
            async for _ in connection:
                pass

    asyncio.run(run())
    assert opened[-1] == ("pierre", None)


def test_the_native_socket_chooses(server: Running, opened: Opened) -> None:
    async def run() -> None:
        choices: list[tuple[dict[str, Any], str]]
        choices = [({"voice": "anna", "speaker": "high"}, "high"), ({"voice": "anna:low"}, "low")]
        for choice, wanted in choices:
            async with AsyncClient(server.ws, **choice) as client:
                assert [chunk async for chunk in client.stream(["Hello."])]
            assert opened[-1] == ("anna", wanted)
        async with AsyncClient(server.ws, language="de") as client:
            assert [chunk async for chunk in client.stream(["Hello."])]
        assert opened[-1] == ("anna", None)
        with pytest.raises(ServerError, match="No voice speaks"):
            await AsyncClient(server.ws, language="ja").__aenter__()

    asyncio.run(run())


def test_home_assistant_chooses(server: Running, port: int, opened: Opened) -> None:
    async def run() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def hear(kind: str) -> Any:
            while True:
                header = json.loads(await asyncio.wait_for(reader.readline(), 20))
                data = json.loads(await reader.readexactly(header.get("data_length", 0)) or b"{}")
                await reader.readexactly(header.get("payload_length", 0))
                if header["type"] == kind:
                    return data

        def say(kind: str, data: Any) -> None:
            writer.write(json.dumps({"type": kind, "data": data}).encode() + b"\n")

        say("describe", {})
        voices = {voice["name"]: voice for voice in (await hear("info"))["tts"][0]["voices"]}
        assert voices["anna"]["languages"] == ["de-DE"]
        assert voices["anna"]["speakers"] == [{"name": "low"}, {"name": "high"}]
        for voice, wanted in (
            ({"name": "anna", "speaker": "high"}, ("anna", "high")),
            ({"language": "pt_BR"}, ("ana", None)),
            ({"name": "anna", "language": "de-DE"}, ("anna", None)),
        ):
            say("synthesize", {"text": "Hello.", "voice": voice})
            await hear("audio-stop")
            assert opened[-1] == wanted
        writer.close()

    asyncio.run(run())


def test_a_voice_that_is_loaded_has_the_rules_of_its_language() -> None:
    """Its first text made them on the event loop: a fifth of a second in which nobody was read."""
    language_of.cache_clear()
    Voices(("heart",)).load("heart")
    assert language_of.cache_info().currsize == 1


def test_a_speakers_language_is_read_beside_the_event_loop() -> None:
    """A choice of such a speaker held the loop for 70 ms a language."""
    readers = list[str]()
    makers = list[bool]()
    toy = toy_voice()

    def read() -> Loaded:
        readers.append(threading.current_thread().name)
        return replace(toy.loaded, normalizer=normalizer)

    def normalizer(start: int) -> Normalizer:
        makers.append(voice.has_read("anne"))
        return toy.loaded.normalizer(start)

    loaded = replace(toy.loaded, other=lambda speaker: ("fr", read) if speaker else None)
    config = replace(toy.config, name="two", speakers={"ann": 0, "anne": 1})
    voice = Voice(config, loaded)

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            await connection.recv()
            for speaker in ("ann", "anne", "anne", "nobody"):
                session = {"voice": "two", "speaker": speaker}
                await connection.send(json.dumps({"type": "session.update", "session": session}))
                answer = json.loads(await connection.recv())
                assert answer["type"] == ("error" if speaker == "nobody" else "session.updated")

    with serving() as server:
        server.hub.voices.put(voice)
        asyncio.run(run(server))
    assert [name.partition("_")[0] for name in readers] == ["aside"]
    # The language's rules are made before others may choose it on the loop.
    assert makers[0] is False
