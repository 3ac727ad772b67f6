"""Wyoming, the protocol of Home Assistant's speech services, over TCP. Text may arrive while it is
spoken."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sayahead import __version__
from sayahead.errors import ConfigError
from sayahead.server.driver import serve_session
from sayahead.server.hub import Hub, Lease, RefusedError
from sayahead.server.json_messages import MessageError, json_object
from sayahead.server.operation.access import Caller, share_of
from sayahead.server.operation.rate_limits import Reading
from sayahead.server.operation.settings import ProtocolSettings, Settings, there
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import session_of

log = logging.getLogger("sayahead.server")
# Version of the protocol; 1.7.0 was the first that streams text.
VERSION = "1.7.2"
FRAME_S = 0.08
SERVICE = "_wyoming._tcp.local."
HEADER_BYTES = 65536
CLOSE_S = 2.0
BUFFER_BYTES = 65536
# Texts are passed to the engine in parts of this many characters.
PART = 1000


@dataclass(frozen=True, slots=True)
class WyomingSettings(ProtocolSettings):
    """Wyoming's settings."""

    spread = "handed"

    wyoming: str | None = None
    """Where to listen for Home Assistant, such as tcp://0.0.0.0:10200; none: nowhere."""
    zeroconf: bool = False
    """Whether to announce the Wyoming address on the local network."""

    def check(self, server: Settings) -> None:
        if self.wyoming is not None:
            address_of(self.wyoming)
            if server.keys or server.keys_file is not None:
                raise ConfigError(
                    "Wyoming has no keys: serve it from a process of its own, without keys."
                )
        if self.zeroconf and not there("zeroconf"):
            raise ConfigError(
                "The setting zeroconf needs a package: pip install 'sayahead[zeroconf]'."
            )

    def addresses(self, server: Settings) -> Iterable[tuple[str, int]]:
        return () if self.wyoming is None else (address_of(self.wyoming),)

    def findings(self) -> Iterable[str]:
        if self.wyoming is not None:
            yield f"Wyoming has no keys: anyone who can reach {self.wyoming} can use it."


SETTINGS = WyomingSettings


def address_of(text: str) -> tuple[str, int]:
    """Parse the setting ``wyoming`` into host and port. ConfigError if it is not such an
    address."""
    try:
        parts = urlsplit(text)
        host = parts.hostname
        port = parts.port
    except ValueError:
        host = None
        port = None
    if host is None or port is None or parts.scheme != "tcp":
        raise ConfigError(
            f"The setting wyoming is {text!r}, but must be an address such as tcp://0.0.0.0:10200."
        )
    return host, port


class Wyoming:
    """One connection: requests one after the other, each an utterance."""

    def __init__(
        self, hub: Hub, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._hub = hub
        self._reader = reader
        self._writer = writer
        self._name = ""
        self._count = 0
        # The utterance of which a part was refused: the rest is dropped, too, so that it has no
        # gaps.
        self._refused: str | None = None
        # Whether a text is arriving in pieces, and whether the current utterance did.
        self._reading = False
        self._streamed = False
        self._rate = 0
        self._started = False
        self._is_silent = asyncio.Event()
        self._is_silent.set()

    # What comes in.

    async def commands(self, lease: Lease) -> AsyncIterator[m.Command]:
        """Yield the commands of the peer's events; a new text is read once the last one was
        spoken."""
        reading = Reading(lease.account, self._hub.limits)
        lease.reading = reading
        while True:
            try:
                kind, data = await self._event(reading)
                if kind in ("synthesize-start", "synthesize") and not self._reading:
                    await self._is_silent.wait()
                for command in self._read(kind, data):
                    yield command
            except MessageError as error:
                yield m.Refuse("invalid_message", str(error), fatal=True)

    async def _event(self, reading: Reading) -> tuple[str, dict[str, Any]]:
        """Read the next event; return its type and data, without its payload."""
        try:
            line = await self._reader.readline()
            await reading.turn(len(line))
            if not line.endswith(b"\n"):
                raise m.GoneError("The client closed the connection.")
            header = json_object(line)
            kind = header.get("type")
            data = header.get("data") or {}
            if not isinstance(kind, str) or not isinstance(data, dict):
                raise MessageError("An event needs a type, a string, and data, an object.")
            more = await self._reader.readexactly(self._length(header, "data_length"))
            rest = await self._reader.readexactly(self._length(header, "payload_length"))
            await reading.turn(len(more) + len(rest))
        except ValueError as error:
            raise MessageError(
                f"An event's first line is longer than {HEADER_BYTES} bytes."
            ) from error
        except (OSError, EOFError) as error:
            raise m.GoneError("The client closed the connection.") from error
        return kind, data | (json_object(more) if more else {})

    def _length(self, header: dict[str, Any], name: str) -> int:
        """Return a length from an event's header. MessageError if it is invalid or too large."""
        length = header.get(name) or 0
        max_length = self._hub.limits.message_bytes
        if isinstance(length, bool) or not isinstance(length, int) or not 0 <= length <= max_length:
            raise MessageError(f"{name} must be a whole number from 0 to {max_length}.")
        return length

    def _read(self, kind: str, data: dict[str, Any]) -> Iterable[m.Command]:
        """Yield the commands for an event."""
        match kind:
            case "describe":
                yield m.Reply(event("info", info(self._hub)))
            case "ping":
                yield m.Reply(event("pong", {"text": data.get("text")}))
            case "synthesize-start":
                self._reading = True
                yield self._open(data, streamed=True)
            case "synthesize-chunk" if self._reading:
                yield from self._say(data)
            # After the chunks of a stream, clients also send the whole text, for servers that do
            # not stream: it is ignored.
            case "synthesize" if not self._reading:
                yield self._open(data, streamed=False)
                yield from self._say(data)
                yield m.Finish(self._name)
            case "synthesize-stop" if self._reading:
                self._reading = False
                yield m.Finish(self._name)
            case _:
                yield m.KeepAlive()

    def _open(self, data: dict[str, Any], *, streamed: bool) -> m.Command:
        """Return the command that begins an utterance."""
        if data.get("text_format") not in (None, "text"):
            raise MessageError("The text must be plain: text_format can only be text.")
        self._count += 1
        self._name = str(self._count)
        self._streamed = streamed
        self._started = False
        self._is_silent.clear()
        request = voice if isinstance(voice := data.get("voice"), dict) else {}
        voice, speaker = self._voice(request)
        self._rate = self._hub.voices.configs[voice].sample_rate
        try:
            session = session_of(request, speaker=speaker)
        except ConfigError as error:
            raise MessageError(str(error)) from error
        idle_s = self._hub.limits.idle_most_s
        return m.Open(
            self._name, m.Options(voice, session=session, frame_s=FRAME_S, idle_s=idle_s, sole=True)
        )

    def _voice(self, request: dict[str, Any]) -> tuple[str, str | None]:
        """Return voice and speaker for a request: by name, else by language, else the default
        voice."""
        name, language, speaker = (
            request[key] if isinstance(request.get(key), str) else None
            for key in ("name", "language", "speaker")
        )
        voice, default_speaker = self._hub.voices.find(name, any_voice=True, language=language)
        speakers = self._hub.voices.configs[voice].speakers
        return voice, speaker if speaker in speakers else default_speaker

    def _say(self, data: dict[str, Any]) -> Iterable[m.Command]:
        """Yield the commands for a text, in parts of at most ``PART`` characters.

        Once a part of the utterance was refused, there are none: no part may be missing in between.
        """
        text = data.get("text")
        limit = self._hub.limits.pending_characters
        if not isinstance(text, str):
            raise MessageError("text is missing.")
        if len(text) > limit:
            # Refused as a whole, because refusing some of its parts would leave gaps.
            raise MessageError(
                f"The text has {len(text)} characters; {limit} are allowed: send it in several."
            )
        if self._refused == self._name:
            return
        for start in range(0, len(text), PART):
            if self._refused != self._name:
                yield m.Text(self._name, text[start : start + PART])

    # What goes out.

    async def send(self, outgoing: m.Event) -> None:
        """Send an event to the peer."""
        try:
            self._writer.write(b"".join(self._write(outgoing)))
            await self._writer.drain()
        except OSError as error:
            raise m.GoneError("The client closed the connection.") from error
        if isinstance(outgoing, m.Finished):
            self._is_silent.set()

    def _write(self, outgoing: m.Event) -> Iterable[bytes]:
        """Yield the bytes of the Wyoming events for an event."""
        form = {"rate": self._rate, "width": 2, "channels": 1}
        match outgoing:
            case m.Audio(_, data, start_s):
                yield from self._start(form)
                yield event("audio-chunk", {**form, "timestamp": round(start_s * 1000)}, data)
            case m.Finished(_, audio_s):
                yield from self._start(form)
                yield event("audio-stop", {"timestamp": round(audio_s * 1000)})
                if self._streamed:
                    yield event("synthesize-stopped", {})
            case m.Failed(code, message, name):
                self._refused = name
                yield event("error", {"text": message, "code": code})
            case m.Echo(message):
                assert isinstance(message, bytes)
                yield message

    def _start(self, form: dict[str, int]) -> Iterable[bytes]:
        """Yield the start of the audio if it was not sent."""
        if not self._started:
            self._started = True
            yield event("audio-start", {**form, "timestamp": 0})


def event(kind: str, data: dict[str, Any], payload: bytes = b"") -> bytes:
    """Return an event as bytes: a line of JSON, then its data, then its payload."""
    body = json.dumps(data).encode() if data else b""
    header: dict[str, Any] = {"type": kind, "version": VERSION}
    if body:
        header["data_length"] = len(body)
    if payload:
        header["payload_length"] = len(payload)
    return json.dumps(header).encode() + b"\n" + body + payload


def info(hub: Hub) -> dict[str, Any]:
    """Return the description of this service and its voices."""
    url = "https://github.com/sayahead/sayahead"
    voices = list[dict[str, Any]]()
    for name, config in hub.voices.configs.items():
        row = artifact(name, config.description, {"name": config.source, "url": url}, version=None)
        speakers = [{"name": speaker} for speaker in config.speakers] or None
        voices.append({**row, "languages": [config.language], "speakers": speakers})
    attribution = {"name": "sayahead", "url": url}
    service = artifact(
        "sayahead", "Speech that begins before the text ends", attribution, version=__version__
    )
    service |= {"voices": voices, "supports_synthesize_streaming": True}
    return {
        "tts": [service],
        "asr": [],
        "handle": [],
        "intent": [],
        "wake": [],
        "mic": [],
        "snd": [],
    }


def artifact(
    name: str, description: str, attribution: dict[str, str], *, version: str | None
) -> dict[str, Any]:
    """Return Wyoming's description of a service or a voice."""
    row = {"name": name, "description": description, "attribution": attribution}
    return {**row, "installed": True, "version": version}


async def serve_connection(
    hub: Hub, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve one peer until its connection ends."""
    writer.transport.set_write_buffer_limits(high=BUFFER_BYTES)
    connection = Wyoming(hub, reader, writer)
    outcome = m.Outcome("failed")
    try:
        peer = writer.get_extra_info("peername") or ("",)
        lease = hub.enter("wyoming", Caller("wyoming", share_of(peer[0]), address=peer[0]))
        try:
            outcome = await serve_session(
                hub, connection.commands(lease), connection.send, lease=lease
            )
        finally:
            hub.leave(lease)
    except RefusedError as refused:
        outcome = m.Outcome(refused.code)
        with contextlib.suppress(m.GoneError):
            await connection.send(m.Failed(refused.code, str(refused), gone=True))
    finally:
        await close(writer, cut=outcome.code == "stalled")


async def close(writer: asyncio.StreamWriter, *, cut: bool) -> None:
    """Close a connection: at once with ``cut``, else after the peer has read the rest, for which it
    has ``CLOSE_S``."""
    writer.close()
    try:
        async with asyncio.timeout(0 if cut else CLOSE_S):
            await writer.wait_closed()
    except (OSError, TimeoutError):
        writer.transport.abort()


@contextlib.asynccontextmanager
async def listening(hub: Hub) -> AsyncIterator[None]:
    """Serve the ``wyoming`` address of the settings while inside."""
    settings = hub.settings.of(WyomingSettings)
    if settings.wyoming is None:
        yield
        return
    host, port = address_of(settings.wyoming)
    tasks = set[asyncio.Task[None]]()

    async def on_connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await serve_connection(hub, reader, writer)

    def make_protocol() -> asyncio.StreamReaderProtocol:
        reader = asyncio.StreamReader(limit=HEADER_BYTES)
        return asyncio.StreamReaderProtocol(reader, on_connected)

    try:
        async with hub.siblings.listening(host, port, make_protocol) as number:
            if hub.siblings.leads:
                log.info("listening", extra={"url": f"tcp://{host}:{number}"})
            async with announced(hub, host, number):
                yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Aborted transports are released in the loop's next turn.
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def announced(hub: Hub, host: str, port: int) -> AsyncIterator[None]:
    """Announce the address on the local network while inside, if the settings say so."""
    if not (hub.settings.of(WyomingSettings).zeroconf and hub.siblings.leads):
        yield
        return
    from zeroconf import InterfaceChoice
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

    everywhere = host in ("", "0.0.0.0", "::")
    address = own_address() if everywhere else socket.gethostbyname(host)
    name = f"sayahead-{socket.gethostname().split('.')[0]}-{port}.{SERVICE}"
    service = AsyncServiceInfo(SERVICE, name, addresses=[socket.inet_aton(address)], port=port)
    network = AsyncZeroconf(interfaces=InterfaceChoice.Default if everywhere else [address])
    try:
        await network.async_register_service(service)
        yield
        await network.async_unregister_service(service)
    finally:
        await network.async_close()


def own_address() -> str:
    """Return this machine's address on the local network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: connecting a datagram socket only selects a route.
            probe.connect(("224.0.0.251", 5353))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
