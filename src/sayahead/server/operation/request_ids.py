"""Request ids: ``x-request-id`` of requests and answers, which also names them in the log."""

from __future__ import annotations

import re
import secrets

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-request-id"
_GIVEN = re.compile(r"[\w.:/+=@-]{1,128}", re.ASCII)


class Identity:
    """Middleware that gives each request and WebSocket an id, the client's or a new one, and puts
    it into the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note the id in the scope, and add it to the head of the answer."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        name = named(Headers(scope=scope).get(HEADER.decode(), ""))
        scope.setdefault("state", {})["request"] = name

        async def send_with_id(message: Message) -> None:
            if message["type"] in (
                "http.response.start",
                "websocket.accept",
                "websocket.http.response.start",
            ):
                message["headers"] = [*message.get("headers", []), (HEADER, name.encode())]
            await send(message)

        await self._app(scope, receive, send_with_id)


def named(given: str) -> str:
    """Return the client's request id if it is valid, else a new one."""
    return given if _GIVEN.fullmatch(given) else secrets.token_hex(8)


def request_id(scope: Scope) -> str:
    """Return the id of a request."""
    return str(scope.get("state", {}).get("request", ""))
