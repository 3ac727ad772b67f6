"""Speech as the answer to an HTTP request, and what the HTTP endpoints of all protocols share."""

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
from sayahead.server.operation.budgets import Account
from sayahead.server.operation.identity import request_id
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.traces import PARENT
from sayahead.sound.formats import AudioFormat

T = TypeVar("T")
RETRY_S = 2
PATIENCE_S = 10.0
"""How long a request may wait for its client's turn."""
# Texts reach the engine in parts of this size.
PART = 1000


class RequestError(SayaheadError):
    """A request that is refused; the protocol phrases it."""

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
"""Makes a protocol's answer of an error."""
Endpoint: TypeAlias = Callable[[Request, Caller], Awaitable[ASGIApp]]


def answers(
    hub: Hub, failure: Failure, *, tokens: bool = True, writes: str = ""
) -> Callable[[Endpoint], Callable[[Request], Awaitable[ASGIApp]]]:
    """Makes an endpoint of a function of the request and its caller, for whom (without ``tokens``)
    a token is not enough; ``failure`` answers what it raises. ``writes``: the protocol whose things
    its requests change, but for GET, which a key that may only ask, or use other protocols, may
    not."""

    def endpoint(answer: Endpoint) -> Callable[[Request], Awaitable[ASGIApp]]:
        @functools.wraps(answer, assigned=("__doc__",))
        async def guarded(request: Request) -> ASGIApp:
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

        return guarded

    return endpoint


def caller_of(hub: Hub, request: Request, *, tokens: bool = True) -> Caller:
    """Whose request it is. RequestError without a valid key."""
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
    """The request's body. MessageError if it is not a JSON object, RequestError if it is too big or
    late."""
    return json_object(await body_of(hub, request))


async def body_of(hub: Hub, request: Request) -> bytes:
    """The bytes of a request's body. RequestError if it is too big or late."""
    body = bytearray()
    try:
        async with asyncio.timeout(hub.limits.first_message_s):
            async for part in request.stream():
                body += part
                if len(body) > hub.limits.message_bytes:
                    raise RequestError(
                        "too_big", f"The body has more than {hub.limits.message_bytes} bytes."
                    )
    except TimeoutError as error:
        raise RequestError(
            "idle", f"The body did not arrive within {hub.limits.first_message_s:g} seconds."
        ) from error
    except ClientDisconnect as error:
        raise RequestError("invalid_message", "The body is incomplete.") from error
    # What comes faster than a client's bytes may waits, or comes again: bodies that wait take
    # memory.
    if not await account_of(hub, request).bytes.turn(len(body), most_s=PATIENCE_S):
        raise RequestError("overloaded", "Too much was sent: try again in a few seconds.")
    return bytes(body)


def account_of(hub: Hub, request: Request) -> Account:
    """What whoever sent a request takes."""
    return hub.accounts.of(request.scope["caller"].share)


async def aside(hub: Hub, request: Request, job: Callable[[], T]) -> T:
    """``Hub.aside`` for a request. RequestError where it would have to wait long."""
    try:
        return await hub.aside(account_of(hub, request), job, most_s=PATIENCE_S)
    except RefusedError as refused:
        raise RequestError(refused.code, str(refused)) from refused


def text_of(hub: Hub, body: dict[str, Any], field: str) -> str:
    """The text to speak in a body. RequestError if there is none, or too much."""
    text = body.get(field)
    most = hub.limits.pending_characters
    if not isinstance(text, str) or not text:
        raise RequestError("invalid_option", f"{field} is missing: the text to speak.", field=field)
    if len(text) > most:
        raise RequestError(
            "invalid_option",
            f"{field} has {len(text)} characters; {most} are allowed.",
            field=field,
        )
    return text


class Wrapping(Protocol):
    """How events become an answer's body."""

    media_type: str

    def wrap(self, event: m.Event) -> bytes:
        """Bytes for an event; empty if there is nothing to send."""
        ...


class SpeechResponse:
    """An answer whose body is spoken while it is sent. Errors before the first audio have a status
    of their own."""

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
        """``wrapping``: None is the audio itself. ``turns``: who says which parts of the text,
        voices by name; none: the voice of the options says all."""
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
            # What was sent is incomplete, and it is too late for a status: the connection breaks.
            abort = scope.get("state", {}).get("abort")
            if abort is not None:
                abort()

    async def _commands(self, receive: Receive) -> AsyncIterator[m.Command]:
        yield m.Open("", self._options)
        for voice, text in self._turns or [("", self._text)]:
            if self._turns:
                yield m.Speaker("", voice)
            for at in range(0, len(text), PART):
                yield m.Text("", text[at : at + PART])
        yield m.End()
        while (await receive())["type"] != "http.disconnect":
            pass
        raise m.GoneError("The client closed the connection.")

    async def _send(self, send: Send, event: m.Event) -> None:
        if isinstance(event, m.Failed):
            self._error = self._error or RequestError(event.code, event.message)
            return
        data = self._wrapping.wrap(event)
        if data:
            await self._body(send, data, more=True)

    async def _body(self, send: Send, data: bytes, *, more: bool) -> None:
        try:
            if not self._started:
                self._started = True
                kind = self._wrapping.media_type.encode("latin-1")
                headers = [
                    (b"content-type", kind),
                    (b"cache-control", b"no-store"),
                    (b"x-accel-buffering", b"no"),
                ]
                told = self._hub.concurrency(self._caller)
                headers += [(name.encode(), value.encode()) for name, value in told.items()]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": data, "more_body": more})
        except OSError as error:
            raise m.GoneError("The client closed the connection.") from error


class Sound:
    """The audio itself as the body."""

    def __init__(self, form: AudioFormat) -> None:
        self.media_type = form.media_type

    def wrap(self, event: m.Event) -> bytes:
        """The audio's bytes."""
        return event.data if isinstance(event, m.Audio) else b""
