"""The driver of all protocols: carries out a connection's commands and sends its events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

from sayahead.errors import VoiceError
from sayahead.server.hub import NEEDED, Hub, Lease, RefusedError
from sayahead.server.outbox import Outbox
from sayahead.server.synthesis import messages as m
from sayahead.server.utterance import Utterance

log = logging.getLogger("sayahead.server")


async def serve_session(
    hub: Hub,
    commands: AsyncIterator[m.Command],
    send: m.Send,
    *,
    lease: Lease,
    idle_s: float | None = None,
) -> m.Outcome:
    """Serve a connection to its end; return how it ended.

    ``commands`` yields what the peer wants; when the peer leaves, it raises GoneError or stops
    without an End. ``send`` hands an event to the peer. It blocks while the peer does not read,
    which pauses the synthesis of this connection only; it raises GoneError once the peer has left,
    and is never called concurrently. ``idle_s``: how long the connection may be without an
    utterance; None: as the server's limits say.
    """

    async def send_billed(event: m.Event) -> None:
        await hub.usage.settled()
        await send(event)

    outbox = Outbox(send if lease.gathers else send_billed, stall_s=hub.limits.write_stall_s)
    connection = Connection(hub, lease, outbox, idle_s)
    log.info("open", extra={"session": lease.id, **who(lease)})
    reading = asyncio.ensure_future(connection.read(commands))
    watching = asyncio.ensure_future(connection.watch())
    try:
        outcome = await outbox.ended
    finally:
        for task in (reading, watching):
            task.cancel()
        await asyncio.gather(reading, watching, return_exceptions=True)
        await connection.drop()
    log.info(
        "closed",
        extra={"session": lease.id, "outcome": outcome.code, **who(lease), **connection.figures()},
    )
    return outcome


class Connection:
    """One peer and its utterances."""

    def __init__(self, hub: Hub, lease: Lease, outbox: Outbox, idle_s: float | None) -> None:
        self._hub = hub
        self._lease = lease
        self._outbox = outbox
        self._limits = hub.limits
        self._idle_s = None if idle_s is None else min(idle_s, hub.limits.idle_most_s)
        self._loop = asyncio.get_running_loop()
        self._utterances: dict[str, Utterance] = {}
        self._start = self._loop.time()
        self._last_command = self._start
        self._before_first_command = True
        self._ending = False
        # Whether a command is being carried out: it may have to wait for the client's rate limit.
        self._is_busy = False
        self._characters = 0
        self._audio_s = 0.0
        # Whether any text was spoken to its end, or until its client cancelled it.
        self._has_spoken = False
        # The utterance that was refused last: further commands for it are ignored without an error.
        self._refused_name: str | None = None

    async def read(self, commands: AsyncIterator[m.Command]) -> None:
        """Carry out commands until the connection ends."""
        try:
            async for command in commands:
                self._before_first_command = False
                self._last_command = self._loop.time()
                if not self._ending:
                    self._is_busy = True
                    await self._carry_out(command)
                    self._is_busy = False
                if self._outbox.ended.done():
                    return
            if not self._ending:
                self._on_peer_left()
        except m.GoneError:
            self._on_peer_left()
        except Exception as error:
            log.exception("A connection failed", extra={"session": self._lease.id})
            message = f"Internal error ({type(error).__name__}): the client is not at fault."
            await self._outbox.fail("failed", message)

    def _on_peer_left(self) -> None:
        """End the connection as "done" if the peer has received all of its texts, else as
        "gone"."""
        self._outbox.end("done" if self._has_spoken and not self._utterances else "gone")

    async def _carry_out(self, command: m.Command) -> None:
        """Carry out one command."""
        match command:
            case m.Open(name):
                if name not in self._utterances:
                    await self._open(command)
            case m.Refuse(code, message, name, fatal, mark):
                if fatal:
                    await self._outbox.fail(code, message)
                else:
                    await self._outbox.send(m.Failed(code, message, name, mark=mark))
            case m.Reply(message):
                await self._outbox.send(m.Echo(message))
            case m.Played(name, played_s):
                playing = self._utterances.get(name)
                if playing is not None and (refusal := playing.played(played_s)) is not None:
                    await self._outbox.send(m.Failed("invalid_option", refusal, name))
            case m.KeepAlive(name):
                for utterance in self._utterances.values():
                    if name in (None, utterance.name):
                        utterance.touch()
            case m.End():
                self._ending = True
                for utterance in self._utterances.values():
                    utterance.finish()
                self._end_if_done()
            case _:
                await self._to_utterance(command)

    async def _to_utterance(
        self, command: m.Text | m.Revise | m.Deliver | m.Speaker | m.Flush | m.Finish | m.Cancel
    ) -> None:
        """Pass a command to its utterance; report an error to the client if it cannot be carried
        out."""
        name = command.utterance
        utterance = self._utterances.get(name)
        if utterance is None or (utterance.finishing and not isinstance(command, m.Cancel)):
            if name != self._refused_name:
                problem = "is not open" if utterance is None else "takes no more text"
                message = f"The context {name[:80]!r} {problem}."
                await self._outbox.send(
                    m.Failed("unknown_context", message, name, mark=revision_mark(command))
                )
            return
        refusal = None
        code = "too_much_text"
        match command:
            case m.Text(_, text) | m.Revise(text=text):
                if (refusal := utterance.bill.refusal(utterance.more(command))) is not None:
                    code = "quota"
                else:
                    refusal = (
                        utterance.push(text)
                        if isinstance(command, m.Text)
                        else utterance.revise(command)
                    )
                if refusal is None:
                    self._characters += len(text)
            case m.Flush():
                refusal = utterance.flush(command)
            case m.Finish():
                utterance.finish()
            case m.Deliver() | m.Speaker():
                utterance.change(command)
            case m.Cancel(_, played_s, live):
                await utterance.cancel(played_s, live=live)
        if refusal is not None:
            caller = self._lease.caller
            self._hub.refused(
                code,
                caller.address,
                self._lease.protocol,
                caller=caller.name,
                session=self._lease.id,
            )
            await self._outbox.send(m.Failed(code, refusal, name, mark=revision_mark(command)))

    async def _open(self, command: m.Open) -> None:
        """Begin an utterance, or tell the client why it may not."""
        name = command.utterance
        options = command.options
        try:
            options = self._hub.permitted(self._lease.caller, options)
            bill = self._hub.bill(self._lease, options)
            self._hub.open_utterance(self._lease)
        except (RefusedError, VoiceError) as refused:
            code = refused.code if isinstance(refused, RefusedError) else "unknown_voice"
            self._refused_name = name
            await self._outbox.send(m.Failed(code, str(refused), name, gone=True))
            if options.sole:
                self._outbox.end(code, str(refused))
            return
        self._refused_name = None
        bill.begin()
        utterance = Utterance(
            name, options, self._hub, self._lease, self._outbox, bill, leave=self._leave
        )
        self._utterances[name] = utterance
        utterance.start()

    def _leave(self, utterance: Utterance, outcome: str) -> None:
        """Remove an utterance that is over, and free its place. Calling it again does nothing."""
        if self._utterances.get(utterance.name) is utterance:
            del self._utterances[utterance.name]
            self._hub.close_utterance(self._lease, unheard_s=utterance.unheard_s)
            self._hub.metrics.sessions.labels(self._lease.protocol, outcome).inc()
            self._audio_s += utterance.sent_s
            utterance.note(self._lease, outcome)
            self._has_spoken = self._has_spoken or outcome in ("done", "cancelled")
            self._last_command = self._loop.time()
            self._end_if_done()

    def _end_if_done(self) -> None:
        if self._ending and not self._utterances:
            self._outbox.end("done")

    async def drop(self) -> None:
        """Stop all utterances."""
        utterances = list(self._utterances.values())
        for utterance in utterances:
            self._leave(utterance, "dropped")
        await asyncio.gather(*(utterance.stop() for utterance in utterances))

    async def watch(self) -> None:
        """End the connection or utterances that are idle or open for too long."""
        limits = self._limits
        fail = self._outbox.fail
        closing = asyncio.ensure_future(self._hub.closing.wait())
        place_lost = asyncio.ensure_future(self._lease.lost.wait())
        try:
            while not self._outbox.ended.done():
                limit = self._idle_s or (
                    limits.first_message_s if self._before_first_command else limits.idle_s
                )
                timeout = min(1.0, limit / 4, limits.session_s / 4)
                await asyncio.wait(
                    {closing, place_lost}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
                )
                now = self._loop.time()
                if self._waits():
                    self._last_command = now
                    for utterance in self._utterances.values():
                        utterance.touch()
                if closing.done():
                    await fail("shutdown", "The server is shutting down.")
                elif place_lost.done():
                    await fail("overloaded", NEEDED)
                elif self._hub.draining and not self._utterances:
                    await fail("shutdown", "The server is shutting down: reconnect in a moment.")
                elif now - self._start > limits.session_s:
                    await fail(
                        "too_long", f"The connection was open for {limits.session_s:g} seconds."
                    )
                elif not self._utterances and now - self._last_command > limit:
                    await fail("idle", f"Nothing arrived for {limit:g} seconds.")
                for utterance in list(self._utterances.values()):
                    if utterance.idle(now):
                        await utterance.fail(
                            "idle", f"No text arrived for {utterance.idle_s:g} seconds."
                        )
        finally:
            closing.cancel()
            place_lost.cancel()

    def _waits(self) -> bool:
        """Return whether anything from the client is still waiting here: then the client does not
        count as silent."""
        reading = self._lease.reading
        return self._is_busy or (reading is not None and reading.waiting)

    def figures(self) -> dict[str, Any]:
        """Return what the log says about the connection at its end."""
        duration_s = self._loop.time() - self._start
        lease = self._lease
        figures = {
            "voice": ",".join(lease.voices),
            "language": ",".join(lease.languages),
            "texts": lease.texts,
            "characters": self._characters,
            "audio_s": round(self._audio_s, 3),
        }
        if lease.first_audio_s is not None:
            figures["first_audio_s"] = round(lease.first_audio_s, 3)
        return figures | {"underruns": lease.underruns, "lasted_s": round(duration_s, 3)}


def who(lease: Lease) -> dict[str, str]:
    """Return the log fields that identify a connection's client."""
    caller = lease.caller
    return {
        "protocol": lease.protocol,
        "caller": caller.name,
        **({"address": caller.address} if caller.address else {}),
    }


def revision_mark(command: m.Command) -> str | int | None:
    """Return the client's mark of a revision; None for other commands."""
    return command.mark if isinstance(command, m.Revise) else None
