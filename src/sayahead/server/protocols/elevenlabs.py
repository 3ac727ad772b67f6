"""ElevenLabs' interface: the sockets ``stream-input`` and ``multi-stream-input``, speech over HTTP, ``/v1/voices``."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from sayahead.config import nearest
from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.http import RequestError, Sound, SpeechResponse, Wrapping, caller_of, json_body, text_of
from sayahead.server.hub import Hub
from sayahead.server.messages import (
    Audio,
    Cancel,
    Cancelled,
    Command,
    ContextOptions,
    End,
    Event,
    Failed,
    Finish,
    Finished,
    Flush,
    KeepAlive,
    Open,
    Outcome,
    Refuse,
    Text,
    closing_code,
)
from sayahead.server.protocols.alignment import Aligner, Alignment
from sayahead.server.synthesis.formats import AudioFormat
from sayahead.server.websocket import SocketProtocol, serve_socket

# Longest sound in one message: clients have limits of their own.
MESSAGE_S = 1.0
MOST_NAME = 128
ENCODINGS = {"pcm": "pcm_s16le", "ulaw": "mulaw", "alaw": "alaw", "mp3": "mp3", "opus": "opus"}
FORMATS = (
    "mp3_22050_32", "mp3_24000_48", "mp3_44100_32", "mp3_44100_64", "mp3_44100_96", "mp3_44100_128", "mp3_44100_192",
    "pcm_8000", "pcm_16000", "pcm_22050", "pcm_24000", "pcm_32000", "pcm_44100", "pcm_48000", "ulaw_8000", "alaw_8000",
    "opus_48000_32", "opus_48000_64", "opus_48000_96", "opus_48000_128", "opus_48000_192",
)  # fmt: skip
"""Known values of ``output_format``: encoding, samples per second, kilobits per second."""
DEFAULT = "mp3_44100_128"
ERRORS = {
    "idle": "input_timeout_exceeded", "invalid_message": "invalid_input_message",
    "too_many_contexts": "max_active_conversations", "unauthorized": "invalid_api_key", "overloaded": "system_busy",
}  # fmt: skip
"""ElevenLabs' names for ``Failed.code``; the others go by their own."""
SCHEMA = (
    "Could not parse input message, make sure it is a json and follows the schema outlined in protocol. "
    "(The reason: {})"
)
TIMEOUT = (
    "Have not received a new text input within the timeout of {:.1f} seconds. Streaming input terminated. Please make "
    'sure to either feed the input in the timely manner, or to send the end of input text (empty string "") when done.'
)


class MessageError(SayaheadError):
    """A message that is none of the protocol's."""


def audio_format(name: str | None) -> AudioFormat:
    """The format that ``output_format`` names. ConfigError for one that is not known."""
    name = name or DEFAULT
    if name not in FORMATS:
        raise ConfigError(f"output_format {name[:80]!r} is unknown{nearest(name[:80], FORMATS)}.")
    kind, rate, *kilobits = name.split("_")
    form = AudioFormat(ENCODINGS[kind], int(rate), int(kilobits[0]) * 1000 if kilobits else None)
    form.check()
    return form


def speed_of(settings: object) -> float:
    """The pace in ``voice_settings``; the rest of them has no meaning here."""
    speed = settings.get("speed") if isinstance(settings, dict) else None
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not math.isfinite(speed) or speed <= 0:
        return 1.0
    return float(speed)


def whole(text: str | None, *, most: int) -> int | None:
    """A whole number from 0 to ``most`` in a query; None for what is none."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 12:
        return None
    return min(int(text), most)


class Multi(SocketProtocol):
    """``multi-stream-input``: several contexts on one connection."""

    name: ClassVar[str] = "elevenlabs"
    key_in_first_message: ClassVar[bool] = True
    sole: ClassVar[bool] = False

    def __init__(self, voice: str, query: Mapping[str, str]) -> None:
        self._voice, self._query = voice, query
        self._absolute = query.get("sync_alignment", "").lower() == "true"
        self.idle_s = whole(query.get("inactivity_timeout"), most=180) or None
        # Open contexts, and whether all their text was flushed; those that take no more text.
        self._flushed = dict[str, bool]()
        self._closing = set[str]()
        self._aligners = dict[str, Aligner]()

    def credential(self, message: str | bytes) -> str | None:
        try:
            data = self._parse(message)
        except MessageError:
            return None
        keys = (data.get(name) for name in ("xi-api-key", "xi_api_key", "authorization", "single_use_token"))
        return next((key for key in keys if isinstance(key, str) and key), None)

    def _parse(self, message: str | bytes) -> dict[str, Any]:
        try:
            data = json.loads(message) if isinstance(message, str) else None
        except (ValueError, RecursionError) as error:
            raise MessageError(SCHEMA.format("no JSON")) from error
        if not isinstance(data, dict):
            raise MessageError(SCHEMA.format("no JSON object in a text frame"))
        text = data.get("text")
        if text is not None and not isinstance(text, str):
            raise MessageError(SCHEMA.format("text is no string"))
        return data

    def _options(self, settings: object) -> ContextOptions:
        return ContextOptions(
            voice=self._voice, any_voice=True, format=audio_format(self._query.get("output_format")),
            speed=speed_of(settings), seed=whole(self._query.get("seed"), most=2**32 - 1) or 0, frame_s=MESSAGE_S,
            idle_s=self.idle_s, sole=self.sole,
        )  # fmt: skip

    def read(self, message: str | bytes) -> Iterable[Command]:
        data = self._parse(message)
        context = data.get("context_id", data.get("contextId"))
        if context is not None and (not isinstance(context, str) or len(context) > MOST_NAME):
            raise MessageError(SCHEMA.format(f"context_id is no string of at most {MOST_NAME} characters"))
        if data.get("close_socket") is True:
            yield End()
        elif data.get("close_context") is True:
            yield self._close(context or "")
        else:
            yield from self._speak(context, data)

    def _close(self, context: str) -> Command:
        """Speak what was flushed, then end; fall silent where text was left, or at the second time."""
        if context not in self._flushed:
            return KeepAlive()
        if not self._flushed[context] or context in self._closing:
            return Cancel(context)
        self._closing.add(context)
        return Finish(context)

    def _speak(self, context: str | None, data: dict[str, Any]) -> Iterable[Command]:
        text, name = data.get("text"), context or ""
        if text:
            begins = name not in self._flushed
            yield Open(name, self._options(data.get("voice_settings")))
            self._flushed.setdefault(name, True)
            # One blank is how a context is opened.
            if not (begins and text == " "):
                yield Text(name, text)
            if text.strip():
                self._flushed[name] = False
        else:
            yield KeepAlive(context)
        if data.get("flush") is True and name in self._flushed and name not in self._closing:
            self._flushed[name] = True
            yield Flush(name)

    def refuse(self, error: SayaheadError) -> Refuse:
        return Refuse("invalid_option" if isinstance(error, ConfigError) else "invalid_message", str(error), fatal=True)

    def write(self, event: Event) -> Iterable[str]:
        match event:
            case Audio(context):
                aligner = self._aligners.setdefault(context, Aligner())
                told = aligner.push(event, fill=not self._absolute)
                yield self._say(context, self._sound(base64.b64encode(event.data).decode(), told))
            case Finished(context, audio_s):
                # The last word is complete for clients that wait for a blank.
                told = self._forget(context).finish(audio_s)
                if told is not None:
                    yield self._say(context, self._sound("", told))
                yield self._final(context)
            case Cancelled(context):
                self._forget(context)
                yield self._final(context)
            case Failed(code, message, None):
                yield self._error(code, message, None)
            case Failed(code, message, str(context), gone):
                yield self._error(code, message, context)
                if gone:
                    self._forget(context)
                    if not self.sole:
                        yield self._final(context)

    def _sound(self, audio: str, told: Alignment | None) -> dict[str, Any]:
        times = None
        if told is not None:
            starts = told.starts(absolute=self._absolute)
            times = {"chars": told.chars, "charStartTimesMs": starts, "charDurationsMs": told.durations}
        return {"audio": audio, "isFinal": None, "alignment": times, "normalizedAlignment": times}

    def _final(self, context: str) -> str:
        return self._say(context, {"audio": None, "isFinal": True, "is_final": True})

    def _error(self, code: str, message: str, context: str | None) -> str:
        if code == "idle" and context is not None and self.idle_s is not None:
            message = TIMEOUT.format(self.idle_s)
        data = {"message": message, "error": ERRORS.get(code, code), "code": closing_code(Outcome(code))}
        return self._say(context, data)

    def _say(self, context: str | None, data: dict[str, Any]) -> str:
        # Clients read one spelling or the other.
        names = {} if context is None or self.sole else {"contextId": context, "context_id": context}
        return json.dumps(data | names, separators=(",", ":"))

    def _forget(self, context: str) -> Aligner:
        self._flushed.pop(context, None)
        self._closing.discard(context)
        return self._aligners.pop(context, Aligner())


class Single(Multi):
    """``stream-input``: one context, and the connection ends with it."""

    sole: ClassVar[bool] = True

    def read(self, message: str | bytes) -> Iterable[Command]:
        data = self._parse(message)
        yield from self._speak(None, data | {"text": data.get("text") or None})
        if data.get("text") == "":
            yield Open("", self._options(None))
            yield End()


class Timed:
    """Lines of JSON, each with sound and the times of its characters."""

    media_type = "application/json"

    def __init__(self) -> None:
        self._aligner = Aligner()

    def wrap(self, event: Event) -> bytes:
        """A line for each piece of sound."""
        if not isinstance(event, Audio):
            return b""
        told, times = self._aligner.push(event, fill=False), None
        if told is not None:
            times = {
                "characters": told.chars,
                "character_start_times_seconds": [at / 1000 for at in told.starts_ms],
                "character_end_times_seconds": [at / 1000 for at in told.ends_ms],
            }
        sound = base64.b64encode(event.data).decode()
        data = {"audio_base64": sound, "alignment": times, "normalized_alignment": times}
        return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def failure(error: RequestError) -> Response:
    """ElevenLabs' form of an error."""
    body = {"detail": {"status": ERRORS.get(error.code, error.code), "message": str(error)}}
    return JSONResponse(body, error.status, error.headers)


async def speech(hub: Hub, request: Request) -> Response | SpeechResponse:
    """The answer to a text over HTTP: sound, or with-timestamps lines of JSON."""
    try:
        caller = caller_of(hub, request)
        body = await json_body(hub, request)
        text = text_of(hub, body, "text")
        form = audio_format(request.query_params.get("output_format"))
    except ConfigError as error:
        return failure(RequestError("invalid_option", str(error)))
    except RequestError as error:
        return failure(error)
    seed = body.get("seed")
    options = ContextOptions(
        voice=request.path_params["voice"], any_voice=True, format=form, speed=speed_of(body.get("voice_settings")),
        seed=seed % 2**32 if isinstance(seed, int) else 0, frame_s=MESSAGE_S,
    )  # fmt: skip
    wrapping: Wrapping = Timed() if request.url.path.endswith("with-timestamps") else Sound(form)
    return SpeechResponse(hub, caller, "elevenlabs", text, options, wrapping=wrapping, error=failure)


def voice_row(hub: Hub, name: str) -> dict[str, Any]:
    """A voice as ElevenLabs' clients want it."""
    config = hub.voices.configs[name]
    return {
        "voice_id": name, "name": name, "category": "premade", "description": config.description,
        "labels": {"language": config.language}, "samples": None, "preview_url": None, "settings": None,
        "available_for_tiers": [], "high_quality_base_model_ids": [],
    }  # fmt: skip


def routes(hub: Hub) -> list[BaseRoute]:
    """ElevenLabs' endpoints."""

    async def single(websocket: WebSocket) -> None:
        await serve_socket(hub, websocket, Single(websocket.path_params["voice"], websocket.query_params))

    async def multi(websocket: WebSocket) -> None:
        await serve_socket(hub, websocket, Multi(websocket.path_params["voice"], websocket.query_params))

    async def speak(request: Request) -> Response | SpeechResponse:
        return await speech(hub, request)

    async def voices(request: Request) -> Response:
        try:
            caller_of(hub, request)
        except RequestError as error:
            return failure(error)
        wanted = request.path_params.get("voice")
        if wanted is not None and wanted not in hub.voices.configs:
            return failure(RequestError("unknown_voice", f"There is no voice {wanted[:80]!r}."))
        if wanted is not None:
            return JSONResponse(voice_row(hub, wanted))
        rows = [voice_row(hub, name) for name in hub.voices.configs]
        return JSONResponse({"voices": rows, "has_more": False, "total_count": len(rows), "next_page_token": None})

    async def token(request: Request) -> Response:
        try:
            caller = caller_of(hub, request, tokens=False)
        except RequestError as error:
            return failure(error)
        return JSONResponse({"token": hub.access.token(caller)[0]}, headers={"Cache-Control": "no-store"})

    path = "/v1/text-to-speech/{voice}"
    return [
        WebSocketRoute(f"{path}/stream-input", single),
        WebSocketRoute(f"{path}/multi-stream-input", multi),
        *(Route(path + rest, speak, methods=["POST"]) for rest in ("", "/stream", "/stream/with-timestamps")),
        *(Route(place, voices) for place in ("/v1/voices", "/v2/voices", "/v1/voices/{voice}")),
        Route("/v1/single-use-token/{kind}", token, methods=["POST"]),
    ]
