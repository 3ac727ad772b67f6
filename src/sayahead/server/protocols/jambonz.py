"""jambonz' WebSocket for custom speech, ``/v1/jambonz``: text in JSON, raw 16-bit samples out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from starlette.routing import BaseRoute

from sayahead.server.hub import Hub
from sayahead.server.json_messages import MessageError, text_frame, text_in, whole
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.offers import session_of
from sayahead.server.websocket import SocketProtocol, socket_route
from sayahead.sound.formats import AudioFormat

RATE = 16000
# The connection lasts as long as the call, in which the caller may talk for minutes.
IDLE_S = 3600.0
# The one utterance of a connection, opened again for each text.
ONLY = ""


class Jambonz(SocketProtocol):
    """One connection."""

    name: ClassVar[str] = "jambonz"
    idle_s = IDLE_S

    def __init__(self, query: Mapping[str, str]) -> None:
        """``voice``, ``language`` and ``sampleRate`` are in the query. ConfigError for an invalid
        rate."""
        self._rate = whole(query.get("sampleRate")) or RATE
        form = AudioFormat("pcm_s16le", self._rate)
        form.check()
        options = m.Options(query.get("voice"), query.get("language"), any_voice=True, format=form)
        self._options = replace(options, session=session_of(query), frame_s=0.02, idle_s=IDLE_S)

    def greeting(self) -> Iterable[str]:
        """Yield the format of the samples."""
        yield json.dumps(
            {"type": "connect", "data": {"sample_rate": self._rate, "base64_encoding": False}}
        )

    def read(self, message: str | bytes) -> Iterable[m.Command]:
        data = text_frame(message)
        match data.get("type"):
            case "stream":
                text = text_in(data, "stream")
                yield m.Open(ONLY, self._options)
                # A message has whole words, with or without a space at the end.
                yield m.Text(ONLY, text if text[-1:].isspace() else text + " ")
            case "flush":
                yield m.Open(ONLY, self._options)
                yield m.Flush(ONLY, end=True)
            case "stop":
                yield m.Open(ONLY, self._options)
                yield m.Cancel(ONLY)
                yield m.End()
            case _:
                raise MessageError("A message has a type: stream, flush or stop.")

    def write(self, event: m.Event) -> Iterable[str | bytes]:
        match event:
            case m.Audio(_, data):
                yield data
            case m.Failed(_, message):
                yield json.dumps({"type": "error", "error": message, "request_id": self.session})


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/jambonz``."""
    return [socket_route(hub, "/v1/jambonz", lambda socket: Jambonz(socket.query_params))]
