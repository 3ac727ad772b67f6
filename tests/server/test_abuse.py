"""What one client can take from the others: time, memory, places, lines of the log. Each test says
what it showed before there was a bound."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from support.servers import Running, serving
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from sayahead.client import AsyncClient, ServerError
from sayahead.server.json_messages import without_half
from sayahead.server.operation import transport
from sayahead.server.operation.logs import JsonLines, Lines
from sayahead.sound.resample import Resampler

HUGE = "1" + "0" * 400
BODY = (
    '{{"text": "Hello.", "transcript": "Hello.", "voice_settings": {{"speed": {0}}}, '
    '"generation_config": {{"speed": {0}}}}}'
)


def play(run: Callable[[Running], Awaitable[None]], server: Running) -> None:
    """Run a test's coroutine."""

    async def all_of_it() -> None:
        await run(server)

    asyncio.run(all_of_it())


async def say(connection: ClientConnection, kind: str, **rest: Any) -> None:
    await connection.send(json.dumps({"type": kind, **rest}))


async def until(connection: ClientConnection, *kinds: str) -> dict[str, Any]:
    """The next event of these types."""
    while True:
        message = await asyncio.wait_for(connection.recv(), 20)
        if isinstance(message, str) and (data := json.loads(message))["type"] in kinds:
            assert isinstance(data, dict)
            return data


def pushed(
    server: Running, data: bytes, *, beginning: bytes = b"", most: int = 8_000_000
) -> tuple[int, bytes]:
    """How much of a peer's repeated data the server took, and what it answered."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        sent = 0
        with contextlib.suppress(ConnectionError):
            peer.sendall(beginning)
            while sent < most:
                peer.sendall(data)
                sent += len(data)
        answer = b""
        with contextlib.suppress(ConnectionError, TimeoutError):
            peer.settimeout(1.5)
            while part := peer.recv(65536):
                answer += part
    return sent, answer


def test_sample_rates_are_those_of_a_list_and_share_their_filters() -> None:
    """Any whole number was taken, and each text built its own bank: 0.2 to 0.5 s and 100 MB for
    47,999 Hz."""
    assert Resampler(24000, 44100)._filter is Resampler(24000, 44100)._filter

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            assert 44100 in (await until(connection, "session.created"))["rates"]
            await say(connection, "session.update", session={"sample_rate": 47999})
            error = await until(connection, "error", "session.updated")
            assert (error.get("code"), error.get("gone")) == ("invalid_option", False)
        for path in ("/v1/speak?sample_rate=47999", "/v1/speak?sample_rate=100000000"):
            assert (
                await asyncio.to_thread(httpx.post, server.http + path, json={"text": "Hi."})
            ).status_code == 400

    with serving() as server:
        play(run, server)


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET /health HTTP/1.1\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\n",
        b"POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
    ],
    ids=["first", "second", "trailers"],
)
def test_a_head_has_a_size(beginning: bytes) -> None:
    """All 8 MB were taken in and kept; as 400 MB were, without a key."""
    with serving() as server:
        sent, _ = pushed(server, b"X-n: " + b"a" * 995 + b"\r\n", beginning=beginning)
        assert sent < 4_000_000
        sent, _ = pushed(server, b"/" * 1000, beginning=b"GET /")
        assert sent < 4_000_000
        # Who does not write faster than the server reads is told.
        _, answer = pushed(
            server, b"a" * 90_000, beginning=b"GET /health HTTP/1.1\r\nX-n: ", most=90_000
        )
        assert answer.startswith(b"HTTP/1.1 431")
        assert httpx.get(server.http + "/health").is_success


@pytest.mark.parametrize("size", [4097, 8193, 20_000, 60_000])
def test_a_body_that_is_too_large_is_told_so_however_fast_it_comes(size: int) -> None:
    """Of more than twice the limit in one piece, the connection was cut without an answer."""
    head = "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n"
    with serving(limits={"message_bytes": 4096}) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as peer:
            peer.sendall(head.format(size).encode() + b"x" * size)
            assert peer.recv(100).startswith(b"HTTP/1.1 413")
        assert httpx.get(server.http + "/health").is_success


def test_a_head_of_the_usual_size_passes() -> None:
    with serving() as server:
        assert httpx.get(server.http + "/health", headers={"X-n": "a" * 20_000}).is_success
        body = {"text": "Hello.", "more": "x" * 200_000}
        assert httpx.post(
            server.http + "/v1/text-to-speech/toy?output_format=pcm_8000", json=body
        ).is_success


def test_flushes_that_wait_have_a_number_and_their_names_a_length() -> None:
    """All were queued: 735 MB sent in 4 s were 732 MB kept."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            await say(connection, "input_text.append", text="Hello there, you. ")
            for number in range(30):
                await say(connection, "input_text.flush", flush_id=number)
            error = await until(connection, "error")
            assert (error["code"], error["gone"]) == ("too_much_text", False)
            await say(connection, "input_text.end")
            marks = list[int]()
            while (event := await until(connection, "speech.flushed", "speech.done"))[
                "type"
            ] != "speech.done":
                marks.append(event["flush_id"])
            assert marks == sorted(marks)
            assert 8 <= len(marks) < 30

    with serving(step_s=0.05, limits={"flushes": 8}) as server:
        play(run, server)


@pytest.mark.parametrize("mark", ["x" * 129, 10**30])
def test_names_of_flushes_are_short(mark: object) -> None:
    """Any was taken, kept, and sent back."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            await say(connection, "input_text.append", text="Hello ")
            await say(connection, "input_text.flush", flush_id=mark)
            event = await until(connection, "error", "speech.flushed")
            assert event.get("code") == "invalid_message"

    with serving() as server:
        play(run, server)


@pytest.mark.parametrize(
    "path", ["/v1/speak", "/tts/websocket", "/api/tts_streaming", "/v1/stream"]
)
def test_who_says_nothing_makes_room_for_who_speaks(path: str) -> None:
    """Silent sockets kept everybody out for as long as their protocol may idle: up to 180 s, and 10
    s natively."""

    async def run(server: Running) -> None:
        async with connect(server.ws + path) as first, connect(server.ws + path):
            await asyncio.sleep(1.3)
            async with AsyncClient(server.ws) as client:
                assert [chunk async for chunk in client.stream(["Hello there."])]
            with contextlib.suppress(ConnectionClosed):
                while True:
                    await asyncio.wait_for(first.recv(), 5)
            assert first.close_code == 1013

    with serving(limits={"sessions": 2}) as server:
        play(run, server)


def test_who_speaks_is_not_let_go() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as first:
            speech = first.open_speech()
            await speech.push("Hello there, and ")
            await asyncio.sleep(1.3)
            with pytest.raises(ServerError) as refused:
                async with AsyncClient(server.ws):
                    pass
            assert refused.value.code == "overloaded"
            await speech.push("goodbye.")
            await speech.finish()
            assert [word.text async for chunk in speech for word in chunk.words][-1] == "goodbye."

    with serving(limits={"sessions": 1}) as server:
        play(run, server)


def test_who_is_still_being_heard_is_not_let_go() -> None:
    """What had been made ahead gave the place away: a full server made more turns than it holds
    conversations."""

    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as first:
            speech = first.open_speech()
            await speech.push(10 * "Hello there, and goodbye. ")
            await speech.finish()
            heard_s = sum([chunk.duration_s async for chunk in speech])
            assert 2.0 < heard_s < 6.0
            await asyncio.sleep(1.3)
            with pytest.raises(ServerError, match="at capacity"):
                async with AsyncClient(server.ws):
                    pass
            await asyncio.sleep(heard_s)
            async with AsyncClient(server.ws) as client:
                assert [chunk async for chunk in client.stream(["Hello there."])]

    with serving(limits={"sessions": 1}) as server:
        play(run, server)


def handshake(path: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ).encode()


@pytest.mark.parametrize("opcode", [0x89, 0x8A], ids=["pings", "pongs"])
@pytest.mark.parametrize("path", ["/v1/stream", "/v1/text-to-speech/toy/stream-input"])
def test_pings_without_end_are_cut_off(
    path: str, opcode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each was answered, and the answers were kept for who does not read them: 107 MB after 5 s."""
    monkeypatch.setattr(transport, "FRAMES_LATE_S", 1.0)
    with serving(keys=("me:first-key",) if "stream-input" in path else ()) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as peer:
            peer.sendall(handshake(path))
            assert peer.recv(12) == b"HTTP/1.1 101"
            frame = bytes([opcode, 0xFD]) + bytes(4) + bytes(125)
            sent = 0
            with contextlib.suppress(ConnectionError):
                while sent < 60_000:
                    peer.sendall(frame)
                    sent += 1
            assert sent < 60_000
        server.settle()


def test_pings_now_and_then_are_answered() -> None:
    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            for _ in range(50):
                await asyncio.wait_for(await connection.ping(), 5)
            await connection.send('{"type": "session.ping"}')
            kinds = [
                json.loads(await asyncio.wait_for(connection.recv(), 5))["type"] for _ in range(2)
            ]
            assert kinds == ["session.created", "session.pong"]

    with serving() as server:
        play(run, server)


def test_connections_have_a_number() -> None:
    """They were taken until no file could be opened, and then each failure was a traceback: 1.6 MB
    of log a second."""
    with serving(limits={"connections": 20}) as server, contextlib.ExitStack() as stack:
        peers = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            for _ in range(40)
        ]
        ended = 0
        time.sleep(0.3)
        for peer in peers:
            peer.settimeout(0.02)
            with contextlib.suppress(TimeoutError):
                ended += peer.recv(1) == b""
        assert ended == 20
        for peer in peers:
            peer.close()
        time.sleep(0.2)
        assert httpx.get(server.http + "/health").is_success


SLOW = {
    "second": b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "body": b"POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
    "newlines": b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n\r\n",
    "upgrade": (
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
    ),
}


@pytest.mark.parametrize("beginning", SLOW.values(), ids=SLOW)
def test_every_request_has_a_time(beginning: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first head had: a byte of the next, or of a body after the answer, kept a connection
    for ever."""
    for name in ("HEAD_S", "BODY_S"):
        monkeypatch.setattr(f"sayahead.server.operation.transport.{name}", 0.5, raising=False)
    with (
        serving() as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as peer,
    ):
        peer.sendall(beginning)
        end = time.monotonic() + 5
        ended = False
        drip = (
            b"GET /health HTTP/1.1\r\nHost: " + b"x" * 1000
            if b"POST" not in beginning
            else b"x" * 1000
        )
        while time.monotonic() < end and not ended:
            time.sleep(0.1)
            with contextlib.suppress(ConnectionError):
                peer.settimeout(0.01)
                with contextlib.suppress(TimeoutError):
                    while peer.recv(65536):
                        pass
                    ended = True
                peer.sendall(drip[:1])
                drip = drip[1:]
                continue
            ended = True
        assert ended


def test_requests_that_wait_on_a_connection_have_a_number() -> None:
    """One packet of them made ten thousand objects."""
    with serving() as server:
        _, answer = pushed(
            server, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500, most=20_000
        )
        assert answer.count(b"HTTP/1.1 200") < 400


def test_messages_are_read_at_a_rate() -> None:
    """All 1000 were answered in the same tenths of a second, in which nobody else was."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            await until(connection, "session.created")
            for _ in range(1000):
                await say(connection, "session.ping")
            answers = 0
            end = time.monotonic() + 2
            with contextlib.suppress(TimeoutError):
                while time.monotonic() < end:
                    await asyncio.wait_for(connection.recv(), end - time.monotonic())
                    answers += 1
            # None is refused: the others wait.
            assert 100 <= answers < 500
            connection.transport.abort()

    with serving(limits={"messages_per_s": 100}) as server:
        play(run, server)


async def admitted(address: str, **options: Any) -> tuple[str, ClientConnection]:
    """What the first message is, and the connection."""
    connection = await connect(address, **options)
    return json.loads(await connection.recv())["type"], connection


@pytest.mark.parametrize("by", ["key", "address"])
def test_nobody_takes_all_places(by: str) -> None:
    """One key, or one address, took all of them by default."""

    async def run(server: Running) -> None:
        async def enter(who: str) -> str:
            if by == "key":
                kind, connection = await admitted(f"{server.ws}/v1/stream?api_key={who}-key")
            else:
                address = "203.0.113." + str(len(who))
                headers = {"X-Forwarded-For": address}
                kind, connection = await admitted(
                    server.ws + "/v1/stream", additional_headers=headers
                )
            stack.push_async_callback(connection.close)
            return kind

        async with contextlib.AsyncExitStack() as stack:
            # Its half and what is free, but for a quarter.
            assert [await enter("first") for _ in range(7)] == ["session.created"] * 6 + ["error"]
            assert [await enter("second") for _ in range(2)] == ["session.created"] * 2
            # It is full, and wanted by more; who is below its half takes what who is beyond it does
            # not use.
            assert server.metric("tts_sessions_wanted") == 9
            assert [await enter("second") for _ in range(2)] == ["session.created"] * 2
            assert [await enter("first"), await enter("second")] == ["error"] * 2

    keys = ("a:first-key", "b:second-key") if by == "key" else ()
    with serving(keys=keys, limits={"sessions": 8}, proxies=("127.0.0.1",)) as server:
        play(run, server)
        server.settle()


@pytest.mark.parametrize("keys", [("a:first-key",), ()])
def test_who_is_alone_may_have_all_places(keys: tuple[str, ...]) -> None:
    async def run(server: Running) -> None:
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(4):
                kind, connection = await admitted(f"{server.ws}/v1/stream?api_key=first-key")
                stack.push_async_callback(connection.close)
                assert kind == "session.created"

    with serving(keys=keys, limits={"sessions": 4}) as server:
        play(run, server)


@pytest.mark.parametrize("number", [HUGE, "-" + HUGE, "1e999", "-1e999"])
def test_numbers_beyond_all_bounds_are_the_clients_fault(number: str) -> None:
    """OverflowError: 1011 on three protocols, 500 on two endpoints, and a traceback each."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            for field in ("speed", "volume", "seed", "idle_s", "sample_rate", "bit_rate", "policy"):
                await connection.send(
                    f'{{"type": "session.update", "session": {{"{field}": {number}}}}}'
                )
                event = await until(connection, "error", "session.updated")
                assert event.get("code") in ("invalid_option", "invalid_message"), field
                assert len(event["message"]) < 300
        for path in ("/v1/text-to-speech/toy", "/tts/bytes", "/v1/audio/speech"):
            answer = await asyncio.to_thread(
                httpx.post, server.http + path, content=BODY.format(number)
            )
            assert answer.status_code < 500, path

    with serving() as server:
        play(run, server)


HALF = "\\ud800"


@pytest.mark.parametrize(
    "message",
    [
        f'{{"type": "input_text.append", "context_id": "{HALF}", "text": "Hello there."}}',
        f'{{"type": "input_text.flush", "flush_id": "{HALF}"}}',
        f'{{"type": "input_text.append", "text": "Hello.", "more": ["{HALF}"]}}',
        f'{{"type": "session.update", "session": {{"voice": "{HALF}"}}}}',
    ],
)
def test_half_a_character_is_refused(message: str) -> None:
    """As a name it was silence, or a flush that hung; as a text it ended the context."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            await connection.send(message)
            error = await until(connection, "error")
            assert (error["code"], error["gone"]) == ("invalid_message", False)
            # Whole characters may be written in two escapes.
            await connection.send(
                '{"type": "input_text.append", "text": "Hello \\ud83d\\ude00 there."}'
            )
            await say(connection, "input_text.end")
            assert (await until(connection, "speech.done", "error"))["type"] == "speech.done"

    with serving() as server:
        play(run, server)


@pytest.mark.parametrize(
    ("protocol", "path", "field", "rest"),
    [
        ("native", "/v1/stream", "text", {"type": "input_text.append"}),
        ("elevenlabs", "/v1/text-to-speech/toy/stream-input?output_format=pcm_24000", "text", {}),
        ("cartesia", "/tts/websocket", "transcript", {"context_id": "a", "continue": True}),
    ],
)
def test_a_text_may_be_cut_within_a_character(
    protocol: str, path: str, field: str, rest: dict[str, Any]
) -> None:
    """A client that counts as JavaScript does cuts an emoji in two: the texts around it were
    lost."""

    async def run(server: Running) -> None:
        async with connect(server.ws + path) as connection:
            # The second emoji has no other half.
            for text in ("Hello \ud83d", "\ude00there\ud83d ", "and \udc00you. "):
                await connection.send(json.dumps({field: text, **rest}))
            end = time.monotonic() + 10
            while (
                time.monotonic() < end
                and server.metric("tts_characters_total", protocol=protocol) < 24
            ):
                await asyncio.sleep(0.01)
            assert server.metric("tts_characters_total", protocol=protocol) == 24

    with serving() as server:
        play(run, server)


def test_halves_of_characters_are_joined() -> None:
    assert without_half("a\ud83d") == ("a", "\ud83d")
    assert without_half("\ud83d\ude00 b") == ("\U0001f600 b", "")
    assert without_half("\ude00b\ud83dc\ud83d") == ("\ufffdb\ufffdc", "\ud83d")


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//[", "http://a]b"])
def test_an_origin_that_is_none_is_refused(origin: str, caplog: pytest.LogCaptureFixture) -> None:
    """It was 500 and a traceback, without a key."""
    with serving() as server:
        assert httpx.get(server.http + "/health", headers={"Origin": origin}).status_code == 403
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "-1", "0", "0.0001", '"x"'])
def test_a_wait_is_a_number_above_0(value: str) -> None:
    """NaN never idled and was sent back, which is no JSON; -1 ended each text at once."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            await connection.send(f'{{"type": "session.update", "session": {{"idle_s": {value}}}}}')
            assert (await until(connection, "error", "session.updated"))["type"] == "error"

    with serving() as server:
        play(run, server)


def test_the_log_has_the_lines_that_the_server_writes() -> None:
    """A text with an end of line forged two lines, and escapes reached the terminal."""
    record = logging.makeLogRecord({"msg": "text", "levelname": "INFO", "created": 0.5})
    record.text = "Hello\n1970-01-01T00:00:00.500Z info open session=ab\x1b[2J\u2028\x9b"
    try:
        raise ValueError("One\nerror \x1b[2J")
    except ValueError as error:
        record.exc_info = (type(error), error, error.__traceback__)
    for form in (Lines(), JsonLines()):
        written = form.format(record)
        assert not [c for c in written if not c.isprintable() and c != "\n"]
        assert [line for line in written.splitlines()[1:] if not line.startswith("  ")] == []
    record.text = "a session=b"
    record.exc_info = None
    assert Lines().format(record).endswith("info text text='a session=b'")


def test_the_same_warning_comes_once_a_second() -> None:
    """A thousand failures to accept were a thousand tracebacks."""
    from sayahead.server.operation.logs import Seldom

    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = logging.Logger("test")
    handler.addFilter(Seldom())
    handler.setFormatter(Lines())
    logger.addHandler(handler)
    for number in range(1000):
        logger.error("No descriptor %d.", number)
        logger.info("open")
    logger.error("Another thing.")
    lines = stream.getvalue().splitlines()
    assert [
        len([line for line in lines if word in line]) for word in ("No desc", "open", "Another")
    ] == [1, 1000, 1]


def test_bit_rates_are_those_that_the_encoder_has() -> None:
    """opus above 256000 passed the check, and then the server failed."""
    pytest.importorskip("av")

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            for rate, kind in ((256000, "session.updated"), (256001, "error"), (512000, "error")):
                await say(
                    connection, "session.update", session={"encoding": "opus", "bit_rate": rate}
                )
                assert (await until(connection, "error", "session.updated"))["type"] == kind
            await say(
                connection, "session.update", session={"encoding": "opus", "bit_rate": 256000}
            )
            await say(connection, "input_text.append", text="Hello there.")
            await say(connection, "input_text.end")
            assert (await until(connection, "speech.done", "error"))["type"] == "speech.done"

    with serving() as server:
        play(run, server)


def test_the_first_message_names_all_bounds() -> None:
    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            limits = (await until(connection, "session.created"))["limits"]
            assert limits["sessions"] == 8
            assert limits["sessions_per_key"] == 4
            names = (
                "flushes messages_per_s head_bytes connections name_characters contexts"
                " pending_characters"
            )
            assert all(limits[name] > 0 for name in names.split())

    with serving(limits={"sessions": 8}) as server:
        play(run, server)
