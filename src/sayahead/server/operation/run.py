"""The server as a process: uvicorn, signals, and a way to cut off a peer that does not read."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from types import FrameType

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sayahead.server.hub import Hub
from sayahead.server.operation.app import create_app
from sayahead.server.operation.settings import Settings
from sayahead.sound.files import OutputError

log = logging.getLogger("sayahead.server")


# Wait for a new connection's first request.
FIRST_REQUEST_S = 10.0


class Cutting(HttpToolsProtocol):
    """HTTP whose connections, and the WebSockets they become, can be cut: ``abort`` in the scope's state. Closing
    waits for what is to be sent, which a peer that does not read never takes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, "abort": transport.abort}
        super().connection_made(transport)
        self.loop.call_later(FIRST_REQUEST_S, self._expect)

    def _expect(self) -> None:
        """Cut off who connected and asked nothing."""
        if self.transport.get_protocol() is self and getattr(self, "cycle", None) is None:
            self.transport.abort()


class Server(uvicorn.Server):
    """uvicorn that lets those who speak finish before it goes down."""

    def __init__(self, hub: Hub) -> None:
        settings = hub.settings
        super().__init__(
            uvicorn.Config(
                create_app(hub), host=settings.host, port=settings.port, http=Cutting, ws="websockets-sansio",
                ws_max_size=settings.limits.message_bytes, ws_per_message_deflate=False, ws_ping_interval=20.0,
                ws_ping_timeout=20.0, access_log=False, log_config=None, server_header=False, lifespan="on",
                h11_max_incomplete_event_size=65536, backlog=1024, timeout_keep_alive=20, timeout_graceful_shutdown=5,
                ssl_certfile=settings.certificate, ssl_keyfile=settings.certificate_key,
            )
        )  # fmt: skip
        self._hub = hub
        self._draining: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.servers[0].sockets[0].getsockname()[1])

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal. OutputError where the port cannot be had."""
        asyncio.run(self.serve(sockets or [bind(self._hub.settings)]))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            scheme = "https" if self._hub.settings.certificate else "http"
            log.info("listening", extra={"url": f"{scheme}://{self._hub.settings.host}:{self.port}"})

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal, end at the second."""
        if self._draining is not None or not self.started:
            super().handle_exit(signal.SIGINT if self.should_exit else sig, frame)
            return
        self.drain()

    def drain(self) -> None:
        """Stop letting in, wait for those who speak, end; to be called on the server's own thread."""
        self._draining = asyncio.get_event_loop().create_task(self._drain())

    async def _drain(self) -> None:
        log.info("draining", extra={"connections": self._hub.connections})
        await self._hub.drain()
        self.should_exit = True


def bind(settings: Settings) -> socket.socket:
    """A socket at the settings' address. OutputError where it cannot be had."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, number)
    except OSError as error:
        raise OutputError(f"{settings.host} is no address of this machine: {error.strerror or error}.") from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError as error:
        made.close()
        where = f"Port {settings.port} of {settings.host}"
        raise OutputError(f"{where} cannot be listened on: {error.strerror or error}.") from error
    return made
