"""Speech as the answer to an HTTP request, and what HTTP endpoints of all protocols share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope
from starlette.types import Send as AsgiSend

from sayahead.errors import SayaheadError
from sayahead.server.driver import serve_session
from sayahead.server.hub import Hub, RefusedError
from sayahead.server.messages import Audio, Command, ContextOptions, End, Event, Failed, GoneError, Open, Text
from sayahead.server.operation.access import Caller, credential
from sayahead.server.synthesis.formats import AudioFormat

STATUS = {
    "unauthorized": 401, "overloaded": 429, "too_many_contexts": 429, "shutdown": 503, "failed": 500,
    "stalled": 408, "idle": 408, "unknown_voice": 404, "too_big": 413,
}  # fmt: skip
"""HTTP status of a ``Failed.code``; all others are 400."""


RETRY_S = 2


# Texts reach the engine in parts of this size.
PART = 1000


class RequestError(SayaheadError):
    """A request that is refused; the protocol makes its error of it."""

    def __init__(self, code: str, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.code, self.field = code, field

    @property
    def status(self) -> int:
        """Its HTTP status."""
        return STATUS.get(self.code, 400)

    @property
    def headers(self) -> dict[str, str]:
        """What goes with it."""
        if self.status in (429, 503):
            return {"Retry-After": str(RETRY_S)}
        return {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}


def caller_of(hub: Hub, request: Request, *, tokens: bool = True) -> Caller:
    """Who sends the request. RequestError without a valid key."""
    caller = hub.access.caller(credential(request.headers, request.query_params), tokens=tokens)
    if caller is None:
        hub.metrics.rejected.labels("unauthorized").inc()
        raise RequestError("unauthorized", "A valid key is needed: Authorization: Bearer KEY.")
    return caller


async def json_body(hub: Hub, request: Request) -> dict[str, Any]:
    """The request's body, a JSON object. RequestError for what is none, or too big."""
    body = bytearray()
    try:
        async with asyncio.timeout(hub.limits.first_message_s):
            async for part in request.stream():
                body += part
                if len(body) > hub.limits.message_bytes:
                    raise RequestError("too_big", f"The body has more than {hub.limits.message_bytes} bytes.")
    except TimeoutError as error:
        raise RequestError("idle", f"The body did not come in {hub.limits.first_message_s:g} seconds.") from error
    except ClientDisconnect as error:
        raise RequestError("invalid_message", "The body is not whole.") from error
    try:
        data = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RequestError("invalid_message", "The body is no JSON.") from error
    if not isinstance(data, dict):
        raise RequestError("invalid_message", "The body must be a JSON object.")
    return data


def text_of(hub: Hub, body: dict[str, Any], field: str) -> str:
    """The text to speak in a body. RequestError where there is none, or too much."""
    text, most = body.get(field), hub.limits.pending_characters
    if not isinstance(text, str) or not text:
        raise RequestError("invalid_option", f"{field} is missing: the text to speak.", field=field)
    if len(text) > most:
        raise RequestError("invalid_option", f"{field} has {len(text)} characters, and may have {most}.", field=field)
    return text


class Wrapping(Protocol):
    """How events become an answer's body."""

    media_type: str

    def wrap(self, event: Event) -> bytes:
        """Bytes for an event; none where nothing is to be said."""
        ...


class SpeechResponse:
    """An answer whose body is spoken while it is sent. Errors before the first sound have a status of their own."""

    def __init__(
        self,
        hub: Hub,
        caller: Caller,
        protocol: str,
        text: str,
        options: ContextOptions,
        *,
        wrapping: Wrapping,
        error: Callable[[RequestError], Response],
        headers: dict[str, str] | None = None,
    ) -> None:
        """``error`` makes the protocol's error answer; ``headers`` are sent with the sound."""
        self._hub, self._caller, self._protocol = hub, caller, protocol
        self._text, self._options, self._wrapping, self._error = text, options, wrapping, error
        self._headers: dict[str, str] = {
            "Content-Type": wrapping.media_type,
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        }
        self._headers |= headers or {}
        self._started = False
        self._failure: RequestError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: AsgiSend) -> None:
        try:
            lease = self._hub.enter(self._protocol, self._caller)
        except RefusedError as refused:
            await self._error(RequestError(refused.code, str(refused)))(scope, receive, send)
            return
        try:
            outcome = await serve_session(
                self._hub, self._commands(receive), lambda event: self._send(send, event), lease=lease
            )
        finally:
            self._hub.leave(lease)
        if outcome.code == "done" and self._failure is None:
            await self._body(send, b"", more=False)
        elif not self._started and outcome.code != "gone":
            failure = self._failure or RequestError(outcome.code, outcome.message)
            await self._error(failure)(scope, receive, send)
        elif outcome.code != "gone":
            # What was sent is not whole, and no status can say so any more: the connection breaks.
            abort = scope.get("state", {}).get("abort")
            if abort is not None:
                abort()

    async def _commands(self, receive: Receive) -> AsyncIterator[Command]:
        yield Open("", self._options)
        for at in range(0, len(self._text), PART):
            yield Text("", self._text[at : at + PART])
        yield End()
        while (await receive())["type"] != "http.disconnect":
            pass
        raise GoneError("The client closed the connection.")

    async def _send(self, send: AsgiSend, event: Event) -> None:
        if isinstance(event, Failed):
            self._failure = self._failure or RequestError(event.code, event.message)
            return
        data = self._wrapping.wrap(event)
        if data:
            await self._body(send, data, more=True)

    async def _body(self, send: AsgiSend, data: bytes, *, more: bool) -> None:
        try:
            if not self._started:
                self._started = True
                headers: Sequence[tuple[bytes, bytes]] = [
                    (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self._headers.items()
                ]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": data, "more_body": more})
        except OSError as error:
            raise GoneError("The client closed the connection.") from error


class Sound:
    """The sound itself as the body."""

    def __init__(self, form: AudioFormat) -> None:
        self.media_type = form.media_type

    def wrap(self, event: Event) -> bytes:
        """The sound's bytes."""
        return event.data if isinstance(event, Audio) else b""
