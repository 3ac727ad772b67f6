"""Deepgram's ``/v1/speak``: a socket with one text after the other and sound in binary frames, and over HTTP."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from sayahead import __version__
from sayahead.config import nearest
from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.http import RequestError, Sound, SpeechResponse, caller_of, json_body, text_of
from sayahead.server.hub import Hub
from sayahead.server.messages import (
    Audio,
    Cancel,
    Cancelled,
    Command,
    ContextOptions,
    Echo,
    End,
    Event,
    Failed,
    Flush,
    Flushed,
    Open,
    Reply,
    Text,
)
from sayahead.server.synthesis.formats import AudioFormat
from sayahead.server.websocket import SocketProtocol, serve_socket

FRAME_S = 0.08
# A connection may idle as long as the server allows.
IDLE_S = 3600.0
ENCODINGS = {"linear16": ("pcm_s16le", 24000), "mulaw": ("mulaw", 8000), "alaw": ("alaw", 8000)}
"""Values of ``encoding``: ours, and the samples per second where the client does not say."""
PACKED = ("mp3", "opus", "flac", "aac")
"""More of them, over HTTP."""
KINDS = ("Speak", "Flush", "Clear", "Close")
# There is one text at a time, without a name.
ONLY = ""


class MessageError(SayaheadError):
    """A message that is none of the protocol's."""


class Deepgram(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "deepgram"
    idle_s = IDLE_S

    def __init__(self, hub: Hub, query: Mapping[str, str]) -> None:
        """ConfigError for a query that asks for what is not there."""
        self._voice = hub.voices.name(query.get("model"), any_voice=True)
        self._options = ContextOptions(
            voice=self._voice, format=format_of(query), speed=speed_of(query), any_voice=True, frame_s=FRAME_S,
            idle_s=IDLE_S,
        )  # fmt: skip
        self._id = str(uuid.uuid4())
        # Whether a text is open, and whether some of it waits for a Flush.
        self._open, self._waits, self._count = False, False, 0

    def greeting(self) -> Iterable[str]:
        """Metadata."""
        yield say(
            "Metadata", request_id=self._id, model_name=self._voice, model_version=__version__,
            model_uuid=str(uuid.uuid5(uuid.NAMESPACE_URL, f"sayahead:{self._voice}")), additional_model_uuids=[],
        )  # fmt: skip

    def read(self, message: str | bytes) -> Iterable[Command]:
        try:
            data = json.loads(message) if isinstance(message, str) else None
        except (ValueError, RecursionError) as error:
            raise MessageError("The message is no JSON.") from error
        kind = data.get("type") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(kind, str):
            raise MessageError("A message is a JSON object with a type, in a text frame.")
        match kind:
            case "Speak":
                text = data.get("text")
                if not isinstance(text, str):
                    raise MessageError("Speak needs a text, a string.")
                self._open, self._waits = True, self._waits or bool(text.strip())
                yield Open(ONLY, self._options)
                yield Text(ONLY, text)
            case "Flush":
                self._waits = False
                yield Flush(ONLY, self._next()) if self._open else Reply(say("Flushed", sequence_id=self._next()))
            case "Clear":
                yield Cancel(ONLY) if self._open else Reply(self._cleared())
            case "Close":
                yield End()
            case _:
                raise MessageError(f"The type {kind[:80]!r} is unknown{nearest(kind[:80], KINDS)}.")

    def write(self, event: Event) -> Iterable[str | bytes]:
        match event:
            case Audio(_, data):
                yield data
            case Flushed(_, mark):
                yield say("Flushed", sequence_id=mark)
            case Cancelled():
                self._open = self._waits = False
                yield self._cleared()
            case Failed("idle", _, str(), _) if not self._waits:
                # All was spoken: what comes next begins anew.
                self._open = False
            case Failed(code, message, context, gone):
                self._open = self._open and not gone
                ends = gone and context is None
                # Clients read one pair of names or the other.
                names = {"description": message, "code": code, "warn_msg": message, "warn_code": code}
                yield say("Error" if ends else "Warning", **names)
            case Echo(message):
                yield str(message)

    def _cleared(self) -> str:
        return say("Cleared", sequence_id=self._next())

    def _next(self) -> int:
        self._count += 1
        return self._count - 1


def say(kind: str, **rest: Any) -> str:
    """A message."""
    return json.dumps({"type": kind, **rest}, separators=(",", ":"))


def format_of(query: Mapping[str, str]) -> AudioFormat:
    """The format that a query names. ConfigError for one that is not there."""
    encoding, rate = query.get("encoding", "linear16"), whole(query, "sample_rate")
    if encoding not in ENCODINGS:
        raise ConfigError(f"encoding {encoding[:80]!r} is unknown{nearest(encoding[:80], ENCODINGS)}.")
    if query.get("container", "none") != "none":
        raise ConfigError("Bare samples have no container: it can only be none.")
    form = AudioFormat(ENCODINGS[encoding][0], ENCODINGS[encoding][1] if rate is None else rate)
    form.check()
    return form


def packed_format_of(query: Mapping[str, str]) -> AudioFormat:
    """The format that a query over HTTP names: more of them, and samples come in WAV where it does not say otherwise.
    ConfigError for one that is not there."""
    encoding, container = query.get("encoding", "mp3"), query.get("container")
    if encoding in ENCODINGS and not (encoding == "linear16" and container in (None, "wav")):
        return format_of(query)
    if encoding not in ("linear16", *PACKED):
        raise ConfigError(f"encoding {encoding[:80]!r} is unknown{nearest(encoding[:80], (*ENCODINGS, *PACKED))}.")
    rate, bits = whole(query, "sample_rate"), whole(query, "bit_rate")
    default = ENCODINGS["linear16"][1]
    form = AudioFormat("wav", rate or default) if encoding == "linear16" else AudioFormat(encoding, rate, bits)
    form.check()
    return form


def whole(query: Mapping[str, str], name: str) -> int | None:
    """A whole number in a query. ConfigError for what is none."""
    text = query.get(name)
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < 9):
        raise ConfigError(f"{name} is {text[:80]!r}, but must be a whole number.")
    return None if text is None else int(text)


def speed_of(query: Mapping[str, str]) -> float:
    """The pace that a query names. ConfigError for what is none."""
    try:
        speed = float(query.get("speed", "1"))
    except ValueError:
        speed = math.nan
    if not 0 < speed <= 10:
        raise ConfigError(f"speed is {query['speed'][:80]!r}, but must be a number above 0.")
    return speed


def failure(error: RequestError) -> Response:
    """Deepgram's form of an error."""
    return JSONResponse({"err_code": error.code.upper(), "err_msg": str(error)}, error.status, error.headers)


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/speak``."""

    async def speak(websocket: WebSocket) -> None:
        try:
            protocol = Deepgram(hub, websocket.query_params)
        except ConfigError as error:
            await websocket.send_denial_response(failure(RequestError("invalid_option", str(error))))
            return
        await serve_socket(hub, websocket, protocol)

    async def sound(request: Request) -> Response | SpeechResponse:
        query = request.query_params
        try:
            caller = caller_of(hub, request)
            text = text_of(hub, await json_body(hub, request), "text")
            form, speed = packed_format_of(query), speed_of(query)
        except ConfigError as error:
            return failure(RequestError("invalid_option", str(error)))
        except RequestError as error:
            return failure(error)
        options = ContextOptions(voice=query.get("model"), any_voice=True, format=form, speed=speed)
        return SpeechResponse(hub, caller, "deepgram", text, options, wrapping=Sound(form), error=failure)

    return [WebSocketRoute("/v1/speak", speak), Route("/v1/speak", sound, methods=["POST"])]
