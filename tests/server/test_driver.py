"""What the driver promises on every protocol, seen through the native socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import numpy as np
import pytest
from support.effort import examples
from support.servers import Running, serving
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from sayahead.client import AsyncClient

TEXT = "Hello there, how are you today? I am fine. "


OPEN = list[ClientConnection]()


def play(run: Callable[[Running], Awaitable[None]], server: Running) -> None:
    """Run a test's coroutine, and close what it opened."""

    async def whole() -> None:
        try:
            await run(server)
        finally:
            while OPEN:
                await OPEN.pop().close()

    asyncio.run(whole())


async def opened(server: Running) -> ClientConnection:
    """A connection that was greeted."""
    connection = await connect(server.ws + "/v1/stream")
    OPEN.append(connection)
    assert json.loads(await connection.recv())["type"] == "session.created"
    return connection


async def say(connection: ClientConnection, kind: str, **rest: Any) -> None:
    await connection.send(json.dumps({"type": kind, **rest}))


async def events(connection: ClientConnection) -> list[dict[str, Any]]:
    """All events until the connection is closed; the last is its code."""
    heard = list[dict[str, Any]]()
    try:
        while True:
            message = await asyncio.wait_for(connection.recv(), 20)
            if isinstance(message, str):
                heard.append(json.loads(message))
    except ConnectionClosed as closed:
        await connection.wait_closed()
        return [*heard, {"type": "closed", "code": closed.rcvd.code if closed.rcvd else 1006}]


async def until(connection: ClientConnection, *kinds: str) -> dict[str, Any]:
    """The next event of these types."""
    while True:
        message = await asyncio.wait_for(connection.recv(), 20)
        if isinstance(message, str) and (data := json.loads(message))["type"] in kinds:
            assert isinstance(data, dict)
            return data


def test_who_says_nothing_is_not_waited_for() -> None:
    async def run(server: Running) -> None:
        heard = await events(await opened(server))
        assert [(e["type"], e.get("code")) for e in heard] == [("error", "idle"), ("closed", 1008)]

    with serving(limits={"first_message_s": 0.2}) as server:
        play(run, server)
        server.settle()


def test_a_context_without_text_ends_and_then_the_connection() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        await say(connection, "input_text.append", text="Hello there ")
        heard = await events(connection)
        errors = [(e["context_id"], e["gone"], e["code"]) for e in heard if e["type"] == "error"]
        assert errors == [("", True, "idle"), (None, True, "idle")]

    with serving(limits={"idle_s": 0.3}) as server:
        play(run, server)


def test_a_sign_of_life_keeps_a_context() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        await say(connection, "input_text.append", text="Hello there ")
        for _ in range(8):
            await asyncio.sleep(0.25)
            await say(connection, "session.ping")
        await say(connection, "input_text.end")
        assert (await until(connection, "speech.done", "error"))["type"] == "speech.done"

    with serving(limits={"idle_s": 1.0}) as server:
        play(run, server)


def test_a_connection_has_an_end() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        await say(connection, "input_text.append", text=TEXT * 20)
        heard = await events(connection)
        assert [(e["type"], e.get("code")) for e in heard[-2:]] == [
            ("error", "too_long"),
            ("closed", 1008),
        ]

    with serving(step_s=0.02, limits={"session_s": 0.5}) as server:
        play(run, server)


def test_too_much_text_is_refused_and_the_rest_spoken() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        await say(connection, "input_text.append", text="x" * 101)
        assert (await until(connection, "error"))["code"] == "too_much_text"
        # The context was opened, and is not gone.
        for _ in range(4):
            await say(connection, "input_text.append", text=TEXT * 2)
        error = await until(connection, "error")
        assert (error["code"], error["gone"]) == ("too_much_text", False)
        assert "are waiting to be spoken" in error["message"]
        await say(connection, "input_text.end")
        done = await until(connection, "speech.done")
        assert 0 < done["characters"] < len(TEXT) * 8

    with serving(
        step_s=0.05, limits={"message_characters": 100, "pending_characters": 250}
    ) as server:
        play(run, server)


def test_what_was_spoken_makes_room() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            words = 0
            for number in range(1, 31):
                await speech.push(TEXT)
                while words < 9 * number - 1:
                    words += len((await anext(speech)).words)
            await speech.finish()
            assert words + sum([len(chunk.words) async for chunk in speech]) == 30 * len(
                TEXT.split()
            )

    with serving(limits={"pending_characters": 120}) as server:
        play(run, server)


def test_blanks_without_end_cost_nothing() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        for _ in range(100):
            await say(connection, "input_text.append", text=" " * 4000)
        await say(connection, "input_text.append", text="Hello there.")
        await say(connection, "input_text.end")
        done = await until(connection, "speech.done", "error")
        assert (done["type"], done.get("characters")) == ("speech.done", 100 * 4000 + 12)

    with serving(limits={"pending_characters": 400_100}) as server:
        play(run, server)


def test_more_contexts_than_allowed_are_refused_one_by_one() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        for name in "abc":
            await say(connection, "input_text.append", context_id=name, text="Hello there ")
        error = await until(connection, "error")
        assert (error["context_id"], error["code"], error["gone"]) == (
            "c",
            "too_many_contexts",
            True,
        )
        await say(connection, "input_text.end", context_id="a")
        # The text that came with it gives no second error.
        assert (await until(connection, "speech.done", "error"))["context_id"] == "a"
        await say(connection, "input_text.append", context_id="c", text="Now it is my turn. ")
        await say(connection, "input_text.end", context_id="c")
        assert (await until(connection, "speech.done", "error"))["context_id"] == "c"

    with serving(limits={"contexts": 2}) as server:
        play(run, server)
        server.settle()


def test_a_full_server_refuses_and_takes_again() -> None:
    async def run(server: Running) -> None:
        first = await opened(server)
        second = await opened(server)
        third = await connect(server.ws + "/v1/stream")
        assert [(e["type"], e.get("code")) for e in await events(third)] == [
            ("error", "overloaded"),
            ("closed", 1013),
        ]
        assert not httpx.get(server.http + "/ready").is_success
        assert httpx.get(server.http + "/health").is_success
        await first.close()
        while server.hub.connections > 1:
            await asyncio.sleep(0.01)
        assert httpx.get(server.http + "/ready").is_success
        await (await opened(server)).close()
        await second.close()

    with serving(limits={"sessions": 2}) as server:
        play(run, server)
        server.settle()


def test_one_key_does_not_take_all() -> None:
    async def run(server: Running) -> None:
        async def enter(key: str) -> str:
            address = f"{server.ws}/v1/stream?api_key={key}"
            connection = await connect(address)
            kept.append(connection)
            return str(json.loads(await connection.recv())["type"])

        kept = list[ClientConnection]()
        assert [await enter("first-key"), await enter("first-key")] == ["session.created", "error"]
        assert await enter("second-key") == "session.created"
        for connection in kept:
            await connection.close()

    with serving(keys=("a:first-key", "b:second-key"), limits={"sessions_per_key": 1}) as server:
        play(run, server)


def test_flushes_are_answered_in_order_after_their_sound() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        for number, text in enumerate(("One two", "three four", " ", "five")):
            await say(connection, "input_text.append", text=text)
            await say(connection, "input_text.flush", flush_id=number)
        await say(connection, "input_text.end")
        told = list[Any]()
        while True:
            event = await until(
                connection, "speech.audio", "speech.flushed", "speech.done", "error"
            )
            told += [w["word"] for w in event["words"]] if event["type"] == "speech.audio" else []
            told += [event["flush_id"]] if event["type"] == "speech.flushed" else []
            if event["type"] == "speech.done":
                assert told == ["One", "two", 0, "three", "four", 1, 2, "five", 3]
                return

    with serving() as server:
        play(run, server)


def test_a_session_end_speaks_all_that_is_open() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        for name in "ab":
            await say(connection, "input_text.append", context_id=name, text="Hello there")
        await say(connection, "session.end")
        heard = await events(connection)
        assert sorted(e["context_id"] for e in heard if e["type"] == "speech.done") == ["a", "b"]
        assert heard[-1] == {"type": "closed", "code": 1000}

    with serving() as server:
        play(run, server)


def test_a_step_that_breaks_ends_its_text_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        for name, text in (("a", "Hello there "), ("b", "Please explode now ")):
            await say(connection, "input_text.append", context_id=name, text=text)
        error = await until(connection, "error")
        assert (error["context_id"], error["code"], error["gone"]) == ("b", "failed", True)
        # Nothing of the inside is told, and the text is not in the log.
        assert "explode" not in error["message"]
        await say(connection, "input_text.end", context_id="a")
        assert (await until(connection, "speech.done", "error"))["context_id"] == "a"
        await connection.close()

    with serving() as server, caplog.at_level(logging.ERROR):
        play(run, server)
        server.settle()
    assert "An utterance failed" in caplog.text
    assert "Please" not in caplog.text


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET / HT",
        b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
    ],
)
def test_who_begins_a_request_and_stops_is_not_waited_for(
    beginning: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayahead.server.operation.transport.HEAD_S", 0.3)
    with serving(limits={"first_message_s": 0.3}) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as peer:
            peer.sendall(beginning)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                answer = peer.recv(1000)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 408")
        server.settle()


def test_a_long_text_starves_nobody() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as greedy, AsyncClient(server.ws) as modest:
            stream = greedy.stream([TEXT * 90])
            await anext(stream)
            # With one thread, and all of the long text there: one of its pieces may be under way,
            # and one may slip in while the short text is opened.
            before = server.metric("tts_rtf_count")
            await anext(modest.stream(["Hello there, you. "]))
            assert server.metric("tts_rtf_count") - before <= 4
            await stream.aclose()  # type: ignore[attr-defined]

    with serving(step_s=0.05, workers=1) as server:
        play(run, server)


def upgraded(server: Running) -> socket.socket:
    """A socket by hand, with little room for what comes."""
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.connect(("127.0.0.1", server.port))
    peer.sendall(
        b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection:"
        b" Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key:"
        b" dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    assert peer.recv(12) == b"HTTP/1.1 101"
    return peer


def frame(data: dict[str, Any]) -> bytes:
    """A masked text frame (the mask is 0)."""
    payload = json.dumps(data).encode()
    return b"\x81\xfe" + len(payload).to_bytes(2, "big") + bytes(4) + payload


def test_a_reader_that_stops_stops_only_itself() -> None:
    loud = {"sample_rate": 48000, "encoding": "pcm_f32le"}

    async def run(server: Running) -> float:
        async with AsyncClient(server.ws) as client:
            heard = 0.0
            while server.metric("tts_sessions_total", protocol="native", outcome="dropped") < 1:
                heard += sum([chunk.duration_s async for chunk in client.stream([TEXT])])
                # As people do, it leaves the processor to others between two texts.
                await asyncio.sleep(0.1)
            return heard

    with serving(limits={"write_stall_s": 1.0}) as server, upgraded(server) as peer:
        peer.sendall(frame({"type": "session.update", "session": loud}))
        for _ in range(4):
            peer.sendall(frame({"type": "input_text.append", "text": TEXT * 90}))
        heard = asyncio.run(run(server))
        assert heard > 1
        # Its synthesis waited for it, and did not go on into some buffer without end.
        assert server.metric("tts_audio_seconds_total", protocol="native") - heard < 100
        server.settle()
        # The connection is cut, not only left alone: after what lies in the system's buffers comes
        # its end.
        peer.settimeout(10)
        with contextlib.suppress(ConnectionResetError):
            while peer.recv(65536):
                pass


def test_drops_in_the_middle_of_a_word_leave_nothing_behind() -> None:
    def drop(server: Running, number: int) -> None:
        peer = upgraded(server)
        peer.sendall(frame({"type": "input_text.append", "text": TEXT * (1 + number % 3) + "Hel"}))
        heard = b""
        # Half of them go while they are spoken to, the others before.
        while number % 2 and b"speech.audio" not in heard:
            heard += peer.recv(4096)
        if number % 4 < 2:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.close()

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    with serving(step_s=0.001) as server:
        for number in range(examples(200)):
            drop(server, number)
        server.settle(30)
        before = resident()
        files = len(os.listdir("/proc/self/fd"))
        for number in range(examples(1500)):
            drop(server, number)
        server.settle(60)
        assert resident() - before < 8e6
        assert len(os.listdir("/proc/self/fd")) <= files + 2
        assert server.metric(
            "tts_sessions_total", protocol="native", outcome="dropped"
        ) >= examples(850)
        assert server.metric("tts_sessions_active") == 0
        assert server.metric("tts_connections_active", protocol="native") == 0
        asyncio.run(speak(server))


async def speak(server: Running) -> None:
    """That the server still speaks."""
    async with AsyncClient(server.ws) as client:
        sound = np.concatenate([chunk.samples async for chunk in client.stream([TEXT])])
        assert np.abs(sound).max() > 0.1


def test_speech_keeps_up_by_what_the_client_has_played() -> None:
    text = "one two three four five six seven eight nine ten. " * 3

    async def lasts(
        server: Running, told: Callable[[float], float] | None, **session: Any
    ) -> float:
        """Seconds of audio; the client says of each chunk how much it has played when it comes."""
        connection = await opened(server)
        await say(connection, "session.update", session=session)
        assert json.loads(await connection.recv())["type"] == "session.updated"
        total_s = 0.0
        for word in text.split():
            await say(connection, "input_text.append", text=word + " ")
            await asyncio.sleep(0.01)
        await say(connection, "input_text.end")
        while True:
            message = await asyncio.wait_for(connection.recv(), 20)
            if isinstance(message, str) and (data := json.loads(message))["type"] == "speech.done":
                return float(data["audio_s"])
            if isinstance(message, str):
                total_s = data["start_s"] + data["duration_s"]
            elif told is not None:
                await say(connection, "speech.played", played_s=told(total_s))

    async def run(server: Running) -> None:
        keep_up = {"lag_s": 0.3, "max_speed": 2.0}
        plain = await lasts(server, None)
        assert await lasts(server, None, keep_up=keep_up) < 0.9 * plain
        assert await lasts(server, lambda sent_s: 0.0, keep_up=keep_up) < 0.8 * plain

    with serving() as server:
        play(run, server)


def test_what_cannot_have_been_played_is_refused() -> None:
    async def run(server: Running) -> None:
        connection = await opened(server)
        for session, message in (
            ({"keep_up": {"lag": 1}}, "unknown option 'lag'"),
            ({"keep_up": {"max_speed": 3}}, "max_speed is 3, but can be 2 at most"),
        ):
            await say(connection, "session.update", session=session)
            error = json.loads(await connection.recv())
            assert error["type"] == "error"
            assert message in error["message"]
        # Of a context that is over, or never was, it means nothing.
        await say(connection, "speech.played", context_id="x", played_s=1.0)
        await say(connection, "input_text.append", context_id="a", text="one ")
        for played_s, message in (
            (99.0, "99.000, but only"),
            (-1, "at least 0"),
            ("1", "a number of seconds"),
        ):
            await say(connection, "speech.played", context_id="a", played_s=played_s)
            error = json.loads(await connection.recv())
            assert (error["type"], error["context_id"], error["gone"]) == ("error", "a", False)
            assert message in error["message"]
        await say(connection, "input_text.end", context_id="a")
        assert json.loads(await connection.recv())["type"] == "speech.audio"

    with serving() as server:
        play(run, server)
