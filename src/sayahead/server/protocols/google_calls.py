"""Google's Text-to-Speech calls: ``StreamingSynthesize``, ``SynthesizeSpeech`` and
``ListVoices``."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import struct
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias
from urllib.parse import unquote

import grpc

from sayahead.engine.options import SessionOptions
from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.driver import serve_session
from sayahead.server.http import PART, RequestError
from sayahead.server.hub import Hub, RefusedError
from sayahead.server.json_messages import MessageError
from sayahead.server.operation.access import Caller, credential
from sayahead.server.operation.budgets import Account, Reading
from sayahead.server.operation.identity import HEADER, named
from sayahead.server.protocols import google_messages as messages
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.traces import PARENT
from sayahead.sound.files import wav_header
from sayahead.sound.formats import AudioFormat
from sayahead.text.saying.lexicon import Entry, Lexicon

log = logging.getLogger("sayahead.server")
Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"
Put: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Takes in audio."""

STATUS = {
    "unauthorized": grpc.StatusCode.UNAUTHENTICATED,
    "unknown_voice": grpc.StatusCode.NOT_FOUND,
    "forbidden": grpc.StatusCode.PERMISSION_DENIED,
    "quota": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "overloaded": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "too_many_contexts": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "too_much_text": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "idle": grpc.StatusCode.ABORTED,
    "too_long": grpc.StatusCode.ABORTED,
    "stalled": grpc.StatusCode.ABORTED,
    "shutdown": grpc.StatusCode.UNAVAILABLE,
    "failed": grpc.StatusCode.INTERNAL,
}
"""Status by code; all others are INVALID_ARGUMENT."""
NAMED = {"MP3": AudioFormat("mp3", None, 32000), "OGG_OPUS": AudioFormat("opus")}
BARE = {"LINEAR16": "pcm_s16le", "PCM": "pcm_s16le", "MULAW": "mulaw", "ALAW": "alaw"}
STREAMED = ("PCM", "MULAW", "ALAW", "OGG_OPUS")
"""What ``StreamingSynthesize`` sends."""
WAVE_TAGS = {"MULAW": 7, "ALAW": 6}
GENDERS = {"": 0, "male": 1, "female": 2}
"""Google's numbers (SsmlVoiceGender)."""
RATE = 24000
"""Samples per second of a stream whose audio is not configured."""
SPEED = (0.25, 2.0)
VOLUME_DB = (-96.0, 16.0)
PITCH = (-20.0, 20.0)
MAX_VOLUME = 4.0
MAX_PITCH = 12.0
"""What the voices can do of these; more is clamped."""
MAX_INPUT = 5000
MAX_ANSWER = 32_000_000
"""Bytes of the input of ``SynthesizeSpeech``, and of its audio, which is kept until it is whole."""
UNREAD_EACH = 2_000_000
MIN_UNREAD = 500_000
"""Bytes of answers that one client may leave unread for each of its places, and what the smallest
counts for."""
MAX_PHRASES = 1000
FRAME_S = 0.08
ORDER = "The first message must have streaming_config, and all others input."
GONE_S = 1.0
# What comes before a call's first message. It is sent by itself: a message that waits would keep it
# from its status.
HEAD = ()
# A call has one text, without a name.
ONLY = ""
# What a call is called in the log, in its metadata and in that of its end.
REQUEST = HEADER.decode()


class Calls:
    """The service's methods. Messages come and go as bytes, so that a bad one is answered as
    such."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        # Bytes of answers that were not read yet, by whose they are: gRPC cannot cut one call.
        self._unread: Counter[str] = Counter()

    def handlers(self) -> dict[str, Any]:
        """Methods by their names, for ``grpc.method_handlers_generic_handler``."""
        return {
            # One answer is a stream of one message, whose reading has a time.
            "ListVoices": grpc.unary_stream_rpc_method_handler(self.list_voices),
            "SynthesizeSpeech": grpc.unary_stream_rpc_method_handler(self.synthesize),
            "StreamingSynthesize": grpc.stream_stream_rpc_method_handler(self.stream),
        }

    async def list_voices(self, request: bytes, context: Context) -> None:
        """All voices, or those of a language."""
        async with self._answering(context) as caller:
            wanted = messages.parsed("ListVoicesRequest", request).language_code.lower()
            voices = [
                messages.new(
                    "Voice",
                    language_codes=[config.language],
                    name=name,
                    natural_sample_rate_hertz=config.sample_rate,
                    ssml_gender=GENDERS[config.gender],
                )
                for name, config in self._hub.voices.listed()
                if speaks(config.language, wanted)
            ]
            await self._answer(
                context, caller, messages.packed("ListVoicesResponse", voices=voices)
            )

    async def synthesize(self, request: bytes, context: Context) -> None:
        """A whole text, answered by all of its audio."""
        async with self._answering(context) as caller:
            await self._hub.accounts.of(caller.share).bytes.turn(len(request))
            message = messages.parsed("SynthesizeSpeechRequest", request)
            name = encoding_of(message.audio_config, otherwise=None)
            text = whole_text(message)
            options = whole_options(message, name)
            sound = bytearray()

            async def put(data: bytes) -> None:
                if len(sound) + len(data) > MAX_ANSWER:
                    raise RequestError(
                        "too_much_text",
                        "The audio is too long for one answer: use StreamingSynthesize.",
                    )
                sound.extend(data)

            async def commands() -> AsyncIterator[m.Command]:
                yield m.Open(ONLY, options)
                for command in texts(text):
                    yield command
                yield m.End()

            await Call(self._hub, put).serve(caller, commands())
            voice, _ = self._hub.voices.find(
                options.voice, any_voice=True, language=options.language
            )
            rate = options.format.sample_rate or self._hub.voices.configs[voice].sample_rate
            sound[:0] = header(name, rate, len(sound))
            await self._answer(
                context,
                caller,
                messages.packed("SynthesizeSpeechResponse", audio_content=bytes(sound)),
            )

    async def stream(self, requests: AsyncIterator[bytes], context: Context) -> None:
        """A text that is spoken while it arrives."""
        async with self._answering(context) as caller:
            begun = False

            async def put(data: bytes) -> None:
                nonlocal begun
                if not begun:
                    begun = True
                    await context.send_initial_metadata(HEAD)
                await context.write(
                    messages.packed("StreamingSynthesizeResponse", audio_content=data)
                )

            account = self._hub.accounts.of_connection(caller.share)
            await Call(self._hub, put).serve(caller, self._streamed(requests, account))

    async def _streamed(
        self, requests: AsyncIterator[bytes], account: Account
    ) -> AsyncIterator[m.Command]:
        """What the requests want; the end of them ends the text."""
        opened = False
        reading = Reading(account, self._hub.limits)
        try:
            async for request in requests:
                # What comes faster waits with the client.
                await reading.turn(len(request))
                message = messages.parsed("StreamingSynthesizeRequest", request)
                if message.HasField("streaming_config") == opened:
                    raise MessageError(ORDER)
                if not opened:
                    opened = True
                    yield m.Open(ONLY, stream_options(message.streaming_config))
                elif not message.input.HasField("text"):
                    raise MessageError(
                        "An input needs text: markup and turns of several speakers are not"
                        " supported."
                    )
                else:
                    for command in texts(message.input.text):
                        yield command
            if not opened:
                raise MessageError(ORDER)
            yield m.End()
        except SayaheadError as error:
            yield m.Refuse(m.code_of(error, otherwise="invalid_message"), str(error), fatal=True)

    @contextlib.asynccontextmanager
    async def _answering(self, context: Context) -> AsyncIterator[Caller]:
        """Whose call it is; errors become its status."""
        share = address_of(context.peer()) or ""
        try:
            caller = self._caller(context)
            share = caller.share
            if self._unread[share] >= max(2 * MAX_ANSWER, UNREAD_EACH * self._hub.share):
                self._hub.refused(
                    "overloaded",
                    caller.address,
                    "google",
                    caller=caller.name,
                    session=caller.request,
                )
                raise RequestError(
                    "overloaded",
                    "Too many answers were not read: read them, or cancel their calls.",
                )
            yield caller
            return
        except grpc.aio.AbortError:
            raise
        except grpc.aio.InternalError:
            # The client has left, and gRPC cancels its call in a moment.
            await asyncio.sleep(GONE_S)
            return
        except (RequestError, RefusedError) as error:
            code = error.code
            sentence = str(error)
        except SayaheadError as error:
            code = m.code_of(error, otherwise="invalid_message")
            sentence = str(error)
        except Exception as error:
            log.exception("A call failed")
            code = "failed"
            sentence = f"Internal error ({type(error).__name__}): the client is not at fault."
        with self._waiting(share, 0):
            await end(context, code, sentence)

    async def _answer(self, context: Context, caller: Caller, message: bytes) -> None:
        """Send the only message of a call. A client that does not read it gets a status when it
        does, or leaves."""
        stall_s = self._hub.limits.write_stall_s
        with self._waiting(caller.share, len(message)):
            await context.send_initial_metadata(HEAD)
            try:
                async with asyncio.timeout(stall_s):
                    await context.write(message)
            except TimeoutError:
                await end(context, "stalled", f"The client did not read for {stall_s:g} seconds.")

    @contextlib.contextmanager
    def _waiting(self, share: str, size: int) -> Iterator[None]:
        """A client is to read the end of its call, with a message of ``size`` bytes."""
        size = max(size, MIN_UNREAD)
        self._unread[share] += size
        try:
            yield
        finally:
            self._unread[share] -= size
            if not self._unread[share]:
                del self._unread[share]

    def _caller(self, context: Context) -> Caller:
        """Whose call it is. RequestError without a valid key."""
        metadata = {
            name: value
            for name, value in context.invocation_metadata() or ()
            if isinstance(value, str)
        }
        address = address_of(context.peer())
        name = named(metadata.get(REQUEST, ""))
        context.set_trailing_metadata(((REQUEST, name),))
        known: dict[str, Any] = {"address": address, "request": name, "trace": metadata.get(PARENT)}
        caller = self._hub.access.caller(credential(metadata, {}), **known)
        if caller is None:
            self._hub.refused("unauthorized", address, "google", session=name)
            raise RequestError(
                "unauthorized", "A valid API key is required: send it as x-goog-api-key."
            )
        return caller


class Call:
    """One text on its way to one caller: its first error ends it, since a call has one status."""

    def __init__(self, hub: Hub, put: Put) -> None:
        self._hub = hub
        self._put = put
        self._error: RequestError | None = None

    async def serve(self, caller: Caller, commands: AsyncIterator[m.Command]) -> None:
        """Speak until the text ends. RequestError for whatever ends it before, RefusedError without
        a place."""
        lease = self._hub.enter("google", caller)
        try:
            outcome = await serve_session(self._hub, commands, self._send, lease=lease)
        finally:
            self._hub.leave(lease)
        if self._error is None and outcome.code not in ("done", "gone"):
            self._error = RequestError(outcome.code, outcome.message)
        if self._error is not None:
            raise self._error

    async def _send(self, event: m.Event) -> None:
        try:
            if isinstance(event, m.Failed):
                raise RequestError(event.code, event.message)
            if isinstance(event, m.Audio):
                await self._put(event.data)
        except RequestError as error:
            self._error = self._error or error
            raise m.GoneError(str(error)) from error
        except grpc.aio.BaseError as error:
            raise m.GoneError("The client has left.") from error


async def end(context: Context, code: str, sentence: str) -> None:
    """End a call with a status: AbortError, unless its client has left."""
    with contextlib.suppress(grpc.aio.InternalError):
        await context.abort(STATUS.get(code, grpc.StatusCode.INVALID_ARGUMENT), sentence)


def texts(text: str) -> Iterable[m.Command]:
    """A text in parts; an empty one is a sign of life."""
    for at in range(0, max(1, len(text)), PART):
        yield m.Text(ONLY, text[at : at + PART])


def whole_text(message: Any) -> str:
    """The text or SSML of a request. RequestError for none, or too much."""
    text: str = message.input.ssml if message.input.HasField("ssml") else message.input.text
    if not text:
        raise RequestError(
            "invalid_option", "input is missing: give text or ssml; other inputs are not supported."
        )
    if (size := len(text.encode())) > MAX_INPUT:
        sentence = (
            f"input has {size} bytes; {MAX_INPUT} are allowed: split it, or use"
            " StreamingSynthesize."
        )
        raise RequestError("invalid_option", sentence)
    return text


def whole_options(message: Any, name: str) -> m.Options:
    """What a request for whole audio chooses. ConfigError for what is out of range."""
    audio = message.audio_config
    pitch = in_range("pitch", audio.pitch, *PITCH)
    gain = 10 ** (in_range("volume_gain_db", audio.volume_gain_db, *VOLUME_DB) / 20)
    own = {
        "pitch": min(max(pitch, -MAX_PITCH), MAX_PITCH) or None,
        "volume": min(gain, MAX_VOLUME),
        "markup": "ssml" if message.input.HasField("ssml") else "none",
    }
    return replace(
        options_of(message, audio, message.input, **own), format=format_of(name, audio), whole=True
    )


def stream_options(config: Any) -> m.Options:
    """What a stream's first message chooses. ConfigError for what is out of range."""
    audio = config.streaming_audio_config
    name = encoding_of(audio, otherwise="PCM")
    if name not in STREAMED:
        raise ConfigError(
            f"audio_encoding {name} cannot be streamed: use one of {', '.join(STREAMED)}."
        )
    form = format_of(name, audio, rate=None if config.HasField("streaming_audio_config") else RATE)
    return replace(options_of(config, audio, config), format=form)


def options_of(message: Any, audio: Any, phrases: Any, **own: Any) -> m.Options:
    """What both calls may choose, but the format, and a call's own. ConfigError for what is out of
    range."""
    speed = in_range("speaking_rate", audio.speaking_rate or 1.0, *SPEED)
    lexicon = lexicon_of(phrases.custom_pronunciations.pronunciations)
    return m.Options(
        voice=message.voice.name or None,
        language=message.voice.language_code or None,
        any_voice=True,
        session=SessionOptions(speed=speed, lexicon=lexicon, **own),
        frame_s=FRAME_S,
        sole=True,
    )


def in_range(name: str, value: float, least: float, most: float) -> float:
    """A number of a request. ConfigError for one out of its range."""
    if math.isnan(value) or not least <= value <= most:
        raise ConfigError(f"{name} is {value:g}, but must be from {least:g} to {most:g}.")
    return value


def lexicon_of(phrases: Any) -> Lexicon | None:
    """Custom pronunciations as a lexicon; None without any. ConfigError for one that is not IPA."""
    if len(phrases) > MAX_PHRASES:
        raise ConfigError(
            f"There are {len(phrases)} custom pronunciations; {MAX_PHRASES} are allowed."
        )
    entries = dict[str, Entry]()
    for number, phrase in enumerate(phrases, start=1):
        where = f"custom pronunciation {number}"
        if phrase.phonetic_encoding != messages.IPA:
            raise ConfigError(f"{where}: phonetic_encoding must be PHONETIC_ENCODING_IPA.")
        entries[phrase.phrase] = Entry(phrase.pronunciation, "ipa", where)
    return Lexicon(entries) if entries else None


def encoding_of(audio: Any, *, otherwise: str | None) -> str:
    """The name of the encoding that is wanted. ConfigError for none, unless there is one
    ``otherwise``, and for an unknown one."""
    name = messages.ENCODINGS.get(audio.audio_encoding) if audio.audio_encoding else otherwise
    if name is None or name == "M4A":
        names = ", ".join(sorted({*BARE, *NAMED}))
        raise ConfigError(f"audio_encoding is missing or not supported: use one of {names}.")
    return name


def format_of(name: str, audio: Any, *, rate: int | None = None) -> AudioFormat:
    """The format of that name. ConfigError for a sample rate that it has not."""
    wanted = audio.sample_rate_hertz or rate
    form = (
        replace(NAMED[name], sample_rate=wanted)
        if name in NAMED
        else AudioFormat(BARE[name], wanted)
    )
    form.check()
    return form


def header(name: str, rate: int, size: int) -> bytes:
    """What comes before whole audio of an encoding: a WAV header for those that Google wraps."""
    if name == "LINEAR16":
        return wav_header(rate, size)
    if name not in WAVE_TAGS:
        return b""
    form = struct.pack("<4sIHHIIHHH", b"fmt ", 18, WAVE_TAGS[name], 1, rate, rate, 1, 8, 0)
    form += struct.pack("<4sII4sI", b"fact", 4, size, b"data", size)
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + size, b"WAVE") + form


def speaks(language: str, wanted: str) -> bool:
    """Whether a voice's language is the one wanted, or of it."""
    return (
        not wanted
        or f"{language.lower()}-".startswith(f"{wanted}-")
        or wanted.startswith(f"{language.lower()}-")
    )


def address_of(peer: str) -> str | None:
    """The address in what gRPC calls a peer, such as ``ipv4:127.0.0.1:5000`` or
    ``ipv6:%5B::1%5D:5000``."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else None
