"""The ASGI application: every protocol's routes behind one guard."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from sayahead.server.hub import Hub
from sayahead.server.operation.access import share_of
from sayahead.server.operation.identity import Identity, request_id
from sayahead.server.operation.malloc import keep_giving_back
from sayahead.server.operation.transport import most_connections
from sayahead.server.protocols import PROTOCOLS
from sayahead.server.reload import Reloader

SWITCH_S = 0.0005
"""How long a thread may keep the interpreter that the event loop wants: Python's own 5 ms add up over a request."""


def create_app(hub: Hub, reloader: Reloader | None = None) -> Starlette:
    """The application; the hub's voices are loaded when it starts, its files are watched, and its threads end with
    it."""
    modules, reloader = list(PROTOCOLS.values()), reloader or Reloader(hub)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with contextlib.AsyncExitStack() as stack:
            hub.own()
            stack.callback(hub.close)
            sys.setswitchinterval(SWITCH_S)
            await asyncio.to_thread(hub.start)
            giving = asyncio.create_task(keep_giving_back(lambda: (hub.pool.steps, hub.taken, hub.connections)))
            stack.callback(giving.cancel)
            watching = asyncio.create_task(reloader.watch())
            stack.callback(watching.cancel)
            for module in modules:
                if hasattr(module, "listening"):
                    await stack.enter_async_context(module.listening(hub))
            connections = most_connections(hub.limits)
            yield {"limits": hub.limits, "connections": connections, "usage": hub.usage}

    routes: list[BaseRoute] = [r for module in modules if hasattr(module, "routes") for r in module.routes(hub)]
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(hub.settings.origins),
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["X-Request-ID"],
    )
    middleware = [Middleware(Identity), Middleware(Guard, hub=hub), cors]
    return Starlette(routes=routes, lifespan=life, middleware=middleware, exception_handlers={Exception: server_error})


async def server_error(request: Request, error: Exception) -> Response:
    """The answer when the server is to blame."""
    return JSONResponse({"error": "Internal error: the request is not at fault."}, 500)


class Guard:
    """Admits requests from allowed pages to a name of the server's own."""

    def __init__(self, app: ASGIApp, hub: Hub) -> None:
        self._app, self._hub = app, hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers, access = Headers(scope=scope), self._hub.access
        address = scope["client"][0] if scope.get("client") else None
        # Whoever asks faster waits.
        await asyncio.sleep(self._hub.accounts.of(share_of(address)).requests.take())
        if not access.host_may(headers):
            sentence = "This host name is not allowed: see the setting hosts."
        elif not access.page_may(headers):
            sentence = "This origin is not allowed: see the setting origins."
        else:
            await self._app(scope, receive, send)
            return
        self._hub.refused("origin", address, session=request_id(scope), host=headers.get("host", "")[:200])
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        await JSONResponse({"error": sentence}, 403)(scope, receive, send)
