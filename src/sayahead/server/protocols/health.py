"""Endpoints for operators: health, readiness, metrics and version; and tokens for browsers."""

from __future__ import annotations

import platform
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp

from sayahead import __version__
from sayahead.server.http import RequestError, answers
from sayahead.server.hub import Hub
from sayahead.server.operation.access import HEADERS, Caller

OPEN = ("/health", "/ready", "/metrics", "/version", "/openapi.json")
"""Paths that need no key."""

SCRAPE_S = 0.1
"""Metrics are cached for this long."""


def failure(error: RequestError) -> Response:
    """Return an error in a form that belongs to no protocol."""
    return JSONResponse({"error": str(error)}, error.status, error.headers)


def routes(hub: Hub) -> list[Route]:
    """``/health``, ``/ready``, ``/metrics``, ``/version``, ``/openapi.json`` and ``/v1/tokens``."""

    async def health(request: Request) -> Response:
        """Whether the process is alive."""
        return JSONResponse({"status": "healthy", "version": __version__})

    async def ready(request: Request) -> Response:
        """Whether a new connection would be admitted: 503 if not."""
        body = {
            "ready": hub.ready,
            "places": hub.capacity,
            "taken": hub.taken,
            "connections": hub.connections,
        }
        return JSONResponse(body, 200 if hub.ready else 503)

    cache: list[Any] = [-SCRAPE_S, b""]

    async def metrics(request: Request) -> Response:
        """SharedCounters for Prometheus."""
        # Collecting takes some milliseconds, and anybody may ask: hence the cache.
        if (now := time.monotonic()) >= cache[0] + SCRAPE_S:
            cache[:] = now, await hub.scraped()
        return Response(cache[1], media_type="text/plain; version=0.0.4; charset=utf-8")

    async def version(request: Request) -> Response:
        """Which version runs, and on what."""
        voices = {name: config.description for name, config in hub.voices.configs.items()}
        return JSONResponse(
            {"version": __version__, "python": platform.python_version(), "voices": voices}
        )

    async def description(request: Request) -> Response:
        """This description."""
        return JSONResponse(described(request.app.routes))

    # A token cannot create tokens, or it could be renewed for ever.
    @answers(hub, failure, tokens=False)
    async def tokens(request: Request, caller: Caller) -> ASGIApp:
        """A short-lived token with which a browser connects."""
        token, end = hub.access.token(caller)
        return JSONResponse(
            {"token": token, "expires_at": round(end, 3)}, headers={"Cache-Control": "no-store"}
        )

    handlers = zip(OPEN, (health, ready, metrics, version, description), strict=True)
    endpoints = [
        Route(path, endpoint)
        for path, endpoint in handlers
        if path != "/metrics" or hub.settings.metrics
    ]
    return [*endpoints, Route("/v1/tokens", tokens, methods=["POST"])]


def described(routes: list[BaseRoute]) -> dict[str, Any]:
    """Return an OpenAPI description of everything served over HTTP; WebSockets appear with their
    handshakes."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if isinstance(route, Route | WebSocketRoute):
            parameters = [{"name": name, "in": "path"} for name in route.param_convertors]
            summary = (route.endpoint.__doc__ or "").partition("\n\n")[0]
            summary = " ".join(summary.split())
            operation: dict[str, Any] = {
                "summary": summary,
                "parameters": [{**one, "required": True, "schema": {}} for one in parameters],
            }
            operation["security"] = [] if route.path in OPEN else [{name: []} for name in HEADERS]
            socket = isinstance(route, WebSocketRoute)
            operation["responses"] = (
                {"101": {"description": "A WebSocket."}}
                if socket
                else {"200": {"description": "Done."}}
            )
            methods = (getattr(route, "methods", None) or {"GET"}) - {"HEAD"}
            paths.setdefault(route.path, {}).update(
                {method.lower(): operation for method in sorted(methods)}
            )
    schemes = {name: {"type": "apiKey", "in": "header", "name": name} for name in HEADERS}
    about = {"title": "sayahead", "version": __version__}
    return {
        "openapi": "3.1.0",
        "info": about,
        "paths": paths,
        "components": {"securitySchemes": schemes},
    }
