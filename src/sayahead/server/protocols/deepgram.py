"""Deepgram's ``/v1/speak``: a WebSocket for one text after the other with audio in binary frames,
and speech over HTTP."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sayahead import __version__
from sayahead.config import unknown
from sayahead.errors import ConfigError
from sayahead.server.http import RequestError, SpeechResponse, answers, json_body, text_of
from sayahead.server.hub import Hub
from sayahead.server.json_messages import by_type, compact, text_frame, text_in, whole
from sayahead.server.operation.access import Caller
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import session_of
from sayahead.server.websocket import SocketProtocol, socket_route
from sayahead.sound.formats import AudioFormat, wav_of

# Connections may be idle as long as the server allows.
IDLE_S = 3600.0
OPTIONS = m.Options(any_voice=True, frame_s=0.08, idle_s=IDLE_S)
ENCODINGS = {"linear16": ("pcm_s16le", 24000), "mulaw": ("mulaw", 8000), "alaw": ("alaw", 8000)}
"""Our encoding and the default sample rate for each value of ``encoding``."""
PACKED = ("mp3", "opus", "flac", "aac")
"""Further values of ``encoding`` over HTTP."""
# The one utterance of a connection, without a name.
ONLY = ""


class Deepgram(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "deepgram"
    idle_s = IDLE_S

    def __init__(self, hub: Hub, query: Mapping[str, str]) -> None:
        """ConfigError for a query with values that are unknown or out of range."""
        self._voice = hub.voices.name(query.get("model"), any_voice=True)
        form = format_of(query)
        session = session_of(query, speed=speed_of(query))
        self._options = replace(OPTIONS, voice=self._voice, format=form, session=session)
        # Whether an utterance is open, and whether some of its text waits for a Flush.
        self._open = False
        self._has_unflushed = False
        self._count = 0

    def greeting(self) -> Iterable[str]:
        """Yield the message Metadata."""
        uuid_of_voice = str(uuid.uuid5(uuid.NAMESPACE_URL, f"sayahead:{self._voice}"))
        yield say(
            "Metadata",
            request_id=self.session,
            model_name=self._voice,
            model_version=__version__,
            model_uuid=uuid_of_voice,
            additional_model_uuids=[],
        )

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        data = text_frame(message)
        yield from by_type(data, self.KINDS)(self, data)

    def _speak(self, data: dict[str, Any]) -> Iterable[m.Command]:
        text = text_in(data, "Speak")
        self._open = True
        self._has_unflushed = self._has_unflushed or bool(text.strip())
        yield m.Open(ONLY, self._options)
        yield m.Text(ONLY, text)

    def _flush(self, data: dict[str, Any]) -> Iterable[m.Command]:
        self._has_unflushed = False
        number = self._next_sequence_id()
        yield m.Flush(ONLY, number) if self._open else m.Reply(say("Flushed", sequence_id=number))

    def _clear(self, data: dict[str, Any]) -> Iterable[m.Command]:
        yield m.Cancel(ONLY) if self._open else m.Reply(self._cleared())

    def _close(self, data: dict[str, Any]) -> Iterable[m.Command]:
        yield m.End()

    KINDS: ClassVar[Mapping[str, Callable[..., Iterable[m.Command]]]] = {
        "Speak": _speak,
        "Flush": _flush,
        "Clear": _clear,
        "Close": _close,
    }
    """Handlers of messages, by type."""

    def write(self, event: m.Event) -> Iterable[str | bytes]:
        match event:
            case m.Audio(_, data):
                yield data
            case m.Flushed(_, mark):
                yield say("Flushed", sequence_id=mark)
            case m.Cancelled():
                self._open = False
                self._has_unflushed = False
                yield self._cleared()
            case m.Failed("idle", _, str(), _) if not self._has_unflushed:
                # Everything was spoken: further text opens a new utterance.
                self._open = False
            case m.Failed(code, message, failed, gone):
                self._open = self._open and not gone
                ends = gone and failed is None
                # Clients differ in the names that they read.
                yield say(
                    "Error" if ends else "Warning",
                    description=message,
                    code=code,
                    warn_msg=message,
                    warn_code=code,
                )
            case m.Echo(message):
                yield str(message)

    def _cleared(self) -> str:
        return say("Cleared", sequence_id=self._next_sequence_id())

    def _next_sequence_id(self) -> int:
        self._count += 1
        return self._count - 1


def say(kind: str, **rest: Any) -> str:
    """Return a message."""
    return compact({"type": kind, **rest})


def format_of(query: Mapping[str, str]) -> AudioFormat:
    """Parse the format in a query of a WebSocket. ConfigError for an unknown one."""
    encoding = query.get("encoding", "linear16")
    rate = number_in(query, "sample_rate")
    if encoding not in ENCODINGS:
        raise ConfigError(f"encoding {unknown(encoding, ENCODINGS)}.")
    if query.get("container", "none") != "none":
        raise ConfigError("Raw samples have no container: omit it, or use none.")
    form = AudioFormat(ENCODINGS[encoding][0], ENCODINGS[encoding][1] if rate is None else rate)
    form.check()
    return form


def packed_format_of(query: Mapping[str, str]) -> AudioFormat:
    """Parse the format in a query over HTTP. ConfigError for an unknown one.

    It has more encodings, and wraps samples in WAV unless the query says otherwise.
    """
    encoding = query.get("encoding", "mp3")
    container = query.get("container")
    if encoding not in ENCODINGS and encoding not in PACKED:
        raise ConfigError(f"encoding {unknown(encoding, (*ENCODINGS, *PACKED))}.")
    if encoding in ENCODINGS and container not in (None, "wav"):
        return format_of(query)
    rate = number_in(query, "sample_rate")
    bits = number_in(query, "bit_rate")
    if encoding in ENCODINGS:
        samples, default = ENCODINGS[encoding]
        form = AudioFormat(wav_of(samples), rate or default)
    else:
        form = AudioFormat(encoding, rate, bits)
    form.check()
    return form


def number_in(query: Mapping[str, str], name: str) -> int | None:
    """Parse a whole number in a query; None if it is missing. ConfigError if it is invalid."""
    value = whole(query.get(name))
    if value is None and name in query:
        raise ConfigError(f"{name} is {query[name][:80]!r}, but must be a whole number.")
    return value


def speed_of(query: Mapping[str, str]) -> float:
    """Parse the speed in a query. ConfigError if it is not a number above 0."""
    try:
        speed = float(query.get("speed", "1"))
    except ValueError:
        speed = math.nan
    if not 0 < speed <= 10:
        raise ConfigError(f"speed is {query['speed'][:80]!r}, but must be a number above 0.")
    return speed


def failure(error: RequestError) -> Response:
    """Return Deepgram's form of an error."""
    return JSONResponse(
        {"err_code": error.code.upper(), "err_msg": str(error)}, error.status, error.headers
    )


def refused(error: ConfigError) -> Response:
    """Return the answer to an invalid query."""
    return failure(RequestError("invalid_option", str(error)))


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/speak``."""

    @answers(hub, failure)
    async def sound(request: Request, caller: Caller) -> ASGIApp:
        query = request.query_params
        text = text_of(hub, await json_body(hub, request), "text")
        form = packed_format_of(query)
        session = session_of(query, speed=speed_of(query))
        options = m.Options(voice=query.get("model"), any_voice=True, format=form, session=session)
        return SpeechResponse(hub, caller, "deepgram", text, options, failure=failure)

    return [
        socket_route(hub, "/v1/speak", lambda socket: Deepgram(hub, socket.query_params), refused),
        Route("/v1/speak", sound, methods=["POST"]),
    ]
