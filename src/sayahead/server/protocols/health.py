"""For operators: whether the server is alive and ready, and its metrics; and tokens for browsers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from sayahead import __version__
from sayahead.server.http import RequestError, answers
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Caller


def failure(error: RequestError) -> Response:
    """An error in a form of no protocol's."""
    return JSONResponse({"error": str(error)}, error.status, error.headers)


def routes(hub: Hub) -> list[Route]:
    """``/health``, ``/ready``, ``/metrics`` and ``/v1/tokens``."""

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "healthy", "version": __version__})

    async def ready(request: Request) -> Response:
        body = {"ready": hub.ready, "places": hub.places, "taken": hub.taken, "connections": hub.connections}
        return JSONResponse(body, 200 if hub.ready else 503)

    async def metrics(request: Request) -> Response:
        return Response(hub.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    # A token makes no tokens, or it would last for ever.
    @answers(hub, failure, tokens=False)
    async def tokens(request: Request, caller: Caller) -> ASGIApp:
        token, end = hub.access.token(caller)
        return JSONResponse({"token": token, "expires_at": round(end, 3)}, headers={"Cache-Control": "no-store"})

    endpoints = [Route("/health", health), Route("/ready", ready), Route("/v1/tokens", tokens, methods=["POST"])]
    return [*endpoints, Route("/metrics", metrics)] if hub.settings.metrics else endpoints
