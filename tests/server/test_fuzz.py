"""Messages that no client should send, over every protocol: no failure, no dead worker, no session
left behind.

A protocol joins by a line in SOCKETS or REQUESTS. ``SAYAHEAD_FUZZ_MESSAGES`` is the number of
messages over all."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import msgpack
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.servers import Running, free_port, serving
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from sayahead.client import AsyncClient

MESSAGES = int(os.environ.get("SAYAHEAD_FUZZ_MESSAGES", examples(10_000)))
# Messages of one example: a connection, or requests one after the other.
BATCH = 25
# Size of a message that is too big.
LARGEST = 4096
# How a connection may end that was sent nonsense: never by the server's fault (1011), never without
# a word (1006).
CODES = {1000, 1001, 1003, 1005, 1007, 1008, 1009, 1013}

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=40),
    st.just("<long>"),
    st.just("\ud800"),
)
JSONS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
RAW: st.SearchStrategy[str | bytes] = st.one_of(
    st.text(max_size=60), st.binary(max_size=60), st.just("<deep>"), st.just("")
)


def almost(known: dict[str, list[Any]]) -> st.SearchStrategy[str | bytes]:
    """Objects whose keys are those of a protocol, with values that are right, wrong or missing."""
    fields = {name: st.sampled_from(values) | JSONS for name, values in known.items()}
    objects = st.fixed_dictionaries({}, optional=fields)
    return objects.map(lambda data: json.dumps(data).encode("utf-8", "replace").decode())


def packed(message: str | bytes) -> bytes:
    """The same in MessagePack."""
    data: bytes
    try:
        data = msgpack.packb(json.loads(message), unicode_errors="surrogatepass")
    except OverflowError:
        data = b"\xc1"
    return data


def expand(message: str | bytes) -> str | bytes:
    """The message with what is too long to be shown."""
    if isinstance(message, bytes):
        return message
    whole = message.replace("<long>", "x" * 1250).replace("<deep>", "[" * 3000)
    return whole.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Target:
    """A protocol to be sent nonsense."""

    name: str
    path: str
    messages: st.SearchStrategy[str | bytes]


NATIVE: dict[str, list[Any]] = {
    "type": [
        "session.update",
        "input_text.append",
        "input_text.revise",
        "input_text.flush",
        "input_text.end",
        "input_text.cancel",
        "session.ping",
        "session.end",
    ],
    "text": ["Hello there ", ""],
    "context_id": ["a", "b", ""],
    "flush_id": [1, "x"],
    "at": [0, 3, 1000],
    "revise_id": [2, "y"],
    "session": [
        {"speed": 1.5},
        {"voice": "toy"},
        {"encoding": "mulaw"},
        {"encoding": "mp3"},
        {"policy": "lookahead:k=-1"},
        {"policy": {"name": "wait-all", "max_words": 10**9}},
        {"policy": "lerned", "context": ["none"]},
        {"context": "lm:model=../x"},
        {"speed": float("nan")},
        {"sample_rate": 0},
        {"idle_s": -1},
        {"idle_s": 0.01},
        {"seed": 2**70},
    ],
}
SPEECH: dict[str, list[Any]] = {
    "model": ["tts-1"],
    "voice": ["alloy", {"id": "toy"}, "../heart"],
    "input": ["Hello.", "", " ", "<long>"],
    "response_format": ["pcm", "mp3", "opus", "wav", "aac", "flac"],
    "speed": [1.0, 0.25, float("nan"), 1e400],
    "stream_format": ["audio", "sse"],
}
ELEVENLABS: dict[str, list[Any]] = {
    "text": ["Hello there ", " ", ""],
    "context_id": ["a", "b"],
    "contextId": ["c"],
    "flush": [True],
    "xi-api-key": ["x"],
    "close_context": [True],
    "close_socket": [False],
    "voice_settings": [{"speed": 1.2}, {"speed": float("nan")}],
}
DIALOGUE: dict[str, list[Any]] = {
    "voices": [["toy"], ["toy", "none"], [], "toy", [1]],
    "inputs": [
        [{"text": "Hello there. ", "voice_id": "toy"}],
        [{"text": "Hi. ", "voice_id": "none", "new_turn": True}, {"text": ""}],
        [{"text": "<long>", "voice_id": "toy"}],
        [{}],
        ["Hello"],
        {"text": "Hello"},
    ],
    "context_id": ["a", "b", 1],
    "flush": [True],
    "close_context": [True],
    "close_socket": [True, False],
    "voice_settings": [{"speed": 1.2}, {"speed": float("nan")}],
    "pronunciation_dictionary_locators": [[], [{"pronunciation_dictionary_id": "x"}]],
}
CARTESIA: dict[str, list[Any]] = {
    "context_id": ["a", "b"],
    "transcript": ["Hello there ", "", "<long>"],
    "continue": [True, False],
    "flush": [True],
    "cancel": [True],
    "voice": [{"mode": "id", "id": "toy"}, "toy"],
    "add_timestamps": [True],
    "output_format": [
        {"container": "raw", "encoding": "pcm_f32le", "sample_rate": 44100},
        {"sample_rate": -1},
    ],
    "generation_config": [{"speed": 1.5}, {"volume": 1e400}],
}
DEEPGRAM: dict[str, list[Any]] = {
    "type": ["Speak", "Flush", "Clear"],
    "text": ["Hello there ", "", "<long>"],
}
FLUX: dict[str, list[Any]] = {
    "type": ["Speak", "Flush", "Interrupt", "Configure"],
    "text": ["Hello there ", "", "<long>"],
    "speed": [1.0, 1.5, -1, 1e400, "fast"],
    "playback_offset": [
        {"type": "time_ms", "value": 10},
        {"type": "time_ms", "value": -1},
        {"type": "bytes"},
    ],
}
KYUTAI: dict[str, list[Any]] = {
    "type": ["Text", "Voice", "Eos"],
    "text": ["Hello", "there.", ""],
    "embeddings": [[0.5, 0.5]],
    "shape": [[1, 2]],
}
WYOMING: dict[str, list[Any]] = {
    "type": [
        "synthesize-start",
        "synthesize-chunk",
        "synthesize-stop",
        "synthesize",
        "describe",
        "ping",
    ],
    "data": [{"text": "Hello there. "}, {"voice": {"name": "toy"}}, {"voice": {"language": "xx"}}],
    "data_length": [0, 2, -1, 1e9],
    "payload_length": [0, 3, 10**9],
}
VOICE = "/v1/text-to-speech/toy"
DIALOGUES = "/v1/text-to-dialogue"
SOCKETS = [
    Target("native", "/v1/stream", RAW | almost(NATIVE)),
    Target("elevenlabs", f"{VOICE}/stream-input?output_format=pcm_8000", RAW | almost(ELEVENLABS)),
    Target(
        "elevenlabs-multi", f"{VOICE}/multi-stream-input?output_format=pcm_8000", almost(ELEVENLABS)
    ),
    Target("dialogue", f"{DIALOGUES}/stream-input?output_format=pcm_8000", RAW | almost(DIALOGUE)),
    Target(
        "dialogue-multi", f"{DIALOGUES}/multi-stream-input?output_format=pcm_8000", almost(DIALOGUE)
    ),
    Target("cartesia", "/tts/websocket", RAW | almost(CARTESIA)),
    Target("deepgram", "/v1/speak?encoding=mulaw", RAW | almost(DEEPGRAM)),
    Target("flux", "/v2/speak?encoding=mulaw", RAW | almost(FLUX)),
    Target("kyutai", "/api/tts_streaming?format=PcmMessagePack", RAW | almost(KYUTAI).map(packed)),
]
REQUESTS = [
    Target("openai", "/v1/audio/speech", RAW | almost(SPEECH)),
    Target("elevenlabs", f"{VOICE}/stream?output_format=pcm_8000", RAW | almost(ELEVENLABS)),
    Target("dialogue", f"{DIALOGUES}/stream?output_format=pcm_8000", RAW | almost(DIALOGUE)),
    Target("cartesia", "/tts/bytes", RAW | almost(CARTESIA)),
    Target("deepgram", "/v1/speak?encoding=mulaw", RAW | almost(DEEPGRAM)),
    Target("tokens", "/v1/tokens", RAW),
]


def effort() -> settings:
    """So many examples that all protocols together are sent MESSAGES messages."""
    count = -(-MESSAGES // (len(SOCKETS) + len(REQUESTS) + 1) // BATCH)
    quiet = [
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.large_base_example,
    ]
    return settings(
        max_examples=max(1, count),
        suppress_health_check=quiet,
        phases=[Phase.generate],
        database=None,
    )


WYOMING_PORT = free_port()
LIMITS = {"message_bytes": LARGEST, "message_characters": 1000, "idle_s": 5.0}
"""So small that a text may break the one or the other, and one that breaks neither is soon
spoken."""


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    address = f"tcp://127.0.0.1:{WYOMING_PORT}"
    with serving(wyoming=address, limits=LIMITS) as running:
        yield running


@pytest.fixture
def unharmed(server: Running, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Checks that the server is as it was."""
    threads = {thread.name for thread in server.hub.pool._threads}
    with caplog.at_level(logging.ERROR):
        yield
        # Who is refused only now is no error either.
        server.settle(30)
    assert caplog.text == ""
    assert all(thread.is_alive() for thread in server.hub.pool._threads)
    assert threads
    asyncio.run(speaks(server))


async def speaks(server: Running) -> None:
    async with AsyncClient(server.ws) as client:
        assert len([chunk async for chunk in client.stream(["Hello there."])]) > 0


async def send_all(server: Running, target: Target, messages: list[str | bytes]) -> int:
    """The code with which the connection ended."""
    try:
        async with connect(server.ws + target.path, compression=None) as socket:
            # Who does not read is closed, too, but only after a while.
            reading = asyncio.ensure_future(read_all(socket))
            for message in messages:
                await socket.send(message)
            await socket.close()
            await reading
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006
    except InvalidHandshake:
        return 1008
    return socket.close_code or 1005


async def read_all(socket: Any) -> None:
    with contextlib.suppress(ConnectionClosed):
        async for _ in socket:
            pass


@pytest.mark.parametrize("target", SOCKETS, ids=lambda target: target.name)
@pytest.mark.usefixtures("unharmed")
def test_a_socket_survives_nonsense(server: Running, target: Target) -> None:
    codes = set[int]()

    @effort()
    @given(st.lists(target.messages, min_size=BATCH, max_size=BATCH))
    def run(messages: list[str | bytes]) -> None:
        sent = [expand(message) for message in messages]
        code = asyncio.run(send_all(server, target, sent))
        codes.add(code)
        # Who sends more after a message that is too big may find the connection reset before it can
        # read why.
        assert code in CODES or max(len(message) for message in sent) > LARGEST

    run()
    assert codes


@pytest.mark.parametrize("target", REQUESTS, ids=lambda target: target.name)
@pytest.mark.usefixtures("unharmed")
def test_an_endpoint_survives_nonsense(server: Running, target: Target) -> None:
    statuses = set[int]()

    @effort()
    @given(st.lists(target.messages, min_size=BATCH, max_size=BATCH))
    def run(messages: list[str | bytes]) -> None:
        for message in messages:
            statuses.add(http.post(server.http + target.path, content=expand(message)).status_code)

    with httpx.Client(timeout=30, headers={"connection": "close"}) as http:
        run()
    assert statuses <= {200, 400, 404, 405, 413, 429}
    assert 400 in statuses or target.path == "/v1/tokens"


@pytest.mark.usefixtures("unharmed")
def test_wyoming_survives_nonsense(server: Running) -> None:
    @effort()
    @given(st.lists(RAW | almost(WYOMING), min_size=BATCH, max_size=BATCH), st.booleans())
    def run(messages: list[str | bytes], breaks: bool) -> None:
        sent = [expand(message) for message in messages]
        lines = [
            line.encode("utf-8", "replace") if isinstance(line, str) else line for line in sent
        ]
        asyncio.run(speak_bytes(WYOMING_PORT, b"".join(line + b"\n" * breaks for line in lines)))

    run()


def test_heads_that_are_none(server: Running) -> None:
    upgrade = (
        b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection:"
        b" Upgrade\r\n\r\n"
    )
    wrong = [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"\x16\x03\x01" * 50,
        b"A" * 100_000,
        upgrade,
    ]
    for head in wrong:
        asyncio.run(speak_bytes(server.port, head))
    server.settle()
    asyncio.run(speaks(server))


async def speak_bytes(port: int, data: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(100), 10)
        assert b" 500 " not in answer
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
