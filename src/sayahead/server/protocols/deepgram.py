"""Deepgram's ``/v1/speak``: a socket with one text after the other and audio in binary frames, and
over HTTP."""

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

# A connection may idle for as long as the server allows.
IDLE_S = 3600.0
OPTIONS = m.Options(any_voice=True, frame_s=0.08, idle_s=IDLE_S)
ENCODINGS = {"linear16": ("pcm_s16le", 24000), "mulaw": ("mulaw", 8000), "alaw": ("alaw", 8000)}
"""Values of ``encoding``: ours, and the default number of samples per second."""
PACKED = ("mp3", "opus", "flac", "aac")
"""Further values over HTTP."""
# One text at a time, without a name.
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
        # Whether a text is open, and whether some of it waits for a Flush.
        self._open = False
        self._waits = False
        self._count = 0

    def greeting(self) -> Iterable[str]:
        """Metadata."""
        uuid_of_voice = str(uuid.uuid5(uuid.NAMESPACE_URL, f"sayahead:{self._voice}"))
        model = {
            "model_name": self._voice,
            "model_version": __version__,
            "model_uuid": uuid_of_voice,
        }
        yield say("Metadata", request_id=self.session, **model, additional_model_uuids=[])

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        data = text_frame(message)
        yield from by_type(data, self.KINDS)(self, data)

    def _speak(self, data: dict[str, Any]) -> Iterable[m.Command]:
        text = text_in(data, "Speak")
        self._open = True
        self._waits = self._waits or bool(text.strip())
        yield m.Open(ONLY, self._options)
        yield m.Text(ONLY, text)

    def _flush(self, data: dict[str, Any]) -> Iterable[m.Command]:
        self._waits = False
        number = self._next()
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
    """What reads a message, by its type."""

    def write(self, event: m.Event) -> Iterable[str | bytes]:
        match event:
            case m.Audio(_, data):
                yield data
            case m.Flushed(_, mark):
                yield say("Flushed", sequence_id=mark)
            case m.Cancelled():
                self._open = False
                self._waits = False
                yield self._cleared()
            case m.Failed("idle", _, str(), _) if not self._waits:
                # All was spoken: more text begins anew.
                self._open = False
            case m.Failed(code, message, failed, gone):
                self._open = self._open and not gone
                ends = gone and failed is None
                # Some clients read one pair of names, some the other.
                names = {
                    "description": message,
                    "code": code,
                    "warn_msg": message,
                    "warn_code": code,
                }
                yield say("Error" if ends else "Warning", **names)
            case m.Echo(message):
                yield str(message)

    def _cleared(self) -> str:
        return say("Cleared", sequence_id=self._next())

    def _next(self) -> int:
        self._count += 1
        return self._count - 1


def say(kind: str, **rest: Any) -> str:
    """A message."""
    return compact({"type": kind, **rest})


def format_of(query: Mapping[str, str]) -> AudioFormat:
    """The format in a query. ConfigError for an unknown one."""
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
    """The format in a query over HTTP, which knows more of them, and wraps samples in WAV unless
    told otherwise. ConfigError for an unknown one."""
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
    """A whole number in a query; None if it is absent. ConfigError for anything else."""
    value = whole(query.get(name))
    if value is None and name in query:
        raise ConfigError(f"{name} is {query[name][:80]!r}, but must be a whole number.")
    return value


def speed_of(query: Mapping[str, str]) -> float:
    """The pace in a query. ConfigError if it is not a number above 0."""
    try:
        speed = float(query.get("speed", "1"))
    except ValueError:
        speed = math.nan
    if not 0 < speed <= 10:
        raise ConfigError(f"speed is {query['speed'][:80]!r}, but must be a number above 0.")
    return speed


def failure(error: RequestError) -> Response:
    """Deepgram's form of an error."""
    return JSONResponse(
        {"err_code": error.code.upper(), "err_msg": str(error)}, error.status, error.headers
    )


def refused(error: ConfigError) -> Response:
    """The answer to a query that cannot be."""
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
