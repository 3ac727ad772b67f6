"""Cartesia's WebSocket ``/tts/websocket``, with several contexts, word times and audio in base64;
and ``POST /tts/bytes``."""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sayahead.config import unknown
from sayahead.errors import ConfigError
from sayahead.server.http import RequestError, SpeechResponse, answers, json_body, text_of
from sayahead.server.hub import Hub
from sayahead.server.json_messages import MessageError, compact, number, text_frame, utterance_name
from sayahead.server.operation.access import Caller
from sayahead.server.protocols.character_times import source_words
from sayahead.server.protocols.dictionaries import Dictionaries
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import session_of
from sayahead.server.websocket import SocketProtocol, socket_route
from sayahead.sound.formats import AudioFormat, wav_of
from sayahead.text.styles.table import style
from sayahead.types import PLAIN, Delivery

# Cartesia closes connections that are idle for this long.
IDLE_S = 300.0
OPTIONS = m.Options(any_voice=True, frame_s=0.5, idle_s=IDLE_S)
ENCODINGS = {
    "pcm_s16le": "pcm_s16le",
    "pcm_f32le": "pcm_f32le",
    "pcm_mulaw": "mulaw",
    "pcm_alaw": "alaw",
}


class Cartesia(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "cartesia"
    idle_s = IDLE_S

    def __init__(self, dictionaries: Dictionaries) -> None:
        self._dictionaries = dictionaries
        # State of each open utterance.
        self._open = dict[str, _Utterance]()

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        data = text_frame(message)
        name = data.get("context_id")
        name = secrets.token_hex(8) if name is None else utterance_name(name)
        if data.get("cancel") is True:
            yield m.Cancel(name) if name in self._open else m.KeepAlive()
            return
        try:
            yield from self._speak(name, data)
        except ConfigError as error:
            raise MessageError(str(error), utterance=name) from error

    def _speak(self, name: str, data: dict[str, Any]) -> Iterable[m.Command]:
        """Yield the commands for a message with text."""
        text = data.get("transcript", "")
        if not isinstance(text, str):
            raise MessageError("transcript must be a string.", utterance=name)
        if name not in self._open:
            options = options_of(data, self._dictionaries)
            normalized = data.get("use_normalized_timestamps") is True
            self._open[name] = _Utterance(data.get("add_timestamps") is True, normalized, options)
            yield m.Open(name, options)
        elif data.get("generation_config") is not None:
            yield m.Deliver(name, self._open[name].delivery(table(data, "generation_config")))
        wishes = self._open[name]
        if text:
            wishes.step = time.monotonic()
            yield m.Text(name, text)
        if data.get("flush") is True:
            wishes.flushes += 1
            yield m.Flush(name, wishes.flushes)
        if data.get("continue") is not True:
            yield m.Finish(name)

    def write(self, event: m.Event) -> Iterable[str]:
        match event:
            case m.Audio(name):
                yield from self._sound(
                    event, self._open.setdefault(name, _Utterance(False, False, OPTIONS))
                )
            case m.Flushed(name, mark):
                yield say("flush_done", name, 206, flush_done=True, flush_id=mark)
            case m.Finished(name) | m.Cancelled(name):
                self._open.pop(name, None)
                yield say("done", name, 200, done=True)
            case m.Failed(code, message, failed, gone):
                if gone and failed is not None:
                    self._open.pop(failed, None)
                yield say(
                    "error",
                    failed,
                    m.STATUS.get(code, 400),
                    done=gone or failed not in self._open,
                    title=title_of(code),
                    message=message,
                    error_code=code,
                    request_id=self.session,
                )

    def _sound(self, audio: m.Audio, wishes: _Utterance) -> Iterable[str]:
        """Yield the messages for audio and the times of its words."""
        now = time.monotonic()
        step_ms = round((now - wishes.step) * 1000, 3)
        wishes.step = now
        flush_field: dict[str, Any] = {"flush_id": wishes.flushes} if wishes.flushes else {}
        data = base64.b64encode(audio.data).decode()
        yield say("chunk", audio.utterance, 206, data=data, step_time=step_ms, **flush_field)
        words: Iterable[m.SpokenWord] = audio.words if wishes.normalized else source_words(audio)
        rows = [(word.text, round(word.onset_s, 4), round(word.offset_s, 4)) for word in words]
        if wishes.times and rows:
            texts, starts, ends = zip(*rows, strict=True)
            times = {"words": texts, "start": starts, "end": ends}
            yield say("timestamps", audio.utterance, 206, word_timestamps=times, **flush_field)


class _Utterance:
    """What the client wants to know about an utterance, and its state."""

    def __init__(self, times: bool, normalized: bool, options: m.Options) -> None:
        self.times = times
        self.normalized = normalized
        self._session = options.session
        self.flushes = 0
        self.step = time.monotonic()

    def delivery(self, tuning: dict[str, Any]) -> Delivery:
        """Return the delivery that a later message wants, relative to the first one's. ConfigError
        for an invalid factor."""
        delivery = Delivery()
        if tuning.get("speed") is not None:
            delivery = replace(delivery, speed=factor(tuning, "speed") / self._session.speed)
        if tuning.get("volume") is not None:
            delivery = replace(delivery, volume=factor(tuning, "volume") / self._session.volume)
        return emotion_of(tuning).joined(delivery)


def say(kind: str, name: str | None, status: int, *, done: bool = False, **rest: Any) -> str:
    """Return a message."""
    return compact({"type": kind, "context_id": name, "status_code": status, "done": done, **rest})


def title_of(code: str) -> str:
    """Return an error's code as a title."""
    return code.replace("_", " ").capitalize()


def options_of(
    data: dict[str, Any], dictionaries: Dictionaries, *, containers: Collection[str] = ("raw",)
) -> m.Options:
    """Return the options in the first message of a context, or in a request. ConfigError for an
    unknown or invalid value."""
    tuning = table(data, "generation_config")
    form = format_of(table(data, "output_format"), containers)
    # Some clients send the name itself.
    voice = data["voice"] if isinstance(data.get("voice"), str) else table(data, "voice").get("id")
    voice = voice if isinstance(voice, str) else None
    speed = factor(tuning, "speed")
    volume = factor(tuning, "volume")
    language = data["language"] if isinstance(data.get("language"), str) else None
    dictionary_id = data.get("pronunciation_dict_id")
    lexicon = None if dictionary_id is None else dictionaries.get(dictionary_id).latest[1]
    session = session_of(tuning, speed=speed, volume=volume, lexicon=lexicon, markup="ssml")
    delivery = emotion_of(tuning)
    return replace(
        OPTIONS, voice=voice, language=language, format=form, session=session, delivery=delivery
    )


def emotion_of(tuning: dict[str, Any]) -> Delivery:
    """Return the delivery of the first known style among the emotions; PLAIN if there is none."""
    emotion = tuning.get("emotion")
    names = emotion if isinstance(emotion, list) else [emotion]
    # Older clients append a level, as in "positivity:high".
    deliveries = (style(name.partition(":")[0]) for name in names if isinstance(name, str))
    return next((delivery for delivery in deliveries if delivery is not None), PLAIN)


def format_of(form: dict[str, Any], containers: Collection[str]) -> AudioFormat:
    """Parse ``output_format``. ConfigError for an unknown one."""
    container = form.get("container", "raw")
    encoding = form.get("encoding", "pcm_s16le")
    if not isinstance(container, str) or container not in containers:
        raise ConfigError(
            f"output_format.container is {str(container)[:80]!r}, but must be"
            f" {' or '.join(containers)}."
        )
    if not isinstance(encoding, str) or encoding not in ENCODINGS:
        raise ConfigError(f"output_format.encoding {unknown(encoding, ENCODINGS)}.")
    rate = form.get("sample_rate")
    bits = form.get("bit_rate")
    for name, value in (("sample_rate", rate), ("bit_rate", bits)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise ConfigError(f"output_format.{name} must be a whole number.")
    bits = bits if container == "mp3" else None
    samples = ENCODINGS[encoding]
    audio = AudioFormat(
        {"raw": samples, "wav": wav_of(samples)}.get(container, container), rate, bits
    )
    audio.check()
    return audio


def table(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object from a message; empty if it is missing. ConfigError if it is not an
    object."""
    value = data.get(name)
    if value is not None and not isinstance(value, dict):
        raise ConfigError(f"{name} must be an object.")
    return value or {}


def factor(tuning: dict[str, Any], name: str) -> float:
    """Return a factor from ``generation_config``; 1 if it is missing. ConfigError if it is out of
    range."""
    value = number(1.0 if tuning.get(name) is None else tuning[name])
    if value is None or not 0 < value <= 4:
        raise ConfigError(f"generation_config.{name} must be a number above 0, at most 4.")
    return value


def failure(error: RequestError) -> Response:
    """Return Cartesia's form of an error."""
    body = {"title": title_of(error.code), "message": str(error), "error_code": error.code}
    return JSONResponse(body | {"status_code": error.status}, error.status, error.headers)


def routes(hub: Hub) -> list[BaseRoute]:
    """``/tts/websocket`` and ``/tts/bytes``."""

    store = Dictionaries.of_server(hub)

    @answers(hub, failure)
    async def sound(request: Request, caller: Caller) -> ASGIApp:
        body = await json_body(hub, request)
        text = text_of(hub, body, "transcript")
        options = options_of(body, store, containers=("raw", "wav", "mp3"))
        return SpeechResponse(hub, caller, "cartesia", text, options, failure=failure)

    return [
        socket_route(hub, "/tts/websocket", lambda _: Cartesia(store)),
        Route("/tts/bytes", sound, methods=["POST"]),
    ]
