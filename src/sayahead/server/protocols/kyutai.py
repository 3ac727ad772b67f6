"""Kyutai's socket, ``/api/tts_streaming``: words in, sound and the times of words out, in MessagePack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import msgpack
import numpy as np
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from sayahead.config import nearest
from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.hub import Hub
from sayahead.server.messages import Audio, Command, ContextOptions, End, Event, Failed, KeepAlive, Open, Text
from sayahead.server.protocols.alignment import source_words
from sayahead.server.synthesis.formats import AudioFormat
from sayahead.server.websocket import SocketProtocol, serve_socket

RATE, FRAME_S = 24000, 0.08
# A connection may idle as long as the server allows.
IDLE_S = 3600.0
PCM, OPUS = AudioFormat("pcm_f32le", RATE), AudioFormat("opus", 24000, 32000)
FORMATS = {
    "Pcm": (PCM, False),
    "PcmMessagePack": (PCM, True),
    "OggOpus": (OPUS, False),
    "OggOpusMessagePack": (OPUS, True),
}
"""Values of ``format``: ours, and whether messages are MessagePack (else they are bare sound)."""
DEFAULT = "OggOpus"
# A connection speaks one text.
ONLY = ""


class MessageError(SayaheadError):
    """A message that is none of the protocol's."""


class Kyutai(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "kyutai"
    idle_s = IDLE_S

    def __init__(self, query: Mapping[str, str]) -> None:
        """ConfigError for a query that asks for what is not there."""
        name = query.get("format", DEFAULT)
        if name not in FORMATS:
            raise ConfigError(f"format {name[:80]!r} is unknown{nearest(name[:80], FORMATS)}.")
        form, self._packed = FORMATS[name]
        form.check()
        seed = query.get("seed", "")
        self._options = ContextOptions(
            voice=query.get("voice"), any_voice=True, format=form, frame_s=FRAME_S, idle_s=IDLE_S, sole=True,
            seed=int(seed) % 2**32 if seed.isascii() and seed.isdigit() and len(seed) < 20 else 0,
        )  # fmt: skip

    def greeting(self) -> Iterable[bytes]:
        """Ready."""
        yield from self._say("Ready")

    def read(self, message: str | bytes) -> Iterable[Command]:
        if isinstance(message, str):
            yield from self._text(message)
        elif message == b"\0":
            yield from self._end()
        else:
            data = unpack(message)
            match data.get("type"):
                case "Text":
                    text = data.get("text")
                    if not isinstance(text, str):
                        raise MessageError("Text needs a text, a string.")
                    yield from self._text(text)
                case "Eos":
                    yield from self._end()
                case "Voice":
                    # A voice of its own kind; here are others.
                    yield KeepAlive()
                case _:
                    raise MessageError("A message has a type: Text, Eos or Voice.")

    def _text(self, text: str) -> Iterable[Command]:
        yield Open(ONLY, self._options)
        # Messages are made of whole words, with or without a blank at the end.
        yield Text(ONLY, text if text[-1:].isspace() else text + " ")

    def _end(self) -> Iterable[Command]:
        yield Open(ONLY, self._options)
        yield End()

    def write(self, event: Event) -> Iterable[bytes]:
        match event:
            case Audio(_, data):
                for word in source_words(event):
                    yield from self._say("Text", text=word.text, start_s=word.onset_s, stop_s=word.offset_s)
                if not self._packed:
                    yield data
                elif self._options.format is OPUS:
                    yield from self._say("OggOpus", data=data)
                else:
                    yield from self._say("Audio", pcm=np.frombuffer(data, "<f4").tolist())
            case Failed(_, message):
                yield from self._say("Error", message=message)

    def _say(self, kind: str, **rest: Any) -> Iterable[bytes]:
        if self._packed:
            yield msgpack.packb({"type": kind, **rest}, use_single_float=True)


def unpack(message: bytes) -> dict[str, Any]:
    """A MessagePack map."""
    try:
        data = msgpack.unpackb(message)
    # What unpacks messages raises errors of many kinds.
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.exceptions.UnpackException) as error:
        raise MessageError("The message is no MessagePack.") from error
    if not isinstance(data, dict):
        raise MessageError("A message is a map in MessagePack.")
    return data


def routes(hub: Hub) -> list[BaseRoute]:
    """``/api/tts_streaming``."""

    async def speak(websocket: WebSocket) -> None:
        try:
            protocol = Kyutai(websocket.query_params)
        except ConfigError as error:
            await websocket.send_denial_response(JSONResponse({"error": str(error)}, 400))
            return
        await serve_socket(hub, websocket, protocol)

    return [WebSocketRoute("/api/tts_streaming", speak)]
