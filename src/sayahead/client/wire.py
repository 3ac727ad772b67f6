"""One connection to a server in its native protocol: where it is, how it begins, and what can go
wrong with it."""

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
ENDED = (*ELSEWHERE, "too_long", "idle")
"""Codes of ends of a connection after which another one can go on."""
GONE = "The server closed the connection."
PING_S = 10.0
"""A server that says nothing for so long is asked, and taken for gone if it does not answer in that
time."""
DUE_S = 2.0
"""The same while something is due of it, for a client that can go on elsewhere."""
END_S = 1.0
"""How long the server has to end a connection with which nothing more is to be done."""


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
        """How many have come."""
        self._waiting = False
        """Whether the next one is awaited."""

    @classmethod
    async def connect(
        cls, url: str, headers: Mapping[str, str], session: Mapping[str, Any], *, resumed: str = ""
    ) -> Wire:
        """Connect to a server, and have it take the session's options; ``resumed``: what proves
        that another one had begun what is to be said. ServerError where it refuses or is not
        there."""
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus
        except ImportError as error:
            raise ConfigError(
                "sayahead.client needs websockets: pip install 'sayahead[client]'."
            ) from error
        times: dict[str, Any] = {
            "ping_interval": PING_S,
            "ping_timeout": PING_S,
            "close_timeout": END_S,
        }
        try:
            place = f"{url}?resumed={quote(resumed)}" if resumed else url
            socket = await connect(
                place, additional_headers=headers, compression=None, max_size=None, **times
            )
        except (OSError, EOFError, InvalidHandshake, InvalidMessage) as error:
            status = error.response.status_code if isinstance(error, InvalidStatus) else 0
            code = CODES.get(status, "unreachable")
            raise ServerError(code, f"{url} cannot be connected to: {error}.") from error
        wire = cls(socket)
        try:
            wire.created = (await wire.hear())[0]
            await wire.say("session.update", session=session)
            chosen = (await wire.hear())[0]["session"]
        except BaseException:
            await socket.close()
            raise
        wire._begun = True
        wire.sample_rate = chosen["sample_rate"] or wire.created["sample_rates"][chosen["voice"]]
        return wire

    async def say(self, kind: str, **rest: Any) -> None:
        """Send a message. ServerError if the connection is over."""
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(json.dumps({"type": kind, **rest}, default=sent_as))
        except ConnectionClosed as error:
            raise self.error("gone", f"The server closed the connection: {error}.") from error

    async def hear(self) -> tuple[dict[str, Any], bytes]:
        """The next message, with its audio if it has any. ServerError for the connection's end, or
        before its beginning for any error."""
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
        """Cut the connection where something is due, nothing comes, and the server answers no
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
        """An error of this connection."""
        return ServerError(code, message, session=str(self.created.get("session_id", "")))

    async def end(self, *, clean: bool) -> None:
        """Close; with ``clean``, nothing is open and the server ends the session, which it then
        counts as a success."""
        if clean:
            with contextlib.suppress(ServerError, TimeoutError):
                async with asyncio.timeout(END_S):
                    await self.say("session.end")
                    await self._socket.wait_closed()
        await self._socket.close()


def address(url: object) -> str:
    """Where a server's native protocol is spoken; ConfigError for what is no address of a
    server."""
    scheme, separator, rest = url.partition("://") if isinstance(url, str) else ("", "", "")
    scheme = {"http": "ws", "https": "wss"}.get(scheme, scheme)
    with contextlib.suppress(ValueError):
        found = urlsplit(f"{scheme}{separator}{rest}")
        if scheme in ("ws", "wss") and found.hostname and (found.port is None or found.port):
            return f"{scheme}://{rest.rstrip('/')}/v1/stream"
    raise ConfigError(
        f"Client: url is {shown(url)}, but must be an address such as ws://127.0.0.1:8000."
    )
