"""ElevenLabs' protocol by hand; its clients are in test_elevenlabs_clients.py."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import wave
from typing import Any

import httpx
import numpy as np
import pytest
from support.servers import KEY, Running, serving, talk, toy_voice
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from sayahead.types import Floats

TEXT = "Hello there, how are you today? I am fine. "
LONG = (
    TEXT + "Dr. Smith paid $12.50 -- for what? (Nobody knows.) It was, he said, well-spent money! "
)
SINGLE = "/v1/text-to-speech/some-voice/stream-input?output_format=pcm_8000"
MULTI = "/v1/text-to-speech/some-voice/multi-stream-input?output_format=pcm_8000"
Message = dict[str, Any]


async def say(socket: ClientConnection, **message: Any) -> None:
    await socket.send(json.dumps(message))


async def hear(socket: ClientConnection) -> Message:
    message = json.loads(await asyncio.wait_for(socket.recv(), 20))
    assert isinstance(message, dict)
    return message


async def until_final(socket: ClientConnection) -> list[Message]:
    heard = [await hear(socket)]
    while heard[-1].get("isFinal") is not True:
        heard.append(await hear(socket))
    return heard


async def closed(socket: ClientConnection) -> tuple[list[Message], int, str]:
    """What comes before the connection is closed, the code and the reason."""
    heard = list[Message]()
    try:
        while True:
            heard.append(await hear(socket))
    except ConnectionClosed as error:
        return (heard, error.rcvd.code, error.rcvd.reason) if error.rcvd else (heard, 1006, "")


def samples(heard: list[Message]) -> Floats:
    data = b"".join(base64.b64decode(message.get("audio") or "") for message in heard)
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32767)


def spoken(heard: list[Message]) -> str:
    return "".join(
        "".join(message["alignment"]["chars"]) for message in heard if message.get("alignment")
    )


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("voice", ["toy", "heart"])
def test_alignment_is_told_in_the_time_base_that_was_asked_for(
    server: Running, voice: str, absolute: bool
) -> None:
    async def run(socket: ClientConnection) -> None:
        await say(socket, text=LONG, context_id="c")
        await say(socket, context_id="c", flush=True)
        await say(socket, context_id="c", close_context=True)
        heard = await until_final(socket)
        # What comes without sound at the end is the blank behind the last word.
        pieces = [message for message in heard if message.get("audio")]
        begun_ms = 0.0
        clock_ms = 0.0
        onsets = list[float]()
        for message in pieces:
            told = message["alignment"]
            length_ms = len(samples([message])) / 8
            assert message["normalizedAlignment"] == told
            if told is not None:
                starts = told["charStartTimesMs"]
                durations = told["charDurationsMs"]
                assert len(told["chars"]) == len(starts) == len(durations)
                assert all(
                    a + b == c for a, b, c in zip(starts, durations, starts[1:], strict=False)
                )
                # Without sync_alignment, who adds up alignments has the same clock as who adds up
                # the sound.
                assert absolute or clock_ms == pytest.approx(begun_ms, abs=1)
                base = 0.0 if absolute else clock_ms
                onsets += [base + start for start in starts]
                clock_ms = base + starts[-1] + durations[-1]
                assert clock_ms == pytest.approx(begun_ms + length_ms, abs=1)
                assert begun_ms - 1 <= base + starts[0] <= begun_ms + length_ms
            begun_ms += length_ms
        assert onsets == sorted(onsets)
        assert squeezed(spoken(heard)) == squeezed(LONG)

    talk(server.ws + MULTI.replace("some-voice", voice) + "&sync_alignment=true" * absolute, run)


def test_contexts_do_not_mix_and_carry_both_spellings(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        texts = {"a": "One two three. ", "b": "Seven eight. "}
        for name in texts:
            await say(socket, text=" ", context_id=name, voice_settings={"speed": 1.0})
        for name, text in texts.items():
            await say(socket, text=text, contextId=name)
        # Neither keeps anything from going on.
        await say(socket, text="")
        await say(socket, text="", context_id="a")
        for name in texts:
            await say(socket, text="", context_id=name, flush=True)
            await say(socket, context_id=name, close_context=True)
        heard = list[Message]()
        while sum(message.get("isFinal") is True for message in heard) < 2:
            heard.append(await hear(socket))
        assert all(message["contextId"] == message["context_id"] for message in heard)
        for name, text in texts.items():
            mine = [message for message in heard if message["contextId"] == name]
            assert [message["isFinal"] for message in mine] == [None] * (len(mine) - 1) + [True]
            assert np.abs(samples(mine) - toy_voice().synthesize(text)).max() < 1e-4
        # The name is free again; the last text, its flush and its end may come in one message.
        await say(socket, text="Again. ", context_id="a", flush=True, close_context=True)
        assert len(samples(await until_final(socket))) == len(toy_voice().synthesize("Again. "))
        await say(socket, close_socket=True)
        assert (await closed(socket))[1] == 1000

    talk(server.ws + MULTI, run)
    server.settle()


def test_closing_a_context_twice_falls_silent() -> None:
    async def run(socket: ClientConnection) -> None:
        # Flushed, it would have spoken all; closed again, it falls silent as well.
        await say(socket, text="word " * 300, context_id="d", flush=True)
        for _ in range(2):
            await say(socket, context_id="d", close_context=True)
        assert len(samples(await until_final(socket))) < 8000 * 20
        # A context that is gone can be closed as often as one likes.
        await say(socket, context_id="d", close_context=True)
        await say(socket, close_socket=True)
        assert await closed(socket) == ([], 1000, "")

    with serving(step_s=0.02) as server:
        talk(server.ws + MULTI, run)
        server.settle()


def test_too_many_contexts_cost_only_the_last(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        for number in range(server.hub.limits.contexts + 1):
            await say(socket, text=" ", context_id=str(number))
        refused = await hear(socket)
        final = await hear(socket)
        assert (refused["error"], refused["contextId"]) == (
            "max_active_conversations",
            final["contextId"],
        )
        assert final["isFinal"] is True
        await say(socket, close_socket=True)
        heard, code, _ = await closed(socket)
        assert len([m for m in heard if m["isFinal"]]) == server.hub.limits.contexts
        assert code == 1000

    talk(server.ws + MULTI, run)


def test_who_sends_no_text_is_told_so(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        await say(socket, text="Hello there ")
        heard, code, reason = await closed(socket)
        error = heard[-1]
        assert (error["error"], error["code"], code) == ("input_timeout_exceeded", 1008, 1008)
        assert error["message"].startswith(
            "Have not received a new text input within the timeout of 1.0 seconds."
        )
        assert reason

    talk(server.ws + SINGLE + "&inactivity_timeout=1", run)
    server.settle()


def test_a_connection_may_wait_as_long_as_it_asked() -> None:
    async def run(socket: ClientConnection) -> None:
        await asyncio.sleep(1.2)
        await say(socket, text="Hello. ", context_id="c", flush=True)
        await say(socket, context_id="c", close_context=True)
        assert len(samples(await until_final(socket))) > 0

    with serving(limits={"first_message_s": 0.3, "idle_s": 0.3}) as server:
        talk(server.ws + MULTI + "&inactivity_timeout=180", run)
        with pytest.raises(ConnectionClosed):
            talk(server.ws + MULTI, run)


def test_a_format_that_is_not_known_closes_with_1008(server: Running) -> None:
    async def run(socket: ClientConnection) -> None:
        await say(socket, text="Hello ")
        heard, code, _ = await closed(socket)
        assert "pcm_8000" in heard[0]["message"]
        assert code == 1008

    talk(server.ws + SINGLE + "0", run)


@pytest.mark.parametrize("name", ["xi-api-key", "xi_api_key", "authorization"])
def test_a_key_may_come_in_the_first_message(name: str) -> None:
    async def right(socket: ClientConnection) -> None:
        await say(socket, text=" ", **{name: KEY})
        await say(socket, text="Hello. ")
        await say(socket, text="")
        heard, code, _ = await closed(socket)
        assert len(samples(heard)) > 0
        assert code == 1000

    async def wrong(socket: ClientConnection) -> None:
        await say(socket, text=" ", **{name: "something"})
        heard, code, _ = await closed(socket)
        assert [m["error"] for m in heard] == ["invalid_api_key"]
        assert code == 1008

    with serving(keys=(KEY,)) as server:
        talk(server.ws + SINGLE, right)
        talk(server.ws + SINGLE, wrong)
        token = httpx.post(
            server.http + "/v1/single-use-token/tts_websocket", headers={"xi-api-key": KEY}
        ).json()
        talk(f"{server.ws}{SINGLE}&single_use_token={token['token']}", right)
        # It was good once.
        with pytest.raises(InvalidStatus, match="401"):
            talk(f"{server.ws}{SINGLE}&single_use_token={token['token']}", right)


@pytest.mark.parametrize(
    "form", ["ulaw_8000", "alaw_8000", "pcm_44100", "mp3_22050_32", "opus_48000_32"]
)
def test_formats_come_as_named(server: Running, form: str) -> None:
    async def run(socket: ClientConnection) -> None:
        await say(socket, text=TEXT)
        await say(socket, text="")
        data = b"".join(base64.b64decode(m.get("audio") or "") for m in (await closed(socket))[0])
        seconds = len(toy_voice().synthesize(TEXT)) / 8000
        kind = form.split("_")[0]
        if kind in ("mp3", "opus"):
            assert data.startswith({"mp3": b"\xff", "opus": b"OggS"}[kind])
            assert len(data) > 3000 * seconds
        else:
            assert len(data) == pytest.approx(
                seconds * {"ulaw": 8000, "alaw": 8000, "pcm": 88200}[kind], rel=0.01
            )

    talk(server.ws + SINGLE.replace("pcm_8000", form), run)


def test_speech_over_http(server: Running) -> None:
    address = server.http + "/v1/text-to-speech/some-voice"
    with httpx.Client(params={"output_format": "pcm_8000"}) as http:
        for path in ("", "/stream"):
            answer = http.post(
                address + path,
                json={"text": TEXT, "model_id": "x", "voice_settings": {"speed": 1.0}},
            )
            assert answer.headers["content-type"].startswith("audio/")
            sound = np.frombuffer(answer.content, "<i2").astype(np.float32) / np.float32(32767)
            assert np.abs(sound - toy_voice().synthesize(TEXT)).max() < 1e-4
        for wrong in ({}, {"text": ""}, {"text": 5}, {"text": "x" * 30000}):
            assert http.post(address + "/stream", json=wrong).status_code == 400
    assert (
        httpx.post(address, json={"text": "x"}, params={"output_format": "pcm"}).status_code == 400
    )


def test_a_whole_answer_with_times_over_http(server: Running) -> None:
    address = server.http + "/v1/text-to-speech/some-voice/with-timestamps"
    answer = httpx.post(address, json={"text": TEXT}, params={"output_format": "wav_24000"})
    assert answer.headers["content-type"].startswith("application/json")
    data = answer.json()
    with wave.open(io.BytesIO(base64.b64decode(data["audio_base64"]))) as file:
        assert (file.getframerate(), file.getsampwidth()) == (24000, 2)
        seconds = file.getnframes() / 24000
        assert len(file.readframes(file.getnframes())) == 2 * file.getnframes()
    assert seconds == pytest.approx(len(toy_voice().synthesize(TEXT)) / 8000, rel=0.01)
    times = data["alignment"]
    assert "".join(times["characters"]).strip() == TEXT.strip()
    starts = times["character_start_times_seconds"]
    ends = times["character_end_times_seconds"]
    assert starts == sorted(starts)
    assert ends[-1] == pytest.approx(seconds, abs=0.01)
    assert httpx.post(address, json={"text": ""}).status_code == 400


def test_voices(server: Running) -> None:
    rows = httpx.get(server.http + "/v1/voices").json()["voices"]
    assert [row["voice_id"] for row in rows] == list(server.hub.voices.configs)
    assert httpx.get(server.http + "/v1/voices/toy").json() == rows[0]
    assert httpx.get(server.http + "/v1/voices/other").status_code == 404
