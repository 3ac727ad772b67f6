"""Kyutai's WebSocket ``/api/tts_streaming``: words in, audio and word times out, in MessagePack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import msgpack
import numpy as np
from starlette.routing import BaseRoute

from sayahead.config import unknown
from sayahead.errors import ConfigError
from sayahead.server.hub import Hub
from sayahead.server.json_messages import MessageError, text_in, whole
from sayahead.server.protocols.character_times import source_words
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import session_of
from sayahead.server.websocket import SocketProtocol, socket_route
from sayahead.sound.formats import AudioFormat

RATE = 24000
# Connections may be idle as long as the server allows.
IDLE_S = 3600.0
OPTIONS = m.Options(any_voice=True, frame_s=0.08, idle_s=IDLE_S, sole=True)
PCM = AudioFormat("pcm_f32le", RATE)
OPUS = AudioFormat("opus", 24000, 32000)
FORMATS = {
    "Pcm": (PCM, False),
    "PcmMessagePack": (PCM, True),
    "OggOpus": (OPUS, False),
    "OggOpusMessagePack": (OPUS, True),
}
"""Our format for each value of ``format``, and whether messages are MessagePack instead of bare
audio."""
DEFAULT = "OggOpus"
# The one utterance of a connection.
ONLY = ""


class Kyutai(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "kyutai"
    idle_s = IDLE_S

    def __init__(self, query: Mapping[str, str]) -> None:
        """ConfigError for an unknown format."""
        name = query.get("format", DEFAULT)
        if name not in FORMATS:
            raise ConfigError(f"format {unknown(name, FORMATS)}.")
        form, self._packed = FORMATS[name]
        form.check()
        session = session_of(query, seed=(whole(query.get("seed")) or 0) % 2**32)
        self._options = replace(OPTIONS, voice=query.get("voice"), format=form, session=session)

    def greeting(self) -> Iterable[bytes]:
        """Yield the message Ready."""
        yield from self._say("Ready")

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        if isinstance(message, str):
            yield from self._text(message)
        elif message == b"\0":
            yield from self._end()
        else:
            data = unpack(message)
            match data.get("type"):
                case "Text":
                    yield from self._text(text_in(data, "Text"))
                case "Eos":
                    yield from self._end()
                case "Voice":
                    # A speaker embedding of Kyutai's model, which is of no use here.
                    yield m.KeepAlive()
                case _:
                    raise MessageError("A message needs a type: Text, Eos or Voice.")

    def _text(self, text: str) -> Iterable[m.Command]:
        yield m.Open(ONLY, self._options)
        # A message has whole words, with or without a space at the end.
        yield m.Text(ONLY, text if text[-1:].isspace() else text + " ")

    def _end(self) -> Iterable[m.Command]:
        yield m.Open(ONLY, self._options)
        yield m.End()

    def write(self, event: m.Event) -> Iterable[bytes]:
        match event:
            case m.Audio(_, data):
                for word in source_words(event):
                    yield from self._say(
                        "Text", text=word.text, start_s=word.onset_s, stop_s=word.offset_s
                    )
                if not self._packed:
                    yield data
                elif self._options.format is OPUS:
                    yield from self._say("OggOpus", data=data)
                else:
                    yield from self._say("Audio", pcm=np.frombuffer(data, "<f4").tolist())
            case m.Failed(_, message):
                yield from self._say("Error", message=message, request_id=self.session)

    def _say(self, kind: str, **rest: Any) -> Iterable[bytes]:
        if self._packed:
            yield msgpack.packb({"type": kind, **rest}, use_single_float=True)


def unpack(message: bytes) -> dict[str, Any]:
    """Parse a map in MessagePack. MessageError if it is not one."""
    try:
        data = msgpack.unpackb(message)
    # msgpack raises errors of many kinds.
    except (
        ValueError,
        TypeError,
        OverflowError,
        RecursionError,
        msgpack.exceptions.UnpackException,
    ) as error:
        raise MessageError("The message is not MessagePack.") from error
    if not isinstance(data, dict):
        raise MessageError("The message is not a map in MessagePack.")
    return data


def routes(hub: Hub) -> list[BaseRoute]:
    """``/api/tts_streaming``."""
    return [socket_route(hub, "/api/tts_streaming", lambda socket: Kyutai(socket.query_params))]
