"""An asyncio client of ``sayahead serve``: text goes in word by word, audio comes back while it is
written."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from typing import Any, Self, Unpack, cast

from sayahead.client.choices import Choices
from sayahead.client.speech import Speech
from sayahead.client.wire import ELSEWHERE, ENDED, ServerError, Wire, address
from sayahead.config import describe
from sayahead.errors import ConfigError, SessionError
from sayahead.types import AudioChunk

__all__ = ["Client", "ServerError", "Speech"]
SLOW = "The servers did not answer in time: they may be full, or gone."
PAUSES_S = (0.05, 1.0)
"""Between attempts to go on elsewhere: the first, and the longest."""


class Client:
    """A connection to a server, on which any number of texts can be spoken, even concurrently.

    For example::

        async with Client("ws://127.0.0.1:8000", voice="heart") as client:
            speech = client.speech()
            await speech.push("Hello ")
            await speech.finish()
            async for chunk in speech:
                play(chunk.samples, chunk.sample_rate)
    """

    TRIES_S = (0.5, 2.0, 8.0)
    """How long each try may take to connect: where no server is quick, a slow one is waited for."""
    RESUME_S = 30.0
    """How long to look for a server that continues what another one has begun."""

    def __init__(
        self,
        url: str | Sequence[str] = "ws://127.0.0.1:8000",
        *,
        key: str | None = None,
        resume: bool | None = None,
        **session: Unpack[Choices],
    ) -> None:
        """``url``: a server (ws://HOST:PORT, or the address of its page), or several: if one is
        full, slow or gone, the next one is tried, three times in all. With ``resume``, a broken
        connection is made anew, with another server if there is one, and all speech continues where
        it was, without losing or repeating a word; None: if there are several servers. ``session``
        is what the server's session.update takes: voice, language, sample_rate, idle_s, breath_s,
        and the fields of SessionOptions by name."""
        if session.get("encoding", "pcm_s16le") != "pcm_s16le":
            raise ConfigError("Client: encoding must be pcm_s16le, or left out.")
        given = [url] if isinstance(url, str) else url
        if not isinstance(given, Sequence) or not given:
            raise ConfigError(
                f"Client: url is {describe(url)}: give the address of at least one server."
            )
        self._urls = random.sample([address(each) for each in given], len(given))
        self._session = cast(dict[str, Any], session)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._resumes = len(given) > 1 if resume is None else bool(resume)
        self._open: dict[str, Speech] = {}
        self._names = itertools.count()
        self._reading: asyncio.Task[None] | None = None
        self._resuming = set[asyncio.Task[None]]()
        self._wire: Wire
        # Counts connections, and their losses: a text knows by it whether the server has it.
        self._connection = 0
        self._needed = asyncio.Event()
        self.created: dict[str, Any] = {}
        """The server's first message: its voices, encodings and limits, and the session's id in its
        log."""
        self.sample_rate = 0
        """Samples per second of all audio."""
        self.resumed = 0
        """How often the connection was made anew."""

    async def __aenter__(self) -> Self:
        if len(self._urls) == 1:
            await self._connect(self._urls[0])
        for at, try_s in enumerate(self.TRIES_S if len(self._urls) > 1 else ()):
            try:
                async with asyncio.timeout(try_s):
                    await self._connect(self._urls[at % len(self._urls)])
                break
            except (ServerError, TimeoutError) as error:
                # Who may not connect here may not connect elsewhere.
                if (
                    getattr(error, "code", "") not in ("", *ELSEWHERE)
                    or at == len(self.TRIES_S) - 1
                ):
                    raise (
                        error
                        if isinstance(error, ServerError)
                        else ServerError("unreachable", SLOW)
                    ) from error
        self._reading = asyncio.create_task(self._read())
        return self

    async def _connect(self, url: str) -> None:
        """Begin a session with a server; where another one was in use, with the same audio."""
        # A server of before has given what proves to this one that it had begun what is to be said.
        resumed = str(self.created.get("resume") or "true") if self._connection else ""
        wire = await Wire.connect(url, self._headers, self._session, resumed=resumed)
        if self.sample_rate not in (0, wire.sample_rate):
            await wire.end(clean=True)
            message = (
                f"{url} speaks at {wire.sample_rate} Hz, the server before at {self.sample_rate}:"
                " name sample_rate."
            )
            raise ServerError("invalid_option", message)
        # The one in use is tried last, should it be lost.
        self._urls.sort(key=lambda each: each == url)
        self._wire = wire
        self.created = wire.created
        self.sample_rate = wire.sample_rate
        self._connection += 1

    async def __aexit__(self, *error: object) -> None:
        tasks = [*self._resuming, *([] if self._reading is None else [self._reading])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._wire.end(clean=not self._open)

    def speech(self) -> Speech:
        """Speech whose text you push. SessionError unless it is connected."""
        if not self.sample_rate:
            raise SessionError(
                "The client is not connected: use `async with Client(...) as client:`."
            )
        name = f"c{next(self._names)}"
        self._open[name] = Speech(self, name)
        return self._open[name]

    def speak(self, text: str | Iterable[str] | AsyncIterable[str]) -> Speech:
        """Speak text, which a task writes as it comes. Iterate over the result, play it, or cancel
        it: see Speech."""
        speech = self.speech()
        speech.write_apart(text)
        return speech

    async def stream(
        self, fragments: str | Iterable[str] | AsyncIterable[str]
    ) -> AsyncIterator[AudioChunk]:
        """The audio of the fragments, chunk by chunk as it arrives; leaving early silences the
        server."""
        speech = self.speak(fragments)
        try:
            async for chunk in speech:
                yield chunk
        finally:
            await speech.closed()

    async def _say(self, kind: str, **rest: Any) -> None:
        await self._wire.say(kind, **rest)

    def _error(self, code: str, message: str) -> ServerError:
        return self._wire.error(code, message)

    async def _read(self) -> None:
        """Pass every message to its text, from one connection after the other."""
        while True:
            error = await self._listen()
            self._connection += 1
            self._needed.clear()
            going_on = self._resumes and error.code in ENDED
            for speech in list(self._open.values()):
                speech._lost(error) if going_on else speech._end(error)
            await self._wire.end(clean=False)
            if not going_on:
                return
            if not any(speech._begun for speech in self._open.values()):
                await self._needed.wait()
            try:
                await self._go_on()
            except ServerError as failure:
                for speech in list(self._open.values()):
                    speech._end(failure)
                await self._needed.wait()

    async def _listen(self) -> ServerError:
        """Pass on messages until the connection ends; why it did."""
        watching = asyncio.create_task(self._wire.watch(self._is_due)) if self._resumes else None
        try:
            while True:
                data, sound = await self._wire.hear()
                speech = self._open.get(data.get("context_id") or "")
                if speech is not None:
                    await speech.take(data, sound)
        except ServerError as error:
            return error
        finally:
            if watching is not None:
                watching.cancel()

    def _is_due(self) -> bool:
        """Whether the server may have something to say."""
        return any(speech._begun for speech in self._open.values())

    async def _go_on(self) -> None:
        """Find a server, the last one last, and say there what is missing. ServerError if there is
        none for a while."""
        end = time.monotonic() + self.RESUME_S
        pause_s = PAUSES_S[0]
        for again in itertools.count():
            try_s = (
                self.TRIES_S[min(again, len(self.TRIES_S) - 1)]
                if len(self._urls) > 1
                else self.RESUME_S
            )
            for url in list(self._urls):
                try:
                    async with asyncio.timeout(try_s):
                        await self._connect(url)
                except (ServerError, TimeoutError) as error:
                    if getattr(error, "code", "") not in ("", *ELSEWHERE) or time.monotonic() > end:
                        raise (
                            error
                            if isinstance(error, ServerError)
                            else ServerError("unreachable", SLOW)
                        ) from error
                    continue
                self.resumed += 1
                for speech in self._open.values():
                    task = asyncio.create_task(speech._resume())
                    self._resuming.add(task)
                    task.add_done_callback(self._resuming.discard)
                return
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSES_S[1])

    def _forget(self, name: str) -> None:
        self._open.pop(name, None)
