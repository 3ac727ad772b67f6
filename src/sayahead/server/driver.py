"""The one driver of all protocols: commands in, events out, speech in between."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from sayahead.server.hub import Hub, Lease, RefusedError
from sayahead.server.messages import (
    Cancel,
    Command,
    Echo,
    End,
    Event,
    Failed,
    Finish,
    Flush,
    GoneError,
    KeepAlive,
    Open,
    Outcome,
    Refuse,
    Reply,
    Send,
    Text,
)
from sayahead.server.utterance import Context

log = logging.getLogger("sayahead.server")


async def serve_session(
    hub: Hub, commands: AsyncIterator[Command], send: Send, *, lease: Lease, idle_s: float | None = None
) -> Outcome:
    """How a connection ended, after all of it was served.

    ``commands`` gives what the peer wants; it raises GoneError when the peer is gone, or ends, which before End means
    the same. ``send`` hands an event to the peer: it waits while the peer does not read, which pauses the synthesis of
    this connection alone, and raises GoneError where the peer is not there. It is never called twice at once.
    ``idle_s`` is how long the connection may be without a context; None: as the server's limits say.
    """
    connection = Connection(hub, send, lease, idle_s)
    log.info("open", extra={"session": lease.id, "protocol": lease.protocol, "caller": lease.caller.name})
    reading = asyncio.ensure_future(connection.read(commands))
    watching = asyncio.ensure_future(connection.watch())
    try:
        outcome = await connection.ended
    finally:
        for task in (reading, watching):
            task.cancel()
        await asyncio.gather(reading, watching, return_exceptions=True)
        await connection.drop()
    log.info("closed", extra={"session": lease.id, "outcome": outcome.code, **connection.figures()})
    return outcome


class Connection:
    """One peer, with its contexts."""

    def __init__(self, hub: Hub, send: Send, lease: Lease, idle_s: float | None = None) -> None:
        self.hub, self.lease, self.limits = hub, lease, hub.limits
        self._idle_s = None if idle_s is None else min(idle_s, hub.limits.idle_most_s)
        self.loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[Outcome] = self.loop.create_future()
        self.contexts: dict[str, Context] = {}
        self._transport, self._sending = send, asyncio.Lock()
        self._begun = self._heard = self.loop.time()
        self._first, self._ending = True, False
        self._characters, self._audio_s = 0, 0.0
        # The context that was refused last: what follows for it needs no more errors.
        self._refused: str | None = None

    # What goes out.

    async def send(self, event: Event) -> None:
        """Hand an event to the peer, after those before it."""
        async with self._sending:
            await self.send_next(event)

    def turn(self) -> asyncio.Lock:
        """The right to send, for several events that belong together (by ``send_next``)."""
        return self._sending

    async def send_next(self, event: Event) -> None:
        """Hand over an event while one has the turn. GoneError where the connection is over."""
        if self.ended.done():
            raise GoneError("The connection is over.")
        try:
            async with asyncio.timeout(self.limits.write_stall_s):
                await self._transport(event)
        except TimeoutError:
            self.end("stalled", f"The client did not read for {self.limits.write_stall_s:g} seconds.")
            raise GoneError("The client does not read.") from None
        except GoneError:
            self.end("gone")
            raise

    def end(self, code: str, message: str = "") -> None:
        """Say how the connection ends; the first word counts."""
        if not self.ended.done():
            self.ended.set_result(Outcome(code, message))

    async def fail(self, code: str, message: str) -> None:
        """Tell the peer why the connection ends, and end it."""
        with contextlib.suppress(GoneError):
            await self.send(Failed(code, message, gone=True))
        self.end(code, message)

    # What comes in.

    async def read(self, commands: AsyncIterator[Command]) -> None:
        """Carry out the commands."""
        try:
            async for command in commands:
                self._first, self._heard = False, self.loop.time()
                if not self._ending:
                    await self._carry_out(command)
                if self.ended.done():
                    return
            if not self._ending:
                self.end("gone")
        except GoneError:
            self.end("gone")
        except Exception as error:
            log.exception("A connection failed", extra={"session": self.lease.id})
            await self.fail("failed", f"The server failed ({type(error).__name__}); it is not the client's fault.")

    async def _carry_out(self, command: Command) -> None:
        match command:
            case Open(name, options):
                if name not in self.contexts:
                    await self._open(Open(name, options))
            case Refuse(code, message, name, fatal):
                if fatal:
                    await self.fail(code, message)
                else:
                    await self.send(Failed(code, message, name))
            case Reply(message):
                await self.send(Echo(message))
            case KeepAlive(name):
                for context in self.contexts.values():
                    if name in (None, context.name):
                        context.touch()
            case End():
                self._ending = True
                for context in self.contexts.values():
                    context.finish()
                self._end_if_done()
            case _:
                await self._to_context(command)

    async def _to_context(self, command: Command) -> None:
        assert isinstance(command, Text | Flush | Finish | Cancel)
        context = self.contexts.get(command.context)
        if context is None or (context.finishing and not isinstance(command, Cancel)):
            if command.context == self._refused:
                return
            what = "is not open" if context is None else "takes no more text"
            await self.send(Failed("unknown_context", f"The context {command.context[:80]!r} {what}.", command.context))
            return
        match command:
            case Text(_, text):
                refusal = context.push(text)
                if refusal is None:
                    self._characters += len(text)
                else:
                    self.hub.metrics.rejected.labels("too_much_text").inc()
                    await self.send(Failed("too_much_text", refusal, context.name))
            case Flush(_, mark):
                context.flush(mark)
            case Finish():
                context.finish()
            case Cancel():
                await context.cancel()

    async def _open(self, command: Open) -> None:
        try:
            self.hub.open_context(self.lease)
        except RefusedError as refused:
            self._refused = command.context
            await self.send(Failed(refused.code, str(refused), command.context, gone=True))
            if command.options.sole:
                self.end(refused.code, str(refused))
            return
        self._refused = None
        context = Context(self, command.context, command.options)
        self.contexts[command.context] = context
        context.start()

    # Contexts and their end.

    def leave(self, context: Context, outcome: str) -> None:
        """A context is over: its name and its place are free. Harmless when repeated."""
        if self.contexts.get(context.name) is context:
            del self.contexts[context.name]
            self.hub.close_context(self.lease)
            self.hub.metrics.sessions.labels(self.lease.protocol, outcome).inc()
            self._audio_s += context.sent_s
            self._heard = self.loop.time()
            self._end_if_done()

    def _end_if_done(self) -> None:
        if self._ending and not self.contexts:
            self.end("done")

    async def drop(self) -> None:
        """Leave no context behind."""
        contexts = list(self.contexts.values())
        for context in contexts:
            self.leave(context, "dropped")
        await asyncio.gather(*(context.stop() for context in contexts))

    async def watch(self) -> None:
        """End what is silent for too long, or takes too long."""
        closing = asyncio.ensure_future(self.hub.closing.wait())
        try:
            while not self.ended.done():
                limit = self._idle_s or (self.limits.first_message_s if self._first else self.limits.idle_s)
                await asyncio.wait({closing}, timeout=min(1.0, limit / 4, self.limits.session_s / 4))
                now = self.loop.time()
                if closing.done():
                    await self.fail("shutdown", "The server goes down.")
                elif self.hub.draining and not self.contexts:
                    await self.fail("shutdown", "The server is going down: connect again in a moment.")
                elif now - self._begun > self.limits.session_s:
                    await self.fail("too_long", f"The connection was open for {self.limits.session_s:g} seconds.")
                elif not self.contexts and now - self._heard > limit:
                    await self.fail("idle", f"Nothing came for {limit:g} seconds.")
                for context in list(self.contexts.values()):
                    if context.idle(now):
                        await context.fail("idle", f"No text came for {context.idle_s:g} seconds.")
        finally:
            closing.cancel()

    def figures(self) -> dict[str, float]:
        """What the log says of the connection."""
        lasted = self.loop.time() - self._begun
        return {"characters": self._characters, "audio_s": round(self._audio_s, 3), "lasted_s": round(lasted, 3)}
