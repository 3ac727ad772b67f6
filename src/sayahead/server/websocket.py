"""WebSockets: everything that their protocols share, so that a protocol is a class with ``read``
and ``write``."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, ClassVar

from starlette.responses import JSONResponse, Response
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.driver import serve_session
from sayahead.server.hub import Hub, Lease, RefusedError
from sayahead.server.json_messages import MessageError
from sayahead.server.operation.access import SUBPROTOCOL, Caller, credential
from sayahead.server.operation.rate_limits import Reading
from sayahead.server.operation.request_ids import request_id
from sayahead.server.operation.settings import Limits
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.traces import PARENT

CLOSE_S = 2.0
MAX_REASON = 123
RESUME_S = 60.0
"""How long after the longest connection a client may still continue on another server."""


class SocketProtocol:
    """One protocol on one connection; subclasses translate messages and keep the state for that."""

    name: ClassVar[str] = ""
    """Name in metrics and the log."""
    key_in_first_message: ClassVar[bool] = False
    """Whether the key may be in the first message, where ``credential`` finds it."""
    idle_s: float | None = None
    """How long the client may stay without an utterance; None: as the server's limits say."""
    session: str = ""
    """Name of the connection in the log."""
    resumption: str = ""
    """Token with which the client can continue on another server."""

    def greeting(self) -> Iterable[str | bytes]:
        """Return the messages to send first."""
        return ()

    def credential(self, message: str | bytes) -> str | None:
        """Return the key from the first message."""
        raise NotImplementedError

    def read(self, message: str | bytes) -> Iterable[m.Command | m.Later]:
        """Return the commands in a message, or what will make them.

        A SayaheadError that it raises becomes a command by ``refuse``.
        """
        raise NotImplementedError

    def write(self, event: m.Event) -> Iterable[str | bytes]:
        """Return the messages for an event."""
        raise NotImplementedError

    def refuse(self, error: SayaheadError) -> m.Refuse:
        """Return the command for a message that could not be read."""
        name = error.utterance if isinstance(error, MessageError) else None
        return m.Refuse(m.code_of(error, otherwise="invalid_message"), str(error), name)

    def closing(self, outcome: m.Outcome) -> tuple[int, str]:
        """Return the closing code and reason."""
        return m.closing_code(outcome), outcome.message


def denial(error: ConfigError) -> Response:
    """Return the answer to an invalid address, for protocols without a format of their own."""
    return JSONResponse({"error": str(error)}, 400)


def socket_route(
    hub: Hub,
    path: str,
    make: Callable[[WebSocket], SocketProtocol],
    refuse: Callable[[ConfigError], Response] = denial,
) -> WebSocketRoute:
    """Return the route of a protocol; ``make`` creates its object for a connection.

    ``refuse`` formats the answer if ``make`` raises a ConfigError.
    """

    async def serve(websocket: WebSocket) -> None:
        try:
            protocol = make(websocket)
        except ConfigError as error:
            await websocket.send_denial_response(refuse(error))
            return
        await serve_socket(hub, websocket, protocol)

    return WebSocketRoute(path, serve)


async def serve_socket(hub: Hub, websocket: WebSocket, protocol: SocketProtocol) -> None:
    """Serve one connection from the handshake to its end."""
    key = credential(websocket.headers, websocket.query_params, websocket.scope["subprotocols"])
    address = websocket.client.host if websocket.client else None
    protocol.session = request_id(websocket.scope)
    request = protocol.session
    identity: dict[str, Any] = {
        "address": address,
        "request": request,
        "trace": websocket.headers.get(PARENT),
    }
    caller = hub.access.caller(key, **identity)
    if caller is None and (key is not None or not protocol.key_in_first_message):
        hub.refused("unauthorized", address, protocol.name, session=request)
        await websocket.send_denial_response(
            JSONResponse({"error": "A valid API key is required."}, 401)
        )
        return
    # A browser that offers subprotocols expects one of them to be chosen; the token is one.
    subprotocol = next(
        (name for name in websocket.scope["subprotocols"] if name.startswith(SUBPROTOCOL)), None
    )
    await websocket.accept(subprotocol=subprotocol)
    transport = Transport(websocket, protocol, hub.limits)
    try:
        if caller is None:
            key = protocol.credential(await transport.first_message())
            caller = hub.access.caller(key, **identity)
            if caller is None:
                hub.refused("unauthorized", address, protocol.name, session=request)
                await transport.refuse("unauthorized", "A valid API key is required.")
                return
        await serve_caller(
            hub, transport, caller, resumed=websocket.query_params.get("resumed", "")
        )
    except m.GoneError:
        return


async def serve_caller(hub: Hub, transport: Transport, caller: Caller, *, resumed: str) -> None:
    """Serve a caller if there is a place.

    ``resumed``: a token that proves that its previous server has gone, which admits it even while
    sound is late.
    """
    try:
        lease = hub.enter(transport.protocol.name, caller, resumed=resumed)
    except RefusedError as refused:
        await transport.refuse(refused.code, str(refused))
        return
    lease.gathers = bool(transport.state.get("gathers"))
    transport.protocol.resumption = hub.access.resumption(caller, hub.limits.session_s + RESUME_S)
    try:
        await transport.greet()
        outcome = await serve_session(
            hub,
            transport.commands(hub, lease),
            transport.send,
            lease=lease,
            idle_s=transport.protocol.idle_s,
        )
    finally:
        hub.leave(lease)
    await transport.close(outcome)


class Transport:
    """Carries a protocol's messages over a WebSocket."""

    def __init__(self, websocket: WebSocket, protocol: SocketProtocol, limits: Limits) -> None:
        self.protocol = protocol
        self._websocket = websocket
        self._first_message_s = limits.first_message_s
        self.state: Mapping[str, Any] = websocket.scope.get("state", {})
        """The connection's state from the server's transport."""
        self._first_message: str | bytes | None = None

    async def first_message(self) -> str | bytes:
        """Return the first message, which ``commands`` reads again."""
        try:
            async with asyncio.timeout(self._first_message_s):
                self._first_message = await self._receive()
        except TimeoutError:
            await self.refuse("idle", "The first message did not arrive.")
            raise m.GoneError("The first message did not arrive.") from None
        return self._first_message

    async def commands(self, hub: Hub, lease: Lease) -> AsyncIterator[m.Command]:
        """Yield the commands in the peer's messages."""
        reading = Reading(lease.account, hub.limits)
        lease.reading = reading
        while True:
            message = (
                self._first_message if self._first_message is not None else await self._receive()
            )
            self._first_message = None
            # Beyond its rate, a client waits; this also lets other tasks run.
            await reading.turn(len(message))
            try:
                for command in self.protocol.read(message):
                    if not isinstance(command, m.Later):
                        yield command
                        continue
                    for later in await hub.aside(lease.account, command.made):
                        yield later
            except SayaheadError as error:
                yield self.protocol.refuse(error)

    async def greet(self) -> None:
        """Send the protocol's greeting."""
        for message in self.protocol.greeting():
            await self._send_message(message)

    async def send(self, event: m.Event) -> None:
        """Send the messages for an event."""
        for message in self.protocol.write(event):
            await self._send_message(message)

    async def refuse(self, code: str, message: str) -> None:
        """Tell the peer why it is refused, and close."""
        with contextlib.suppress(m.GoneError):
            await self.send(m.Failed(code, message, gone=True))
        await self.close(m.Outcome(code, message))

    async def close(self, outcome: m.Outcome) -> None:
        """Close the connection; abort it if the peer does not read."""
        if outcome.code == "gone":
            return
        code, reason = self.protocol.closing(outcome)
        try:
            if outcome.code == "stalled":
                raise TimeoutError
            async with asyncio.timeout(CLOSE_S):
                await self._websocket.close(
                    code, reason.encode()[:MAX_REASON].decode(errors="ignore")
                )
        except TimeoutError:
            abort = getattr(self._websocket.state, "abort", None)
            if abort is not None:
                abort()
        except (WebSocketDisconnect, RuntimeError, OSError):
            return

    async def _receive(self) -> str | bytes:
        """Return the next message. GoneError if the peer has left."""
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise m.GoneError("The client closed the connection.")
        text: str | None = message.get("text")
        return text if text is not None else bytes(message["bytes"])

    async def _send_message(self, message: str | bytes) -> None:
        """Send a message. GoneError if the peer has left."""
        try:
            key = "text" if isinstance(message, str) else "bytes"
            await self._websocket.send({"type": "websocket.send", key: message})
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            raise m.GoneError("The client closed the connection.") from error
