"""Connections below the protocols: what one may send before it is a message, how fast, and for how
long.

All that this package builds on the inner classes of uvicorn and websockets is here; their versions
are bounded for it."""

from __future__ import annotations

import asyncio
import functools
import logging
import ssl
import struct
import sys
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.protocol import State

from sayahead.server.operation.access import share_of
from sayahead.server.operation.budgets import Allowance
from sayahead.server.operation.settings import Limits
from sayahead.server.operation.usage import Usage

log = logging.getLogger("sayahead.server")

# Wait for a request's head, from the connection or the head's first byte on; and for its body, once
# the head is there.
HEAD_S = 10.0
BODY_S = 15.0
# How long, and for how many times a head's size, what follows a refused head is thrown away, until
# its answer was read.
LINGER_S = 1.0
REFUSED = 8
# What arrived is parsed in pieces of this size, each in a turn of the event loop of its own.
PIECE = 16384
# Requests on a connection that wait for the answers of those before them.
PIPELINED = 16
# Frames without text (pings, pongs, parts of messages): so many at once, and so many a second. More
# wait with the client, who is cut off where they have waited for so long.
FRAMES = 100
FRAMES_PER_S = 100
FRAMES_LATE_S = 10.0
# Part of the files a process may open that connections may be; what it has open besides, and what
# is accepted at once.
FILES = 0.8
OWN = 20
ACCEPTED = 128
# Handshakes of encrypted connections at once, and no more than half of the connections that may be;
# when there are more, the oldest is cut off. Each takes 0.3 MB, and a file.
HANDSHAKES = 256
END = b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large" + END
BODY_TOO_LARGE = b"HTTP/1.1 413 Content Too Large" + END
BAD = b"HTTP/1.1 400 Bad Request" + END


class HttpConnection(HttpToolsProtocol):
    """HTTP whose heads have a size, whose requests have a time, and whose connections, and the
    WebSockets they become, can be cut: ``abort`` in the scope's state. Closing waits until what is
    to be sent is read, which some peers never do."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, "abort": transport.abort, "gone": transport.is_closing}
        self._limits: Limits = self.app_state["limits"]
        # Bytes of the request that are no body, and those that are.
        self._overhead = 0
        self._body = 0
        self._reading = False
        self._refused = False
        self._timer: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        if self._too_many():
            log.warning(
                "Too many connections: new ones are refused.",
                extra={"connections": len(self.connections)},
            )
            transport.abort()
            return
        self._wait(HEAD_S)

    def _too_many(self) -> bool:
        """Whether there are more connections than may be, in all or of one other machine: of that
        half."""
        most: int = self.app_state["connections"]
        here = self._share(self)
        others = self.connections
        if not here or len(others) <= most // 2 or len(others) > most:
            return len(others) > most
        return sum(self._share(other) == here for other in others) > most // 2

    @staticmethod
    def _share(connection: Any) -> str:
        return share_of(connection.client[0] if connection.client else None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(None)
        super().connection_lost(exc)

    def _wait(self, seconds: float | None) -> None:
        """Cut the connection off in so many seconds; None: never."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = (
            None if seconds is None else self.loop.call_later(seconds, self.transport.abort)
        )

    def data_received(self, data: bytes) -> None:
        if self._throws_away(data):
            return
        for at in range(0, len(data), PIECE):
            piece = data[at : at + PIECE]
            self._overhead += len(piece)
            super().data_received(piece if len(data) > PIECE else data)
            upgraded = self.transport.get_protocol() is not self
            if upgraded and data[at + PIECE :]:
                # A client that does not wait for the handshake's answer: no WebSocket may.
                self.transport.abort()
            if upgraded or self.transport.is_closing():
                return
            if answer := self._excess():
                self._refuse(answer)
            if self._refused:
                return
        # uvicorn waits for the next request until its first byte.
        if (
            self._timer is None
            and not self._reading
            and (self.cycle is None or self.cycle.response_complete)
        ):
            self._wait(HEAD_S)

    def _excess(self) -> bytes:
        """What to answer to more than is read of a request, or of several at once; else nothing."""
        if self._overhead > self._limits.head_bytes or len(self.pipeline) > PIPELINED:
            return TOO_LARGE
        return BODY_TOO_LARGE if self._body > 2 * self._limits.message_bytes else b""

    def _throws_away(self, data: bytes) -> bool:
        """Whether nothing of what comes is read any more, of which there may be only so much."""
        if self._refused:
            self._overhead += len(data)
            if self._overhead > REFUSED * self._limits.head_bytes:
                self.transport.abort()
        return self._refused

    def _refuse(self, answer: bytes) -> None:
        """End a connection whose request is too large, or ambiguous."""
        if self._refused:
            return
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            is_its_body = answer is BODY_TOO_LARGE and not self.pipeline
            if not is_its_body or self.cycle.response_started:
                self.transport.abort()
                return
            # This is the answer, not what the application would say to the part that it has.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        # Closed at once, with data still to be read, the connection would lose the answer.
        self.transport.write(answer)
        self._wait(LINGER_S)

    def on_message_begin(self) -> None:
        self._overhead = 0
        self._body = 0
        self._reading = True
        self._wait(HEAD_S)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._wait(BODY_S)
        if sum(name == b"host" for name, _ in self.headers) > 1:
            # RFC 9112, 3.2: who is in between may go by the other one.
            self._refuse(BAD)
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        self._overhead = max(0, self._overhead - len(body))
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._reading = False
        if not self._refused:
            self._wait(None)
            super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        if not self._refused:
            self._wait(None)
            super().handle_websocket_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """A client may ask for other protocols; it is answered, and nothing more is read."""
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
        else:
            self.cycle.keep_alive = False


class Encrypted(asyncio.Protocol):
    """A connection until it is encrypted: it counts and has its time from its accept on, and then
    becomes another."""

    def __init__(
        self,
        make: Callable[[], asyncio.Protocol],
        context: ssl.SSLContext,
        others: dict[Encrypted, None],
        room: Callable[[], int],
    ) -> None:
        """``make`` makes what it becomes; ``others``: all that are not encrypted yet, the oldest
        first; ``room``: how many of these there may be now."""
        self._make = make
        self._context = context
        self._others = others
        self._room = room
        # What came with the end of the handshake.
        self._early = b""
        self._lost = False
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.pause_reading()
        self._others[self] = None
        while len(self._others) > max(1, self._room()):
            next(iter(self._others)).abort()
        self._task = asyncio.ensure_future(self._encrypt())

    def data_received(self, data: bytes) -> None:
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True

    def abort(self) -> None:
        """Cut it off."""
        self._others.pop(self, None)
        self._transport.abort()

    async def _encrypt(self) -> None:
        loop = asyncio.get_running_loop()
        encrypted = None
        try:
            encrypted = await loop.start_tls(
                self._transport, self, self._context, server_side=True, ssl_handshake_timeout=HEAD_S
            )
        except OSError:
            self._transport.abort()
        finally:
            self._others.pop(self, None)
        if encrypted is None or self._lost:
            return
        protocol = self._make()
        encrypted.set_protocol(protocol)
        protocol.connection_made(encrypted)
        if self._early:
            protocol.data_received(self._early)


def encrypting(
    make: Callable[..., asyncio.Protocol], context: Callable[[], ssl.SSLContext]
) -> Callable[..., asyncio.Protocol]:
    """Makes connections that are to be encrypted, by what ``context`` gives then, and then become
    those of ``make``."""
    others = dict[Encrypted, None]()

    def made(**options: Any) -> Encrypted:
        connections = options["server_state"].connections

        def room() -> int:
            # A handshake is a connection, too: both have the files that there are.
            most: int = options["app_state"]["connections"]
            return min(HANDSHAKES, most // 2, most - len(connections))

        return Encrypted(functools.partial(make, **options), context(), others, room)

    return made


class Gathered:
    """A transport to which what is written in one turn of the event loop goes at once, as each time
    costs, and only once the bill for it is written."""

    def __init__(
        self,
        transport: asyncio.BaseTransport,
        loop: asyncio.AbstractEventLoop,
        usage: Usage | None = None,
    ) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._loop = loop
        self._usage = usage
        self._parts = list[bytes]()
        self._size = 0
        self._closing = False

    def write(self, data: bytes) -> None:
        """Large writes go at once, so that the transport's limits hold."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size > PIECE:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._closing = True
        self._billed(self._transport.close)

    def is_closing(self) -> bool:
        """Whether it was closed, though what was written may not have left."""
        return self._closing or self._transport.is_closing()

    def _flush(self) -> None:
        if self._parts:
            data = b"".join(self._parts)
            self._parts = []
            self._size = 0
            self._billed(functools.partial(self._transport.write, data))

    def _billed(self, call: Callable[[], None]) -> None:
        """Call something once the bill for what was written so far is written."""
        if self._usage is None:
            call()
        else:
            self._usage.after(call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def framed(message: str | bytes) -> bytes:
    """A message as one frame of a server (RFC 6455, 5.2)."""
    opcode, data = (1, message.encode()) if isinstance(message, str) else (2, message)
    size = len(data)
    if size < 126:
        return bytes((128 | opcode, size)) + data
    if size < 1 << 16:
        return struct.pack("!BBH", 128 | opcode, 126, size) + data
    return struct.pack("!BBQ", 128 | opcode, 127, size) + data


class Socket(WebSocketsSansIOProtocol):
    """A WebSocket that is read no faster than it is served, pings included, and that has a short
    way out for messages."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.app_state = {**self.app_state, "gathers": "usage" in self.app_state}
        self._unread = bytearray()
        self._later: asyncio.Handle | None = None
        self._frames = Allowance(FRAMES, FRAMES_PER_S)
        # How much too early the last ones came, and all that waited.
        self._early_s = 0.0
        self._late_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(
            cast(asyncio.Transport, Gathered(transport, self.loop, self.app_state.get("usage")))
        )
        self._handshake = self.loop.call_later(HEAD_S, self._unanswered)

    def connection_lost(self, exc: Exception | None) -> None:
        self._handshake.cancel()
        super().connection_lost(exc)

    def _unanswered(self) -> None:
        """The time for the handshake is over."""
        if not self.handshake_complete:
            self.transport.abort()

    async def send(self, message: Any) -> None:
        await self.writable.wait()
        open_still = self.conn.state is State.OPEN and not (self.close_sent or self.disconnected)
        if message["type"] != "websocket.send" or not open_still:
            await super().send(message)
            return
        text = message.get("text")
        self.transport.write(framed(message["bytes"] if text is None else text))

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if self._later is None:
            self._parse()

    def _parse(self) -> None:
        """Parse a piece of what arrived; the next one when its messages were taken."""
        self._later = None
        if self.disconnected or self.transport.is_closing():
            self._unread.clear()
            return
        piece = bytes(self._unread[:PIECE])
        del self._unread[:PIECE]
        super().data_received(piece)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            # More or longer lines than a handshake may have: the library says nothing.
            self.handshake_initiated = True
            self.transport.write(TOO_LARGE)
            self.transport.close()
            return
        if self._early_s:
            self._pause()
        elif self._unread:
            self.transport.pause_reading()
            if not self.read_paused:
                self._later = self.loop.call_soon(self._parse)
        elif not self.read_paused:
            self.transport.resume_reading()

    async def receive(self) -> Any:
        message = await super().receive()
        if self._unread and not self.read_paused:
            self.transport.pause_reading()
            if self._later is None:
                self._later = self.loop.call_soon(self._parse)
        return message

    def keepalive_timeout(self) -> None:
        """A ping was not answered; or the answer is behind what this server has not read yet."""
        if self.ping_timeout is not None and (self._unread or self.read_paused):
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)
        else:
            super().keepalive_timeout()

    def handle_ping(self) -> None:
        self._count_frame()
        super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        self._count_frame()
        super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        self._count_frame()
        super().handle_cont(event)

    def _count_frame(self) -> None:
        """A frame without text came."""
        self._early_s = self._frames.take()

    def _pause(self) -> None:
        """Read on once no frame is too early; cut off who has none but these."""
        self.transport.pause_reading()
        self._late_s = self._late_s + self._early_s
        early_s = self._early_s
        self._early_s = 0.0
        self._later = self.loop.call_later(early_s, self._parse)
        if self._late_s > FRAMES_LATE_S:
            log.warning("A client sent too many frames without text, and was cut off.")
            self.transport.abort()


def files() -> int:
    """How many files the process may open, as far as that can be raised."""
    try:
        import resource
    except ImportError:
        return sys.maxsize
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):
            hard = soft
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard


def most_connections(limits: Limits) -> int:
    """How many connections may be open: as the limits say, or fewer if the process may not open so
    many files."""
    most = files()
    return min(limits.connections, int(FILES * most), max(4, most - 2 * OWN))


def accepted_at_once(limits: Limits) -> int:
    """How many connections may be accepted before those beyond the limit are cut off: files are
    left for them, since where there is none, asyncio accepts nobody for a second."""
    return max(1, min(ACCEPTED, (files() - most_connections(limits) - OWN) // 4))
