"""Connections below the protocols: limits on size, rate and time before anything is a message.

Everything that depends on internals of uvicorn and websockets is in this file; their versions are
bounded because of it.
"""

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
from sayahead.server.operation.rate_limits import Allowance
from sayahead.server.operation.settings import Limits
from sayahead.server.operation.usage import Usage

log = logging.getLogger("sayahead.server")

# Timeouts for a request's head, from the connection or its first byte on, and for its body after
# that.
HEAD_S = 10.0
BODY_S = 15.0
# After a refused head, what follows is discarded for this long, and up to this many times the limit
# of a head, until the client has read the answer.
LINGER_S = 1.0
REFUSED = 8
# Received data is parsed in pieces of this size, each in its own turn of the event loop.
PIECE = 16384
# Most pipelined requests: those that wait for earlier answers on the same connection.
PIPELINED = 16
# Burst and rate of frames without text (pings, pongs, fragments). Further ones wait at the client,
# which is disconnected once they have waited this long in all.
FRAMES = 100
FRAMES_PER_S = 100
FRAMES_LATE_S = 10.0
# Fraction of the file limit that connections may use, files reserved for other purposes, and the
# listen backlog.
FILES = 0.8
OWN = 20
ACCEPTED = 128
# Most TLS handshakes at once; at most half of the connections may be in one. Beyond that the oldest
# is disconnected. Each takes 0.3 MB and a file.
HANDSHAKES = 256
END = b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large" + END
BODY_TOO_LARGE = b"HTTP/1.1 413 Content Too Large" + END
BAD = b"HTTP/1.1 400 Bad Request" + END


class HttpConnection(HttpToolsProtocol):
    """An HTTP connection with limits on the size and time of requests.

    The scope's state gets ``abort``, which cuts the connection, or the WebSocket that it became, at
    once. Closing would wait until the peer has read everything, which some never do.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or cut it off at once if there are too many."""
        self.app_state = {**self.app_state, "abort": transport.abort, "gone": transport.is_closing}
        self._limits: Limits = self.app_state["limits"]
        # Bytes of the request outside and inside of its body.
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
        """Return whether there are too many connections: in all, or of one address, which may have
        half of them."""
        max_connections: int = self.app_state["connections"]
        own_share = self._share(self)
        if len(self.connections) > max_connections:
            return True
        # Those of one address are only counted where they can be too many.
        if len(self.connections) <= max_connections // 2 or not own_share:
            return False
        own_count = sum(self._share(other) == own_share for other in self.connections)
        return own_count > max_connections // 2

    @staticmethod
    def _share(connection: Any) -> str:
        """Return the address, or its network, whose connections are counted together."""
        return share_of(connection.client[0] if connection.client else None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(None)
        super().connection_lost(exc)

    def _wait(self, seconds: float | None) -> None:
        """Abort the connection in ``seconds``, unless this is called again; None: never."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = (
            None if seconds is None else self.loop.call_later(seconds, self.transport.abort)
        )

    def data_received(self, data: bytes) -> None:
        """Parse data in pieces, and check the limits after each: a parser that is given all of it
        would handle many requests before they are checked."""
        if self._discards(data):
            return
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            # ``on_body`` subtracts what of this belongs to a body.
            self._overhead += len(piece)
            super().data_received(piece if len(data) > PIECE else data)
            upgraded = self.transport.get_protocol() is not self
            if upgraded and data[start + PIECE :]:
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
        """Return the answer to a request, or pipelined requests, beyond the limits; empty if they
        are within."""
        if self._overhead > self._limits.head_bytes or len(self.pipeline) > PIPELINED:
            return TOO_LARGE
        return BODY_TOO_LARGE if self._body > 2 * self._limits.message_bytes else b""

    def _discards(self, data: bytes) -> bool:
        """Return whether all further data is discarded; too much of it ends the connection."""
        if self._refused:
            self._overhead += len(data)
            if self._overhead > REFUSED * self._limits.head_bytes:
                self.transport.abort()
        return self._refused

    def _refuse(self, answer: bytes) -> None:
        """Answer and end a connection whose request is too large or ambiguous."""
        if self._refused:
            return
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            is_its_body = answer is BODY_TOO_LARGE and not self.pipeline
            if not is_its_body or self.cycle.response_started:
                self.transport.abort()
                return
            # This replaces what the application would answer to the part of the body that it has.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        # Closing at once, with unread data, would reset the connection and lose the answer.
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
            # RFC 9112, 3.2: a proxy in between may use the other one.
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
        """Answer a request for an unknown protocol, then read nothing more. uvicorn would log a
        warning."""
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
        else:
            self.cycle.keep_alive = False


class Encrypted(asyncio.Protocol):
    """A connection during its TLS handshake, which counts and is timed from its accept on. It then
    becomes another protocol."""

    def __init__(
        self,
        make: Callable[[], asyncio.Protocol],
        context: ssl.SSLContext,
        others: dict[Encrypted, None],
        room: Callable[[], int],
    ) -> None:
        """``make``: makes the protocol after the handshake; ``others``: all connections in their
        handshakes, oldest first; ``room``: returns how many there may be."""
        self._make = make
        self._context = context
        self._pending_handshakes = others
        self._room = room
        # Data that came together with the end of the handshake.
        self._early_data = b""
        self._lost = False
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake; the oldest ones end if too many are under way."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.pause_reading()
        self._pending_handshakes[self] = None
        while len(self._pending_handshakes) > max(1, self._room()):
            next(iter(self._pending_handshakes)).abort()
        self._task = asyncio.ensure_future(self._encrypt())

    def data_received(self, data: bytes) -> None:
        self._early_data += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True

    def abort(self) -> None:
        """Cut it off."""
        self._pending_handshakes.pop(self, None)
        self._transport.abort()

    async def _encrypt(self) -> None:
        """Do the handshake, then hand the connection to the next protocol."""
        loop = asyncio.get_running_loop()
        encrypted = None
        try:
            encrypted = await loop.start_tls(
                self._transport, self, self._context, server_side=True, ssl_handshake_timeout=HEAD_S
            )
        except OSError:
            self._transport.abort()
        finally:
            self._pending_handshakes.pop(self, None)
        if encrypted is None or self._lost:
            return
        protocol = self._make()
        encrypted.set_protocol(protocol)
        protocol.connection_made(encrypted)
        if self._early_data:
            protocol.data_received(self._early_data)


def encrypting(
    make: Callable[..., asyncio.Protocol], context: Callable[[], ssl.SSLContext]
) -> Callable[..., asyncio.Protocol]:
    """Return a factory of connections that do a TLS handshake and then become those of ``make``.

    ``context`` returns the current TLS context.
    """
    handshakes = dict[Encrypted, None]()

    def make_encrypted(**options: Any) -> Encrypted:
        connections = options["server_state"].connections

        def room() -> int:
            # A handshake is a connection, too: both have the files that there are.
            most: int = options["app_state"]["connections"]
            return min(HANDSHAKES, most // 2, most - len(connections))

        return Encrypted(functools.partial(make, **options), context(), handshakes, room)

    return make_encrypted


class Gathered:
    """A transport that joins what is written in one turn of the event loop, and sends it once its
    bill is written.

    Each write to a socket costs a system call.
    """

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
        """Queue data. Large amounts are sent at once, so that the transport's flow control
        works."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size > PIECE:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._closing = True
        self._after_bill(self._transport.close)

    def is_closing(self) -> bool:
        """Whether it was closed, though what was written may not have left."""
        return self._closing or self._transport.is_closing()

    def _flush(self) -> None:
        if self._parts:
            data = b"".join(self._parts)
            self._parts = []
            self._size = 0
            self._after_bill(functools.partial(self._transport.write, data))

    def _after_bill(self, call: Callable[[], None]) -> None:
        """Call ``call`` once the bill for everything written so far is written."""
        if self._usage is None:
            call()
        else:
            self._usage.after(call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def framed(message: str | bytes) -> bytes:
    """Return a message as one unmasked WebSocket frame (RFC 6455, 5.2)."""
    opcode, data = (1, message.encode()) if isinstance(message, str) else (2, message)
    size = len(data)
    if size < 126:
        return bytes((128 | opcode, size)) + data
    if size < 1 << 16:
        return struct.pack("!BBH", 128 | opcode, 126, size) + data
    return struct.pack("!BBQ", 128 | opcode, 127, size) + data


class Socket(WebSocketsSansIOProtocol):
    """A WebSocket that is read no faster than its messages are processed, and that bypasses the
    library when it sends."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Where use is counted, ``Gathered`` holds back what is sent until it is billed.
        self.app_state = {**self.app_state, "gathers": "usage" in self.app_state}
        self._unread = bytearray()
        self._next_parse: asyncio.Handle | None = None
        self._frames = Allowance(FRAMES, FRAMES_PER_S)
        # Seconds that the last control frames came too early, and the sum of all such delays.
        self._frame_delay_s = 0.0
        self._delay_sum_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(
            cast(asyncio.Transport, Gathered(transport, self.loop, self.app_state.get("usage")))
        )
        self._handshake = self.loop.call_later(HEAD_S, self._on_handshake_timeout)

    def connection_lost(self, exc: Exception | None) -> None:
        self._handshake.cancel()
        super().connection_lost(exc)

    def _on_handshake_timeout(self) -> None:
        """Abort a connection that has not completed its handshake."""
        if not self.handshake_complete:
            self.transport.abort()

    async def send(self, message: Any) -> None:
        """Write a frame; the library is asked for everything but data."""
        await self.writable.wait()
        open_still = self.conn.state is State.OPEN and not (self.close_sent or self.disconnected)
        if message["type"] != "websocket.send" or not open_still:
            await super().send(message)
            return
        text = message.get("text")
        self.transport.write(framed(message["bytes"] if text is None else text))

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if self._next_parse is None:
            self._parse()

    def _parse(self) -> None:
        """Parse a piece of the received data; the next piece follows when its messages were
        taken."""
        self._next_parse = None
        if self.disconnected or self.transport.is_closing():
            self._unread.clear()
            return
        piece = bytes(self._unread[:PIECE])
        del self._unread[:PIECE]
        super().data_received(piece)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            # The library gives no answer to a handshake with too many or too long lines.
            self.handshake_initiated = True
            self.transport.write(TOO_LARGE)
            self.transport.close()
            return
        if self._frame_delay_s:
            self._pause()
        elif self._unread:
            self.transport.pause_reading()
            if not self.read_paused:
                self._next_parse = self.loop.call_soon(self._parse)
        elif not self.read_paused:
            self.transport.resume_reading()

    async def receive(self) -> Any:
        message = await super().receive()
        if self._unread and not self.read_paused:
            self.transport.pause_reading()
            if self._next_parse is None:
                self._next_parse = self.loop.call_soon(self._parse)
        return message

    def keepalive_timeout(self) -> None:
        """A pong is missing. If received data is still unread, the pong may be in it, so wait
        again."""
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
        """Count a frame without text."""
        self._frame_delay_s = self._frames.take()

    def _pause(self) -> None:
        """Stop reading until the frame rate is within its limit; disconnect a client that keeps
        exceeding it."""
        self.transport.pause_reading()
        self._delay_sum_s += self._frame_delay_s
        early_s = self._frame_delay_s
        self._frame_delay_s = 0.0
        self._next_parse = self.loop.call_later(early_s, self._parse)
        if self._delay_sum_s > FRAMES_LATE_S:
            log.warning("A client sent too many frames without text, and was cut off.")
            self.transport.abort()


def files() -> int:
    """Return how many files the process may open, after raising the limit as far as possible."""
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
    """Return how many connections may be open, by the settings and by the limit on open files."""
    max_files = files()
    return min(limits.connections, int(FILES * max_files), max(4, max_files - 2 * OWN))


def accepted_at_once(limits: Limits) -> int:
    """Return the listen backlog.

    Connections beyond the limit need a file, too, until they are refused; without a free one,
    asyncio accepts none for a second.
    """
    return max(1, min(ACCEPTED, (files() - most_connections(limits) - OWN) // 4))
