"""One name from a complaint to a line of the log: ``x-request-id``, in requests and answers."""

from __future__ import annotations

import re
import secrets

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-request-id"
_GIVEN = re.compile(r"[\w.:/+=@-]{1,128}", re.ASCII)


class Identity:
    """Names each request and each WebSocket, as its client does or anew, and tells the name in the
    answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        name = named(Headers(scope=scope).get(HEADER.decode(), ""))
        scope.setdefault("state", {})["request"] = name

        async def told(message: Message) -> None:
            if message["type"] in (
                "http.response.start",
                "websocket.accept",
                "websocket.http.response.start",
            ):
                message["headers"] = [*message.get("headers", []), (HEADER, name.encode())]
            await send(message)

        await self._app(scope, receive, told)


def named(given: str) -> str:
    """What a request is called: as its client says, if that can be, or anew."""
    return given if _GIVEN.fullmatch(given) else secrets.token_hex(8)


def request_id(scope: Scope) -> str:
    """What a request is called."""
    return str(scope.get("state", {}).get("request", ""))
