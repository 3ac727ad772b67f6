"""The asyncio client of ``sayahead serve``: text is sent word by word, and audio comes back while
it is being written."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import random
import time
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np

from sayahead.client.choices import Choices
from sayahead.client.resume import MAX_REPEATED, Splice, resume_position
from sayahead.client.wire import ELSEWHERE, RESUMABLE, ServerError, Wire, address
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
# Most chunks that wait for their reader; beyond that, the connection is not read, which stops the
# server.
QUEUE = 1000
PATIENCE_S = 15.0
"""Longest wait for room at a server that is silent; longer than any break in a text."""
TAIL_S = 0.02
SILENCE_S = 1.0
"""Timeout for the server's answer to a cancel; what comes later is dropped."""
MAX_STALLED_ROUNDS = 3
"""After this many reconnections without new sound of a text, it fails: it may be the cause, and
must not end further servers."""
SLOW = "The servers did not answer in time: they may be full, or gone."
"""The error when no server answers."""
PAUSES_S = (0.05, 1.0)
"""First and longest pause between attempts to reconnect."""


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
    """Timeouts of successive attempts to connect: if no server is quick, a slow one gets more
    time."""
    RESUME_S = 30.0
    """How long to look for a server that continues what another one began."""

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
        # Incremented when a connection begins and when it is lost; a text compares it to know
        # whether the server has it.
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
        else:
            await self._connect_to_any()
        self._reading = asyncio.create_task(self._read())
        return self

    async def _connect_to_any(self) -> None:
        """Connect to the first server that answers in time: an attempt for each of ``TRIES_S``."""
        failure = ServerError("unreachable", SLOW)
        for attempt, try_s in enumerate(self.TRIES_S):
            refusal = await self._try_to_connect(self._urls[attempt % len(self._urls)], try_s)
            if refusal is None:
                return
            failure = refusal
        raise failure

    async def _try_to_connect(self, url: str, try_s: float) -> ServerError | None:
        """Connect within ``try_s``; return the error if the server is slow, full or gone, so that
        another one may do.

        Any other refusal is raised, since it would be repeated elsewhere.
        """
        try:
            async with asyncio.timeout(try_s):
                await self._connect(url)
        except TimeoutError:
            return ServerError("unreachable", SLOW)
        except ServerError as error:
            if error.code not in ELSEWHERE:
                raise
            return error
        return None

    async def _connect(self, url: str) -> None:
        """Begin a session with a server; a further one must have the same sample rate."""
        # The previous server's token proves to this one that it continues a text.
        resumed = str(self.created.get("resume") or "true") if self._connection else ""
        wire = await Wire.connect(url, self._headers, self._session, resumed=resumed)
        if self.sample_rate not in (0, wire.sample_rate):
            await wire.end(clean=True)
            message = (
                f"{url} speaks at {wire.sample_rate} Hz, the server before at {self.sample_rate}:"
                " name sample_rate."
            )
            raise ServerError("invalid_option", message)
        # If this server is lost, it is tried last.
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
        """Read messages until the end, and reconnect when a connection is lost: the client's
        task."""
        while True:
            error = await self._listen()
            self._connection += 1
            self._needed.clear()
            resumes = self._resumes and error.code in RESUMABLE
            for speech in list(self._open.values()):
                if resumes:
                    speech._on_connection_lost(error)
                else:
                    speech._end(error)
            await self._wire.end(clean=False)
            if not resumes:
                return
            if not any(speech._has_begun for speech in self._open.values()):
                await self._needed.wait()
            try:
                await self._reconnect()
            except ServerError as failure:
                for speech in list(self._open.values()):
                    speech._end(failure)
                # For the next text, ``_listen`` fails at once, and the connection is made again.
                await self._needed.wait()

    async def _listen(self) -> ServerError:
        """Dispatch messages to their texts until the connection ends; return why it did."""
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
        """Return whether any text is waiting for the server."""
        return any(speech._has_begun for speech in self._open.values())

    async def _reconnect(self) -> None:
        """Reconnect to a server, the last one last, and resume all texts there. ServerError if that
        fails for ``RESUME_S``."""
        end = time.monotonic() + self.RESUME_S
        pause_s = PAUSES_S[0]
        for attempt in itertools.count():
            try_s = (
                self.TRIES_S[min(attempt, len(self.TRIES_S) - 1)]
                if len(self._urls) > 1
                else self.RESUME_S
            )
            for url in list(self._urls):
                failure = await self._try_to_connect(url, try_s)
                if failure is None:
                    self._resume_all()
                    return
                if time.monotonic() > end:
                    raise failure
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSES_S[1])

    def _resume_all(self) -> None:
        """Let all open texts go on at the server that was connected last."""
        self.resumed += 1
        for speech in self._open.values():
            task = asyncio.create_task(speech._resume())
            self._resuming.add(task)
            task.add_done_callback(self._resuming.discard)

    def _forget(self, name: str) -> None:
        self._open.pop(name, None)


class AsyncSpeech:
    """Text being spoken by the server; an asynchronous iterator over its audio."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client = client
        self._name = name
        self._chunks: asyncio.Queue[AudioChunk | ServerError | None] = asyncio.Queue()
        # Set while the listener has taken enough of the sound to receive more.
        self._room = asyncio.Event()
        # Set when words were spoken or the text ended: what writes the text waits for it.
        self._progress = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        # Samples received.
        self._samples = 0
        self._transcript = Transcript()
        # Whether all sound of the whole text was received.
        self._complete = False
        self.turn = Turn(self._transcript, client.sample_rate, lambda: self._complete)
        """What its listener hears."""
        self._is_finished = False
        self._has_begun = False
        # Whether its sound is dropped, and whether a cancel was sent.
        self._is_silenced = False
        self._cancelling = False
        self.words = list[WordTiming]()
        """The words of all sound that was handed out."""
        # The task that writes the text, and the error with which it failed.
        self._writing: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        # While a revision waits for its answer, other text waits, too: its position is not known
        # yet.
        self._order = asyncio.Lock()
        # Its answer is the position, or None if the connection was lost.
        self._revision_answer: asyncio.Future[int | None] | None = None
        # The connection that has this text, the position in the text where that server's part
        # begins, and what of its sound is new.
        self._connection = client._connection
        self._offset = 0
        self._splice: Splice | None = None
        # Position up to which the text was sent, and up to which the server has spoken it.
        self._sent = 0
        self._spoken = 0
        # The last words received, and the (position, end) of flushes, which may have to be sent
        # again.
        self._last_words = deque[WordTiming](maxlen=MAX_REPEATED)
        self._flushes = list[tuple[int, bool]]()
        # Positions of revisions.
        self._seams = deque[int](maxlen=MAX_REPEATED)
        # Reconnections in a row without new sound, and the samples received at the last loss.
        self._stalled_rounds = 0
        self._samples_at_loss = 0
        # The last samples received, with which a resumed text's sound is aligned.
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
        """Write and send text in messages of the size that the server accepts."""
        max_size = int(self._client.created["limits"]["message_characters"])
        for start in range(0, len(text), max_size):
            self._has_begun = True
            self._transcript.write(text[start : start + max_size])
            await self._send("input_text.append", text=text[start : start + max_size])

    async def _send(self, kind: str, **rest: Any) -> bool:
        """Send a message of this text; return whether it was sent.

        It is not if the connection that has the text was lost. The client is then told to make a
        new one, on which ``_resume`` sends the whole text.
        """
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
            if not self._has_begun:
                await self._append(text)
                return 0
            if self._splice is not None:
                at, text = self._unspoken(at, text)
            max_size = int(self._client.created["limits"]["message_characters"])
            if len(text) > max_size:
                # Only the first message can revise, so it begins where the texts differ; the others
                # append.
                pairs = zip(text, self.text[at:], strict=False)
                common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
                at = at + common
                text = text[common:]
            answer: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
            self._revision_answer = answer
            # A full queue of chunks must not block the answer.
            self._room.set()
            try:
                was_sent = await self._send(
                    "input_text.revise", at=at - self._offset, text=text[:max_size]
                )
                revised_at = await answer if was_sent else None
            finally:
                self._revision_answer = None
            if revised_at is None:
                # No server has this text now: revise it here, and ``_resume`` sends it.
                at, text = self._unspoken(at, text)
                self._rewrite(self.text[:at] + text, at)
                return at
            self._sent = self._transcript.characters
            await self._append(text[max_size:])
            return revised_at

    def _unspoken(self, at: int, text: str) -> tuple[int, str]:
        """Return where a revision may begin, and its text from there on.

        That is after the words received: what it says in their place is left out.
        """
        spoken = self._last_words[-1].end if self._last_words else 0
        if spoken <= at:
            return at, text
        return spoken, unspoken(self.text[:at], self.text[at:spoken], text)

    def _rewrite(self, text: str, at: int) -> None:
        """Replace the text, which changes from position ``at`` on."""
        self._transcript.rewrite(text)
        self._seams.append(at)
        self._flushes = [flush for flush in self._flushes if flush[0] <= at]

    def _check_open(self, call: str, text: object) -> None:
        """Raise TextError if ``text`` is not text, SessionError after the end."""
        check_text(call, text)
        if self._is_finished:
            raise SessionError(f"{call}() after the end: take a new open_speech().")

    async def flush(self, *, end: bool = False) -> None:
        """Speak all text so far without waiting for more, for example before a tool call. ``end``
        ends its sentence."""
        async with self._order:
            if self._has_begun:
                # Those before the words that may be sent again are not needed any more.
                first = self._last_words[0].start if self._last_words else 0
                self._flushes = [flush for flush in self._flushes if flush[0] >= first]
                self._flushes.append((self._transcript.characters, end))
                await self._send("input_text.flush", end=end)

    async def finish(self) -> None:
        """Declare that no more text comes."""
        async with self._order:
            if not self._is_finished:
                self._is_finished = True
                self._has_begun = True
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
        # A server that resumed the text counts from where its own sound begins.
        shift = self._splice.shift if self._splice else 0
        if self._name in self._client._open and self._has_begun and shift is not None:
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
            await self._cancel_and_wait()

    def hush(self) -> None:
        """Accept no more text and hand out no more sound; callable from any thread."""
        self._is_finished = True
        self._is_silenced = True
        # Wake whoever waits for a chunk.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._chunks.put_nowait, None)

    async def _cancel_and_wait(self) -> None:
        """Cancel the text at the server, and wait until it has."""
        self.hush()
        self._drop_chunks()
        if self._writing is not None:
            self._writing.cancel()
        end = asyncio.get_running_loop().time() + SILENCE_S
        if await self._send_cancel():
            left_s = end - asyncio.get_running_loop().time()
            await asyncio.wait({self._ended}, timeout=left_s)
        self._end(None)

    async def _send_cancel(self) -> bool:
        """Send a cancel unless the text has ended; return whether it was sent, now or before."""
        if self._name not in self._client._open or not self._has_begun:
            return False
        if self._cancelling:
            return True
        self._cancelling = True
        # On a blocked connection, the message is queued behind everything else.
        with contextlib.suppress(ServerError, TimeoutError):
            async with asyncio.timeout(SILENCE_S):
                return await self._send("input_text.cancel")
        return False

    def write_apart(self, text: str | Iterable[str] | AsyncIterable[str]) -> None:
        """Write a text in a task; its error is raised where the sound is awaited, as soon as it
        happens."""
        fragments = fragments_of(text)
        self._writing = asyncio.create_task(self.write(fragments), name="text")
        self._writing.add_done_callback(self._on_written)

    def _on_written(self, writing: asyncio.Task[None]) -> None:
        """Pass on the error of the writing task."""
        if not writing.cancelled() and (error := writing.exception()) is not None:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """End the text with an error, which whoever reads or plays its sound gets next.

        Only what is played here falls silent at once; a caller who plays the chunks decides
        when to ``cancel``.
        """
        if self._is_silenced or (
            isinstance(error, ServerError | SessionError) and self._ended.done()
        ):
            # The text was cancelled, or its sound has already ended with this error.
            return
        self._failure = error
        if self.turn.is_played:
            self.turn.end(None, self.hush)
        # Wake the reader that waits for a chunk: it raises the error before it looks at this.
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
        """Stop the sound and decide what was heard."""
        return self.turn.end(None, self.hush)

    async def following(self) -> AudioChunk | None:
        """The next chunk; None at the end."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            return None

    async def closed(self) -> None:
        """Cancel the text unless it is over, and wait until it is closed."""
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
        size = self._max_message()
        for start in range(0, len(check_text("write", text)), size):
            await self._wait_for_room(len(text[start : start + size]))
            await self.push(text[start : start + size])

    def _max_message(self) -> int:
        """Return how many characters the server accepts in one message."""
        limits = self._client.created["limits"]
        return int(min(limits["message_characters"], limits["pending_characters"]))

    async def _wait_for_room(self, characters: int) -> None:
        """Wait until the server accepts ``characters`` more.

        Gives up after ``PATIENCE_S`` without a word from it, and lets the server decide.
        """
        max_pending = int(self._client.created["limits"]["pending_characters"])
        connection = self._client._connection
        while (
            self._sent - self._spoken + characters > max_pending
            and connection == self._client._connection
        ):
            if self._ended.done() or self._is_silenced:
                return
            self._progress.clear()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._progress.wait()
            except TimeoutError:
                return

    def _on_connection_lost(self, error: ServerError) -> None:
        """Prepare to resume on the next connection, or end the text with ``error`` if that is of no
        use."""
        self._progress.set()
        self._stalled_rounds = (
            0 if self._samples > self._samples_at_loss else self._stalled_rounds + 1
        )
        self._samples_at_loss = self._samples
        if self._is_silenced or self._stalled_rounds >= MAX_STALLED_ROUNDS:
            self._end(None if self._is_silenced else error)
        elif self._revision_answer is not None and not self._revision_answer.done():
            self._revision_answer.set_result(None)

    async def _resume(self) -> None:
        """Send the text to the new server: the open sentence from its beginning, and everything
        after it."""
        async with self._order:
            self._connection = self._client._connection
            if self._ended.done() or not self._has_begun:
                return
            text = self.text
            words = list(self._last_words)
            # With markup, only the beginning of the text is certain to be outside of all tags.
            has_markup = self._client._session.get("markup", "none") != "none"
            self._offset = 0 if has_markup else resume_position(text, words, self._seams)
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
            sent = self._offset
            size = self._max_message()
            # Up to each flush, and then up to the end of the text.
            for flush_at, end in [*flushes, (len(text), None)]:
                for start in range(sent, flush_at, size):
                    part = text[start : min(start + size, flush_at)]
                    await self._wait_for_room(len(part))
                    if not await self._send("input_text.append", text=part):
                        return
                sent = flush_at
                if end is not None:
                    await self._send("input_text.flush", end=end)
            if self._is_finished:
                await self._send("input_text.end")

    async def leave(self) -> None:
        """Cancel the text unless it is over, without waiting for an answer."""
        if self._name in self._client._open:
            self._is_finished = True
            await self._send_cancel()
            self._end(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AudioChunk:
        self._check_failure()
        item = await self._chunks.get()
        self._check_failure()
        self._room.set()
        if isinstance(item, AudioChunk) and not self._is_silenced:
            self.words += item.words
            self.turn.hand(item)
            return item
        # The end: an error, or none. Further calls get the same answer.
        error = None if isinstance(item, AudioChunk) else item
        self._chunks.put_nowait(error)
        raise error or StopAsyncIteration

    def _check_failure(self) -> None:
        """Raise the error of the text, once."""
        if self._failure is not None:
            failure = self._failure
            self._failure = None
            self._is_finished = True
            self._drop_chunks()
            self._chunks.put_nowait(None)
            raise failure

    async def take(self, data: dict[str, Any], sound: bytes) -> None:
        """Handle a server's message about this text."""
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
                    # After an error we make no more of the text, so the server need not, either.
                    with contextlib.suppress(ServerError):
                        await self._send("input_text.cancel")
                self._end(self._client._error(data["code"], data["message"]))

    async def _take_sound(self, words: list[dict[str, Any]], sound: bytes) -> None:
        """Queue a chunk once there is room."""
        samples = np.frombuffer(sound, "<i2").astype(np.float32) / np.float32(32767)
        chunk = self._splice_chunk(words, samples)
        if chunk is None:
            return
        while (
            self._chunks.qsize() >= QUEUE
            and not self._is_silenced
            and self._revision_answer is None
        ):
            self._room.clear()
            await self._room.wait()
        if not self._is_silenced:
            self._chunks.put_nowait(chunk)

    def _take_revision(self, at: int, text: str) -> None:
        """Take over a revision as the server has made it."""
        self._rewrite(self.text[:at] + text, at)
        if self._revision_answer is not None and not self._revision_answer.done():
            self._revision_answer.set_result(at)

    def _take_end(self, *, complete: bool) -> None:
        """End the text; ``complete``: whether it was spoken to its end instead of cancelled."""
        if self._splice is not None and self._splice.shift is None:
            # The resumed sound ended before enough of it came to align it: feed silence.
            rest = np.zeros(round(TAIL_S * self._client.sample_rate), np.float32)
            chunk = self._splice_chunk([], rest)
            if chunk is not None:
                self._chunks.put_nowait(chunk)
        self._complete = complete
        self._end(None)

    def _splice_chunk(
        self, rows: list[dict[str, Any]], samples: np.ndarray[Any, np.dtype[np.float32]]
    ) -> AudioChunk | None:
        """Return what is new of a message's words and samples (S,) as a chunk; None if nothing
        is."""
        rate = self._client.sample_rate
        words = [timing_of(row, rate) for row in rows]
        if words:
            self._spoken = self._offset + words[-1].end
            self._progress.set()
        # How many samples the times of a resumed text's words are ahead of the whole text's.
        shift = 0
        if self._splice is not None:
            samples, words = self._splice.take(samples, words)
            shift = self._splice.shift or 0
            if not (len(samples) or words):
                return None
        words = [
            replace(
                word,
                onset_samples=word.onset_samples - shift,
                offset_samples=word.offset_samples - shift,
                written=written_at(self._transcript, word.start, word.end),
            )
            for word in words
        ]
        chunk = AudioChunk(samples, self._samples, rate, tuple(words))
        self._samples += len(samples)
        self._tail = np.concatenate([self._tail, samples])[-round(TAIL_S * rate) :]
        self._transcript.add(words)
        self._last_words.extend(words)
        return chunk

    def _end(self, item: ServerError | None) -> None:
        """End the text after what is queued; ``item``: the error, if there is one."""
        self._is_finished = True
        self._progress.set()
        self._client._forget(self._name)
        if self._revision_answer is not None and not self._revision_answer.done():
            self._revision_answer.set_exception(
                item or SessionError("The text was cancelled before it was revised.")
            )
        if not self._ended.done():
            self._ended.set_result(None)
        if self._is_silenced:
            self._drop_chunks()
        # After a cancel, errors do not matter any more.
        self._chunks.put_nowait(None if self._is_silenced else item)

    def _drop_chunks(self) -> None:
        while not self._chunks.empty():
            self._chunks.get_nowait()
        self._room.set()


def timing_of(row: Mapping[str, Any], rate: int) -> WordTiming:
    """Return the timing in a server's message, whose times are in seconds."""
    return WordTiming(
        row["word"],
        row["start"],
        row["end"],
        round(row["onset_s"] * rate),
        round(row["offset_s"] * rate),
        speaker=row.get("speaker", ""),
        ends=row.get("ends", False),
    )
