"""Cartesia's socket, ``/tts/websocket``: several contexts, word times, sound in base64; and ``POST /tts/bytes``."""

from __future__ import annotations

import base64
import json
import math
import secrets
import time
from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from sayahead.config import nearest
from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.http import STATUS, RequestError, Sound, SpeechResponse, caller_of, json_body, text_of
from sayahead.server.hub import Hub
from sayahead.server.messages import (
    Audio,
    Cancel,
    Cancelled,
    Command,
    ContextOptions,
    Event,
    Failed,
    Finish,
    Finished,
    Flush,
    Flushed,
    KeepAlive,
    Open,
    Refuse,
    SpokenWord,
    Text,
)
from sayahead.server.protocols.alignment import source_words
from sayahead.server.synthesis.formats import AudioFormat
from sayahead.server.websocket import SocketProtocol, serve_socket

# Longest sound in one message, and how long Cartesia lets a connection idle.
MESSAGE_S, IDLE_S = 0.5, 300.0
MOST_NAME = 128
ENCODINGS = {"pcm_s16le": "pcm_s16le", "pcm_f32le": "pcm_f32le", "pcm_mulaw": "mulaw", "pcm_alaw": "alaw"}


class MessageError(SayaheadError):
    """A message that is none of the protocol's, or asks for what is not there."""

    def __init__(self, message: str, *, context: str | None = None) -> None:
        super().__init__(message)
        self.context = context


class Cartesia(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "cartesia"
    idle_s = IDLE_S

    def __init__(self) -> None:
        self._id = secrets.token_hex(8)
        # Open contexts, and what each wants to be told.
        self._contexts = dict[str, _Context]()

    def read(self, message: str | bytes) -> Iterable[Command]:
        try:
            data = json.loads(message) if isinstance(message, str) else None
        except (ValueError, RecursionError) as error:
            raise MessageError("The message is no JSON.") from error
        if not isinstance(data, dict):
            raise MessageError("A message is a JSON object in a text frame.")
        name = data.get("context_id")
        if name is None:
            name = secrets.token_hex(8)
        if not isinstance(name, str) or len(name) > MOST_NAME:
            raise MessageError(f"context_id must be a string of at most {MOST_NAME} characters.")
        if data.get("cancel") is True:
            yield Cancel(name) if name in self._contexts else KeepAlive()
            return
        try:
            yield from self._speak(name, data)
        except ConfigError as error:
            raise MessageError(str(error), context=name) from error

    def _speak(self, name: str, data: dict[str, Any]) -> Iterable[Command]:
        text = data.get("transcript", "")
        if not isinstance(text, str):
            raise MessageError("transcript must be a string.", context=name)
        if name not in self._contexts:
            options = options_of(data)
            normalized = data.get("use_normalized_timestamps") is True
            self._contexts[name] = _Context(data.get("add_timestamps") is True, normalized)
            yield Open(name, options)
        context = self._contexts[name]
        if text:
            context.step = time.monotonic()
            yield Text(name, text)
        if data.get("flush") is True:
            context.flushes += 1
            yield Flush(name, context.flushes)
        if data.get("continue") is not True:
            yield Finish(name)

    def refuse(self, error: SayaheadError) -> Refuse:
        context = error.context if isinstance(error, MessageError) else None
        return Refuse("invalid_message", str(error), context)

    def write(self, event: Event) -> Iterable[str]:
        match event:
            case Audio(name):
                yield from self._sound(event, self._contexts.setdefault(name, _Context(False, False)))
            case Flushed(name, mark):
                yield say("flush_done", name, 206, flush_done=True, flush_id=mark)
            case Finished(name) | Cancelled(name):
                self._contexts.pop(name, None)
                yield say("done", name, 200, done=True)
            case Failed(code, message, context, gone):
                if gone and context is not None:
                    self._contexts.pop(context, None)
                title = code.replace("_", " ").capitalize()
                yield say(
                    "error", context, STATUS.get(code, 400), done=gone or context not in self._contexts, title=title,
                    message=message, error_code=code, request_id=self._id,
                )  # fmt: skip

    def _sound(self, audio: Audio, context: _Context) -> Iterable[str]:
        now = time.monotonic()
        took_ms, context.step = round((now - context.step) * 1000, 3), now
        number: dict[str, Any] = {"flush_id": context.flushes} if context.flushes else {}
        data = base64.b64encode(audio.data).decode()
        yield say("chunk", audio.context, 206, data=data, step_time=took_ms, **number)
        words: Iterable[SpokenWord] = audio.words if context.normalized else source_words(audio)
        rows = [(word.text, round(word.onset_s, 4), round(word.offset_s, 4)) for word in words]
        if context.times and rows:
            texts, starts, ends = zip(*rows, strict=True)
            times = {"words": texts, "start": starts, "end": ends}
            yield say("timestamps", audio.context, 206, word_timestamps=times, **number)


class _Context:
    """What is to be remembered of a context."""

    def __init__(self, times: bool, normalized: bool) -> None:
        self.times, self.normalized = times, normalized
        self.flushes, self.step = 0, time.monotonic()


def say(kind: str, context: str | None, status: int, *, done: bool = False, **rest: Any) -> str:
    """A message."""
    data = {"type": kind, "context_id": context, "status_code": status, "done": done, **rest}
    return json.dumps(data, separators=(",", ":"))


def options_of(data: dict[str, Any], *, containers: Collection[str] = ("raw",)) -> ContextOptions:
    """What the first message of a context, or a request, chooses. ConfigError for what cannot be."""
    tuning, chosen = table(data, "generation_config"), format_of(table(data, "output_format"), containers)
    # Some send the bare name.
    voice = data["voice"] if isinstance(data.get("voice"), str) else table(data, "voice").get("id")
    return ContextOptions(
        voice=voice if isinstance(voice, str) else None, any_voice=True, format=chosen, speed=factor(tuning, "speed"),
        volume=factor(tuning, "volume"), frame_s=MESSAGE_S, idle_s=IDLE_S,
    )  # fmt: skip


def format_of(form: dict[str, Any], containers: Collection[str]) -> AudioFormat:
    """What output_format names. ConfigError for what is not there."""
    container, encoding = form.get("container", "raw"), form.get("encoding", "pcm_s16le")
    if not isinstance(container, str) or container not in containers:
        raise ConfigError(f"output_format.container is {str(container)[:80]!r}, but must be {' or '.join(containers)}.")
    if not isinstance(encoding, str) or encoding not in ENCODINGS:
        encoding = str(encoding)[:80]
        raise ConfigError(f"output_format.encoding {encoding!r} is unknown{nearest(encoding, ENCODINGS)}.")
    rate, bits = form.get("sample_rate"), form.get("bit_rate")
    for name, value in (("sample_rate", rate), ("bit_rate", bits)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise ConfigError(f"output_format.{name} must be a whole number.")
    packed = container != "raw"
    chosen = AudioFormat(container if packed else ENCODINGS[encoding], rate, bits if container == "mp3" else None)
    chosen.check()
    return chosen


def table(data: dict[str, Any], name: str) -> dict[str, Any]:
    """An object in a message; empty where there is none."""
    value = data.get(name)
    if value is not None and not isinstance(value, dict):
        raise ConfigError(f"{name} must be an object.")
    return value or {}


def factor(tuning: dict[str, Any], name: str) -> float:
    """A factor in generation_config; 1 where there is none."""
    value = tuning.get(name)
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and 0 < value <= 4):
        raise ConfigError(f"generation_config.{name} must be a number above 0, at most 4.")
    return float(value)


def failure(error: RequestError) -> Response:
    """Cartesia's form of an error."""
    title = error.code.replace("_", " ").capitalize()
    body = {"title": title, "message": str(error), "error_code": error.code, "status_code": error.status}
    return JSONResponse(body, error.status, error.headers)


def routes(hub: Hub) -> list[BaseRoute]:
    """``/tts/websocket`` and ``/tts/bytes``."""

    async def speak(websocket: WebSocket) -> None:
        await serve_socket(hub, websocket, Cartesia())

    async def sound(request: Request) -> Response | SpeechResponse:
        try:
            caller = caller_of(hub, request)
            body = await json_body(hub, request)
            text = text_of(hub, body, "transcript")
            options = options_of(body, containers=("raw", "wav", "mp3"))
        except ConfigError as error:
            return failure(RequestError("invalid_option", str(error)))
        except RequestError as error:
            return failure(error)
        return SpeechResponse(hub, caller, "cartesia", text, options, wrapping=Sound(options.format), error=failure)

    return [WebSocketRoute("/tts/websocket", speak), Route("/tts/bytes", sound, methods=["POST"])]
