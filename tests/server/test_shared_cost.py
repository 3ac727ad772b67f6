"""What all clients share and one of them draws on: the event loop, connections before their
handshake, bytes, threads. Each test says what it showed before there was a bound; ``test_abuse.py``
has those of texts and messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.servers import Running, certified, serving
from websockets.asyncio.client import ClientConnection, connect

from sayahead.client import AsyncClient
from sayahead.errors import ConfigError, VoiceError
from sayahead.server.operation import transport
from sayahead.server.operation.rate_limits import Accounts, Reading
from sayahead.server.operation.settings import Limits
from sayahead.server.synthesis.offers import MAX_ENTRIES, MAX_LEXICON, MAX_SAID, lexicon_of

QUERY = {"output_format": "pcm_8000"}
UPGRADE = (
    b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def told(server: Running, data: bytes) -> bytes:
    """What the server answers to these bytes until it closes."""
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as peer:
        peer.sendall(data)
        with contextlib.suppress(ConnectionError):
            while part := peer.recv(65536):
                answer += part
    return answer


async def answer(connection: ClientConnection, **message: Any) -> dict[str, Any]:
    """The next event after a message."""
    await connection.send(json.dumps(message))
    while isinstance(event := await asyncio.wait_for(connection.recv(), 20), bytes):
        pass
    data: dict[str, Any] = json.loads(event)
    return data


@pytest.mark.parametrize(
    "head",
    [b"X-n: " + b"a" * 9000 + b"\r\n", b"".join(b"X-%d: a\r\n" % n for n in range(140))],
    ids=["line", "lines"],
)
def test_a_handshake_is_answered_or_ends(head: bytes) -> None:
    """The library refused them, said nothing, and no timer ran: 60 of 60 connections were there
    after 25 s."""
    with serving() as server:
        assert told(server, UPGRADE + head + b"\r\n").startswith(b"HTTP/1.1 431")
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as peer:
            peer.sendall(UPGRADE + b"X-n: a\r\n\r\n")
            assert peer.recv(12) == b"HTTP/1.1 101"


@pytest.mark.parametrize(
    "upgrade", [b"", UPGRADE.partition(b"localhost\r\n")[2]], ids=["request", "handshake"]
)
def test_a_request_has_one_host(upgrade: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second was not looked at; RFC 9112, 3.2 has 400 for it."""
    monkeypatch.setattr(transport, "LINGER_S", 0.1)
    with serving() as server:
        head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n" + upgrade
        assert told(server, head + b"\r\n").startswith(b"HTTP/1.1 400")
        body = b"Content-Length: 3\r\n\r\nabc"
        assert told(server, head.replace(b"GET", b"POST") + body).startswith(b"HTTP/1.1 400")
        assert httpx.get(server.http + "/health").is_success


def test_a_server_full_of_the_silent_is_ready() -> None:
    """A balancer took it out, though whoever speaks gets in."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream"), connect(server.ws + "/tts/websocket"):
            await asyncio.sleep(1.2)
            async with httpx.AsyncClient(base_url=server.http) as http:
                assert (await http.get("/ready")).status_code == 200
            async with AsyncClient(server.ws) as client:
                assert [chunk async for chunk in client.stream(["Hello there."])]

    with serving(limits={"sessions": 2}) as server:
        asyncio.run(run(server))


def test_a_connection_counts_and_ends_before_it_is_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 silent ones were neither counted nor cut off for a minute, 0.3 MB each."""
    monkeypatch.setattr(transport, "HEAD_S", 0.6)
    monkeypatch.setattr(transport, "HANDSHAKES", 3)
    key, certificate = certified(tmp_path)
    context = ssl.create_default_context(cafile=certificate)
    with (
        serving(certificate=certificate, certificate_key=key) as server,
        contextlib.ExitStack() as peers,
    ):
        silent = [
            peers.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=5))
            for _ in range(5)
        ]
        begun = time.monotonic()
        # The oldest two had to go at once; the others have their time.
        for peer, at_once in zip(silent, (True, True, False, False, False), strict=True):
            with contextlib.suppress(ConnectionError):
                assert peer.recv(1) == b""
            assert (time.monotonic() - begun < 0.4) == at_once
        address = f"https://localhost:{server.port}/health"
        assert httpx.get(address, verify=context, timeout=5).is_success

        async def speak() -> None:
            async with connect(
                address.replace("https", "wss").replace("/health", "/v1/stream"), ssl=context
            ) as one:
                assert json.loads(await one.recv())["type"] == "session.created"

        monkeypatch.setattr(transport, "HEAD_S", 10.0)
        asyncio.run(speak())


def test_lexicons_are_read_beside_the_event_loop_and_at_a_pace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One connection with one message in a loop: others waited 17 s, /health 13 s."""
    readers = list[str]()

    async def run(server: Running) -> None:
        voice = server.hub.voices.loaded["toy"]
        inner = voice.pronunciations

        def reading(lexicon: object = None) -> Any:
            readers.append(threading.current_thread().name)
            # More than the server allows at once.
            server_work.take(1.2)
            return inner(lexicon)

        monkeypatch.setattr(voice, "pronunciations", reading)
        async with connect(server.ws + "/v1/stream") as connection:
            await connection.recv()
            (lease,) = server.hub._leases
            server_work = lease.account.work
            session = {"lexicon": {"SQL": "sequel"}}
            assert (await answer(connection, type="session.update", session=session))[
                "type"
            ] == "session.updated"
            begun = time.monotonic()
            assert (await answer(connection, type="session.update", session=session))[
                "type"
            ] == "session.updated"
            assert time.monotonic() - begun > 0.3
            assert (await answer(connection, type="session.update", session={"lexicon": {"a": 3}}))[
                "type"
            ] == "error"

    monkeypatch.setattr("sayahead.server.operation.rate_limits.Account.WORK_PER_S", 1.0)
    with serving() as server:
        asyncio.run(run(server))
    assert {name.partition("_")[0] for name in readers} == {"aside"}


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({f"a{n}": "b" for n in range(MAX_ENTRIES + 1)}, "too many"),
        ({"a": "b" * (MAX_SAID + 1)}, "are allowed"),
        ({f"a{n}": "b" * MAX_SAID for n in range(MAX_LEXICON // MAX_SAID)}, "too many"),
    ],
)
def test_a_clients_lexicon_has_a_size(table: dict[str, str], why: str) -> None:
    """One alias of 96 kB of figures took 1.8 s to read, for each message."""
    with pytest.raises(ConfigError, match=why):
        lexicon_of(table)


def test_messages_and_bodies_are_read_at_a_rate_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 messages a second, of 250 kB each: others waited nine times as long as alone."""

    async def run(server: Running) -> None:
        server.hub.accounts = Accounts(Limits(bytes_per_s=40_000, messages_per_s=100_000), 1000)
        async with connect(server.ws + "/v1/stream") as connection:
            await connection.recv()
            begun = time.monotonic()
            for _ in range(2):
                pong = await answer(connection, type="session.ping", more="x" * 120_000)
                assert pong["type"] == "session.pong"
            assert 0.4 < time.monotonic() - begun < 5
        # On one connection: the second request was cut off, since the first one's body was counted
        # with it.
        async with httpx.AsyncClient(base_url=server.http, timeout=20) as http:
            body = {"text": "Hi.", "more": "x" * 100_000}
            for most_s, code in ((10.0, 200), (10.0, 200), (0.1, 429)):
                # What would have to wait too long comes again.
                monkeypatch.setattr("sayahead.server.http.PATIENCE_S", most_s)
                assert (
                    await http.post("/v1/text-to-speech/toy", params=QUERY, json=body)
                ).status_code == code

    with serving(limits={"messages_per_s": 100_000}) as server:
        asyncio.run(run(server))


def test_messages_of_a_client_are_counted_on_all_its_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each connection had 500 a second, of any size: four of one client made others wait four times
    as long."""
    limits = Limits(messages_per_s=100)
    account = Accounts(limits, 1).of("somebody")

    async def read() -> None:
        one = Reading(account, limits)
        other = Reading(account, limits)
        begun = time.monotonic()
        await one.turn(256 + 99 * 64)
        assert time.monotonic() - begun < 0.5
        await other.turn(256 + 50 * 64)
        assert time.monotonic() - begun > 0.4

    asyncio.run(read())

    async def run(server: Running) -> None:
        async with httpx.AsyncClient(base_url=server.http) as http:
            begun = time.monotonic()
            assert [
                (await http.get(path)).status_code
                for path in ("/health", "/ready", "/version") * 10
            ] == [200] * 30
            assert time.monotonic() - begun > 0.4

    # This machine's connections have four times as many.
    with serving(limits={"requests_per_s": 5, "sessions": 2}) as server:
        asyncio.run(run(server))


@pytest.mark.parametrize(
    "session", [{"x" * 100_000: 1}, {"voice": "x" * 100_000}, {"policy": "x" * 100_000}]
)
def test_errors_name_no_more_than_the_beginning(session: dict[str, Any]) -> None:
    """The whole name came back, and was compared with all that there are."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as connection:
            await connection.recv()
            error = await answer(connection, type="session.update", session=session)
            assert error["type"] == "error"
            assert len(error["message"]) < 1500

    with serving() as server:
        asyncio.run(run(server))


def test_what_is_wrong_with_a_voice_is_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients were told the machine's paths and a file's digest."""

    def load(name: str) -> None:
        raise VoiceError("/srv/voices/heart/decoder.onnx is damaged: its SHA-256 is abc.")

    async def run(server: Running) -> None:
        monkeypatch.setattr(server.hub.voices, "load", load)
        async with connect(server.ws + "/v1/stream") as connection:
            await connection.recv()
            await answer(connection, type="session.update", session={"voice": "heart"})
            error = await answer(connection, type="input_text.append", text="Hello there, you. ")
            assert error["code"] == "unknown_voice"
            assert not re.search("/srv|SHA|onnx", error["message"])

    with serving() as server:
        asyncio.run(run(server))


def test_metrics_are_made_a_few_times_a_second() -> None:
    """Six clients without a key, asking for them in a loop, made others wait 13 times as long."""
    with serving() as server:
        made = list[float]()
        inner = server.hub.metrics.text

        def text() -> bytes:
            made.append(time.monotonic())
            return inner()

        server.hub.metrics.text = text  # type: ignore[method-assign,assignment]
        begun = time.monotonic()
        with httpx.Client(base_url=server.http) as http:
            for _ in range(30):
                assert b"tts_sessions_limit" in http.get("/metrics").content
        assert len(made) <= 2 + (time.monotonic() - begun) / 0.1


def test_one_address_has_half_of_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """It had all, of which a process with few files has few: nobody else was answered."""

    def refused(peer: socket.socket) -> bool:
        peer.settimeout(0.3)
        try:
            return peer.recv(1) == b""
        except TimeoutError:
            return False
        except ConnectionError:
            return True

    whose = ["somebody"]
    monkeypatch.setattr(transport, "share_of", lambda address: whose[0])
    with serving(limits={"connections": 6}) as server, contextlib.ExitStack() as peers:

        def connected() -> socket.socket:
            return peers.enter_context(
                socket.create_connection(("127.0.0.1", server.port), timeout=5)
            )

        held = [connected() for _ in range(3)]
        assert not any(map(refused, held))
        assert refused(connected())
        # This machine, and who may be behind it, may have the rest.
        whose[0] = ""
        assert not any(refused(connected()) for _ in range(2))
