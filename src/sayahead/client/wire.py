"""One connection to a server in its native protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from sayahead.config import sent_as, shown
from sayahead.errors import ConfigError, SayaheadError

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

CODES = {401: "unauthorized", 403: "forbidden", 429: "overloaded", 503: "overloaded"}
ELSEWHERE = ("overloaded", "shutdown", "unreachable", "gone")
"""Codes of errors that another server may not have."""
RESUMABLE = (*ELSEWHERE, "too_long", "idle")
"""Codes with which a connection may end so that another one can continue."""
GONE = "The server closed the connection."
PING_S = 10.0
"""A server that is silent for this long is pinged, and counts as gone if it does not answer in the
same time."""
DUE_S = 2.0
"""The same time while sound is due, for a client that can continue elsewhere."""
END_S = 1.0
"""Time for the server to end a connection."""


class ServerError(SayaheadError):
    """The server refused something, or has gone. ``code`` is the protocol's name for it."""

    def __init__(self, code: str, message: str, *, session: str = "") -> None:
        super().__init__(message)
        self.code = code
        """The protocol's name for what went wrong."""
        self.session = session
        """What the server's log calls the connection, if that is known."""


class Wire:
    """A connection whose session has begun."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.created: dict[str, Any] = {}
        """The server's first message."""
        self.sample_rate = 0
        """Samples per second of all audio."""
        self._begun = False
        self._messages = 0
        """Messages received."""
        self._waiting = False
        """Whether a message is being awaited."""

    @classmethod
    async def connect(
        cls, url: str, headers: Mapping[str, str], session: Mapping[str, Any], *, resumed: str = ""
    ) -> Wire:
        """Connect to a server and set the session's options. ServerError if it refuses or cannot be
        reached.

        ``resumed``: the token that proves that another server began the text.
        """
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus
        except ImportError as error:
            raise ConfigError(
                "sayahead.client needs websockets: pip install 'sayahead[client]'."
            ) from error
        try:
            socket = await connect(
                f"{url}?resumed={quote(resumed)}" if resumed else url,
                additional_headers=headers,
                compression=None,
                max_size=None,
                ping_interval=PING_S,
                ping_timeout=PING_S,
                close_timeout=END_S,
            )
        except (OSError, EOFError, InvalidHandshake, InvalidMessage) as error:
            status = error.response.status_code if isinstance(error, InvalidStatus) else 0
            code = CODES.get(status, "unreachable")
            raise ServerError(code, f"{url} cannot be connected to: {error}.") from error
        wire = cls(socket)
        try:
            wire.created = (await wire.hear())[0]
            await wire.say("session.update", session=session)
            options = (await wire.hear())[0]["session"]
        except BaseException:
            await socket.close()
            raise
        wire._begun = True
        wire.sample_rate = options["sample_rate"] or wire.created["sample_rates"][options["voice"]]
        return wire

    async def say(self, kind: str, **rest: Any) -> None:
        """Send a message. ServerError if the connection is over."""
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(json.dumps({"type": kind, **rest}, default=sent_as))
        except ConnectionClosed as error:
            raise self.error("gone", f"The server closed the connection: {error}.") from error

    async def hear(self) -> tuple[dict[str, Any], bytes]:
        """Return the next message, with its audio if it has any.

        ServerError at the end of the connection and, before the session has begun, for any error.
        """
        from websockets.exceptions import ConnectionClosed

        self._waiting = True
        try:
            data: dict[str, Any] = json.loads(await self._socket.recv())
            sound = await self._socket.recv() if data["type"] == "speech.audio" else b""
        except ConnectionClosed as error:
            raise self.error("gone", GONE) from error
        finally:
            self._waiting = False
        self._messages += 1
        if (
            data["type"] == "error"
            and data["context_id"] is None
            and (data["gone"] or not self._begun)
        ):
            raise self.error(data["code"], data["message"])
        return data, sound if isinstance(sound, bytes) else b""

    async def watch(self, is_due: Callable[[], bool]) -> None:
        """Abort the connection if sound is due, nothing comes, and the server does not answer a
        ping."""
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            while True:
                messages = self._messages
                await asyncio.sleep(DUE_S)
                if messages == self._messages and self._waiting and is_due():
                    try:
                        async with asyncio.timeout(DUE_S):
                            await (await self._socket.ping())
                    except TimeoutError:
                        self._socket.transport.abort()
                        return

    def error(self, code: str, message: str) -> ServerError:
        """Return an error of this connection."""
        return ServerError(code, message, session=str(self.created.get("session_id", "")))

    async def end(self, *, clean: bool) -> None:
        """Close the connection.

        ``clean``: whether no text is open, so that the session ends normally at the server, too.
        """
        if clean:
            with contextlib.suppress(ServerError, TimeoutError):
                async with asyncio.timeout(END_S):
                    await self.say("session.end")
                    await self._socket.wait_closed()
        await self._socket.close()


def address(url: object) -> str:
    """Return the URL of a server's native protocol. ConfigError if ``url`` is not the address of a
    server."""
    scheme, separator, rest = url.partition("://") if isinstance(url, str) else ("", "", "")
    scheme = {"http": "ws", "https": "wss"}.get(scheme, scheme)
    with contextlib.suppress(ValueError):
        parts = urlsplit(f"{scheme}{separator}{rest}")
        if scheme in ("ws", "wss") and parts.hostname and (parts.port is None or parts.port):
            return f"{scheme}://{rest.rstrip('/')}/v1/stream"
    raise ConfigError(
        f"Client: url is {shown(url)}, but must be an address such as ws://127.0.0.1:8000."
    )
