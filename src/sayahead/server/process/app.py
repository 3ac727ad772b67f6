"""The ASGI application: the routes of all protocols behind the same access checks."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import math
import sys
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from sayahead.server.hub import Hub
from sayahead.server.operation.access import credential
from sayahead.server.operation.malloc import keep_giving_back
from sayahead.server.operation.request_ids import Identity, request_id
from sayahead.server.operation.transport import most_connections
from sayahead.server.protocols import PROTOCOLS
from sayahead.server.reload import Reloader
from sayahead.voices.leftovers import sweep
from sayahead.voices.locations import home

log = logging.getLogger("sayahead.server")
SWITCH_S = 0.0005
"""How long a thread may keep the interpreter lock while the event loop wants it; Python's default
of 5 ms would add up over a request."""

MAX_PROXIES = 16
"""Most proxies between a client and this server."""
LATE_S = 2.0
"""Longest wait of a request for its client's rate limit."""


def create_app(hub: Hub, reloader: Reloader | None = None) -> Starlette:
    """Return the application. While it runs, the voices are loaded, the files are watched, and the
    threads run."""
    modules = list(PROTOCOLS.values())
    reloader = reloader or Reloader(hub)

    def work_done() -> tuple[int, int, int]:
        """Return figures of which one changes whenever the server has worked."""
        return hub.pool.steps, hub.taken, hub.connections

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        """Start what the server needs, and end it in the opposite order.

        Yields what each connection finds in its ``app_state``: see ``operation/transport.py``.
        """
        async with contextlib.AsyncExitStack() as stack:
            # The application was made before its event loop, which takes over the hub here.
            hub.own()
            stack.callback(hub.close)
            sys.setswitchinterval(SWITCH_S)
            await asyncio.to_thread(hub.start)
            # A process that was killed while it added a voice has left its files.
            await asyncio.to_thread(sweep, home())
            memory_task = asyncio.create_task(keep_giving_back(work_done))
            stack.callback(memory_task.cancel)
            reload_task = asyncio.create_task(reloader.watch())
            stack.callback(reload_task.cancel)
            for module in modules:
                if hasattr(module, "listening") and serves_here(module, hub):
                    await stack.enter_async_context(module.listening(hub))
            # The limit is the server's: each of its processes may have an equal part.
            connections = math.ceil(most_connections(hub.limits) / hub.siblings.count)
            yield {"limits": hub.limits, "connections": connections, "usage": hub.usage}

    routes: list[BaseRoute] = [
        r for module in modules if hasattr(module, "routes") for r in module.routes(hub)
    ]
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(hub.settings.origins),
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["X-Request-ID"],
    )
    middleware = [
        Middleware(Proxied, proxies=hub.settings.proxies),
        Middleware(Identity),
        Middleware(Guard, hub=hub),
        cors,
    ]
    return Starlette(
        routes=routes,
        lifespan=life,
        middleware=middleware,
        exception_handlers={Exception: server_error},
    )


def serves_here(module: Any, hub: Hub) -> bool:
    """Return whether this process serves a protocol's own port; only the first does unless the
    protocol supports several."""
    settings = getattr(module, "SETTINGS", None)
    return hub.siblings.leads or bool(getattr(settings, "spread", ""))


async def server_error(request: Request, error: Exception) -> Response:
    """Return the answer to an unexpected error."""
    return JSONResponse({"error": "Internal error: the request is not at fault."}, 500)


class Proxied:
    """Middleware that takes the client's address from X-Forwarded-For if a trusted proxy sent it.

    A client may send the header itself and proxies append to it, so the last address that is not a
    trusted proxy's is the client's. If an entry is not an address, the proxy after it counts as the
    client.
    """

    def __init__(self, app: ASGIApp, proxies: tuple[str, ...]) -> None:
        self._app = app
        self._networks = [ipaddress.ip_network(proxy, strict=False) for proxy in proxies]
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Replace the peer's address by the client's, if the peer is a proxy of the settings."""
        if scope["type"] in ("http", "websocket") and scope.get("client"):
            peer = scope["client"][0]
            lines = Headers(scope=scope).getlist("x-forwarded-for")
            if lines and not self._has_warned:
                self._warn_once(peer)
            if self._networks:
                address = self._client(peer, [part for line in lines for part in line.split(",")])
                scope = {**scope, "client": (address, 0)}
        await self._app(scope, receive, send)

    def _warn_once(self, peer: str) -> None:
        """Warn once that a proxy on a private address is not in the settings: all of its clients
        count as one."""
        parsed = address_in(peer)
        if (
            parsed is not None
            and parsed.is_private
            and not any(parsed in network for network in self._networks)
        ):
            self._has_warned = True
            log.warning(
                "X-Forwarded-For is not read: proxies does not name who sent it.",
                extra={"address": peer},
            )

    def _client(self, peer: str, forwarded: list[str]) -> str:
        """Return the client's address, given the peer's and the forwarded ones."""
        address = peer
        for text in [*forwarded[-MAX_PROXIES:], peer][::-1]:
            parsed = address_in(text)
            if parsed is None:
                return address
            address = str(parsed)
            if not any(parsed in network for network in self._networks):
                break
        return address


def address_in(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an address as proxies write it, with or without a port; None for anything else."""
    text = text.strip()[:64]
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


class Guard:
    """Middleware that checks rate limit, Host and Origin of each request."""

    def __init__(self, app: ASGIApp, hub: Hub) -> None:
        self._app = app
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it: beyond its rate, or of a foreign host or origin."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        access = self._hub.access
        address = scope["client"][0] if scope.get("client") else None
        # Beyond its rate, a client waits. Keys have limits of their own, apart from others at the
        # same address.
        share = access.share(credential(headers, QueryParams(scope["query_string"])), address)
        gone = scope.get("state", {}).get("gone")
        if not await self._hub.accounts.of(share).requests.turn(most_s=LATE_S, gone=gone):
            self._hub.refused("overloaded", address, session=request_id(scope))
            await self._refuse(
                scope, receive, send, "Too many requests: try again in a moment.", 429
            )
            return
        if not access.host_may(headers):
            refusal = "This host name is not allowed: see the setting hosts."
        elif not access.page_may(headers):
            refusal = "This origin is not allowed: see the setting origins."
        else:
            await self._app(scope, receive, send)
            return
        self._hub.refused(
            "origin", address, session=request_id(scope), host=headers.get("host", "")[:200]
        )
        await self._refuse(scope, receive, send, refusal, 403)

    async def _refuse(
        self, scope: Scope, receive: Receive, send: Send, sentence: str, status: int
    ) -> None:
        """Answer a request or a WebSocket handshake with an error."""
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get(
            "extensions", {}
        ):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {"Retry-After": "2"} if status == 429 else None
        await JSONResponse({"error": sentence}, status, headers)(scope, receive, send)
