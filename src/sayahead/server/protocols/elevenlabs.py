"""ElevenLabs' API: the WebSockets ``stream-input`` and ``multi-stream-input``, speech over HTTP,
and ``/v1/voices``."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from sayahead.config import unknown
from sayahead.engine.options import SessionOptions
from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.http import (
    RequestError,
    Sound,
    SpeechResponse,
    Wrapping,
    answers,
    json_body,
    text_of,
)
from sayahead.server.hub import Hub
from sayahead.server.json_messages import (
    MessageError,
    compact,
    number,
    text_frame,
    utterance_name,
    whole,
)
from sayahead.server.operation.access import Caller
from sayahead.server.protocols import dictionaries
from sayahead.server.protocols.character_times import Aligner, Alignment
from sayahead.server.protocols.dictionaries import Dictionaries
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import session_of
from sayahead.server.websocket import SocketProtocol, socket_route
from sayahead.sound.formats import AudioFormat, whole_file
from sayahead.text.saying.lexicon import Lexicon
from sayahead.voices import VoiceConfig

# Clients limit the audio in one message.
OPTIONS = m.Options(any_voice=True, frame_s=1.0)
ENCODINGS = {
    "pcm": "pcm_s16le",
    "wav": "wav",
    "ulaw": "mulaw",
    "alaw": "alaw",
    "mp3": "mp3",
    "opus": "opus",
}
FORMATS = """
mp3_22050_32 mp3_24000_48 mp3_44100_32 mp3_44100_64 mp3_44100_96 mp3_44100_128 mp3_44100_192
pcm_8000 pcm_16000 pcm_22050 pcm_24000 pcm_32000 pcm_44100 pcm_48000 ulaw_8000 alaw_8000
wav_8000 wav_16000 wav_22050 wav_24000 wav_32000 wav_44100 wav_48000
opus_48000_32 opus_48000_64 opus_48000_96 opus_48000_128 opus_48000_192
""".split()
"""Known values of ``output_format``: encoding, samples per second, kilobits per second."""
DEFAULT = "mp3_44100_128"
UNLIMITED = 1_000_000_000
"""The limit reported for a key without one, because clients expect a number."""
ERRORS = {
    "idle": "input_timeout_exceeded",
    "invalid_message": "invalid_input_message",
    "too_many_contexts": "max_active_conversations",
    "unauthorized": "invalid_api_key",
    "overloaded": "system_busy",
    "quota": "quota_exceeded",
}
"""ElevenLabs' names for ``Failed.code``; other codes are unchanged."""
SCHEMA = (
    "Could not parse input message, make sure it is a json and follows the schema outlined in"
    " protocol. (The reason: {})"
)
TIMEOUT = (
    "Have not received a new text input within the timeout of {:.1f} seconds. Streaming input"
    " terminated. Please make sure to either feed the input in the timely manner, or to send the"
    ' end of input text (empty string "") when done.'
)


def audio_format(name: str | None) -> AudioFormat:
    """Parse ``output_format``. ConfigError for an unknown one."""
    name = name or DEFAULT
    if name not in FORMATS:
        raise ConfigError(f"output_format {unknown(name, FORMATS)}.")
    kind, rate, *kilobits = name.split("_")
    form = AudioFormat(ENCODINGS[kind], int(rate), int(kilobits[0]) * 1000 if kilobits else None)
    form.check()
    return form


def session_options(query: Mapping[str, str], settings: object, **own: Any) -> SessionOptions:
    """Return the session options from ``voice_settings``, the query, and ``own``, those of the
    protocol."""
    table: dict[str, Any] = settings if isinstance(settings, dict) else {}
    speed = number(table.get("speed"))
    return session_of(
        {**query, **table}, speed=speed if speed is not None and speed > 0 else 1.0, **own
    )


class Multi(SocketProtocol):
    """``multi-stream-input``: several utterances on one connection."""

    name: ClassVar[str] = "elevenlabs"
    key_in_first_message: ClassVar[bool] = True
    sole: ClassVar[bool] = False

    def __init__(self, voice: str, query: Mapping[str, str], dictionaries: Dictionaries) -> None:
        self._voice = voice
        self._query = query
        self._dictionaries = dictionaries
        self._lexicon: Lexicon | None = None
        self._absolute = query.get("sync_alignment", "").lower() == "true"
        self.idle_s = min(whole(query.get("inactivity_timeout")) or 0, 180) or None
        # Open utterances, and whether all of their text was flushed; those that accept no more
        # text.
        self._flushed = dict[str, bool]()
        self._closing = set[str]()
        self._aligners = dict[str, Aligner]()

    def credential(self, message: str | bytes) -> str | None:
        try:
            data = self._parse(message)
        except MessageError:
            return None
        keys = (
            data.get(name)
            for name in ("xi-api-key", "xi_api_key", "authorization", "single_use_token")
        )
        return next((key for key in keys if isinstance(key, str) and key), None)

    def _parse(self, message: str | bytes) -> dict[str, Any]:
        """Parse a message. MessageError if it is not one with an optional text."""
        data = text_frame(message)
        if not isinstance(data.get("text"), str | None):
            raise MessageError("text is not a string.")
        return data

    def _options(self, settings: object) -> m.Options:
        """Return the options of an utterance."""
        form = audio_format(self._query.get("output_format"))
        language = self._query.get("language_code")
        seed = min(whole(self._query.get("seed")) or 0, 2**32 - 1)
        markup = (
            {"markup": "ssml"}
            if self._query.get("enable_ssml_parsing", "").lower() == "true"
            else {}
        )
        session = session_options(self._query, settings, seed=seed, lexicon=self._lexicon, **markup)
        options = replace(
            OPTIONS, voice=self._voice, language=language, idle_s=self.idle_s, sole=self.sole
        )
        return replace(options, format=form, session=session)

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        data = self._parse(message)
        name = data.get("context_id", data.get("contextId"))
        if name is not None:
            name = utterance_name(name)
        if data.get("close_socket") is True:
            yield m.End()
        elif data.get("close_context") is True:
            if data.get("flush") is True:
                yield from self._speak(name, data)
            yield self._close(name or "")
        else:
            yield from self._speak(name, data)

    def _close(self, name: str) -> m.Command:
        """Return the command to close an utterance: finish if everything was flushed, else cancel;
        always cancel the second time."""
        if name not in self._flushed:
            return m.KeepAlive()
        if not self._flushed[name] or name in self._closing:
            return m.Cancel(name)
        self._closing.add(name)
        return m.Finish(name)

    def _speak(self, context: str | None, data: dict[str, Any]) -> Iterable[m.Command]:
        """Yield the commands for a message's text and flush."""
        text = data.get("text")
        name = context or ""
        if (locators := data.get("pronunciation_dictionary_locators")) is not None:
            self._lexicon = self._dictionaries.lexicon(locators)
        if text:
            is_new = name not in self._flushed
            yield m.Open(name, self._options(data.get("voice_settings")))
            self._flushed.setdefault(name, True)
            # A single space opens a context without text.
            if not (is_new and text == " "):
                yield m.Text(name, text)
            if text.strip():
                self._flushed[name] = False
        else:
            yield m.KeepAlive(context)
        if data.get("flush") is True and name in self._flushed and name not in self._closing:
            self._flushed[name] = True
            yield m.Flush(name)

    def refuse(self, error: SayaheadError) -> m.Refuse:
        refusal = super().refuse(error)
        message = SCHEMA.format(error) if isinstance(error, MessageError) else refusal.message
        return replace(refusal, message=message, fatal=True)

    def write(self, event: m.Event) -> Iterable[str]:
        match event:
            case m.Audio(name):
                aligner = self._aligners.setdefault(name, Aligner())
                alignment = aligner.push(event, fill=not self._absolute)
                yield self._say(name, self._sound(base64.b64encode(event.data).decode(), alignment))
            case m.Finished(name, audio_s):
                # Some clients consider a word complete only at the next space.
                alignment = self._forget(name).finish(audio_s)
                if alignment is not None:
                    yield self._say(name, self._sound("", alignment))
                yield self._final(name)
            case m.Cancelled(name):
                self._forget(name)
                yield self._final(name)
            case m.Failed(code, message, None):
                yield self._error(code, message, None)
            case m.Failed(code, message, str(name), gone):
                yield self._error(code, message, name)
                if gone:
                    self._forget(name)
                    if not self.sole:
                        yield self._final(name)

    def _sound(self, audio: str, alignment: Alignment | None) -> dict[str, Any]:
        """Return the message for audio with the times of its characters."""
        times = None
        if alignment is not None:
            starts = alignment.starts(absolute=self._absolute)
            times = {
                "chars": alignment.chars,
                "charStartTimesMs": starts,
                "charDurationsMs": alignment.durations,
            }
        return {"audio": audio, "isFinal": None, "alignment": times, "normalizedAlignment": times}

    def _final(self, name: str) -> str:
        """Return the last message of an utterance."""
        return self._say(name, {"audio": None, "isFinal": True, "is_final": True})

    def _error(self, code: str, message: str, name: str | None) -> str:
        """Return the message for an error."""
        if code == "idle" and name is not None and self.idle_s is not None:
            message = TIMEOUT.format(self.idle_s)
        closing = m.closing_code(m.Outcome(code))
        return self._say(
            name, {"message": message, "error": ERRORS.get(code, code), "code": closing}
        )

    def _say(self, name: str | None, data: dict[str, Any]) -> str:
        """Return a message, with the name of its utterance."""
        # Clients differ in the spelling that they read.
        names = {} if name is None or self.sole else {"contextId": name, "context_id": name}
        return compact(data | names)

    def _forget(self, name: str) -> Aligner:
        """Drop an utterance's state; return its aligner."""
        self._flushed.pop(name, None)
        self._closing.discard(name)
        return self._aligners.pop(name, Aligner())


class Single(Multi):
    """``stream-input``: one utterance, with which the connection ends."""

    sole: ClassVar[bool] = True

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        data = self._parse(message)
        yield from self._speak(None, data | {"text": data.get("text") or None})
        if data.get("text") == "":
            yield m.Open("", self._options(None))
            yield m.End()


class Timed:
    """An answer of one JSON line per chunk of audio, with the times of its characters."""

    media_type = "application/json"

    def __init__(self) -> None:
        self._aligner = Aligner()

    def wrap(self, event: m.Event) -> bytes:
        """Return the line for a chunk of audio."""
        if not isinstance(event, m.Audio):
            return b""
        alignment = self._aligner.push(event, fill=False)
        return timed(event.data, None if alignment is None else [alignment]) + b"\n"


class TimedWhole:
    """An answer of one JSON object with all audio and the times of all characters."""

    media_type = "application/json"

    def __init__(self, form: AudioFormat) -> None:
        self._aligner = Aligner()
        self._form = form
        self._sound = list[bytes]()
        self._alignments = list[Alignment]()

    def wrap(self, event: m.Event) -> bytes:
        """Collect audio; return the object at the end."""
        if isinstance(event, m.Audio):
            self._sound.append(event.data)
            self._keep(self._aligner.push(event, fill=False))
        if not isinstance(event, m.Finished):
            return b""
        self._keep(self._aligner.rest(event.audio_s))
        return timed(whole_file(b"".join(self._sound), self._form), self._alignments)

    def _keep(self, alignment: Alignment | None) -> None:
        if alignment is not None:
            self._alignments.append(alignment)


def timed(sound: bytes, alignments: list[Alignment] | None) -> bytes:
    """Return a JSON object of audio and the times of its characters; ``alignments``: None if there
    are none."""
    times = None
    if alignments is not None:
        times = {
            "characters": [char for alignment in alignments for char in alignment.chars],
            "character_start_times_seconds": [
                time_ms / 1000 for alignment in alignments for time_ms in alignment.starts_ms
            ],
            "character_end_times_seconds": [
                time_ms / 1000 for alignment in alignments for time_ms in alignment.ends_ms
            ],
        }
    data = {
        "audio_base64": base64.b64encode(sound).decode(),
        "alignment": times,
        "normalized_alignment": times,
    }
    return compact(data).encode()


TIMED: dict[str, Callable[[AudioFormat], Wrapping]] = {
    "/stream/with-timestamps": lambda form: Timed(),
    "/with-timestamps": TimedWhole,
}
"""Formats of answers with times, by the ends of their paths."""


def wrapping_of(path: str, form: AudioFormat) -> Wrapping:
    """Return the format of an answer, by its path."""
    return next((make(form) for end, make in TIMED.items() if path.endswith(end)), Sound(form))


def failure(error: RequestError) -> Response:
    """Return ElevenLabs' form of an error."""
    body = {"detail": {"status": ERRORS.get(error.code, error.code), "message": str(error)}}
    return JSONResponse(body, error.status, error.headers)


def voice_row(name: str, config: VoiceConfig) -> dict[str, Any]:
    """Return a voice, or one of its speakers, in ElevenLabs' form."""
    labels = {"language": config.language, **({"gender": config.gender} if config.gender else {})}
    return {
        "voice_id": name,
        "name": name,
        "category": "premade",
        "description": config.description,
        "labels": labels,
        "samples": None,
        "preview_url": None,
        "settings": None,
        "available_for_tiers": [],
        "high_quality_base_model_ids": [],
    }


def models(hub: Hub) -> list[dict[str, Any]]:
    """Return the only model in ElevenLabs' form."""
    languages = sorted({config.language for config in hub.voices.configs.values()})
    max_characters = hub.limits.pending_characters
    return [
        {
            "model_id": "sayahead",
            "name": "sayahead",
            "description": "Speech that begins before the text ends.",
            "can_do_text_to_speech": True,
            "can_use_style": False,
            "can_use_speaker_boost": False,
            "can_be_finetuned": False,
            "can_do_voice_conversion": False,
            "serves_pro_voices": False,
            "max_characters_request_free_user": max_characters,
            "max_characters_request_subscribed_user": max_characters,
            "maximum_text_length_per_request": max_characters,
            "token_cost_factor": 1,
            "languages": [{"language_id": tag, "name": tag} for tag in languages],
            "requires_alpha_access": False,
        }
    ]


def subscription(hub: Hub, caller: Caller) -> dict[str, Any]:
    """Return the month's usage and limit of a key in ElevenLabs' form."""
    _, month = hub.usage.totals(caller.name)
    now = datetime.datetime.now(datetime.UTC)
    following = (now.replace(day=1) + datetime.timedelta(days=32)).replace(
        day=1, hour=0, minute=0, second=0
    )
    return {
        "tier": "sayahead",
        "status": "active",
        "currency": "usd",
        "open_invoices": [],
        "next_invoice": None,
        "character_count": month,
        "character_limit": caller.terms.characters_per_month or UNLIMITED,
        "voice_limit": 0,
        "professional_voice_limit": 0,
        "voice_slots_used": 0,
        "voice_add_edit_counter": 0,
        "max_voice_add_edits": 0,
        "next_character_count_reset_unix": int(following.timestamp()),
        "professional_voice_slots_used": 0,
        "max_character_limit_extension": 0,
        "can_extend_character_limit": False,
        "allowed_to_extend_character_limit": False,
        "can_extend_voice_limit": False,
        "can_use_instant_voice_cloning": False,
        "can_use_professional_voice_cloning": False,
        "has_open_invoices": False,
    }


def routes(hub: Hub) -> list[BaseRoute]:
    """ElevenLabs' endpoints."""

    store = Dictionaries.of_server(hub)

    def socket(path: str, protocol: type[Multi]) -> WebSocketRoute:
        def make(websocket: WebSocket) -> Multi:
            return protocol(websocket.path_params["voice"], websocket.query_params, store)

        return socket_route(hub, f"/v1/text-to-speech/{{voice}}/{path}", make)

    @answers(hub, failure)
    async def speech(request: Request, caller: Caller) -> ASGIApp:
        body = await json_body(hub, request)
        text = text_of(hub, body, "text")
        form = audio_format(request.query_params.get("output_format"))
        voice = request.path_params["voice"]
        language = body.get("language_code")
        seed = body.get("seed")
        language = language if isinstance(language, str) else None
        seed = seed % 2**32 if isinstance(seed, int) else 0
        lexicon = store.lexicon(body.get("pronunciation_dictionary_locators"))
        own = {"seed": seed, "markup": "ssml", "lexicon": lexicon}
        session = session_options(request.query_params, body.get("voice_settings"), **own)
        options = replace(OPTIONS, voice=voice, language=language, format=form, session=session)
        wrapping = wrapping_of(request.url.path, form)
        options = replace(options, whole=isinstance(wrapping, TimedWhole))
        return SpeechResponse(
            hub, caller, "elevenlabs", text, options, wrapping=wrapping, failure=failure
        )

    @answers(hub, failure)
    async def voices(request: Request, caller: Caller) -> ASGIApp:
        listed = dict(hub.voices.listed())
        wanted = request.path_params.get("voice")
        if wanted in listed:
            return JSONResponse(voice_row(wanted, listed[wanted]))
        if wanted is not None:
            raise RequestError("unknown_voice", f"There is no voice {wanted[:80]!r}.")
        rows = [voice_row(name, config) for name, config in listed.items()]
        return JSONResponse(
            {"voices": rows, "has_more": False, "total_count": len(rows), "next_page_token": None}
        )

    @answers(hub, failure)
    async def user(request: Request, caller: Caller) -> ASGIApp:
        """The key, and what it has used."""
        own = subscription(hub, caller)
        if request.url.path.endswith("subscription"):
            return JSONResponse(own)
        about = {
            "user_id": caller.name,
            "first_name": caller.name,
            "is_new_user": False,
            "xi_api_key": "",
        }
        return JSONResponse({**about, "subscription": own, "is_onboarding_completed": True})

    @answers(hub, failure, tokens=False)
    async def token(request: Request, caller: Caller) -> ASGIApp:
        return JSONResponse(
            {"token": hub.access.token(caller, once=True)[0]}, headers={"Cache-Control": "no-store"}
        )

    path = "/v1/text-to-speech/{voice}"
    return [
        socket("stream-input", Single),
        socket("multi-stream-input", Multi),
        *(Route(path + rest, speech, methods=["POST"]) for rest in ("", *TIMED, "/stream")),
        *(Route(place, voices) for place in ("/v1/voices", "/v2/voices", "/v1/voices/{voice}")),
        *(Route(place, user) for place in ("/v1/user", "/v1/user/subscription")),
        Route("/v1/single-use-token/{kind}", token, methods=["POST"]),
        *dictionaries.routes(hub, store, failure),
    ]
