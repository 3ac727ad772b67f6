"""Deepgram's Flux: by hand, with its SDK, with LiveKit's plugin and with Pipecat's service."""

from __future__ import annotations

import asyncio
import json
import random
import re
import types
import warnings
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from support.servers import LEAVING_SOCKETS, Running, serving, toy_voice
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from sayahead.engine.playback import Playback
from sayahead.server.protocols.flux import voice_of
from sayahead.server.voices import Voices
from sayahead.types import Delivery

TEXT = "Hello there, how are you today? I am fine. "
LONG = "One two three four five six seven eight nine ten, and then eleven. " * 4
PATH = "/v2/speak?model=flux-alexis-en&encoding=linear16&sample_rate=8000"
RATE = 8000


@pytest.mark.parametrize(
    ("model", "voice", "language"),
    [
        ("flux-heart-en", "heart", "en"),
        ("flux-heart-low-en", "heart-low", "en"),
        # The second part of a name is no language.
        ("flux-heart-low", "heart-low", None),
        ("heart-low", "heart-low", None),
        ("heart-en", "heart", None),
        ("flux-alexis-en", "heart", "en"),
        ("flux-alexis", "heart", None),
        ("", "heart", None),
    ],
)
def test_a_model_names_a_voice_or_a_language(model: str, voice: str, language: str | None) -> None:
    hub: Any = types.SimpleNamespace(voices=Voices(("heart", "heart-low")))
    assert voice_of(hub, model) == (voice, language)


class Talk:
    """A connection."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.sound = b""

    async def say(self, kind: str, **rest: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **rest}))

    async def hear(self) -> dict[str, Any] | None:
        """The next message; None for sound, which is kept."""
        message = await asyncio.wait_for(self.socket.recv(), 20)
        if isinstance(message, bytes):
            self.sound += message
            return None
        data = json.loads(message)
        assert isinstance(data, dict)
        return data

    async def until(self, *kinds: str) -> list[dict[str, Any]]:
        """Messages of these kinds, one after the other, and none between them."""
        messages = list[dict[str, Any]]()
        while len(messages) < len(kinds):
            if (message := await self.hear()) is not None:
                messages.append(message)
                assert message["type"] == kinds[len(messages) - 1], message
        return messages

    async def sounded(self, seconds: float) -> None:
        """Wait for so much sound."""
        while len(self.sound) < 2 * round(seconds * RATE):
            assert await self.hear() is None

    async def closed(self) -> tuple[int, list[dict[str, Any]]]:
        """The closing code, and what came before it."""
        messages = list[dict[str, Any]]()
        try:
            while True:
                if (message := await self.hear()) is not None:
                    messages.append(message)
        except ConnectionClosed as closed:
            return (closed.rcvd.code if closed.rcvd else 1006), messages

    def samples(self) -> Any:
        found = np.frombuffer(self.sound, "<i2") / np.float32(32767)
        self.sound = b""
        return found


def talk(address: str, run: Callable[[Talk], Awaitable[None]], **options: Any) -> None:
    async def whole() -> None:
        async with connect(address, **options) as socket:
            talking = Talk(socket)
            (connected,) = await talking.until("Connected")
            assert connected.keys() == {
                "type",
                "request_id",
                "model_name",
                "model_version",
                "model_uuids",
            }
            await run(talking)

    asyncio.run(whole())


def check(samples: Any, text: str) -> None:
    """What was flushed is what is spoken of a text that ends, but for the silence at its end."""
    wanted = toy_voice().synthesize(text)[:-800]
    assert len(samples) >= len(wanted)
    assert np.abs(samples[: len(wanted)] - wanted).max() < 1e-4


def heard_by_player(text: str, played_s: float) -> tuple[str, str]:
    """What a player of our own would report of the text after so many seconds, and what it would
    not."""
    session = toy_voice().session()
    session.push(text)
    session.flush()
    list(session.chunks())
    heard = session.heard(played_s)
    return heard.text, heard.unsaid


def test_a_turn_begins_with_its_name_and_ends_with_its_figures(server: Running) -> None:
    async def run(talking: Talk) -> None:
        for text in (TEXT, "And a second turn. "):
            for piece in (text[:7], text[7:8], text[8:]):
                await talking.say("Speak", text=piece)
            await talking.say("Flush")
            started, metadata, flushed = await talking.until(
                "SpeechStarted", "SpeechMetadata", "Flushed"
            )
            assert started["speech_id"].startswith("dg_sp_")
            assert len(started["speech_id"]) == len("dg_sp_") + 12
            assert metadata == {
                "type": "SpeechMetadata",
                "speech_id": started["speech_id"],
                "audio_duration_ms": round(len(talking.sound) / 2 / RATE * 1000),
                "input_character_count": len(text),
                "billable_character_count": len(text),
                "controls_applied": {
                    "pronunciations_applied": 0,
                    "breaks_applied": 0,
                    "pronunciation_warnings": 0,
                },
            }
            assert flushed == {"type": "Flushed", "speech_id": started["speech_id"]}
            check(talking.samples(), text)
        await talking.say("Close")
        code, (totals,) = await talking.closed()
        assert code == 1000
        assert totals["type"] == "SessionMetadata"
        assert totals["total_input_character_count"] == len(TEXT + "And a second turn. ")

    talk(server.ws + PATH, run)
    server.settle()


def test_a_turn_that_is_sent_early_waits_for_the_one_before(server: Running) -> None:
    async def run(talking: Talk) -> None:
        for text in ("First turn. ", "Second turn. "):
            await talking.say("Speak", text=text)
            await talking.say("Flush")
        kinds = ("SpeechStarted", "SpeechMetadata", "Flushed") * 2
        first, _, _, second, _, _ = await talking.until(*kinds)
        assert first["speech_id"] != second["speech_id"]

    talk(server.ws + PATH, run)


def test_closing_speaks_the_rest_of_the_turn_first(server: Running) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Speak", text=TEXT)
        await talking.say("Close")
        code, messages = await talking.closed()
        assert code == 1000
        assert [message["type"] for message in messages] == [
            "SpeechStarted",
            "SpeechMetadata",
            "Flushed",
            "SessionMetadata",
        ]
        assert messages[-1]["total_audio_duration_ms"] == messages[1]["audio_duration_ms"]
        check(talking.samples(), TEXT)

    talk(server.ws + PATH, run)
    server.settle()


def test_interrupted_at_20_random_moments_it_tells_what_a_player_reports(server: Running) -> None:
    draw = random.Random(55)
    cases = 20
    total_s = len(toy_voice().synthesize(LONG)) / RATE

    async def run(talking: Talk) -> None:
        before_ms = 0
        for case in range(cases):
            moment_ms = draw.randint(1, int(total_s * 1000) - 200)
            for at in range(0, len(LONG), 9):
                await talking.say("Speak", text=LONG[at : at + 9])
            await talking.until("SpeechStarted")
            # Of some turns all audio has come when the listener interrupts, of others not.
            if case % 2:
                await talking.say("Flush")
                await talking.until("SpeechMetadata", "Flushed")
            await talking.sounded(moment_ms / 1000)
            before_ms += moment_ms
            await talking.say("Interrupt", playback_offset={"type": "time_ms", "value": before_ms})
            (interrupted,) = await talking.until("SpeechInterrupted")
            spoken, remaining = heard_by_player(LONG, moment_ms / 1000)
            assert (interrupted["text_spoken"], interrupted["text_remaining"]) == (
                spoken,
                remaining,
            )
            assert interrupted["audio_played_ms"] == before_ms
            assert interrupted["metadata"]["input_character_count"] == len(LONG)
            talking.samples()

    talk(server.ws + PATH, run)
    server.settle()


def test_an_interrupt_without_an_offset_goes_by_the_clock_and_our_word_times(
    server: Running,
) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Speak", text=LONG)
        await talking.until("SpeechStarted")
        await talking.sounded(1.0)
        await talking.say("Interrupt")
        while (message := await talking.hear()) is None:
            pass
        assert message["type"] == "SpeechInterrupted"
        spoken, remaining = heard_by_player(LONG, message["audio_played_ms"] / 1000)
        assert (message["text_spoken"], message["text_remaining"]) == (spoken, remaining)
        # It has heard less than was sent: synthesis is ahead of the clock.
        assert message["audio_played_ms"] <= len(talking.sound) / 2 / RATE * 1000
        talking.samples()
        await talking.say("Speak", text=TEXT)
        await talking.say("Flush")
        await talking.until("SpeechStarted", "SpeechMetadata", "Flushed")
        check(talking.samples(), TEXT)

    talk(server.ws + PATH, run)
    server.settle()


def test_the_time_that_it_tells_and_the_words_that_it_tells_agree(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The middle of the fifth word is at 325 ms: it is heard after that.
    moment_s = 0.3254
    monkeypatch.setattr(Playback, "played_s", lambda self, now: moment_s)

    async def run(talking: Talk) -> None:
        await talking.say("Speak", text=LONG)
        await talking.until("SpeechStarted")
        await talking.sounded(0.5)
        await talking.say("Interrupt")
        while (message := await talking.hear()) is None:
            pass
        spoken, _ = heard_by_player(LONG, message["audio_played_ms"] / 1000)
        assert message["text_spoken"] == spoken
        talking.samples()

    talk(server.ws + PATH, run)
    server.settle()


def test_what_was_played_in_a_turn_that_is_over_is_that_turns(server: Running) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Speak", text="First turn. ")
        await talking.say("Flush")
        _, metadata, _ = await talking.until("SpeechStarted", "SpeechMetadata", "Flushed")
        await talking.say("Speak", text="Second turn. ")
        await talking.say("Flush")
        await talking.until("SpeechStarted", "SpeechMetadata", "Flushed")
        offset = {"type": "time_ms", "value": metadata["audio_duration_ms"] // 2}
        await talking.say("Interrupt", playback_offset=offset)
        (interrupted,) = await talking.until("SpeechInterrupted")
        assert interrupted["metadata"]["speech_id"] == metadata["speech_id"]
        assert interrupted["text_spoken"] + interrupted["text_remaining"] == "First turn. "

    talk(server.ws + PATH, run)


def test_what_cannot_be_interrupted_is_a_warning(server: Running) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Interrupt")
        assert (await talking.until("Warning"))[0]["code"] == "NO_AUDIO_GENERATED"
        await talking.say("Flush")
        assert (await talking.until("Warning"))[0]["code"] == "NO_ACTIVE_SPEECH"
        await talking.say("Speak", text=TEXT)
        await talking.say("Flush")
        await talking.until("SpeechStarted", "SpeechMetadata", "Flushed")
        await talking.say("Interrupt", playback_offset={"type": "time_ms", "value": 10**6})
        assert (await talking.until("Warning"))[0]["code"] == "NO_ACTIVE_SPEECH"
        await talking.say("Speak", text=TEXT)
        await talking.until("SpeechStarted")
        await talking.say("Interrupt", playback_offset={"type": "time_ms", "value": 1})
        assert (await talking.until("Warning"))[0]["code"] == "INVALID_INTERRUPT_OFFSET"
        await talking.say("Flush")
        await talking.until("SpeechMetadata", "Flushed")

    talk(server.ws + PATH, run)


def test_a_turn_without_words_is_over_at_once(server: Running) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Speak", text="  ")
        await talking.say("Flush")
        kinds = ("SpeechStarted", "Warning", "SpeechMetadata", "Flushed")
        _, warning, metadata, _ = await talking.until(*kinds)
        assert warning["code"] == "NO_SYNTHESIZABLE_TEXT"
        assert metadata["audio_duration_ms"] == 0

    talk(server.ws + PATH, run)


def test_a_speed_is_one_that_flux_has(server: Running) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Configure", speed=1.25)
        assert (await talking.until("ConfigureSuccess"))[0]["applied"] == {"speed": 1.25}
        for speed, code in (
            (1.55, "SPEED_OUT_OF_RANGE"),
            (1.01, "SPEED_INCREMENT_INVALID"),
            ("x", "SPEED_OUT_OF_RANGE"),
        ):
            await talking.say("Configure", speed=speed)
            (failure,) = await talking.until("ConfigureFailure")
            assert failure["code"] == code
            assert failure["field"] == "speed"
            assert failure.get("value") == (None if speed == "x" else speed)

    talk(server.ws + PATH, run)


def test_another_speed_holds_for_the_words_that_follow(server: Running) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Speak", text=TEXT[:24])
        await talking.say("Configure", speed=1.5)
        await talking.say("Speak", text=TEXT[24:])
        await talking.say("Flush")
        await talking.until("SpeechStarted", "ConfigureSuccess", "SpeechMetadata", "Flushed")
        session = toy_voice().session()
        session.push(TEXT[:24])
        session.deliver(Delivery(speed=1.5))
        session.push(TEXT[24:])
        session.flush()
        wanted = np.concatenate([chunk.samples for chunk in session.chunks()])
        assert np.abs(talking.samples() - wanted).max() < 1e-4

    talk(server.ws + PATH, run)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("encoding=mp3", "INVALID_OPTION"),
        ("sample_rate=x", "INVALID_OPTION"),
        ("speed=1.6", "SPEED_OUT_OF_RANGE"),
        ("speed=1.01", "SPEED_INCREMENT_INVALID"),
        ("expressivity=3", "INVALID_OPTION"),
    ],
)
def test_a_query_that_cannot_be_is_refused(server: Running, query: str, code: str) -> None:
    with pytest.raises(InvalidStatus, match="400") as refused:
        talk(f"{server.ws}/v2/speak?{query}", lambda talking: talking.say("Close"))
    response = refused.value.response
    assert response.headers["dg-error"]
    assert json.loads(response.body)["err_code"] == code
    if "mp3" not in query:
        assert httpx.post(f"{server.http}/v2/speak?{query}", json={"text": TEXT}).status_code == 400


@pytest.mark.parametrize(
    "message",
    [
        "no JSON",
        '{"type": "Speak"}',
        '{"type": "Clear"}',
        "{}",
        '{"type": "Interrupt", "playback_offset": 5}',
    ],
)
def test_a_message_that_cannot_be_read_is_told(server: Running, message: str) -> None:
    async def run(talking: Talk) -> None:
        await talking.say("Speak", text=TEXT)
        await talking.socket.send(message)
        _, told = await talking.until("SpeechStarted", "Warning")
        assert told["code"] == "MESSAGE-0000"
        await talking.say("Flush")
        await talking.until("SpeechMetadata", "Flushed")

    talk(server.ws + PATH, run)


def test_speech_over_http(server: Running) -> None:
    address = server.http + "/v2/speak?model=flux-alexis-en"
    starts = {
        "": b"\xff",
        "&encoding=linear16": b"RIFF",
        "&encoding=opus": b"OggS",
        "&encoding=linear16&container=none": b"",
    }
    for query, start in starts.items():
        answer = httpx.post(address + query, json={"text": TEXT})
        assert answer.headers["content-type"].startswith("audio/")
        assert len(answer.content) > 1000
        assert answer.content.startswith(start)


def test_a_turn_may_rest_longer_than_the_server_waits() -> None:
    async def run(talking: Talk) -> None:
        for _ in range(2):
            await talking.say("Speak", text="Hello there. ")
            await talking.say("Flush")
            await talking.until("SpeechStarted", "SpeechMetadata", "Flushed")
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
        from deepgram.speak.v2.types import (
            SpeakV2Configure,
            SpeakV2Interrupt,
            SpeakV2InterruptPlaybackOffset,
        )
        from deepgram.speak.v2.types import SpeakV2Speak as Speak

        async def run() -> None:
            here = DeepgramClientEnvironment(
                base=server.http, production=server.ws, agent=server.ws, agent_rest=server.http
            )
            client = sdk.AsyncDeepgramClient(api_key="some-key", environment=here)
            kinds = list[str]()
            options = {
                "model": "flux-alexis-en",
                "encoding": "linear16",
                "sample_rate": "8000",
                "speed": 1.0,
            }
            async with client.speak.v2.connect(**options) as connection:
                await connection.send_configure(SpeakV2Configure(speed=1.0))
                await connection.send_speak(Speak(text=TEXT))
                await connection.send_flush()
                sound = b""
                moment_ms = 200
                async for message in connection:
                    if isinstance(message, bytes):
                        sound += message
                        continue
                    kinds.append(message.type)
                    if message.type == "Flushed":
                        check(np.frombuffer(sound, "<i2") / np.float32(32767), TEXT)
                        offset = SpeakV2InterruptPlaybackOffset(value=moment_ms)
                        await connection.send_interrupt(SpeakV2Interrupt(playback_offset=offset))
                    elif message.type == "SpeechInterrupted":
                        spoken, remaining = heard_by_player(TEXT, moment_ms / 1000)
                        assert (message.text_spoken, message.text_remaining) == (spoken, remaining)
                        assert message.metadata.input_character_count == len(TEXT)
                        await connection.send_close()
            lifecycle = [
                "SpeechStarted",
                "SpeechMetadata",
                "Flushed",
                "SpeechInterrupted",
                "SessionMetadata",
            ]
            assert kinds == ["Connected", "ConfigureSuccess", *lifecycle]
            answer = client.speak.v2.audio.generate(
                text=TEXT, model="flux-alexis-en", encoding="linear16"
            )
            assert (await anext(answer)).startswith(b"RIFF")

        asyncio.run(asyncio.wait_for(run(), 60))
        server.settle()

    def test_livekit(self, server: Running) -> None:
        plugin = pytest.importorskip("livekit.plugins.deepgram", reason="needs sayahead[compat]")
        import aiohttp

        async def run() -> None:
            async with aiohttp.ClientSession() as http:
                address = server.http + "/v2/speak"
                service = plugin.TTSv2(
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
                abandoned = service.stream()
                abandoned.push_text(LONG)
                await asyncio.wait_for(anext(abandoned), 20)
                await abandoned.aclose()
                frame = await service.synthesize(TEXT).collect()
                assert frame.duration == pytest.approx(
                    len(toy_voice().synthesize(TEXT)) / RATE, abs=0.05
                )
                await service.aclose()

        asyncio.run(asyncio.wait_for(run(), 60))
        server.settle()

    def test_pipecat_interrupts_at_20_moments(self, server: Running) -> None:
        pytest.importorskip("pipecat", reason="needs sayahead[compat]")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from support.pipecat_run import interruptions, services

        draw = random.Random(5)
        told = list[dict[str, Any]]()
        total_s = len(toy_voice().synthesize(LONG)) / RATE

        async def run() -> None:
            service = services(server)["flux"]()
            service.interrupted = asyncio.Event()
            handle = service._handle_message

            async def watched(message: dict[str, Any]) -> None:
                await handle(message)
                if message["type"] == "SpeechInterrupted":
                    told.append(message)
                    service.interrupted.set()

            service._handle_message = watched
            moments = [draw.uniform(0.05, total_s - 0.5) for _ in range(20)]
            await interruptions(service, [f"{word} " for word in LONG.split()], moments)

        asyncio.run(run())
        before_ms = 0
        for message in told:
            played_s = (message["audio_played_ms"] - before_ms) / 1000
            before_ms = message["audio_played_ms"]
            assert message["text_spoken"] + message["text_remaining"] == LONG
            assert message["text_spoken"] == heard_by_player(LONG, played_s)[0]
        assert len(told) == 20
        server.settle()


def test_tokens_of_any_size_are_the_same_sound(server: Running) -> None:
    async def spoken(pieces: Sequence[str]) -> Any:
        async with connect(server.ws + PATH) as socket:
            talking = Talk(socket)
            for piece in pieces:
                await talking.say("Speak", text=piece)
            await talking.say("Close")
            await talking.closed()
            return talking.samples()

    whole = asyncio.run(spoken([TEXT]))
    assert np.array_equal(whole, asyncio.run(spoken(list(TEXT))))


TRANSCRIPT = Path(__file__).with_name("flux_transcript.txt")
"""What a client says (``>``) and hears (``<``), word for word; of sound, how many bytes. Turns are
numbered."""


def test_a_conversation_goes_as_it_is_written_down(server: Running) -> None:
    lines = TRANSCRIPT.read_text(encoding="utf-8").splitlines()
    happened = list[str]()
    names = dict[str, str]()
    waiting = deque[str]()

    async def hear(talking: Talk) -> str:
        size = 0
        while not waiting:
            message = await asyncio.wait_for(talking.socket.recv(), 20)
            if isinstance(message, bytes):
                size += len(message)
                continue
            for name in re.findall(r"dg_sp_[0-9a-f]{12}", message):
                message = message.replace(name, names.setdefault(name, f"turn-{len(names) + 1}"))
            waiting.extend([f"< sound of {size} bytes"] if size else [])
            waiting.append(f"< {message}")
        return waiting.popleft()

    async def run(talking: Talk) -> None:
        for line in lines:
            if line.startswith(">"):
                await talking.socket.send(line[2:])
            happened.append(line if line.startswith(">") else await hear(talking))
        assert (await talking.closed())[0] == 1000

    talk(server.ws + PATH, run)
    assert happened == lines
