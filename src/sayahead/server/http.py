"""Speech as the answer to an HTTP request, and helpers for the HTTP endpoints of all protocols."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.driver import serve_session
from sayahead.server.hub import Hub, RefusedError
from sayahead.server.json_messages import MessageError, json_object
from sayahead.server.operation.access import Caller, credential
from sayahead.server.operation.rate_limits import Account
from sayahead.server.operation.request_ids import request_id
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.traces import PARENT
from sayahead.sound.formats import AudioFormat

T = TypeVar("T")
RETRY_S = 2
PATIENCE_S = 10.0
"""Longest wait of a request for its client's rate limit."""
# Texts are passed to the engine in parts of this many characters.
PART = 1000


class RequestError(SayaheadError):
    """A refused request; the protocol formats the answer."""

    def __init__(self, code: str, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.field = field

    @property
    def status(self) -> int:
        """Its HTTP status."""
        return m.STATUS.get(self.code, 400)

    @property
    def headers(self) -> dict[str, str]:
        """Headers that go with it."""
        if self.status in (429, 503):
            return {"Retry-After": str(RETRY_S)}
        return {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}


Failure: TypeAlias = Callable[[RequestError], Response]
"""Turns an error into a protocol's answer."""
Endpoint: TypeAlias = Callable[[Request, Caller], Awaitable[ASGIApp]]


def answers(
    hub: Hub, failure: Failure, *, tokens: bool = True, writes: str = ""
) -> Callable[[Endpoint], Callable[[Request], Awaitable[ASGIApp]]]:
    """Return a decorator that makes an endpoint of ``answer(request, caller)``.

    ``failure`` formats the errors that it raises. ``tokens``: whether a token is accepted instead
    of a key. ``writes``: the protocol whose data its requests change (all but GET and HEAD); keys
    that may not do that are refused.
    """

    def endpoint(answer: Endpoint) -> Callable[[Request], Awaitable[ASGIApp]]:
        @functools.wraps(answer, assigned=("__doc__",))
        async def checked(request: Request) -> ASGIApp:
            try:
                caller = caller_of(hub, request, tokens=tokens)
                if (
                    writes
                    and request.method not in ("GET", "HEAD")
                    and (why := hub.may_not(caller, writes))
                ):
                    raise RequestError("forbidden", why)
                return await answer(request, caller)
            except RequestError as error:
                return failure(error)
            except MessageError as error:
                return failure(RequestError("invalid_message", str(error)))
            except ConfigError as error:
                return failure(RequestError("invalid_option", str(error)))

        return checked

    return endpoint


def caller_of(hub: Hub, request: Request, *, tokens: bool = True) -> Caller:
    """Return who sends a request. RequestError without a valid key.

    ``tokens``: whether a token is as good as a key.
    """
    address = request.client.host if request.client else None
    key = credential(request.headers, request.query_params)
    name = request_id(request.scope)
    caller = hub.access.caller(
        key, address=address, tokens=tokens, request=name, trace=request.headers.get(PARENT)
    )
    if caller is None:
        hub.refused("unauthorized", address, session=name)
        raise RequestError(
            "unauthorized", "A valid API key is required: Authorization: Bearer KEY."
        )
    request.scope["caller"] = caller
    return caller


async def json_body(hub: Hub, request: Request) -> dict[str, Any]:
    """Return a request's body as a JSON object.

    MessageError if it is not one, RequestError if it is too big or late.
    """
    return json_object(await body_of(hub, request))


async def body_of(hub: Hub, request: Request) -> bytes:
    """Return the bytes of a request's body. RequestError if it is too big or late."""
    body = await received(request, hub.limits.message_bytes, hub.limits.first_message_s)
    # A body beyond the client's rate waits for a while and is then refused, since waiting bodies
    # take memory.
    if not await account_of(hub, request).bytes.turn(len(body), most_s=PATIENCE_S):
        raise RequestError("overloaded", "Too much was sent: try again in a few seconds.")
    return body


async def received(
    request: Request, max_bytes: int, max_s: float, *, what: str = "The body", hint: str = ""
) -> bytes:
    """Receive a request's body within ``max_s``. RequestError if it is larger, late or incomplete.

    ``what`` and ``hint``: what errors call it, and what they advise if it is too large.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(max_s):
            async for part in request.stream():
                body += part
                if len(body) > max_bytes:
                    raise RequestError("too_big", f"{what} has more than {max_bytes} bytes{hint}.")
    except TimeoutError as error:
        raise RequestError("idle", f"{what} did not arrive within {max_s:g} seconds.") from error
    except ClientDisconnect as error:
        raise RequestError("invalid_message", "The body is incomplete.") from error
    return bytes(body)


def account_of(hub: Hub, request: Request) -> Account:
    """Return the rate limits of a request's client."""
    return hub.accounts.of(request.scope["caller"].share)


async def aside(hub: Hub, request: Request, job: Callable[[], T]) -> T:
    """Run ``Hub.aside`` for a request. RequestError if it would wait too long."""
    try:
        return await hub.aside(account_of(hub, request), job, most_s=PATIENCE_S)
    except RefusedError as refused:
        raise RequestError(refused.code, str(refused)) from refused


def text_of(hub: Hub, body: dict[str, Any], field: str) -> str:
    """Return the text to speak from a body's field. RequestError if it is missing or too long."""
    text = body.get(field)
    max_characters = hub.limits.pending_characters
    if not isinstance(text, str) or not text:
        raise RequestError("invalid_option", f"{field} is missing: the text to speak.", field=field)
    if len(text) > max_characters:
        raise RequestError(
            "invalid_option",
            f"{field} has {len(text)} characters; {max_characters} are allowed.",
            field=field,
        )
    return text


class Wrapping(Protocol):
    """Turns events into the body of an answer."""

    media_type: str

    def wrap(self, event: m.Event) -> bytes:
        """Return the bytes for an event; empty if nothing is to be sent."""
        ...


class SpeechResponse:
    """An answer whose body is synthesized while it is sent.

    Errors before the first audio get an HTTP status; after it, they break the connection.
    """

    def __init__(
        self,
        hub: Hub,
        caller: Caller,
        protocol: str,
        text: str,
        options: m.Options,
        *,
        failure: Failure,
        wrapping: Wrapping | None = None,
        turns: Sequence[tuple[str, str]] = (),
    ) -> None:
        """``wrapping``: formats the body; None for the audio itself. ``turns``: (voice, text) of a
        text with several speakers; empty if the voice of the options speaks ``text``."""
        self._hub = hub
        self._caller = caller
        self._protocol = protocol
        options = replace(options, file=options.format.width is None)
        self._text = text
        self._options = options
        self._wrapping = wrapping or Sound(options.format)
        self._failure = failure
        self._turns = turns
        self._started = False
        self._error: RequestError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._hub.place(self._caller)
        try:
            lease = self._hub.enter(self._protocol, self._caller, characters=len(self._text))
        except RefusedError as refused:
            await self._failure(RequestError(refused.code, str(refused)))(scope, receive, send)
            return
        try:
            commands = self._commands(receive)
            outcome = await serve_session(
                self._hub, commands, lambda event: self._send(send, event), lease=lease
            )
        finally:
            self._hub.leave(lease)
        if outcome.code == "done" and self._error is None:
            await self._body(send, b"", more=False)
        elif not self._started and outcome.code != "gone":
            await self._failure(self._error or RequestError(outcome.code, outcome.message))(
                scope, receive, send
            )
        elif outcome.code != "gone":
            # The body is incomplete and the status was sent: abort, so that the client notices.
            abort = scope.get("state", {}).get("abort")
            if abort is not None:
                abort()

    async def _commands(self, receive: Receive) -> AsyncIterator[m.Command]:
        """Yield the commands for the text, then wait until the client disconnects."""
        yield m.Open("", self._options)
        for voice, text in self._turns or [("", self._text)]:
            if self._turns:
                yield m.Speaker("", voice)
            for start in range(0, len(text), PART):
                yield m.Text("", text[start : start + PART])
        yield m.End()
        while (await receive())["type"] != "http.disconnect":
            pass
        raise m.GoneError("The client closed the connection.")

    async def _send(self, send: Send, event: m.Event) -> None:
        """Send an event as part of the body; keep an error for the answer."""
        if isinstance(event, m.Failed):
            self._error = self._error or RequestError(event.code, event.message)
            return
        data = self._wrapping.wrap(event)
        if data:
            await self._body(send, data, more=True)

    async def _body(self, send: Send, data: bytes, *, more: bool) -> None:
        """Send bytes of the body, after the head if it was not sent."""
        try:
            if not self._started:
                self._started = True
                content_type = self._wrapping.media_type.encode("latin-1")
                headers = [
                    (b"content-type", content_type),
                    (b"cache-control", b"no-store"),
                    (b"x-accel-buffering", b"no"),
                ]
                concurrency = self._hub.concurrency(self._caller)
                headers += [(name.encode(), value.encode()) for name, value in concurrency.items()]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": data, "more_body": more})
        except OSError as error:
            raise m.GoneError("The client closed the connection.") from error


class Sound:
    """Sends the audio itself as the body."""

    def __init__(self, form: AudioFormat) -> None:
        self.media_type = form.media_type

    def wrap(self, event: m.Event) -> bytes:
        """The audio's bytes."""
        return event.data if isinstance(event, m.Audio) else b""
