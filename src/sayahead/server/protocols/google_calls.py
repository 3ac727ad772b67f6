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
from sayahead.server.operation.rate_limits import Account, Reading
from sayahead.server.operation.request_ids import HEADER, named
from sayahead.server.protocols import google_messages as messages
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.traces import PARENT
from sayahead.sound.files import wav_header
from sayahead.sound.formats import AudioFormat
from sayahead.text.saying.lexicon import Entry, Lexicon

log = logging.getLogger("sayahead.server")
Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"
Put: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Receives audio."""

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
"""gRPC status for each code; INVALID_ARGUMENT for all others."""
NAMED = {"MP3": AudioFormat("mp3", None, 32000), "OGG_OPUS": AudioFormat("opus")}
BARE = {"LINEAR16": "pcm_s16le", "PCM": "pcm_s16le", "MULAW": "mulaw", "ALAW": "alaw"}
STREAMED = ("PCM", "MULAW", "ALAW", "OGG_OPUS")
"""Encodings of ``StreamingSynthesize``."""
WAVE_TAGS = {"MULAW": 7, "ALAW": 6}
GENDERS = {"": 0, "male": 1, "female": 2}
"""Google's numbers (SsmlVoiceGender)."""
RATE = 24000
"""Sample rate of a stream without an audio configuration."""
SPEED = (0.25, 2.0)
VOLUME_DB = (-96.0, 16.0)
PITCH = (-20.0, 20.0)
MAX_VOLUME = 4.0
"""Largest volume of our voices; more is clamped."""
MAX_PITCH = 12.0
"""Largest shift of their pitch, in semitones; more is clamped."""
MAX_INPUT = 5000
"""Most bytes of text for ``SynthesizeSpeech``."""
MAX_ANSWER = 32_000_000
"""Most bytes of its audio, which is collected before it is sent."""
UNREAD_EACH = 2_000_000
"""Bytes of answers that a client may leave unread, for each of its places."""
MIN_UNREAD = 500_000
"""An unread answer counts as at least this many bytes."""
MAX_PHRASES = 1000
FRAME_S = 0.08
ORDER = "The first message must have streaming_config, and all others input."
GONE_S = 1.0
# Initial metadata, sent by itself: a message that waits would delay the call's status.
HEAD = ()
# A call has one utterance, without a name.
ONLY = ""
# Metadata key of the request id, in calls and their trailing metadata.
REQUEST = HEADER.decode()


class Calls:
    """The methods of the service. Messages are bytes, so that an invalid one gets a proper
    status."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        # Bytes of unread answers by share: gRPC cannot abort a single call.
        self._unread: Counter[str] = Counter()

    def handlers(self) -> dict[str, Any]:
        """Return the handlers by method, for ``grpc.method_handlers_generic_handler``."""
        return {
            # A single answer is a stream of one message, because only reading a stream can time
            # out.
            "ListVoices": grpc.unary_stream_rpc_method_handler(self.list_voices),
            "SynthesizeSpeech": grpc.unary_stream_rpc_method_handler(self.synthesize),
            "StreamingSynthesize": grpc.stream_stream_rpc_method_handler(self.stream),
        }

    async def list_voices(self, request: bytes, context: Context) -> None:
        """Answer with all voices, or those of a language."""
        async with self._answering(context) as caller:
            language = messages.parsed("ListVoicesRequest", request).language_code.lower()
            voices = [
                messages.new(
                    "Voice",
                    language_codes=[config.language],
                    name=name,
                    natural_sample_rate_hertz=config.sample_rate,
                    ssml_gender=GENDERS[config.gender],
                )
                for name, config in self._hub.voices.listed()
                if speaks(config.language, language)
            ]
            await self._answer(
                context, caller, messages.packed("ListVoicesResponse", voices=voices)
            )

    async def synthesize(self, request: bytes, context: Context) -> None:
        """Answer a whole text with its whole audio."""
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
        """Speak a text while it arrives."""
        async with self._answering(context) as caller:
            has_begun = False

            async def put(data: bytes) -> None:
                nonlocal has_begun
                if not has_begun:
                    has_begun = True
                    await context.send_initial_metadata(HEAD)
                await context.write(
                    messages.packed("StreamingSynthesizeResponse", audio_content=data)
                )

            account = self._hub.accounts.of_connection(caller.share)
            await Call(self._hub, put).serve(caller, self._streamed(requests, account))

    async def _streamed(
        self, requests: AsyncIterator[bytes], account: Account
    ) -> AsyncIterator[m.Command]:
        """Yield the commands of the requests, whose end ends the text."""
        opened = False
        reading = Reading(account, self._hub.limits)
        try:
            async for request in requests:
                # Beyond its rate, a client waits.
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
        """Yield the caller; errors of the code inside become the call's status."""
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
            # The client has left; gRPC is about to cancel the call.
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
        with self._unread_answer(share, 0):
            await end(context, code, sentence)

    async def _answer(self, context: Context, caller: Caller, message: bytes) -> None:
        """Send the only message of a call.

        A client that does not read it in time gets a status instead.
        """
        stall_s = self._hub.limits.write_stall_s
        with self._unread_answer(caller.share, len(message)):
            await context.send_initial_metadata(HEAD)
            try:
                async with asyncio.timeout(stall_s):
                    await context.write(message)
            except TimeoutError:
                await end(context, "stalled", f"The client did not read for {stall_s:g} seconds.")

    @contextlib.contextmanager
    def _unread_answer(self, share: str, size: int) -> Iterator[None]:
        """Count an answer of ``size`` bytes as unread while inside."""
        size = max(size, MIN_UNREAD)
        self._unread[share] += size
        try:
            yield
        finally:
            self._unread[share] -= size
            if not self._unread[share]:
                del self._unread[share]

    def _caller(self, context: Context) -> Caller:
        """Return who calls. RequestError without a valid key."""
        metadata = {
            name: value
            for name, value in context.invocation_metadata() or ()
            if isinstance(value, str)
        }
        address = address_of(context.peer())
        name = named(metadata.get(REQUEST, ""))
        context.set_trailing_metadata(((REQUEST, name),))
        identity: dict[str, Any] = {
            "address": address,
            "request": name,
            "trace": metadata.get(PARENT),
        }
        caller = self._hub.access.caller(credential(metadata, {}), **identity)
        if caller is None:
            self._hub.refused("unauthorized", address, "google", session=name)
            raise RequestError(
                "unauthorized", "A valid API key is required: send it as x-goog-api-key."
            )
        return caller


class Call:
    """One text for one caller. Its first error ends it, since a call has only one status."""

    def __init__(self, hub: Hub, put: Put) -> None:
        self._hub = hub
        self._put = put
        self._error: RequestError | None = None

    async def serve(self, caller: Caller, commands: AsyncIterator[m.Command]) -> None:
        """Speak until the text ends.

        RequestError for an error that ends it, RefusedError if there is no place.
        """
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
        """Send the audio of an event to the caller. The first failure is kept for the call's
        status; GoneError then, also if the caller has left."""
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
    """End a call with a status. Raises AbortError, unless the client has left."""
    with contextlib.suppress(grpc.aio.InternalError):
        await context.abort(STATUS.get(code, grpc.StatusCode.INVALID_ARGUMENT), sentence)


def texts(text: str) -> Iterable[m.Command]:
    """Yield a text in parts; an empty one keeps the utterance alive."""
    for start in range(0, max(1, len(text)), PART):
        yield m.Text(ONLY, text[start : start + PART])


def whole_text(message: Any) -> str:
    """Return the text or SSML of a request. RequestError if it is missing or too long."""
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
    """Return the options of ``SynthesizeSpeech``. ConfigError for a value out of range."""
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
    """Return the options in a stream's first message. ConfigError for a value out of range."""
    audio = config.streaming_audio_config
    name = encoding_of(audio, otherwise="PCM")
    if name not in STREAMED:
        raise ConfigError(
            f"audio_encoding {name} cannot be streamed: use one of {', '.join(STREAMED)}."
        )
    form = format_of(name, audio, rate=None if config.HasField("streaming_audio_config") else RATE)
    return replace(options_of(config, audio, config), format=form)


def options_of(message: Any, audio: Any, phrases: Any, **own: Any) -> m.Options:
    """Return the options that both calls have in common, with ``own`` session options. ConfigError
    for a value out of range."""
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


def in_range(name: str, value: float, minimum: float, maximum: float) -> float:
    """Check that a number is in a range. ConfigError if it is not."""
    if math.isnan(value) or not minimum <= value <= maximum:
        raise ConfigError(f"{name} is {value:g}, but must be from {minimum:g} to {maximum:g}.")
    return value


def lexicon_of(phrases: Any) -> Lexicon | None:
    """Return custom pronunciations as a lexicon; None without any. ConfigError if one is not in
    IPA."""
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
    """Return the name of the requested encoding, or ``otherwise`` if none is requested. ConfigError
    if it is missing or unknown."""
    name = messages.ENCODINGS.get(audio.audio_encoding) if audio.audio_encoding else otherwise
    if name is None or name == "M4A":
        names = ", ".join(sorted({*BARE, *NAMED}))
        raise ConfigError(f"audio_encoding is missing or not supported: use one of {names}.")
    return name


def format_of(name: str, audio: Any, *, rate: int | None = None) -> AudioFormat:
    """Return the audio format of an encoding. ConfigError for an unsupported sample rate."""
    sample_rate = audio.sample_rate_hertz or rate
    form = (
        replace(NAMED[name], sample_rate=sample_rate)
        if name in NAMED
        else AudioFormat(BARE[name], sample_rate)
    )
    form.check()
    return form


def header(name: str, rate: int, size: int) -> bytes:
    """Return the header before whole audio: WAV for the encodings that Google wraps, else
    nothing."""
    if name == "LINEAR16":
        return wav_header(rate, size)
    if name not in WAVE_TAGS:
        return b""
    form = struct.pack("<4sIHHIIHHH", b"fmt ", 18, WAVE_TAGS[name], 1, rate, rate, 1, 8, 0)
    form += struct.pack("<4sII4sI", b"fact", 4, size, b"data", size)
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + size, b"WAVE") + form


def speaks(language: str, wanted: str) -> bool:
    """Return whether a voice's language is the wanted one, or one is a variety of the other."""
    return (
        not wanted
        or f"{language.lower()}-".startswith(f"{wanted}-")
        or wanted.startswith(f"{language.lower()}-")
    )


def address_of(peer: str) -> str | None:
    """Return the address of a gRPC peer such as ``ipv4:127.0.0.1:5000`` or ``ipv6:%5B::1%5D:5000``;
    None for other kinds."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else None
