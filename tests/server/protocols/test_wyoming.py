"""Wyoming with its own client, in Home Assistant's order, and by hand."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.servers import Running, free_port, serving, toy_voice

from sayahead.errors import ConfigError
from sayahead.server.operation.settings import settings_of

TEXT = "Hello there, how are you today? I am fine. "
# Its client still imports audioop.
pytestmark = pytest.mark.filterwarnings("ignore:'audioop' is deprecated:DeprecationWarning")


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(port: int) -> Iterator[Running]:
    with serving(wyoming=f"tcp://127.0.0.1:{port}", limits={"message_bytes": 100_000}) as running:
        yield running


def sound(data: bytes) -> Any:
    return np.frombuffer(data, "<i2") / np.float32(32767)


class Hand:
    """Events, written and read byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, kind: str, **data: Any) -> None:
        self.writer.write(json.dumps({"type": kind, "data": data}).encode() + b"\n")
        await self.writer.drain()

    async def hear(self) -> tuple[str, dict[str, Any], bytes]:
        line = await asyncio.wait_for(self.reader.readline(), 20)
        if not line:
            return "closed", {}, b""
        header = json.loads(line)
        data = await self.reader.readexactly(header.get("data_length", 0))
        payload = await self.reader.readexactly(header.get("payload_length", 0))
        return header["type"], json.loads(data or b"{}"), payload

    async def until(self, *kinds: str) -> list[tuple[str, dict[str, Any], bytes]]:
        heard = [await self.hear()]
        while heard[-1][0] not in kinds:
            heard.append(await self.hear())
        return heard


def play(port: int, run: Any) -> None:
    async def whole() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            await run(Hand(reader, writer))
        finally:
            writer.close()

    asyncio.run(whole())


def test_home_assistants_sequence_is_spoken_once_and_begins_before_it_ends(
    server: Running, port: int
) -> None:
    pytest.importorskip("wyoming", reason="needs sayahead[compat]")
    from wyoming.audio import AudioChunk, AudioStart, AudioStop
    from wyoming.client import AsyncTcpClient
    from wyoming.tts import (
        Synthesize,
        SynthesizeChunk,
        SynthesizeStart,
        SynthesizeStop,
        SynthesizeStopped,
        SynthesizeVoice,
    )

    async def run() -> None:
        async with AsyncTcpClient("127.0.0.1", port) as client:
            heard = list[Any]()
            begun = asyncio.Event()

            async def write() -> None:
                voice = SynthesizeVoice(name="toy")
                await client.write_event(SynthesizeStart(voice=voice).event())
                words = TEXT.split(" ")
                for number, word in enumerate(words):
                    if number == len(words) - 3:
                        await asyncio.wait_for(begun.wait(), 20)
                    await client.write_event(SynthesizeChunk(text=word + " ").event())
                await client.write_event(Synthesize(text=TEXT, voice=voice).event())
                await client.write_event(SynthesizeStop().event())

            writing = asyncio.ensure_future(write())
            while not heard or not SynthesizeStopped.is_type(heard[-1].type):
                event = await asyncio.wait_for(client.read_event(), 20)
                assert event is not None
                heard.append(event)
                if AudioChunk.is_type(event.type):
                    begun.set()
            await writing
        assert AudioStart.is_type(heard[0].type)
        assert AudioStop.is_type(heard[-2].type)
        chunks = [AudioChunk.from_event(event) for event in heard[1:-2]]
        assert {(chunk.rate, chunk.width, chunk.channels) for chunk in chunks} == {(8000, 2, 1)}
        said = b"".join(chunk.audio for chunk in chunks)
        assert np.abs(sound(said) - toy_voice().synthesize(" ".join(TEXT.split()))).max() < 1e-4
        stamps = [chunk.timestamp for chunk in chunks]
        lengths = np.cumsum([0] + [len(chunk.audio) / 16 for chunk in chunks])
        assert np.abs(np.array(stamps) - lengths[:-1]).max() <= 1

    asyncio.run(run())
    server.settle()


def test_its_client_finds_what_is_there(port: int, server: Running) -> None:
    pytest.importorskip("wyoming", reason="needs sayahead[compat]")
    from wyoming.client import AsyncTcpClient
    from wyoming.info import Describe, Info
    from wyoming.ping import Ping, Pong

    async def run() -> None:
        async with AsyncTcpClient("127.0.0.1", port) as client:
            await client.write_event(Describe().event())
            event = await asyncio.wait_for(client.read_event(), 20)
            assert event is not None
            (service,) = Info.from_event(event).tts
            assert service.supports_synthesize_streaming
            assert [voice.name for voice in service.voices] == list(server.hub.voices.configs)
            assert service.voices[0].languages == ["en"]
            await client.write_event(Ping(text="x").event())
            event = await asyncio.wait_for(client.read_event(), 20)
            assert event is not None
            assert Pong.from_event(event).text == "x"

    asyncio.run(run())


def test_requests_on_one_connection_are_spoken_one_after_the_other(
    server: Running, port: int
) -> None:
    async def run(hand: Hand) -> None:
        await hand.say("synthesize", text=TEXT, voice={"language": "en_US"})
        await hand.say("synthesize-start")
        await hand.say("synthesize-chunk", text="Again. ")
        await hand.say("synthesize-stop")
        await hand.say("synthesize", text="And again.", voice={"name": "somebody"})
        for text, last in (
            (TEXT, "audio-stop"),
            ("Again. ", "synthesize-stopped"),
            ("And again.", "audio-stop"),
        ):
            heard = await hand.until(last)
            kinds = [kind for kind, _, _ in heard if kind != "audio-chunk"]
            assert (
                kinds
                == ["audio-start", "audio-stop", "synthesize-stopped"][: 2 + (last != "audio-stop")]
            )
            said = b"".join(payload for _, _, payload in heard)
            assert np.abs(sound(said) - toy_voice().synthesize(text)).max() < 1e-4

    play(port, run)
    server.settle()


def test_nothing_to_say_is_said_in_full_form(port: int, server: Running) -> None:
    async def run(hand: Hand) -> None:
        await hand.say("synthesize-start")
        await hand.say("synthesize-stop")
        kinds = [kind for kind, _, _ in await hand.until("synthesize-stopped")]
        assert kinds == ["audio-start", "audio-stop", "synthesize-stopped"]

    play(port, run)


def test_a_text_that_is_too_long_is_refused_whole_and_has_no_holes(
    port: int, server: Running
) -> None:
    """Parts of it were refused, and the others spoken: five errors among thousands of chunks."""
    most = server.hub.limits.pending_characters

    async def run(hand: Hand) -> None:
        await hand.say("synthesize", text="word " * (most // 5 + 1))
        (kind, data, _), *rest = await hand.until("closed", "audio-stop")
        assert (kind, f"{most} are allowed" in data["text"]) == ("error", True)
        assert [other for other, _, _ in rest] == ["closed"]

    async def in_pieces(hand: Hand) -> None:
        await hand.say("synthesize-start")
        for _ in range(3):
            await hand.say("synthesize-chunk", text="word " * (most // 7))
        await hand.say("synthesize-chunk", text="Never. ")
        await hand.say("synthesize-stop")
        kinds = [kind for kind, _, _ in await hand.until("error", "synthesize-stopped")]
        assert kinds[-1] == "error"

    play(port, run)
    play(port, in_pieces)
    server.settle()


def test_unknown_events_do_no_harm(port: int, server: Running) -> None:
    async def run(hand: Hand) -> None:
        for kind in ("synthesize-stop", "synthesize-chunk", "transcribe", "audio-start"):
            await hand.say(kind)
        hand.writer.write(b'{"type": "audio-chunk", "data_length": 2, "payload_length": 4}\n{}abcd')
        await hand.say("synthesize", text="Hello.")
        assert len(b"".join(payload for _, _, payload in await hand.until("audio-stop"))) > 0

    play(port, run)


def test_who_goes_is_not_spoken_to_and_who_does_not_read_is_cut_off() -> None:
    port = free_port()
    running = list[Running]()

    async def run(hand: Hand) -> None:
        await hand.say("synthesize", text="word " * 200)
        await hand.until("audio-chunk")

    async def deaf() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(16):
            writer.write(
                json.dumps({"type": "synthesize", "data": {"text": "word " * 3000}}).encode()
                + b"\n"
            )
        await asyncio.to_thread(running[0].settle, 60)
        writer.close()
        assert reader is not None

    limits = {"write_stall_s": 0.5, "pending_characters": 10**6}
    with serving(wyoming=f"tcp://127.0.0.1:{port}", limits=limits) as server:
        running.append(server)
        for _ in range(20):
            play(port, run)
        server.settle()
        asyncio.run(deaf())
    with serving(wyoming=f"tcp://127.0.0.1:{port}", step_s=0.02, drain_s=0.1):
        reader = socket.create_connection(("127.0.0.1", port))
        reader.sendall(
            json.dumps({"type": "synthesize", "data": {"text": "word " * 900}}).encode() + b"\n"
        )
        assert reader.recv(10)
        begun = time.monotonic()
    # A server that goes down does not wait for a text to end.
    assert time.monotonic() - begun < 15
    reader.close()


def test_a_full_server_says_so() -> None:
    port = free_port()

    async def run(hand: Hand) -> None:
        kind, data, _ = await hand.hear()
        assert (kind, data["code"]) == ("error", "overloaded")
        assert (await hand.hear())[0] == "closed"

    with (
        serving(wyoming=f"tcp://127.0.0.1:{port}", limits={"sessions": 1}),
        socket.create_connection(("127.0.0.1", port)),
    ):
        time.sleep(0.2)
        play(port, run)


@pytest.mark.parametrize(
    "address", ["10200", "tcp://0.0.0.0", "http://0.0.0.0:1", "tcp://x:99999", "tcp://[::1"]
)
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(ConfigError, match="wyoming"):
        settings_of({"wyoming": address})


def test_keys_and_wyoming_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="keys"):
        settings_of({"wyoming": "tcp://127.0.0.1:10200", "keys": ("some-long-key",)})


def test_the_network_is_told() -> None:
    pytest.importorskip("zeroconf", reason="needs sayahead[zeroconf]")
    from zeroconf import ServiceBrowser, ServiceStateChange, Zeroconf

    port = free_port()
    found = list[str]()

    def changed(
        zeroconf: Any, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        if state_change is ServiceStateChange.Added:
            found.append(name)

    with serving(wyoming=f"tcp://127.0.0.1:{port}", zeroconf=True):
        network = Zeroconf(interfaces=["127.0.0.1"])
        try:
            ServiceBrowser(network, "_wyoming._tcp.local.", handlers=[changed])
            end = time.monotonic() + 20
            while not any(str(port) in name for name in found) and time.monotonic() < end:
                time.sleep(0.05)
            (name,) = (name for name in found if str(port) in name)
            service = network.get_service_info("_wyoming._tcp.local.", name)
            assert service is not None
            assert service.port == port
            assert service.parsed_addresses() == ["127.0.0.1"]
        finally:
            network.close()
