"""OpenAI's HTTP API for speech: ``/v1/audio/speech``, ``/v1/models`` and ``/v1/audio/voices``."""

from __future__ import annotations

import base64
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sayahead.config import unknown
from sayahead.errors import ConfigError, VoiceError
from sayahead.server.http import RequestError, Sound, SpeechResponse, answers, json_body
from sayahead.server.hub import Hub
from sayahead.server.json_messages import compact, number
from sayahead.server.operation.access import Caller
from sayahead.server.protocols import elevenlabs
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import session_of
from sayahead.sound.formats import AudioFormat
from sayahead.text.styles.table import instructed
from sayahead.voices import VoiceConfig

MODEL = "sayahead"
# Names of OpenAI's models, accepted so that clients need no change.
MODELS = (MODEL, "tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15")
ALIASES = "alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar".split()
"""OpenAI's voices, which all mean the default voice here."""
FORMATS = {
    "mp3": AudioFormat("mp3", 24000, 64000),
    "opus": AudioFormat("opus", 48000, 64000),
    "aac": AudioFormat("aac", 24000, 64000),
    "flac": AudioFormat("flac", 24000),
    "wav": AudioFormat("wav", 24000),
    "pcm": AudioFormat("pcm_s16le", 24000),
}
SPEED = (0.25, 4.0)
MAX_INSTRUCTIONS = 4096
"""Characters of the instructions that are read."""


class EventStream:
    """An answer of server-sent events with audio in base64."""

    media_type = "text/event-stream"

    def wrap(self, event: m.Event) -> bytes:
        """Return an event for a chunk of audio and for the end."""
        if isinstance(event, m.Audio):
            audio = base64.b64encode(event.data).decode()
            return line({"type": "speech.audio.delta", "audio": audio})
        if isinstance(event, m.Finished):
            # Token counts are approximated: one per character, and one per 80 ms of audio.
            input_tokens = event.characters
            output_tokens = round(event.audio_s / 0.08)
            usage = {
                "input_tokens": input_tokens,
                "output_tokens": output_tokens,
                "total_tokens": input_tokens + output_tokens,
            }
            return line({"type": "speech.audio.done", "usage": usage})
        return b""


def line(data: dict[str, Any]) -> bytes:
    """Return one server-sent event."""
    return f"data: {compact(data)}\n\n".encode()


def failure(error: RequestError) -> Response:
    """Return OpenAI's form of an error."""
    kinds = {401: "authentication_error", 429: "rate_limit_error"}
    kind = kinds.get(
        error.status, "server_error" if error.status >= 500 else "invalid_request_error"
    )
    body = {
        "error": {"message": str(error), "type": kind, "param": error.field, "code": error.code}
    }
    return JSONResponse(body, error.status, error.headers)


def speech_options(hub: Hub, body: dict[str, Any]) -> m.Options:
    """Return the options of a request. RequestError for an unknown or invalid value."""
    format_name = "mp3" if body.get("response_format") is None else body["response_format"]
    if not isinstance(format_name, str) or format_name not in FORMATS:
        raise bad("response_format", f"response_format {unknown(format_name, FORMATS)}.")
    speed = number(1.0 if body.get("speed") is None else body["speed"])
    if speed is None or not SPEED[0] <= speed <= SPEED[1]:
        shown = str(body["speed"])[:80]
        raise bad(
            "speed", f"speed is {shown!r}, but must be a number from {SPEED[0]:g} to {SPEED[1]:g}."
        )
    voice = body.get("voice")
    if isinstance(voice, dict):
        voice = voice.get("id")
    if not isinstance(voice, str):
        raise bad("voice", "voice is missing: name one of /v1/audio/voices.")
    language = body.get("language") if isinstance(body.get("language"), str) else None
    if voice not in ALIASES:
        try:
            hub.voices.find(voice)
        except VoiceError as error:
            raise bad("voice", str(error)) from error
    try:
        FORMATS[format_name].check()
    except ConfigError as error:
        raise bad("response_format", str(error)) from error
    instructions = body.get("instructions")
    if not isinstance(instructions, str | None):
        raise bad("instructions", "instructions must be a string.")
    delivery = instructed((instructions or "")[:MAX_INSTRUCTIONS])
    return m.Options(
        voice,
        language,
        any_voice=True,
        format=FORMATS[format_name],
        session=session_of(body, speed=speed),
        delivery=delivery,
    )


def bad(field: str, message: str) -> RequestError:
    """Return an error about one field."""
    return RequestError("invalid_option", message, field=field)


def routes(hub: Hub) -> list[BaseRoute]:
    """OpenAI's endpoints."""
    endpoint = answers(hub, failure)

    @endpoint
    async def speech(request: Request, caller: Caller) -> ASGIApp:
        body = await json_body(hub, request)
        text = body.get("input")
        most = hub.limits.message_characters
        form = body.get("stream_format")
        if not isinstance(text, str) or not text:
            raise bad("input", "input is missing: the text to speak.")
        if len(text) > most:
            raise bad("input", f"input has {len(text)} characters; {most} are allowed.")
        if not isinstance(body.get("model"), str):
            raise bad("model", f"model is missing: {MODEL}, or any other name.")
        if form not in (None, "audio", "sse"):
            raise bad(
                "stream_format", f"stream_format is {str(form)[:80]!r}, but must be audio or sse."
            )
        options = speech_options(hub, body)
        wrapping = EventStream() if form == "sse" else Sound(options.format)
        return SpeechResponse(
            hub, caller, "openai", text, options, wrapping=wrapping, failure=failure
        )

    @endpoint
    async def models(request: Request, caller: Caller) -> ASGIApp:
        """The names of models; in ElevenLabs' form for its clients."""
        if "xi-api-key" in request.headers:
            return JSONResponse(elevenlabs.models(hub))
        rows = [
            {"id": name, "object": "model", "created": 1767225600, "owned_by": "sayahead"}
            for name in MODELS
        ]
        return JSONResponse({"object": "list", "data": rows})

    @endpoint
    async def voices(request: Request, caller: Caller) -> ASGIApp:
        rows = [voice_row(hub, config) for config in hub.voices.configs.values()]
        names = [{"id": name, "name": name} for name, _ in hub.voices.listed()]
        return JSONResponse({"voices": names, "details": rows})

    return [
        Route("/v1/audio/speech", speech, methods=["POST"]),
        Route("/v1/models", models),
        Route("/v1/audio/models", models),
        Route("/v1/audio/voices", voices),
    ]


def voice_row(hub: Hub, config: VoiceConfig) -> dict[str, Any]:
    """Return a voice in the form of ``/v1/audio/voices``."""
    return {
        "id": config.name,
        "name": config.name,
        "language": config.language,
        "description": config.description,
        "speakers": list(config.speakers),
        "license": config.license,
        "speed": list(config.speed),
        "unit": hub.voices.unit(config.name),
        "research": config.research,
        "sample_rate": config.sample_rate,
        "default": config.name == hub.voices.default,
    }
