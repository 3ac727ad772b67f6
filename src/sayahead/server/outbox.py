"""The way out of one connection: events in order, one at a time, until it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

from sayahead.server.synthesis.messages import Event, Failed, GoneError, Outcome, Send


class Outbox:
    """Hands the events of all utterances to one peer, and knows how the connection ended."""

    def __init__(self, transport: Send, *, stall_s: float) -> None:
        """``stall_s`` is how long the peer may take to read an event."""
        self._transport = transport
        self._stall_s = stall_s
        self._turn = asyncio.Lock()
        self.ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        """How the connection ended, once it has."""

    async def send(self, event: Event) -> None:
        """Hand an event to the peer, after those before it. GoneError if the connection is over."""
        async with self._turn:
            await self.send_next(event)

    def turn(self) -> asyncio.Lock:
        """The right to send, for what must be decided and sent in one go (by ``send_next``)."""
        return self._turn

    async def send_next(self, event: Event) -> None:
        """Hand over an event while holding the turn. GoneError if the connection is over."""
        async with self._patience():
            await self._hand(event)

    async def send_each(self, events: Iterator[Event]) -> None:
        """Hand events over, each made when it is its turn: others that wait come between. GoneError
        as ``send``."""
        loop = asyncio.get_running_loop()
        since = 0.0
        async with self._patience() as patience:
            while True:
                async with self._turn:
                    # A clock for each event would cost more than handing it over.
                    if (now := loop.time()) > since + self._stall_s / 100:
                        since = now
                        patience.reschedule(now + self._stall_s)
                    if (event := next(events, None)) is None:
                        return
                    await self._hand(event)

    async def _hand(self, event: Event) -> None:
        if self.ended.done():
            raise GoneError("The connection has ended.")
        await self._transport(event)

    @contextlib.asynccontextmanager
    async def _patience(self) -> AsyncIterator[asyncio.Timeout]:
        """Time in which the peer must take what is handed over inside, or the connection ends."""
        try:
            async with asyncio.timeout(self._stall_s) as patience:
                yield patience
        except TimeoutError:
            self.end("stalled", f"The client did not read for {self._stall_s:g} seconds.")
            raise GoneError("The client is not reading.") from None
        except GoneError:
            self.end("gone")
            raise

    def end(self, code: str, message: str = "") -> None:
        """Say how the connection ends; the first call counts."""
        if not self.ended.done():
            self.ended.set_result(Outcome(code, message))

    async def fail(self, code: str, message: str) -> None:
        """Tell the peer why the connection ends, and end it."""
        with contextlib.suppress(GoneError):
            await self.send(Failed(code, message, gone=True))
        self.end(code, message)
