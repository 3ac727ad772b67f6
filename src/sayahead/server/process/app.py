"""The ASGI application: every protocol's routes behind one guard."""

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
from sayahead.server.operation.identity import Identity, request_id
from sayahead.server.operation.malloc import keep_giving_back
from sayahead.server.operation.transport import most_connections
from sayahead.server.protocols import PROTOCOLS
from sayahead.server.reload import Reloader
from sayahead.voices.left import sweep
from sayahead.voices.locations import home

log = logging.getLogger("sayahead.server")
SWITCH_S = 0.0005
"""How long a thread may keep the interpreter that the event loop wants: Python's own 5 ms add up
over a request."""

MAX_PROXIES = 16
"""Proxies between a client and this server."""
LATE_S = 2.0
"""How long a request may wait for its client's turn."""


def create_app(hub: Hub, reloader: Reloader | None = None) -> Starlette:
    """The application; the hub's voices are loaded when it starts, its files are watched, and its
    threads end with it."""
    modules = list(PROTOCOLS.values())
    reloader = reloader or Reloader(hub)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with contextlib.AsyncExitStack() as stack:
            hub.own()
            stack.callback(hub.close)
            sys.setswitchinterval(SWITCH_S)
            await asyncio.to_thread(hub.start)
            await asyncio.to_thread(sweep, home())
            giving = asyncio.create_task(
                keep_giving_back(lambda: (hub.pool.steps, hub.taken, hub.connections))
            )
            stack.callback(giving.cancel)
            watching = asyncio.create_task(reloader.watch())
            stack.callback(watching.cancel)
            for module in modules:
                if hasattr(module, "listening") and serves_here(module, hub):
                    await stack.enter_async_context(module.listening(hub))
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
    """Whether a protocol's own port is served by this process: one that knows nothing of several is
    by the first."""
    settings = getattr(module, "SETTINGS", None)
    return hub.siblings.leads or bool(getattr(settings, "spread", ""))


async def server_error(request: Request, error: Exception) -> Response:
    """The answer when the server is to blame."""
    return JSONResponse({"error": "Internal error: the request is not at fault."}, 500)


class Proxied:
    """Takes requests that come by a proxy for those of its clients: by X-Forwarded-For, of named
    proxies only.

    A client may send the header itself, and a proxy adds to its end: the last address that is no
    proxy's is the client's. What is no address is nobody's, and the proxy's own stands for it."""

    def __init__(self, app: ASGIApp, proxies: tuple[str, ...]) -> None:
        self._app = app
        self._networks = [ipaddress.ip_network(proxy, strict=False) for proxy in proxies]
        self._has_told = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope.get("client"):
            peer = scope["client"][0]
            lines = Headers(scope=scope).getlist("x-forwarded-for")
            if lines and not self._has_told:
                self._tell(peer)
            if self._networks:
                address = self._client(peer, [part for line in lines for part in line.split(",")])
                scope = {**scope, "client": (address, 0)}
        await self._app(scope, receive, send)

    def _tell(self, peer: str) -> None:
        """Say once that a proxy near this machine seems not to be named: all of its clients count
        as one."""
        found = address_in(peer)
        if (
            found is not None
            and found.is_private
            and not any(found in network for network in self._networks)
        ):
            self._has_told = True
            log.warning(
                "X-Forwarded-For is not read: proxies does not name who sent it.",
                extra={"address": peer},
            )

    def _client(self, peer: str, forwarded: list[str]) -> str:
        """Where a request comes from, by its peer and what proxies have said."""
        address = peer
        for text in [*forwarded[-MAX_PROXIES:], peer][::-1]:
            found = address_in(text)
            if found is None:
                return address
            address = str(found)
            if not any(found in network for network in self._networks):
                break
        return address


def address_in(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address as proxies write it, maybe with a port; None for anything else."""
    text = text.strip()[:64]
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


class Guard:
    """Admits requests from allowed pages to a name of the server's own."""

    def __init__(self, app: ASGIApp, hub: Hub) -> None:
        self._app = app
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        access = self._hub.access
        address = scope["client"][0] if scope.get("client") else None
        # Whoever asks faster waits; a key by itself, and not behind all who share its address.
        share = access.share(credential(headers, QueryParams(scope["query_string"])), address)
        gone = scope.get("state", {}).get("gone")
        if not await self._hub.accounts.of(share).requests.turn(most_s=LATE_S, gone=gone):
            self._hub.refused("overloaded", address, session=request_id(scope))
            await self._refuse(
                scope, receive, send, "Too many requests: try again in a moment.", 429
            )
        elif not access.host_may(headers):
            self._hub.refused(
                "origin", address, session=request_id(scope), host=headers.get("host", "")[:200]
            )
            await self._refuse(
                scope, receive, send, "This host name is not allowed: see the setting hosts.", 403
            )
        elif not access.page_may(headers):
            self._hub.refused(
                "origin", address, session=request_id(scope), host=headers.get("host", "")[:200]
            )
            await self._refuse(
                scope, receive, send, "This origin is not allowed: see the setting origins.", 403
            )
        else:
            await self._app(scope, receive, send)

    async def _refuse(
        self, scope: Scope, receive: Receive, send: Send, sentence: str, status: int
    ) -> None:
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get(
            "extensions", {}
        ):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {"Retry-After": "2"} if status == 429 else None
        await JSONResponse({"error": sentence}, status, headers)(scope, receive, send)
