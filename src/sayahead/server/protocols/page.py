"""The demo page at ``/``: its files, with headers that block all foreign content."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sayahead.server.hub import Hub

TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
INDEX = "index.html"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for"
    " 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self)",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # Cached, but revalidated each time: a new server may have a new page.
    "Cache-Control": "no-cache",
}


def routes(hub: Hub) -> list[BaseRoute]:
    """Return the routes of ``/`` and ``/page/...``; none if the setting ``page`` is false.

    No key is needed: the page asks for one when it speaks.
    """
    if not hub.settings.page:
        return []
    entries: list[BaseRoute] = []
    for entry in sorted(
        files("sayahead.server").joinpath("page").iterdir(), key=lambda entry: entry.name
    ):
        media_type = TYPES.get(entry.name[entry.name.rfind(".") :])
        if media_type is not None:
            path = "/" if entry.name == INDEX else f"/page/{entry.name}"
            entries.append(file_route(path, entry.read_bytes(), media_type))
    return entries


def file_route(path: str, body: bytes, media_type: str) -> Route:
    """Return a route for a file, which answers 304 if the browser has it."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {**HEADERS, "ETag": etag}

    async def file(request: Request) -> Response:
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type=f"{media_type}; charset=utf-8")

    return Route(path, file)
