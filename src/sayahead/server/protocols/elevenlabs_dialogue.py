"""ElevenLabs' text to dialogue (models v3 and v4): several voices in one context, over WebSockets
and HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from sayahead.server.http import RequestError, SpeechResponse, answers, json_body
from sayahead.server.hub import Hub
from sayahead.server.json_messages import MessageError, compact, text_frame, utterance_name
from sayahead.server.operation.access import Caller
from sayahead.server.protocols.character_times import Alignment
from sayahead.server.protocols.dictionaries import Dictionaries
from sayahead.server.protocols.elevenlabs import (
    OPTIONS,
    Multi,
    audio_format,
    failure,
    session_options,
)
from sayahead.server.synthesis import messages as m
from sayahead.server.websocket import socket_route

MAX_INPUTS = 1000
"""Most lines of a message or request."""
MAX_BEGUN = 64
"""Most contexts of a connection that have voices, with or without text."""


class MultiDialogue(Multi):
    """``multi-stream-input``: several contexts, each with its own voices."""

    def __init__(self, hub: Hub, query: Mapping[str, str], dictionaries: Dictionaries) -> None:
        super().__init__("", query, dictionaries)
        self._hub = hub
        # Here ``sync_alignment`` says whether there are times; they start at 0 in every message.
        self._is_timed = self._absolute
        self._absolute = False
        # Options of each context that has voices, and the current speaker of each that has text.
        self._options_by_context = dict[str, m.Options]()
        self._speakers = dict[str, str]()

    def _parse(self, message: str | bytes) -> dict[str, Any]:
        return text_frame(message)

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        data = self._parse(message)
        given = data.get("context_id")
        name = "" if given is None else utterance_name(given)
        if data.get("voices") is not None:
            self._begin_context(name, data)
        if data.get("inputs") is not None:
            yield from self._say_inputs(name, data["inputs"])
        else:
            yield m.KeepAlive(name if name in self._speakers else None)
        if data.get("flush") is True and name in self._speakers:
            yield m.Flush(name)
        if data.get("close_context") is True:
            yield from self._close_context(name)
        if data.get("close_socket") is True:
            yield from self._end()

    def _begin_context(self, name: str, data: dict[str, Any]) -> None:
        """Handle a context's first message, which may have no text yet. MessageError for invalid
        voices."""
        voices = data["voices"]
        if (
            not isinstance(voices, list)
            or not voices
            or not all(isinstance(voice, str) for voice in voices)
        ):
            raise MessageError(
                "voices must be a list with the id of at least one voice.", utterance=name
            )
        if len(self._options_by_context) >= MAX_BEGUN:
            raise MessageError(
                f"{MAX_BEGUN} contexts are begun, the limit: close one.", utterance=name
            )
        if (locators := data.get("pronunciation_dictionary_locators")) is not None:
            self._lexicon = self._dictionaries.lexicon(locators)
        options = replace(self._options(data.get("voice_settings")), voice=voices[0])
        self._options_by_context[name] = options

    def _say_inputs(self, name: str, inputs: object) -> Iterable[m.Command]:
        """Yield the commands for the lines of a message."""
        options = self._options_by_context.get(name)
        if options is None:
            raise MessageError("The first message of a context needs voices.", utterance=name)
        for voice, text, is_turn in inputs_of(inputs, name):
            if name not in self._speakers:
                yield m.Open(name, options)
                self._flushed[name] = False
                self._speakers[name] = options.voice or ""
            elif is_turn:
                yield m.Flush(name)
            if voice != self._speakers[name]:
                self._speakers[name] = voice
                yield m.Speaker(name, speaker(self._hub, voice, options.voice))
            yield m.Text(name, text)

    def _close_context(self, name: str) -> Iterable[m.Command]:
        """End a context after what is left was spoken."""
        self._options_by_context.pop(name, None)
        yield m.Finish(name) if name in self._speakers else m.Reply(self._final(name))

    def _end(self) -> Iterable[m.Command]:
        yield m.End()

    def write(self, event: m.Event) -> Iterable[str]:
        match event:
            case m.Flushed(name):
                yield self._say(name, {"is_final_audio_for_turn": True})
            case m.Echo(message):
                yield str(message)
            case _:
                yield from super().write(event)

    def _sound(self, audio: str, alignment: Alignment | None) -> dict[str, Any]:
        times = None
        if alignment is not None and self._is_timed:
            starts = alignment.starts(absolute=False)
            times = {"chars": alignment.chars, "char_start_times_ms": starts}
            times["char_durations_ms"] = alignment.durations
        return {"audio": audio, "alignment": times, "normalized_alignment": None}

    def _forget(self, name: str) -> Any:
        self._speakers.pop(name, None)
        self._options_by_context.pop(name, None)
        return super()._forget(name)


class SingleDialogue(MultiDialogue):
    """``stream-input``: one context without a name, with which the connection ends."""

    sole = True

    def _say(self, name: str | None, data: dict[str, Any]) -> str:
        return compact(data)

    def _end(self) -> Iterable[m.Command]:
        if "" not in self._speakers:
            yield m.Reply(self._final(""))
        yield m.End()


def inputs_of(inputs: object, name: str | None = None) -> Iterable[tuple[str, str, bool]]:
    """Yield (voice, text, whether a new turn begins) of each line. MessageError if it is
    malformed."""
    if not isinstance(inputs, list) or len(inputs) > MAX_INPUTS:
        raise MessageError(f"inputs must be a list of at most {MAX_INPUTS} lines.", utterance=name)
    for line in inputs:
        is_valid = (
            isinstance(line, dict)
            and isinstance(line.get("text"), str)
            and isinstance(line.get("voice_id"), str)
        )
        if not is_valid:
            raise MessageError(
                "Each of inputs needs text and voice_id, both strings.", utterance=name
            )
        yield line["voice_id"], line["text"], line.get("new_turn") is True


def speaker(hub: Hub, voice: str, first: str | None) -> str:
    """Return the speaker's name for a line: its voice if we have it, or empty for the text's own
    voice, which ``first`` chose."""
    return voice if voice != first and hub.voices.known(voice) else ""


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/text-to-dialogue``."""

    store = Dictionaries.of_server(hub)

    def socket(path: str, protocol: type[MultiDialogue]) -> WebSocketRoute:
        def make(websocket: WebSocket) -> MultiDialogue:
            return protocol(hub, websocket.query_params, store)

        return socket_route(hub, f"/v1/text-to-dialogue/{path}", make)

    @answers(hub, failure)
    async def sound(request: Request, caller: Caller) -> ASGIApp:
        body = await json_body(hub, request)
        lines = list(inputs_of(body.get("inputs")))
        text = "".join(text for _, text, _ in lines)
        most = hub.limits.pending_characters
        if not text or len(text) > most:
            raise RequestError(
                "invalid_option", f"inputs need text, of at most {most} characters.", field="inputs"
            )
        first = lines[0][0]
        form = audio_format(request.query_params.get("output_format"))
        language = body["language_code"] if isinstance(body.get("language_code"), str) else None
        seed = body["seed"] % 2**32 if isinstance(body.get("seed"), int) else 0
        lexicon = store.lexicon(body.get("pronunciation_dictionary_locators"))
        session = session_options(
            request.query_params, body.get("settings"), seed=seed, lexicon=lexicon
        )
        options = replace(OPTIONS, voice=first, language=language, format=form, session=session)
        turns = [(speaker(hub, voice, first), text) for voice, text, _ in lines]
        return SpeechResponse(
            hub, caller, "elevenlabs", text, options, failure=failure, turns=turns
        )

    path = "/v1/text-to-dialogue"
    return [
        socket("stream-input", SingleDialogue),
        socket("multi-stream-input", MultiDialogue),
        *(Route(path + rest, sound, methods=["POST"]) for rest in ("", "/stream")),
    ]
