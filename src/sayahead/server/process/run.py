"""The server as a process: uvicorn, its ports, and signals."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import logging
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, cast

import uvicorn

from sayahead.server.hub import Hub
from sayahead.server.operation.access import loopback
from sayahead.server.operation.settings import Settings
from sayahead.server.operation.transport import (
    ACCEPTED,
    HttpConnection,
    Socket,
    accepted_at_once,
    encrypting,
)
from sayahead.server.process.app import create_app
from sayahead.server.process.child import Child
from sayahead.server.reload import Reloader
from sayahead.sound.files import OutputError

MEANINGLESS = "SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF SIGIO".split()
"""Signals that would end a process by default; on these, the server logs its state instead."""
log = logging.getLogger("sayahead.server")


class Server(uvicorn.Server):
    """A uvicorn server that lets texts finish before it stops."""

    def __init__(self, hub: Hub) -> None:
        settings = hub.settings
        self._hub = hub
        self.interrupted = False
        """Whether Ctrl-C was pressed."""
        self._reloader = Reloader(hub)
        protocols: dict[str, Any] = {"http": HttpConnection, "ws": Socket}
        config = uvicorn.Config(
            create_app(hub, self._reloader),
            settings.host,
            settings.port,
            **protocols,
            ws_max_size=settings.limits.message_bytes,
            ws_per_message_deflate=False,
            ws_ping_interval=20.0,
            ws_ping_timeout=20.0,
            timeout_keep_alive=20,
            timeout_graceful_shutdown=5,
            lifespan="on",
            access_log=False,
            log_config=None,
            server_header=False,
            # The application reads X-Forwarded-For itself, of the proxies in the settings only.
            proxy_headers=False,
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.certificate_key,
        )
        super().__init__(config)
        hub.changed.append(self._take_over)
        self._reloading: asyncio.Task[None] | None = None
        self._draining: asyncio.Task[None] | None = None
        self._tls: ssl.SSLContext | None = None
        # Receives connections that the supervisor accepted.
        self._handover = contextlib.AsyncExitStack()
        hub.siblings.handlers |= {
            "drain": self._asked_to_drain,
            "reload": self._asked_to_reload,
            "end": self._asked_to_end,
        }

    @property
    def port(self) -> int:
        """The port it listens on."""
        if not self.servers:
            return self._hub.siblings.number(self._hub.settings.host, self._hub.settings.port)
        return int(self.servers[0].sockets[0].getsockname()[1])

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal. OutputError if a port cannot be opened."""
        settings = self._hub.settings
        asyncio.run(
            self.serve([bind(settings.host, settings.port)] if sockets is None else sockets)
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and then take signals and what the supervisor hands over."""
        if (context := self.config.ssl) is not None:
            # asyncio reports a TLS connection only after its handshake; ``encrypting`` counts it
            # before that.
            self.config.ssl = None
            self._tls = context
            make = cast(Callable[..., asyncio.Protocol], self.config.http_protocol_class)
            self.config.http_protocol_class = encrypting(make, lambda: self._tls or context)  # type: ignore[assignment]
        self.config.backlog = accepted_at_once(self._hub.limits)
        await super().startup(sockets)
        for listener in sockets or ():
            # Further connections wait in the system's queue.
            listener.listen(ACCEPTED)
        if self.started:
            # Signal handlers are not available on Windows and outside of the main thread.
            with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
                loop = asyncio.get_running_loop()
                loop.add_signal_handler(signal.SIGHUP, self.reload)
                for number in (
                    getattr(signal, name) for name in MEANINGLESS if hasattr(signal, name)
                ):
                    loop.add_signal_handler(number, self._tell, number)
            if isinstance(self._hub.siblings, Child):
                await self._take_connections(self._hub.siblings)
            else:
                open_to_all = self._hub.access.open
                tell_address(self._hub.settings, self.port, open_to_all=open_to_all)

    async def _take_connections(self, siblings: Child) -> None:
        """Serve the connections that the supervisor hands over."""
        settings = self._hub.settings
        protocol = cast(Callable[..., asyncio.Protocol], self.config.http_protocol_class)
        make = functools.partial(
            protocol,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        listening = siblings.listening(settings.host, settings.port, make)
        await self._handover.enter_async_context(listening)
        await self._handover.enter_async_context(siblings.joined(self._hub.beat))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._handover.aclose()
        await super().shutdown(sockets)

    async def _asked_to_drain(self, _: Any) -> None:
        if self._draining is None:
            self.drain()

    async def _asked_to_reload(self, _: Any) -> None:
        self.reload()

    async def _asked_to_end(self, _: Any) -> None:
        self.should_exit = True
        self.force_exit = True

    def _tell(self, number: int) -> None:
        """Log the server's state, on a signal that would end a process that does not handle it."""
        fields = {
            "signal": signal.Signals(number).name,
            "places": self._hub.taken,
            "of": self._hub.capacity,
        }
        log.info("signal", extra=fields | {"connections": self._hub.connections})

    def reload(self) -> None:
        """Adopt changed files; called on the event loop's thread."""
        self._reloading = asyncio.get_running_loop().create_task(self._reloader.reload())

    def _take_over(self) -> None:
        """Use the limits and the certificate of changed settings."""
        settings = self._hub.settings
        self.lifespan.state["limits"] = settings.limits
        if settings.certificate is not None and self._tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            try:
                context.load_cert_chain(settings.certificate, settings.certificate_key, password="")
            except OSError as error:
                # It was valid a moment ago, so it is being written; the next poll sees the change.
                log.error("The certificate stays as it was.", extra={"why": str(error)})
            else:
                # Open connections keep the certificate that they began with.
                self._tls = context

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal; end at once at the second."""
        self.interrupted = self.interrupted or sig == signal.SIGINT
        if self._draining is not None or not self.started:
            super().handle_exit(signal.SIGINT if self.should_exit else sig, frame)
            return
        self.drain()

    def drain(self) -> None:
        """Admit nobody, wait for texts being spoken, then end; called on the event loop's
        thread."""
        self._draining = asyncio.get_event_loop().create_task(self._drain())

    async def _drain(self) -> None:
        if self._hub.siblings.count == 1:
            log.info("draining", extra={"connections": self._hub.connections})
        await self._hub.drain()
        self.should_exit = True


def tell_address(settings: Settings, port: int, *, open_to_all: bool) -> None:
    """Log where the server can be reached, and warn if no key is needed."""
    scheme = "https" if settings.certificate else "http"
    log.info("listening", extra={"url": f"{scheme}://{bracketed(settings.host)}:{port}"})
    if settings.page:
        name = bracketed("127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host)
        page = f"{scheme}://{name}:{port}/"
        log.info("to try it, open the page in a browser", extra={"page": page})
    if open_to_all and not loopback(settings.host):
        log.warning(
            "No API key is required: anyone who can reach this address can use it. Set keys_file,"
            " or host."
        )


def bracketed(host: str) -> str:
    """Return a host as it is written in a URL."""
    return f"[{host}]" if ":" in host else host


def check_ports(settings: Settings) -> None:
    """Raise OutputError if a port in the settings cannot be opened, or is used twice."""
    with contextlib.ExitStack() as opened:
        for host, port in ports(settings):
            listener = bind(host, port)
            opened.callback(listener.close)
            listener.listen(1)


def ports(settings: Settings) -> Iterator[tuple[str, int]]:
    """Yield the hosts and ports that a server listens on."""
    yield settings.host, settings.port
    for own in settings.protocols:
        yield from own.addresses(settings)


def reserve(host: str, port: int) -> socket.socket:
    """Return a socket that reserves an address on which each process will listen itself.
    OutputError if it is in use."""
    # With SO_REUSEPORT the bind below would succeed even if another server had the port.
    bind(host, port).close()
    return bind(host, port, shared=True)


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a socket bound to an address. OutputError if that is not possible.

    ``shared``: whether other sockets may be bound to it, too.
    """
    try:
        family, socket_type, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, socket_type, protocol)
    except OSError as error:
        raise OutputError(
            f"{host} is not an address of this machine: {error.strerror or error}."
        ) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        where = f"port {port} of {host}"
        advice = ": choose another port" if error.errno == errno.EADDRINUSE else ""
        why = f"{error.strerror or error}{advice}"
        raise OutputError(f"Cannot listen on {where}: {why}.") from error
    return listener
