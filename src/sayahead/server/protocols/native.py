"""sayahead's own protocol on a WebSocket: ``/v1/stream``. JSON in both directions, sound in binary messages."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import Any, ClassVar

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from sayahead.config import convert, nearest
from sayahead.errors import ConfigError, SayaheadError
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
    Finish,
    Finished,
    Flush,
    Flushed,
    KeepAlive,
    Open,
    Refuse,
    Reply,
    SpokenWord,
    Text,
)
from sayahead.server.synthesis.formats import ENCODINGS, AudioFormat
from sayahead.server.websocket import SocketProtocol, serve_socket

FRAME_S = 0.08
KINDS = (
    "session.update", "input_text.append", "input_text.flush", "input_text.end", "input_text.cancel", "session.ping",
    "session.end",
)  # fmt: skip
MOST_NAME = 128


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """What ``session`` in a session.update may hold; for all contexts that begin later."""

    voice: str | None = None
    """A voice's name, see /v1/audio/voices."""
    encoding: str = "pcm_s16le"
    """How the sound comes: see session.created."""
    sample_rate: int | None = None
    """Samples per second; None: the voice's own."""
    bit_rate: int | None = None
    """Bits per second, where the encoding has a choice."""
    speed: float = 1.0
    """Pace."""
    lookahead: int | None = None
    """Words that must follow before a word is spoken; None: the voice's own."""
    mode: str = "incremental"
    """incremental, or sentence: wait for whole sentences."""
    volume: float = 1.0
    """Factor on the samples."""
    seed: int = 0
    """Fixes the noise in the sound."""
    idle_s: float | None = None
    """Seconds without text after which a context fails."""

    def options(self) -> ContextOptions:
        """As the driver wants it. ConfigError for what cannot be."""
        if self.mode not in ("incremental", "sentence"):
            raise ConfigError(f"mode: {self.mode!r} is not known{nearest(self.mode, ('incremental', 'sentence'))}.")
        form = AudioFormat(self.encoding, self.sample_rate, self.bit_rate)
        form.check()
        return ContextOptions(
            voice=self.voice, format=form, speed=self.speed, lookahead=self.lookahead,
            sentences=self.mode == "sentence", volume=self.volume, seed=self.seed, frame_s=FRAME_S, idle_s=self.idle_s,
        )  # fmt: skip


class MessageError(SayaheadError):
    """A message that is none of the protocol's."""


class Native(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "native"

    def __init__(self, hub: Hub) -> None:
        self._hub, self._chosen, self._options = hub, dict[str, Any](), Choice().options()

    def greeting(self) -> Iterable[str]:
        """session.created, with the limits in force."""
        voices = self._hub.voices
        yield say(
            "session.created",
            protocol=1,
            voice=voices.default,
            voices=list(voices.configs),
            sample_rates={name: config.sample_rate for name, config in voices.configs.items()},
            speeds={name: config.speed for name, config in voices.configs.items()},
            encodings=list(ENCODINGS),
            limits=dataclasses.asdict(self._hub.limits) | {"sessions": self._hub.places},
        )

    def read(self, message: str | bytes) -> Iterable[Command]:
        if isinstance(message, bytes):
            raise MessageError("Messages are JSON in text frames, not binary ones.")
        try:
            data = json.loads(message)
        except (ValueError, RecursionError) as error:
            raise MessageError("The message is no JSON.") from error
        kind = data.get("type") if isinstance(data, dict) else None
        if not isinstance(kind, str):
            raise MessageError("A message is a JSON object with a type.")
        context = data.get("context_id", "")
        if not isinstance(context, str) or len(context) > MOST_NAME:
            raise MessageError(f"context_id must be a string of at most {MOST_NAME} characters.")
        yield from self._commands(kind, context, data)

    def _commands(self, kind: str, context: str, data: dict[str, Any]) -> Iterable[Command]:
        match kind:
            case "session.update":
                yield Reply(say("session.updated", **self._update(data.get("session"))))
            case "input_text.append":
                text = data.get("text")
                if not isinstance(text, str):
                    raise MessageError("input_text.append needs a text.")
                yield Open(context, self._options)
                yield Text(context, text)
            case "input_text.flush":
                mark = data.get("flush_id")
                yield Flush(context, mark if isinstance(mark, str | int) else None)
            case "input_text.end":
                # A text may be empty: it is begun, and ends.
                yield Open(context, self._options)
                yield Finish(context)
            case "input_text.cancel":
                yield Cancel(context)
            case "session.ping":
                yield KeepAlive(context if "context_id" in data else None)
                yield Reply(say("session.pong"))
            case "session.end":
                yield End()
            case _:
                raise MessageError(f"The type {kind[:80]!r} is unknown{nearest(kind[:80], KINDS)}.")

    def _update(self, session: object) -> dict[str, Any]:
        """Choose for the contexts to come; all that is chosen now."""
        if not isinstance(session, dict):
            raise MessageError("session.update needs a session, an object.")
        chosen = self._chosen | session
        choice: Choice = convert(Choice, chosen, where="session")
        voice = self._hub.voices.name(choice.voice)
        options = choice.options()
        self._chosen, self._options = chosen, options
        return {"session": dataclasses.asdict(choice) | {"voice": voice}}

    def refuse(self, error: SayaheadError) -> Refuse:
        code = {"ConfigError": "invalid_option", "VoiceError": "unknown_voice"}.get(type(error).__name__)
        return Refuse(code or "invalid_message", str(error))

    def write(self, event: Event) -> Iterable[str | bytes]:
        match event:
            case Audio(context, data, start_s, duration_s, words):
                rows = [word_row(word) for word in words]
                yield say(
                    "speech.audio", context_id=context, start_s=round(start_s, 6), duration_s=round(duration_s, 6),
                    bytes=len(data), words=rows,
                )  # fmt: skip
                yield data
            case Flushed(context, mark, audio_s):
                yield say("speech.flushed", context_id=context, flush_id=mark, audio_s=round(audio_s, 6))
            case Finished(context, audio_s, characters):
                yield say("speech.done", context_id=context, audio_s=round(audio_s, 6), characters=characters)
            case Cancelled(context, audio_s, words_sent, end):
                yield say(
                    "speech.cancelled", context_id=context, audio_s=round(audio_s, 6), words=words_sent, text_end=end
                )
            case Failed(code, message, context_id, gone):
                yield say("error", code=code, message=message, context_id=context_id, gone=gone)
            case Echo(message):
                yield str(message)


def word_row(word: SpokenWord) -> dict[str, Any]:
    """A word as the client gets it."""
    return {
        "word": word.text, "start": word.start, "end": word.end,
        "onset_s": round(word.onset_s, 6), "offset_s": round(word.offset_s, 6),
    }  # fmt: skip


def say(kind: str, **rest: Any) -> str:
    """A message."""
    return json.dumps({"type": kind, **rest}, ensure_ascii=False, separators=(",", ":"))


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/stream``."""

    async def stream(websocket: WebSocket) -> None:
        await serve_socket(hub, websocket, Native(hub))

    return [WebSocketRoute("/v1/stream", stream)]
