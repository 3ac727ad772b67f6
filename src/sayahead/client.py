"""An asyncio client of ``sayahead serve``: text goes in word by word, audio comes back while it is written."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import numpy as np

from sayahead.config import check_text, check_whole, describe, sent_as, shown
from sayahead.engine.heard import Heard, Transcript
from sayahead.errors import ConfigError, SayaheadError, SessionError
from sayahead.speech import asynchronous, end_of_failed, fragments_of
from sayahead.types import AudioChunk, WordTiming

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

CODES = {401: "unauthorized", 403: "forbidden", 429: "overloaded", 503: "overloaded"}
ELSEWHERE = ("overloaded", "shutdown", "unreachable", "gone")
"""Codes of errors that another server may not have."""
SLOW = "The servers did not answer in time: they may be full, or gone."
# Chunks that may wait for their reader; above that, the connection is not read until there is room.
QUEUE = 1000
PATIENCE_S = 15.0
"""How long a long text waits for room at the server without a word: longer than any break in it."""


class ServerError(SayaheadError):
    """The server refused something, or has gone. ``code`` is the protocol's name for it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


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

    TRIES, TRY_S = 3, 0.5

    def __init__(
        self, url: str | Sequence[str] = "ws://127.0.0.1:8000", *, key: str | None = None, **session: Any
    ) -> None:
        """``url``: a server, ws://HOST:PORT or as its page has it, http://HOST:PORT; or several: then one that is full,
        slow or gone is passed over for another, three times. ``session`` is what the server's session.update takes:
        voice, language, sample_rate, idle_s, breath_s, and the fields of SessionOptions by name."""
        if session.get("encoding", "pcm_s16le") != "pcm_s16le":
            raise ConfigError("Client: encoding must be pcm_s16le, or left out.")
        given = [url] if isinstance(url, str) else url
        if not isinstance(given, Sequence) or not given:
            raise ConfigError(f"Client: url is {describe(url)}: give the address of at least one server.")
        self._urls, self._session = random.sample([address(each) for each in given], len(given)), session
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._open: dict[str, Speech] = {}
        self._names = itertools.count()
        self._reading: asyncio.Task[None] | None = None
        self._socket: ClientConnection
        self.created: dict[str, Any] = {}
        """The server's first message: its voices, encodings and limits."""
        self.sample_rate = 0
        """Samples per second of all audio."""

    async def __aenter__(self) -> Self:
        if len(self._urls) == 1:
            await self._connect(self._urls[0])
        for at in range(self.TRIES if len(self._urls) > 1 else 0):
            try:
                async with asyncio.timeout(self.TRY_S):
                    await self._connect(self._urls[at % len(self._urls)])
                break
            except (ServerError, TimeoutError) as error:
                # Who may not connect here may not connect elsewhere.
                if getattr(error, "code", "") not in ("", *ELSEWHERE) or at == self.TRIES - 1:
                    raise error if isinstance(error, ServerError) else ServerError("unreachable", SLOW) from error
        self._reading = asyncio.create_task(self._read())
        return self

    async def _connect(self, url: str) -> None:
        """Connect to a server, and have it take the session's options."""
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import InvalidHandshake, InvalidStatus
        except ImportError as error:
            raise ConfigError("sayahead.client needs websockets: pip install 'sayahead[client]'.") from error
        try:
            self._socket = await connect(url, additional_headers=self._headers, compression=None, max_size=None)
        except (OSError, InvalidHandshake) as error:
            status = error.response.status_code if isinstance(error, InvalidStatus) else 0
            code = CODES.get(status, "unreachable")
            raise ServerError(code, f"{url} cannot be connected to: {error}.") from error
        try:
            self.created = await self._hear()
            await self._say("session.update", session=self._session)
            session = (await self._hear())["session"]
        except BaseException:
            await self._socket.close()
            raise
        self.sample_rate = session["sample_rate"] or self.created["sample_rates"][session["voice"]]

    async def __aexit__(self, *error: object) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._socket.close()

    def speech(self) -> Speech:
        """A new text to be spoken."""
        name = f"c{next(self._names)}"
        self._open[name] = Speech(self, name)
        return self._open[name]

    async def stream(self, fragments: Iterable[str] | AsyncIterable[str]) -> AsyncIterator[AudioChunk]:
        """The audio of the fragments, chunk by chunk as it arrives; leaving early silences the server."""
        speech = self.speech()
        writing = asyncio.create_task(speech.write(fragments))
        writing.add_done_callback(lambda task: end_of_failed(speech._chunks, task))
        try:
            async for chunk in speech:
                yield chunk
            await writing
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            with contextlib.suppress(ServerError):
                await speech.leave()

    async def _say(self, kind: str, **rest: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(json.dumps({"type": kind, **rest}, default=sent_as))
        except ConnectionClosed as error:
            raise ServerError("gone", f"The server closed the connection: {error}.") from error

    async def _hear(self) -> dict[str, Any]:
        """The next message; ServerError if it is an error or does not arrive."""
        from websockets.exceptions import ConnectionClosed

        try:
            data: dict[str, Any] = json.loads(await self._socket.recv())
        except ConnectionClosed as error:
            raise ServerError("gone", f"The server closed the connection: {error}.") from error
        if data["type"] == "error":
            raise ServerError(data["code"], data["message"])
        return data

    async def _read(self) -> None:
        """Pass every message to its text."""
        from websockets.exceptions import ConnectionClosed

        error = ServerError("gone", "The server closed the connection.")
        try:
            while True:
                data = json.loads(await self._socket.recv())
                sound = await self._socket.recv() if data["type"] == "speech.audio" else b""
                if data["type"] == "error" and data["context_id"] is None and data["gone"]:
                    error = ServerError(data["code"], data["message"])
                speech = self._open.get(data.get("context_id") or "")
                if speech is not None and isinstance(sound, bytes):
                    await speech.take(data, sound)
        except ConnectionClosed:
            for speech in list(self._open.values()):
                speech._end(error)

    def _forget(self, name: str) -> None:
        self._open.pop(name, None)


class Speech:
    """One text being spoken; an asynchronous iterator over its audio."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self._chunks: asyncio.Queue[AudioChunk | ServerError | None] = asyncio.Queue()
        self._room, self._progress = asyncio.Event(), asyncio.Event()
        # End of the last word that has arrived, in the text.
        self._spoken = 0
        self._samples, self._transcript = 0, Transcript()
        self._over = self._begun = self._silent = False
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # While the answer to a revision is awaited, other text waits: what it follows is not known yet.
        self._order = asyncio.Lock()
        self._revised: asyncio.Future[int] | None = None

    @property
    def text(self) -> str:
        """All text so far, as it was revised."""
        return self._transcript.text

    async def push(self, text: str) -> None:
        """More text. TextError if it is not text, SessionError after the end."""
        async with self._order:
            self._check_open("push", text)
            await self._append(text)

    async def _append(self, text: str) -> None:
        most = int(self._client.created["limits"]["message_characters"])
        for at in range(0, len(text), most):
            self._begun = True
            self._transcript.write(text[at : at + most])
            await self._client._say("input_text.append", context_id=self._name, text=text[at : at + most])

    async def revise(self, at: int, text: str) -> int:
        """From character ``at`` of ``text``, the property, on, it is now this one; what was spoken stays.

        Returns the character from which the change could be made, as ``Session.revise`` does. ConfigError where ``at``
        is no place of the text, SessionError after the end; neither changes anything.
        """
        async with self._order:
            self._check_open("revise", text)
            at = check_whole("at", at, 0, len(self.text))
            if not self._begun:
                await self._append(text)
                return 0
            most = int(self._client.created["limits"]["message_characters"])
            if len(text) > most:
                # It takes several messages: the first begins where the texts differ.
                pairs = zip(text, self.text[at:], strict=False)
                same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
                at, text = at + same, text[same:]
            self._revised = asyncio.get_running_loop().create_future()
            # A slow reader must not hold up the answer.
            self._room.set()
            try:
                await self._client._say("input_text.revise", context_id=self._name, at=at, text=text[:most])
                place = await self._revised
            finally:
                self._revised = None
            await self._append(text[most:])
            return place

    def _check_open(self, call: str, text: object) -> None:
        check_text(call, text)
        if self._over:
            raise SessionError(f"{call}() after the end: take a new speech().")

    async def flush(self, *, end: bool = False) -> None:
        """Speak all text so far without waiting for more, for example before a tool call. ``end`` ends its sentence."""
        async with self._order:
            if self._begun:
                await self._client._say("input_text.flush", context_id=self._name, end=end)

    async def finish(self) -> None:
        """Declare that no more text comes."""
        async with self._order:
            if not self._over:
                self._over = True
                await self._client._say("input_text.end", context_id=self._name)

    def heard(self, played_s: float | None = None) -> Heard:
        """What a listener has heard after playing ``played_s`` seconds of this text; None: all that has arrived.

        It works at any time, even long after the server has sent everything. ConfigError for more than has arrived.
        """
        return self._transcript.heard(played_s, samples=self._samples, sample_rate=self._client.sample_rate)

    async def played(self, played_s: float) -> None:
        """The listener has heard ``played_s`` seconds of this text: what ``keep_up`` goes by.

        Unless it is told, the server assumes that what it sends is played in real time. ConfigError for more than has
        arrived.
        """
        self.heard(played_s)
        if self._name in self._client._open and self._begun:
            await self._client._say("speech.played", context_id=self._name, played_s=played_s)

    async def cancel(self, played_s: float | None = None) -> Heard:
        """Fall silent at once (barge-in), even where ``heard`` then raises. What was heard."""
        self._over = self._silent = True
        self._empty()
        if self._name in self._client._open and self._begun:
            await self._client._say("input_text.cancel", context_id=self._name)
            await self._ended
        else:
            self._end(None)
        return self.heard(played_s)

    async def write(self, fragments: Iterable[str] | AsyncIterable[str]) -> None:
        """Push all fragments, then finish.

        Of a long text it sends no more than the server lets wait, so the audio must be read meanwhile.
        """
        async for fragment in asynchronous(fragments_of(fragments)):
            limits = self._client.created["limits"]
            size = int(min(limits["message_characters"], limits["pending_characters"]))
            for at in range(0, len(check_text("write", fragment)), size):
                await self._until_room(len(fragment[at : at + size]))
                await self.push(fragment[at : at + size])
        await self.finish()

    async def _until_room(self, characters: int) -> None:
        """Wait until the server takes ``characters`` more; after a while without a word from it, it shall decide."""
        most = int(self._client.created["limits"]["pending_characters"])
        while not self._over and len(self.text) - self._spoken + characters > most:
            self._progress.clear()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._progress.wait()
            except TimeoutError:
                return

    async def leave(self) -> None:
        """Cancel, if it is not over."""
        if self._name in self._client._open:
            self._over = True
            await self._client._say("input_text.cancel", context_id=self._name)
            self._client._forget(self._name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AudioChunk:
        item = await self._chunks.get()
        self._room.set()
        if isinstance(item, AudioChunk):
            return item
        # Asking again gives the same answer.
        self._chunks.put_nowait(item)
        if item is None:
            raise StopAsyncIteration
        raise item

    async def take(self, data: dict[str, Any], sound: bytes) -> None:
        """Take in a message of the server about this text."""
        if data["type"] == "speech.audio":
            rate = self._client.sample_rate
            samples = np.frombuffer(sound, "<i2").astype(np.float32) / np.float32(32767)
            words = tuple(
                WordTiming(w["word"], w["start"], w["end"], round(w["onset_s"] * rate), round(w["offset_s"] * rate))
                for w in data["words"]
            )
            chunk = AudioChunk(samples, self._samples, rate, words)
            self._samples += len(samples)
            self._transcript.add(words)
            if words:
                self._spoken = words[-1].end
                self._progress.set()
            while self._chunks.qsize() >= QUEUE and not self._silent and self._revised is None:
                self._room.clear()
                await self._room.wait()
            if not self._silent:
                self._chunks.put_nowait(chunk)
        elif data["type"] == "speech.revised":
            self._transcript.rewrite(self.text[: data["at"]] + data["text"])
            if self._revised is not None and not self._revised.done():
                self._revised.set_result(data["at"])
        elif data["type"] in ("speech.cancelled", "speech.done"):
            self._end(None)
        elif data["type"] == "error":
            if not data["gone"]:
                # Nothing more is made of it here, nor shall be there.
                with contextlib.suppress(ServerError):
                    await self._client._say("input_text.cancel", context_id=self._name)
            self._end(ServerError(data["code"], data["message"]))

    def _end(self, item: ServerError | None) -> None:
        """Nothing more comes after what is queued; ``item`` is the error, if that is why."""
        self._over = True
        self._progress.set()
        self._client._forget(self._name)
        if self._revised is not None and not self._revised.done():
            self._revised.set_exception(item or SessionError("The text was cancelled before it was revised."))
        if not self._ended.done():
            self._ended.set_result(None)
        if self._silent:
            self._empty()
        self._chunks.put_nowait(item)

    def _empty(self) -> None:
        while not self._chunks.empty():
            self._chunks.get_nowait()
        self._room.set()


def address(url: object) -> str:
    """Where a server's native protocol is spoken; ConfigError for what is no address of a server."""
    scheme, separator, rest = url.partition("://") if isinstance(url, str) else ("", "", "")
    scheme = {"http": "ws", "https": "wss"}.get(scheme, scheme)
    with contextlib.suppress(ValueError):
        found = urlsplit(f"{scheme}{separator}{rest}")
        if scheme in ("ws", "wss") and found.hostname and (found.port is None or found.port):
            return f"{scheme}://{rest.rstrip('/')}/v1/stream"
    raise ConfigError(f"Client: url is {shown(url)}, but must be an address such as ws://127.0.0.1:8000.")
