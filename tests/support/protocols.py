"""A client for each protocol, all with the same few methods, so that one suite can hold the server
to all of them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import json
import queue
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import httpx
import msgpack
import numpy as np
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from sayahead.server.protocols.google import GoogleSettings
from sayahead.server.protocols.wyoming import WyomingSettings
from sayahead.sound.resample import Resampler
from sayahead.types import Floats
from support.servers import Running, toy_voice

WAIT_S = 20.0
FORM = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000}
NOT_JSON = ("nonsense", "[]", b"\x00")
Words = tuple[tuple[str, float], ...]
Messages = tuple[dict[str, Any], ...]


class RefusedError(Exception):
    """The server's error, as the protocol tells it."""


@dataclass(frozen=True, slots=True)
class Event:
    """What one message of the server tells: samples, words with their onsets in seconds, an error's
    sentence, and whether nothing more of the text follows."""

    sound: bytes = b""
    words: Words = ()
    error: str = ""
    over: bool = False


@functools.cache
def spoken(text: str, rate: int) -> Floats:
    """(S,) what Python's voice says, at a rate; once a process, as a long text takes its time."""
    resampler = Resampler(8000, rate)
    said = toy_voice().synthesize(text)
    return said if rate == 8000 else np.concatenate([resampler.push(said), resampler.finish()])


class Client:
    """One connection, on which one text is spoken. ``VOICE`` in a message stands for the voice's
    name."""

    rate = 8000
    sample = "<i2"
    tail = 0
    """Samples of silence that may be missing at a text's end."""
    pieces: tuple[str, ...] = ("Hello th", "ere, how are", " ", "you tod", "ay? I a", "m fine. ")
    """A text as it may arrive; the first three are enough to begin to speak."""
    streams = True
    """Whether text arrives while it is spoken."""
    times = False
    """Whether words come with their times."""
    strict = False
    """Whether an unknown voice is an error; elsewhere, where other services' names are in use, the
    default speaks."""
    goes_on = False
    """Whether the connection stays after a text was cancelled."""
    forgives = True
    """Whether the connection stays after a message that makes no sense."""
    keys: tuple[str, ...] = ("authorization",)
    """Headers that may carry the key; with a question mark, parameters of the address."""
    scheme = "Bearer"
    nonsense: tuple[Any, ...] = NOT_JSON
    path = ""
    field = "text"
    begins: ClassVar[Messages] = ()
    says: ClassVar[dict[str, Any]] = {}
    ends: ClassVar[Messages] = ()
    cancels: ClassVar[Messages] = ()
    """Empty: the client hangs up."""

    def __init__(self, line: Any, voice: str, sent: str = "") -> None:
        self.line = line
        self.voice = voice
        self.sent = sent
        self.closed = False

    @classmethod
    def open(cls, server: Running, headers: dict[str, str], query: str, voice: str) -> Any:
        """An asynchronous context with a client. RefusedError where the server lets nobody in."""
        raise NotImplementedError

    def packed(self, message: dict[str, Any]) -> Any:
        """A message as it is sent."""
        return json.dumps(message).replace("VOICE", self.voice)

    async def send(self, *messages: Any) -> None:
        """Send anything."""
        for message in messages:
            await self.line.send(message)

    async def text(self, text: str) -> None:
        """Send more text."""
        self.sent += text
        await self.send(self.packed({**self.says, self.field: text}))

    async def end(self) -> None:
        """All text was sent."""
        await self.send(*map(self.packed, self.ends))

    async def cancel(self) -> None:
        """Let the text be."""
        self.closed = not self.cancels
        await self.send(*map(self.packed, self.cancels))
        if self.closed:
            await self.hang_up()

    async def hang_up(self) -> None:
        """End the connection."""
        await self.line.close()

    async def heard(self) -> Event | None:
        """The next message; None where the connection has ended."""
        raise NotImplementedError

    async def hear(self) -> Event:
        """The next message; an empty one where the connection has ended."""
        event = None if self.closed else await asyncio.wait_for(self.heard(), WAIT_S)
        self.closed = self.closed or event is None
        return event or Event(over=True)

    async def rest(self) -> Event:
        """All that follows of this text in one. RefusedError for an error."""
        sound = b""
        words = Words()
        over = False
        while not over:
            event = await self.hear()
            if event.error:
                raise RefusedError(event.error)
            sound = sound + event.sound
            words = words + event.words
            over = event.over
        return Event(sound, words, over=True)

    async def first(self) -> bytes:
        """The first sound."""
        while not (event := await self.hear()).sound:
            assert not event.error
            assert not self.closed
        return event.sound

    def samples(self, sound: bytes) -> Floats:
        """(S,) the sound, in [-1, 1]."""
        samples = np.frombuffer(sound, self.sample).astype(np.float32)
        return samples if self.sample == "<f4" else samples / np.float32(32767)

    def wanted(self, text: str) -> Floats:
        """(S,) what Python's voice says, at the protocol's rate."""
        return spoken(text, self.rate)


class Socket(Client):
    """A protocol on a WebSocket."""

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, server: Running, headers: dict[str, str], query: str, voice: str
    ) -> AsyncIterator[Self]:
        try:
            address = server.ws + cls.path.replace("VOICE", voice) + query
            async with connect(address, additional_headers=headers) as socket:
                client = cls(socket, voice)
                await client.send(*map(client.packed, cls.begins))
                yield client
        except InvalidStatus as error:
            raise RefusedError(f"{error.response.status_code} {error.response.body!r}") from error

    async def heard(self) -> Event | None:
        try:
            return self.told(await self.line.recv())
        except ConnectionClosed as end:
            self.closed = True
            fine = end.rcvd is not None and end.rcvd.code == 1000
            return None if fine else Event(error=f"closed: {end}", over=True)

    def told(self, message: Any) -> Event:
        """What a message says; of JSON, unless it is sound, by its ``type``."""
        return Event(message) if isinstance(message, bytes) else self.read(json.loads(message))

    def read(self, data: dict[str, Any]) -> Event:
        """What a message says."""
        raise NotImplementedError


class Native(Socket):
    path = "/v1/stream?"
    times = True
    strict = True
    goes_on = True
    keys = ("authorization", "?token")
    nonsense = (
        *NOT_JSON,
        '{"type": 5}',
        '{"type": "input_text.append"}',
        '{"type": "input_text.apend"}',
    )
    begins = ({"type": "session.update", "session": {"voice": "VOICE"}},)
    says: ClassVar[dict[str, Any]] = {"type": "input_text.append"}
    ends = ({"type": "input_text.end"},)
    cancels = ({"type": "input_text.cancel"},)

    def read(self, data: dict[str, Any]) -> Event:
        words = (
            tuple((word["word"], word["onset_s"]) for word in data["words"])
            if "bytes" in data
            else ()
        )
        error = data["message"] if data["type"] == "error" else ""
        return Event(b"", words, error, data["type"] in ("speech.done", "speech.cancelled"))


def begun(event: Event) -> Event:
    """The same with the first characters of words only."""
    pairs = zip(event.words, (("", 0.0), *event.words), strict=False)
    words = tuple(now for now, before in pairs if now[0].strip() and not before[0].strip())
    return replace(event, words=words)


class ElevenLabs(Socket):
    path = "/v1/text-to-speech/VOICE/multi-stream-input?output_format=pcm_8000&sync_alignment=true"
    times = True
    goes_on = True
    forgives = False
    keys = ("xi-api-key", "?single_use_token")
    nonsense: tuple[Any, ...] = (*NOT_JSON, '{"text": 5}', '{"context_id": 5, "text": "x"}')
    says: ClassVar[dict[str, Any]] = {"context_id": "c"}
    cancels: ClassVar[Messages] = ({"close_context": True, **says},)
    ends = ({"flush": True, **says}, *cancels)

    def read(self, data: dict[str, Any]) -> Event:
        if "error" in data:
            assert data["code"] == 1008
            return Event(error=data["message"])
        assert data.get("contextId") == data.get("context_id") == self.says.get("context_id")
        if data["isFinal"]:
            return Event(over=True)
        told = data["alignment"] or {"chars": [], "charStartTimesMs": []}
        words = tuple(
            (char, at / 1000)
            for char, at in zip(told["chars"], told["charStartTimesMs"], strict=True)
        )
        return Event(base64.b64decode(data["audio"]), words)

    async def rest(self) -> Event:
        return begun(await super().rest())


class ElevenLabsSingle(ElevenLabs):
    path = ElevenLabs.path.replace("multi-", "")
    goes_on = False
    nonsense = (*NOT_JSON, '{"text": 5}')
    says: ClassVar[dict[str, Any]] = {}
    ends = ({"text": ""},)
    cancels = ()


class Cartesia(Socket):
    path = "/tts/websocket?cartesia_version=2026-08-14"
    times = True
    goes_on = True
    keys = ("x-api-key", "authorization", "?api_key")
    nonsense = (*NOT_JSON, '{"context_id": 5}', '{"context_id": "c", "transcript": 5}')
    field = "transcript"
    says: ClassVar[dict[str, Any]] = {
        "context_id": "c",
        "model_id": "sonic",
        "output_format": FORM,
        "add_timestamps": True,
        "continue": True,
        "voice": {"mode": "id", "id": "VOICE"},
    }
    ends = ({**says, "transcript": "", "continue": False},)
    cancels = ({"context_id": "c", "cancel": True},)

    def read(self, data: dict[str, Any]) -> Event:
        if data["type"] == "error":
            return Event(error=data["message"])
        if data["type"] == "timestamps":
            times = data["word_timestamps"]
            return Event(words=tuple(zip(times["words"], times["start"], strict=True)))
        if data["type"] == "done":
            assert data == {"type": "done", "context_id": "c", "status_code": 200, "done": True}
            return Event(over=True)
        assert (data["type"], data["context_id"], data["status_code"], data["done"]) == (
            "chunk",
            "c",
            206,
            False,
        )
        return Event(base64.b64decode(data["data"]))


class Deepgram(Socket):
    path = "/v1/speak?model=VOICE&encoding=linear16&sample_rate=8000"
    goes_on = True
    scheme = "Token"
    nonsense = (*NOT_JSON, '{"type": 5}', '{"type": "Speak"}', '{"type": "Say"}')
    says: ClassVar[dict[str, Any]] = {"type": "Speak"}
    ends = ({"type": "Close"},)
    cancels = ({"type": "Clear"},)

    def read(self, data: dict[str, Any]) -> Event:
        error = data["description"] if data["type"] in ("Warning", "Error") else ""
        assert not error or data["code"] == "invalid_message"
        return Event(error=error, over=data["type"] == "Cleared")


class Kyutai(Socket):
    path = "/api/tts_streaming?format=PcmMessagePack&voice=VOICE"
    rate = 24000
    sample = "<f4"
    pieces = ("Hello", "there, how", "are ", "you", "today?", "I am fine.")
    times = True
    keys = ("kyutai-api-key", "?auth_id")
    nonsense = (b"", b"\xc1", b"\x93\x01", msgpack.packb([1]), msgpack.packb({"type": "Text"}))
    begins = ({"type": "Voice", "embeddings": [0.5] * 10, "shape": [1, 10]},)
    says: ClassVar[dict[str, Any]] = {"type": "Text"}
    ends = ({"type": "Eos"},)

    def packed(self, message: dict[str, Any]) -> Any:
        return msgpack.packb(message)

    def told(self, message: Any) -> Event:
        data = msgpack.unpackb(message)
        if data["type"] == "Audio":
            assert 0 < len(data["pcm"]) <= 1920
            return Event(np.array(data["pcm"], "<f4").tobytes())
        if data["type"] == "Text":
            assert data["start_s"] < data["stop_s"]
            return Event(words=((data["text"], data["start_s"]),))
        assert data["type"] in ("Ready", "Error")
        return Event(error=data.get("message", ""))


class Jambonz(Socket):
    path = "/v1/jambonz?voice=VOICE&language=en-US&sampleRate=8000"
    pieces = Kyutai.pieces
    tail = 800
    nonsense = (*NOT_JSON, '{"type": "sing"}', '{"type": "stream"}')
    says: ClassVar[dict[str, Any]] = {"type": "stream"}
    ends = ({"type": "flush"},)
    cancels = ({"type": "stop"},)
    got = 0
    most = 10**9

    async def text(self, text: str) -> None:
        await super().text(text)
        self.sent = self.sent.strip() + " "

    async def end(self) -> None:
        # No message says that a text is over: its length does.
        self.most = 2 * (len(self.wanted(self.sent)) - self.tail)
        await super().end()

    def told(self, message: Any) -> Event:
        if isinstance(message, bytes):
            assert len(message) <= 320
            self.got += len(message)
            return Event(message, over=self.got >= self.most)
        return super().told(message)

    def read(self, data: dict[str, Any]) -> Event:
        connected = {"type": "connect", "data": {"sample_rate": 8000, "base64_encoding": False}}
        assert data["type"] == "error" or data == connected
        return Event(error=data.get("error", ""))


class Post(Client):
    """A protocol that takes a whole text over HTTP."""

    streams = False
    nonsense = (b"{", b"[1]", b"\xff", b"{}")

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, server: Running, headers: dict[str, str], query: str, voice: str
    ) -> AsyncIterator[Self]:
        address = server.http + cls.path.replace("VOICE", voice) + query
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=WAIT_S) as http:
            yield cls(http, voice)

    async def text(self, text: str) -> None:
        self.sent += text

    async def end(self) -> None:
        await self.send(self.packed({**self.says, self.field: self.sent}))

    async def send(self, *messages: Any) -> None:
        for message in messages:
            request = self.line.build_request(
                "POST", str(self.line.base_url).rstrip("/"), content=message
            )
            self.answer = await self.line.send(request, stream=True)
            self.parts = self.answer.aiter_lines() if self.times else self.answer.aiter_bytes()

    async def hang_up(self) -> None:
        await self.answer.aclose()

    async def heard(self) -> Event | None:
        if self.answer.status_code >= 400:
            return Event(error=(await self.answer.aread()).decode())
        part = await anext(self.parts, None)
        return Event(over=True) if part is None else self.told(part)

    def told(self, part: Any) -> Event:
        """What a part of the answer says."""
        return Event(part)


class OpenAI(Post):
    path = "/v1/audio/speech"
    rate = 24000
    strict = True
    field = "input"
    says: ClassVar[dict[str, Any]] = {"model": "x", "voice": "VOICE", "response_format": "pcm"}


class ElevenLabsPost(Post):
    path = "/v1/text-to-speech/VOICE/stream/with-timestamps?output_format=pcm_8000"
    times = True
    keys = ("xi-api-key",)

    def told(self, part: Any) -> Event:
        data = json.loads(part)
        told = data["alignment"] or {"characters": [], "character_start_times_seconds": []}
        words = tuple(zip(told["characters"], told["character_start_times_seconds"], strict=True))
        return Event(base64.b64decode(data["audio_base64"]), words)

    async def rest(self) -> Event:
        return begun(await super().rest())


class CartesiaPost(Post):
    path = "/tts/bytes"
    field = "transcript"
    keys = ("x-api-key",)
    says: ClassVar[dict[str, Any]] = {"voice": {"mode": "id", "id": "VOICE"}, "output_format": FORM}


class DeepgramPost(Post):
    path = Deepgram.path + "&container=none"
    scheme = "Token"


class Google(Client):
    keys = ("x-goog-api-key", "authorization")
    forgives = False
    nonsense = (b"\xff\xff", b"\x12\x03\x2a\x01x")
    line: Any

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, server: Running, headers: dict[str, str], query: str, voice: str
    ) -> AsyncIterator[Self]:
        import grpc

        port = server.hub.settings.of(GoogleSettings).grpc_port
        requests = queue.SimpleQueue[Any]()
        config = {
            "voice": {"language_code": "en-US", "name": voice},
            "streaming_audio_config": {"audio_encoding": 7},
        }
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            speak = channel.stream_stream(
                "/google.cloud.texttospeech.v1.TextToSpeech/StreamingSynthesize"
            )
            call = speak(iter(requests.get, None), timeout=WAIT_S, metadata=tuple(headers.items()))
            client = cls((call, requests), voice)
            await client.send(client.packed({"streaming_config": config}))
            try:
                yield client
            finally:
                await client.end()

    def packed(self, message: dict[str, Any]) -> Any:
        from sayahead.server.protocols import google_messages as messages

        message = {"input": message} if "text" in message else message
        return messages.packed("StreamingSynthesizeRequest", **message)

    async def send(self, *messages: Any) -> None:
        for message in messages:
            self.line[1].put(message)

    async def end(self) -> None:
        await self.send(None)

    async def hang_up(self) -> None:
        self.line[0].cancel()

    async def heard(self) -> Event | None:
        import grpc

        from sayahead.server.protocols import google_messages as messages

        try:
            message = await asyncio.to_thread(next, self.line[0], None)
        except grpc.RpcError as error:
            self.closed = True
            return Event(error=str(error.details()))
        if message is None:
            return None
        return Event(messages.parsed("StreamingSynthesizeResponse", message).audio_content)


class Wyoming(Client):
    forgives = False
    keys = ()
    nonsense = (
        *(
            b"nonsense\n",
            b"[]\n",
            b'{"type": 5}\n',
            b'{"type": "synthesize"}\n',
            b'{"type":"x","data":5}\n',
        ),
        *(b'{"type": "x", "data_length": -1}\n', b'{"type": "x", "data_length": 1e9}\n'),
        b'{"type": "x", "payload_length": 200000}\n',
        b'{"type": "synthesize-start", "data": {"text_format": "ssml"}}\n',
        *(b"x" * 70000 + b"\n", b"[" * 60000 + b"\n"),
    )
    ends = ({"type": "synthesize-stop"},)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, server: Running, headers: dict[str, str], query: str, voice: str
    ) -> AsyncIterator[Self]:
        port = urlsplit(str(server.hub.settings.of(WyomingSettings).wyoming)).port
        client = cls(await asyncio.open_connection("127.0.0.1", port), voice)
        try:
            yield client
        finally:
            await client.hang_up()

    def packed(self, message: dict[str, Any]) -> Any:
        return super().packed(message).encode() + b"\n"

    async def text(self, text: str) -> None:
        if not self.sent:
            await self.send(
                self.packed({"type": "synthesize-start", "data": {"voice": {"name": "VOICE"}}})
            )
        self.sent += text
        await self.send(self.packed({"type": "synthesize-chunk", "data": {"text": text}}))

    async def send(self, *messages: Any) -> None:
        self.line[1].write(b"".join(messages))
        await self.line[1].drain()

    async def hang_up(self) -> None:
        self.line[1].close()

    async def heard(self) -> Event | None:
        reader = self.line[0]
        if not (line := await reader.readline()):
            return None
        header = json.loads(line)
        data = json.loads(await reader.readexactly(header.get("data_length", 0)) or b"{}")
        payload = await reader.readexactly(header.get("payload_length", 0))
        if header["type"] == "error":
            assert data["code"] == "invalid_message"
            return Event(error=data["text"])
        return Event(payload, over=header["type"] == "synthesize-stopped")


CLIENTS: tuple[type[Client], ...] = (
    *(
        Native,
        OpenAI,
        ElevenLabs,
        ElevenLabsSingle,
        ElevenLabsPost,
        Cartesia,
        CartesiaPost,
        Deepgram,
        DeepgramPost,
    ),
    *(Kyutai, Jambonz, Google, Wyoming),
)
