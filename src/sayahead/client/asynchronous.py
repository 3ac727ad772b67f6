"""The asyncio client of ``sayahead serve``: text goes in word by word, audio comes back while it is
written."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import random
import time
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np

from sayahead.client.choices import Choices
from sayahead.client.resume import MAX_AGAIN, Splice, begin_again
from sayahead.client.wire import ELSEWHERE, ENDED, ServerError, Wire, address
from sayahead.config import check_text, check_whole, describe
from sayahead.engine.heard import Heard, Transcript
from sayahead.engine.options import flat
from sayahead.engine.written import written_at
from sayahead.errors import ConfigError, SessionError, renamed
from sayahead.sound.device import Player
from sayahead.speech import asynchronous, fragments_of
from sayahead.speech.turn import Turn, aplay
from sayahead.text.revision import unspoken
from sayahead.types import AudioChunk, WordTiming

log = logging.getLogger("sayahead")
# Chunks that may wait for their reader; above that, the connection is not read until there is room.
QUEUE = 1000
PATIENCE_S = 15.0
"""How long a long text waits for room at the server without a word: longer than any break in it."""
TAIL_S = 0.02
SILENCE_S = 1.0
"""How long a server may take to say that a text is cancelled: then what still comes of it is
dropped."""
IN_VAIN = 3
"""How often a text is said again without more of it arriving: another server is not to end by it,
too."""
SLOW = "The servers did not answer in time: they may be full, or gone."
PAUSES_S = (0.05, 1.0)
"""Between attempts to go on elsewhere: the first, and the longest."""


class AsyncClient:
    """A connection to a server, on which any number of texts can be spoken, even concurrently.

    For example::

        async with AsyncClient("ws://127.0.0.1:8000", voice="heart") as client:
            speech = client.open_speech()
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
        addresses = [url] if isinstance(url, str) else url
        if not isinstance(addresses, Sequence) or not addresses:
            raise ConfigError(
                f"Client: url is {describe(url)}: give the address of at least one server."
            )
        self._urls = random.sample([address(each) for each in addresses], len(addresses))
        self._session = flat(session)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._resumes = len(addresses) > 1 if resume is None else bool(resume)
        self._open: dict[str, AsyncSpeech] = {}
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

    def open_speech(self) -> AsyncSpeech:
        """Speech whose text you push. SessionError unless it is connected."""
        if not self.sample_rate:
            raise SessionError(
                "The client is not connected: use `async with AsyncClient(...) as client:`."
            )
        name = f"c{next(self._names)}"
        self._open[name] = AsyncSpeech(self, name)
        return self._open[name]

    def speech(self) -> AsyncSpeech:
        """The name of ``open_speech`` in version 0.1."""
        renamed("speech", "open_speech")
        return self.open_speech()

    def speak(self, text: str | Iterable[str] | AsyncIterable[str]) -> AsyncSpeech:
        """Speak text, which a task writes as it comes. Iterate over the result, play it, or cancel
        it: see AsyncSpeech."""
        speech = self.open_speech()
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


class AsyncSpeech:
    """Text being spoken by the server; an asynchronous iterator over its audio."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client = client
        self._name = name
        self._chunks: asyncio.Queue[AudioChunk | ServerError | None] = asyncio.Queue()
        self._room = asyncio.Event()
        self._progress = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        # Samples that have arrived.
        self._samples = 0
        self._transcript = Transcript()
        # Whether all sound of the whole text has arrived.
        self._complete = False
        self.turn = Turn(self._transcript, client.sample_rate, lambda: self._complete)
        """What its listener hears."""
        self._over = False
        self._begun = False
        self._silent = False
        self._cancelling = False
        self.words = list[WordTiming]()
        """The words of all sound that was handed out."""
        # What writes the text, and the error with which that ended.
        self._writing: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        # While the answer to a revision is awaited, other text waits: what it follows is not known
        # yet.
        self._order = asyncio.Lock()
        self._revised: asyncio.Future[int] | None = None
        # The connection that has this text, where in the text its server's part begins, and what of
        # that is new.
        self._connection = client._connection
        self._offset = 0
        self._splice: Splice | None = None
        # How far the text was sent, and how far the server that has it has spoken.
        self._sent = 0
        self._spoken = 0
        # The last words that have arrived, and the places of flushes that may have to be said
        # again.
        self._last_words = deque[WordTiming](maxlen=MAX_AGAIN)
        self._flushes = list[tuple[int, bool]]()
        # Where the text was revised.
        self._seams = deque[int](maxlen=MAX_AGAIN)
        self._in_vain = 0
        self._arrived = 0
        # The end of the sound, to which what follows is joined.
        self._tail = np.zeros(0, np.float32)

    @property
    def text(self) -> str:
        """All text so far, with its revisions."""
        return self._transcript.text

    @property
    def unsaid(self) -> str:
        """The text so far that was not heard: see ``heard``."""
        return self.heard().unsaid

    async def push(self, text: str) -> None:
        """Add text. TextError if it is not text, SessionError after the end."""
        async with self._order:
            self._check_open("push", text)
            await self._append(text)

    async def _append(self, text: str) -> None:
        most = int(self._client.created["limits"]["message_characters"])
        for at in range(0, len(text), most):
            self._begun = True
            self._transcript.write(text[at : at + most])
            await self._send("input_text.append", text=text[at : at + most])

    async def _send(self, kind: str, **rest: Any) -> bool:
        """Tell the server that has this text; where it is lost, the next one is told all anew.
        Whether it was told."""
        if self._connection == self._client._connection:
            try:
                await self._client._say(kind, context_id=self._name, **rest)
            except ServerError:
                if not self._client._resumes:
                    raise
            else:
                self._sent += len(rest.get("text", ""))
                return True
        if self._name in self._client._open:
            self._client._needed.set()
        return False

    async def revise(self, at: int, text: str) -> int:
        """Replace the text from character ``at`` on: what was not spoken yet is taken back.

        Returns the character from which it could be, as ``sayahead.Speech.revise`` does."""
        async with self._order:
            self._check_open("revise", text)
            at = check_whole("at", at, 0, len(self.text))
            if not self._begun:
                await self._append(text)
                return 0
            if self._splice is not None:
                at, text = self._unspoken(at, text)
            most = int(self._client.created["limits"]["message_characters"])
            if len(text) > most:
                # It takes several messages: the first begins where the texts differ.
                pairs = zip(text, self.text[at:], strict=False)
                same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
                at = at + same
                text = text[same:]
            answer = asyncio.get_running_loop().create_future()
            self._revised = answer
            # A slow reader must not hold up the answer.
            self._room.set()
            try:
                told = await self._send("input_text.revise", at=at - self._offset, text=text[:most])
                place = await answer if told else -1
            finally:
                self._revised = None
            if place < 0:
                # No server has this text now.
                at, text = self._unspoken(at, text)
                self._rewrite(self.text[:at] + text, at)
                return at
            self._sent = self._transcript.characters
            await self._append(text[most:])
            return place

    def _unspoken(self, at: int, text: str) -> tuple[int, str]:
        """A revision without what stands for words that have arrived."""
        spoken = self._last_words[-1].end if self._last_words else 0
        return (
            (spoken, unspoken(self.text[:at], self.text[at:spoken], text))
            if at < spoken
            else (at, text)
        )

    def _rewrite(self, text: str, at: int) -> None:
        """The text is another from a character on."""
        self._transcript.rewrite(text)
        self._seams.append(at)
        self._flushes = [flush for flush in self._flushes if flush[0] <= at]

    def _check_open(self, call: str, text: object) -> None:
        check_text(call, text)
        if self._over:
            raise SessionError(f"{call}() after the end: take a new open_speech().")

    async def flush(self, *, end: bool = False) -> None:
        """Speak all text so far without waiting for more, for example before a tool call. ``end``
        ends its sentence."""
        async with self._order:
            if self._begun:
                first = self._last_words[0].start if self._last_words else 0
                place = self._transcript.characters
                self._flushes = [
                    *(flush for flush in self._flushes if flush[0] >= first),
                    (place, end),
                ]
                await self._send("input_text.flush", end=end)

    async def finish(self) -> None:
        """Declare that no more text comes."""
        async with self._order:
            if not self._over:
                self._over = True
                self._begun = True
                self._transcript.ended = True
                await self._send("input_text.end")

    def heard(self, played_s: float | None = None) -> Heard:
        """What the listener has heard after ``played_s`` seconds of sound.

        As ``sayahead.Speech.heard``; at any time, even long after the server has sent all."""
        return self.turn.heard(played_s)

    async def played(self, played_s: float) -> None:
        """Say that ``played_s`` seconds have been played: ``heard`` and ``cancel`` go by it, and
        ``keep_up``.

        Unless it is told, the server assumes that what it sends is played in real time. ConfigError
        for more than was handed out.
        """
        self.turn.tell(played_s)
        shift = self._splice.shift if self._splice else 0
        if self._name in self._client._open and self._begun and shift is not None:
            own_s = played_s + shift / self._client.sample_rate
            if own_s >= 0:
                await self._send("speech.played", played_s=own_s)

    async def cancel(self, played_s: float | None = None) -> Heard:
        """Fall silent at once (barge-in), and return what was heard, as ``heard`` does.

        As ``sayahead.Speech.cancel``.
        """
        try:
            return self.turn.end(played_s, self.hush)
        finally:
            await self._silence()

    def hush(self) -> None:
        """Take no more text and hand out no more sound; from any thread."""
        self._over = True
        self._silent = True
        # Whoever waits for sound is to look again.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._chunks.put_nowait, None)

    async def _silence(self) -> None:
        """Have the server stop, and wait until it has."""
        self.hush()
        self._empty()
        if self._writing is not None:
            self._writing.cancel()
        end = asyncio.get_running_loop().time() + SILENCE_S
        if await self._tell_silent():
            left_s = end - asyncio.get_running_loop().time()
            await asyncio.wait({self._ended}, timeout=left_s)
        self._end(None)

    async def _tell_silent(self) -> bool:
        """Have the server stop, unless it has ended or been told; whether it was told now or
        before."""
        if self._name not in self._client._open or not self._begun:
            return False
        if not self._cancelling:
            self._cancelling = True
            # Where nothing leaves any more, the message is behind all that waits.
            with contextlib.suppress(ServerError, TimeoutError):
                async with asyncio.timeout(SILENCE_S):
                    return await self._send("input_text.cancel")
            return False
        return True

    def write_apart(self, text: str | Iterable[str] | AsyncIterable[str]) -> None:
        """Have a text written by a task; an error in it is raised where the sound is awaited, as
        soon as it happens."""
        fragments = fragments_of(text)
        self._writing = asyncio.create_task(self.write(fragments), name="text")
        self._writing.add_done_callback(self._written)

    def _written(self, writing: asyncio.Task[None]) -> None:
        if not writing.cancelled() and (error := writing.exception()) is not None:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """The text has ended by an error."""
        if self._silent or (isinstance(error, ServerError | SessionError) and self._ended.done()):
            # It was not wanted any more, or its sound has ended by the same error.
            return
        self._failure = error
        if self.turn.is_played:
            self.turn.end(None, self.hush)
        self._chunks.put_nowait(None)

    async def aplay(self, player: Player | None = None) -> Heard:
        """Play to the end or to ``cancel``, and return what was heard. Needs the ``play`` extra.

        ``player``: an open one of the same sample rate, which stays open; None: the system's
        default device. A task that is cancelled meanwhile falls silent, and closes the text."""
        if player is None:
            with Player(self._client.sample_rate) as own:
                return await self.aplay(own)
        return await aplay(self.turn, self.following, player, self._end_turn, self.closed)

    def _end_turn(self) -> Heard:
        return self.turn.end(None, self.hush)

    async def following(self) -> AudioChunk | None:
        """The next chunk; None at the end."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            return None

    async def closed(self) -> None:
        """Leave, and wait until the text is closed."""
        if self._writing is not None:
            self._writing.cancel()
        with contextlib.suppress(ServerError):
            await self.leave()
        if self._writing is not None:
            await asyncio.wait({self._writing})

    async def write(self, fragments: Iterable[str] | AsyncIterable[str]) -> None:
        """Push all fragments, then finish.

        Of a long text it sends no more than the server lets wait, so the audio must be read
        meanwhile."""
        async with contextlib.aclosing(asynchronous(fragments_of(fragments))) as pieces:  # type: ignore[type-var]
            async for fragment in pieces:
                await self.write_piece(fragment)
        await self.finish()

    async def write_piece(self, text: str) -> None:
        """Push a text of any size as the server has room for it."""
        size = self._piece()
        for at in range(0, len(check_text("write", text)), size):
            await self._until_room(len(text[at : at + size]))
            await self.push(text[at : at + size])

    def _piece(self) -> int:
        """Characters that a server takes in one message."""
        limits = self._client.created["limits"]
        return int(min(limits["message_characters"], limits["pending_characters"]))

    async def _until_room(self, characters: int) -> None:
        """Wait until the server takes ``characters`` more; after a while without a word from it, it
        shall decide."""
        most = int(self._client.created["limits"]["pending_characters"])
        connection = self._client._connection
        while (
            self._sent - self._spoken + characters > most and connection == self._client._connection
        ):
            if self._ended.done() or self._silent:
                return
            self._progress.clear()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._progress.wait()
            except TimeoutError:
                return

    def _lost(self, error: ServerError) -> None:
        """The connection is lost: this text goes on with the next one, if it is of use."""
        self._progress.set()
        self._in_vain = 0 if self._samples > self._arrived else self._in_vain + 1
        self._arrived = self._samples
        if self._silent or self._in_vain >= IN_VAIN:
            self._end(None if self._silent else error)
        elif self._revised is not None and not self._revised.done():
            self._revised.set_result(-1)

    async def _resume(self) -> None:
        """Tell the new server what it has to say: the open sentence from its beginning, and all
        that follows."""
        async with self._order:
            self._connection = self._client._connection
            if self._ended.done() or not self._begun:
                return
            text = self.text
            words = list(self._last_words)
            # Within markup, nothing but the beginning is outside of all tags.
            marked = self._client._session.get("markup", "none") != "none"
            self._offset = 0 if marked else begin_again(text, words, self._seams)
            self._sent = self._offset
            self._spoken = self._offset
            self._splice = Splice(
                words[-1] if words else None,
                self._samples,
                self._offset,
                self._tail,
                self._transcript.part,
            )
            flushes = [flush for flush in self._flushes if flush[0] > self._offset]
            at = self._offset
            size = self._piece()
            for place, end in [*flushes, (len(text), None)]:
                for begin in range(at, place, size):
                    part = text[begin : min(begin + size, place)]
                    await self._until_room(len(part))
                    if not await self._send("input_text.append", text=part):
                        return
                at = place
                if end is not None:
                    await self._send("input_text.flush", end=end)
            if self._over:
                await self._send("input_text.end")

    async def leave(self) -> None:
        """Cancel, if it is not over, and wait for no answer."""
        if self._name in self._client._open:
            self._over = True
            await self._tell_silent()
            self._end(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AudioChunk:
        self._check_failure()
        item = await self._chunks.get()
        self._check_failure()
        self._room.set()
        if isinstance(item, AudioChunk) and not self._silent:
            self.words += item.words
            self.turn.hand(item)
            return item
        if isinstance(item, AudioChunk):
            item = None
        # Asking again gives the same answer.
        self._chunks.put_nowait(item)
        if item is None:
            raise StopAsyncIteration
        raise item

    def _check_failure(self) -> None:
        """Raise the error of the text, once."""
        if self._failure is not None:
            failure = self._failure
            self._failure = None
            self._over = True
            self._empty()
            self._chunks.put_nowait(None)
            raise failure

    async def take(self, data: dict[str, Any], sound: bytes) -> None:
        """Take in a message of the server about this text."""
        match data["type"]:
            case "speech.audio":
                await self._take_sound(data["words"], sound)
            case "speech.revised":
                self._take_revision(self._offset + data["at"], data["text"])
            case "speech.skipped":
                start = self._offset + data["start"]
                end = self._offset + data["end"]
                what = "Skipped %r (characters %d to %d): this voice cannot read it."
                log.warning(what, data["text"], start, end)
            case "speech.done" | "speech.cancelled":
                self._take_end(complete=data["type"] == "speech.done")
            case "error":
                if not data["gone"]:
                    # Nothing more is made of it here, nor shall be there.
                    with contextlib.suppress(ServerError):
                        await self._send("input_text.cancel")
                self._end(self._client._error(data["code"], data["message"]))

    async def _take_sound(self, words: list[dict[str, Any]], sound: bytes) -> None:
        """Put a chunk into the queue, when there is room."""
        samples = np.frombuffer(sound, "<i2").astype(np.float32) / np.float32(32767)
        chunk = self._new(words, samples)
        if chunk is None:
            return
        while self._chunks.qsize() >= QUEUE and not self._silent and self._revised is None:
            self._room.clear()
            await self._room.wait()
        if not self._silent:
            self._chunks.put_nowait(chunk)

    def _take_revision(self, at: int, text: str) -> None:
        """The server's text is another from a character on."""
        self._rewrite(self.text[:at] + text, at)
        if self._revised is not None and not self._revised.done():
            self._revised.set_result(at)

    def _take_end(self, *, complete: bool) -> None:
        """Nothing more comes; ``complete`` unless it was cancelled."""
        if self._splice is not None and self._splice.shift is None:
            # What another server has said again ended before it could be joined.
            rest = np.zeros(round(TAIL_S * self._client.sample_rate), np.float32)
            chunk = self._new([], rest)
            if chunk is not None:
                self._chunks.put_nowait(chunk)
        self._complete = complete
        self._end(None)

    def _new(
        self, rows: list[dict[str, Any]], samples: np.ndarray[Any, np.dtype[np.float32]]
    ) -> AudioChunk | None:
        """What of a message's words and samples (S,) has not arrived yet; None if nothing."""
        rate = self._client.sample_rate
        words = [
            WordTiming(
                w["word"],
                w["start"],
                w["end"],
                round(w["onset_s"] * rate),
                round(w["offset_s"] * rate),
                speaker=w.get("speaker", ""),
                ends=w.get("ends", False),
            )
            for w in rows
        ]
        if words:
            self._spoken = self._offset + words[-1].end
            self._progress.set()
        if self._splice is not None:
            samples, words = self._splice.take(samples, words)
            shift = self._splice.shift or 0
            words = [
                replace(
                    w,
                    onset_samples=w.onset_samples - shift,
                    offset_samples=w.offset_samples - shift,
                )
                for w in words
            ]
            if not (len(samples) or words):
                return None
        words = [
            replace(word, written=written_at(self._transcript, word.start, word.end))
            for word in words
        ]
        chunk = AudioChunk(samples, self._samples, rate, tuple(words))
        self._samples += len(samples)
        self._tail = np.concatenate([self._tail, samples])[-round(TAIL_S * rate) :]
        self._transcript.add(words)
        self._last_words.extend(words)
        return chunk

    def _end(self, item: ServerError | None) -> None:
        """Nothing more comes after what is queued; ``item`` is the error, if that is why."""
        self._over = True
        self._progress.set()
        self._client._forget(self._name)
        if self._revised is not None and not self._revised.done():
            self._revised.set_exception(
                item or SessionError("The text was cancelled before it was revised.")
            )
        if not self._ended.done():
            self._ended.set_result(None)
        if self._silent:
            self._empty()
        # Who has cancelled it minds no fault any more.
        self._chunks.put_nowait(None if self._silent else item)

    def _empty(self) -> None:
        while not self._chunks.empty():
            self._chunks.get_nowait()
        self._room.set()
