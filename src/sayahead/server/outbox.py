"""The outgoing side of one connection: events in order, one at a time, until it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

from sayahead.server.synthesis.messages import Event, Failed, GoneError, Outcome, Send


class Outbox:
    """Sends the events of all utterances to one peer, and records how the connection ended."""

    def __init__(self, transport: Send, *, stall_s: float) -> None:
        """``stall_s``: how long the peer may take to read an event."""
        self._transport = transport
        self._stall_s = stall_s
        self._turn = asyncio.Lock()
        self.ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        """How the connection ended; pending while it is open."""

    async def send(self, event: Event) -> None:
        """Send an event after those before it. GoneError if the connection is over."""
        async with self._turn:
            await self.send_next(event)

    def turn(self) -> asyncio.Lock:
        """Return the lock for sending, to decide and send atomically (with ``send_next``)."""
        return self._turn

    async def send_next(self, event: Event) -> None:
        """Send an event while holding the lock. GoneError if the connection is over."""
        async with self._stall_timeout():
            await self._hand_over(event)

    async def send_each(self, events: Iterator[Event]) -> None:
        """Send events, each made right before it is sent; other senders may come between. GoneError
        as ``send``."""
        loop = asyncio.get_running_loop()
        rescheduled_at = 0.0
        async with self._stall_timeout() as timeout:
            while True:
                async with self._turn:
                    # Rescheduling the timeout for each event would cost more than sending it.
                    if (now := loop.time()) > rescheduled_at + self._stall_s / 100:
                        rescheduled_at = now
                        timeout.reschedule(now + self._stall_s)
                    if (event := next(events, None)) is None:
                        return
                    await self._hand_over(event)

    async def _hand_over(self, event: Event) -> None:
        """Pass an event to the transport. GoneError if the connection is over."""
        if self.ended.done():
            raise GoneError("The connection has ended.")
        await self._transport(event)

    @contextlib.asynccontextmanager
    async def _stall_timeout(self) -> AsyncIterator[asyncio.Timeout]:
        """End the connection if the code inside takes longer than ``stall_s``, or the peer
        leaves."""
        try:
            async with asyncio.timeout(self._stall_s) as timeout:
                yield timeout
        except TimeoutError:
            self.end("stalled", f"The client did not read for {self._stall_s:g} seconds.")
            raise GoneError("The client is not reading.") from None
        except GoneError:
            self.end("gone")
            raise

    def end(self, code: str, message: str = "") -> None:
        """Record how the connection ends; only the first call counts."""
        if not self.ended.done():
            self.ended.set_result(Outcome(code, message))

    async def fail(self, code: str, message: str) -> None:
        """Tell the peer why the connection ends, and end it."""
        with contextlib.suppress(GoneError):
            await self.send(Failed(code, message, gone=True))
        self.end(code, message)
