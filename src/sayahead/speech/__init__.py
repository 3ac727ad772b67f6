"""A text being spoken: what an application holds while a voice speaks."""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.config import check_number
from sayahead.engine.heard import Heard
from sayahead.engine.session import Flush, Item, Session
from sayahead.errors import ConfigError, SessionError
from sayahead.sound.chunks import Encoded, Resampled
from sayahead.sound.device import Player
from sayahead.sound.files import Sink
from sayahead.sound.formats import AudioFormat
from sayahead.sound.out import save
from sayahead.sound.subtitles import form_of, write_timings
from sayahead.speech.fragments import asynchronous as asynchronous
from sayahead.speech.fragments import end_of_failed as end_of_failed
from sayahead.speech.fragments import fragments_of as fragments_of
from sayahead.speech.playback import IDLE_S as IDLE_S
from sayahead.speech.playback import Device as Device
from sayahead.speech.playback import Due as Due
from sayahead.speech.playback import Playback as Playback
from sayahead.speech.playback import early_s as early_s
from sayahead.types import AudioChunk, WordTiming

if TYPE_CHECKING:
    import asyncio


class Speech:
    """Text being spoken: iterate over its chunks of sound, by ``for`` or ``async for``, once.

    ``Voice.speak`` makes one from text, or from an iterator that yields text; ``Voice.speech`` makes one whose text
    you push. ``words`` has the timings of all words handed out so far. If you leave a ``for`` early, the next one
    continues there. Iterating again after the end is a SessionError, as is a second ``async for``. Any thread may
    call the methods.

    The text may be an async iterator, and may have a Flush or a Revision between its pieces. After ``idle_s`` seconds
    without text, everything so far is spoken (with ``async for``, or if text is pushed); None: never. ``sample_rate``
    is that of the chunks, if not the voice's own.
    """

    def __init__(
        self,
        session: Session,
        text: str | Iterable[Item] | AsyncIterable[Item] | None,
        *,
        idle_s: float | None = IDLE_S,
        sample_rate: int | None = None,
        wakes: bool = False,
    ) -> None:
        """``text`` None: it is pushed. TextError if ``text`` is neither text nor an iterable.

        ``wakes``: whether its iterator gives an empty piece after ``pause_s()`` without text.
        """
        if idle_s is not None:
            idle_s = check_number("idle_s", idle_s, 0.0, 3600.0)
        self.words: list[WordTiming] = []
        self._session, self._idle_s = session, idle_s
        self._resampled = Resampled(session.sample_rate, sample_rate)
        self._text = None if text is None else fragments_of(text)
        # What `for` goes through, once there is one; whether `async for` has begun.
        self._spoken: Iterator[AudioChunk] | None = None
        self._begun = False
        self._player: Device | None = None
        # Samples that the player had been given before; whether it is the caller's, who goes on with it.
        self._before, self._lent = 0, False
        self._playback, self._told = Playback(), False
        # Whether somebody listens meanwhile; the steps that are due.
        self._live, awaited = True, wakes or text is None or isinstance(text, AsyncIterable)
        self._due = Due(session, awaited=awaited, whole=isinstance(self._text, list) and len(self._text) == 1)
        # One step, or change of the text, at a time; and who writes.
        self._steps, self._writing = threading.Lock(), threading.Lock()
        # Has whoever waits for text look again; from any thread.
        self._came = threading.Event()
        self._wake: Callable[[], object] = self._came.set

    @property
    def sample_rate(self) -> int:
        """Samples per second of its chunks."""
        return self._resampled.rate

    @property
    def text(self) -> str:
        """All text so far, with its revisions."""
        return self._session.text

    def push(self, text: str) -> None:
        """Add text of any size, to speech that was made by ``Voice.speech``.

        TextError if it is not text, SessionError after the end.
        """
        self._check_pushed("push")
        self._take(text)
        self._wake()

    def _take(self, item: Item) -> None:
        """Pass on a piece of the text."""
        with self._writing:
            self._session.take(item)
            self._due.took(item)

    def write(self, fragments: str | Iterable[str]) -> None:
        """Push all fragments, then finish. An async iterator is for ``Voice.speak``."""
        given = fragments_of(fragments)
        if isinstance(given, AsyncIterable):
            raise ConfigError("The text is an async iterator: give it to voice.speak().")
        for fragment in given:
            self.push(fragment)
        self.finish()

    def finish(self) -> None:
        """Declare that no more text comes. Harmless when repeated."""
        self._check_pushed("finish")
        self._session.finish()
        self._wake()

    def _check_pushed(self, call: str) -> None:
        if self._text is not None:
            raise SessionError(f"{call}(): this text comes by itself; voice.speech() has one that is pushed.")

    def revise(self, at: int, text: str) -> int:
        """Replace the text from character ``at`` on: what was not spoken yet is taken back.

        Returns the character from which the change could be made (see ``Session.revise``). ConfigError if ``at`` lies
        outside the text, SessionError after the end; neither changes anything.
        """
        with self._writing, self._steps:
            place = self._session.revise(at, text)
        self._wake()
        return place

    def flush(self, *, end: bool = False) -> None:
        """Speak all text so far now, for example before a tool call. ``end`` also ends its sentence."""
        self._take(Flush.END if end else Flush.BREATH)
        self._wake()

    def played(self, played_s: float) -> None:
        """Say that ``played_s`` seconds have been played, which ``keep_up`` needs to know.

        Until this is called, playback is assumed to start with the first chunk and to run in real time; ``play`` asks
        the sound device.
        """
        self._told = True
        self._session.played(played_s)

    def _tell(self) -> None:
        """Tell the session how far the player is, if nobody else does."""
        if self._live and self._session.keeps_up and not self._told:
            self._session.played(self._so_far_s())

    def _so_far_s(self) -> float:
        """Seconds that the player has played, or one would have that plays in real time."""
        return self._playback.played_s(time.monotonic()) if self._player is None else self._device_s()

    def _left_s(self) -> float:
        """Seconds of sound that it has yet to play."""
        left_s = self._playback.given_s - self._so_far_s()
        return min(left_s, self._session.unplayed_s) if self._told else left_s

    def pause_s(self) -> float:
        """How long more text may be awaited before its chunks are asked for again; infinite where none is due."""
        return min(early_s(self._session), self._due.spare_s(self._left_s) or math.inf)

    def heard(self, played_s: float | None = None) -> Heard:
        """What the listener has heard after ``played_s`` seconds of sound; by default, of what ``play`` has played."""
        return self._session.heard(self._played_s(played_s))

    def cancel(self, played_s: float | None = None) -> Heard:
        """Stop speaking at once, and return what was heard, as ``heard`` does.

        A player of yours drops the rest, and stays open.
        """
        try:
            return self._session.cancel(self._played_s(played_s))
        finally:
            self._wake()
            if self._lent and isinstance(self._player, Player):
                self._player.clear()
            elif self._player is not None:
                self._player.close()

    def _played_s(self, played_s: float | None) -> float | None:
        return self._device_s() if played_s is None and self._player is not None else played_s

    def _device_s(self) -> float:
        """Seconds of this text that the player has taken."""
        assert self._player is not None
        return max(0, self._player.played() - self._before) / self.sample_rate

    def __iter__(self) -> Iterator[AudioChunk]:
        return self._iterated()

    def _iterated(self, *, live: bool = True) -> Iterator[AudioChunk]:
        """The one iterator over the chunks; ``live``, where it is new: whether somebody listens meanwhile."""
        if isinstance(self._text, AsyncIterable):
            raise ConfigError("The text is an async iterator: use `async for`, or `await speech.aplay()`.")
        if self._begun or (self._spoken is not None and self._session.finished):
            self._check_fresh()
        if self._spoken is None:
            self._live = self._due.live = live
            self._spoken = self._pushed() if self._text is None else self._speak(self._text)
        return self._spoken

    def _check_fresh(self) -> None:
        """SessionError for sound that was handed out: it is not kept. What was cancelled is silent."""
        if not self._session.cancelled:
            raise SessionError("This text has been spoken, and its sound is not kept: call speak() again.")

    def into(self, sink: Sink, *, live: bool = True) -> Iterator[AudioChunk]:
        """Write to a sink, and yield each chunk once it is written; ``live``: whether somebody listens meanwhile.

        If the sink can say how many samples it has ``played``, these count as heard.
        """
        if live and isinstance(sink, Device):
            self._listen(sink)
        for chunk in self._iterated(live=live):
            sink.write(chunk if isinstance(sink, Player) else chunk.samples)  # type: ignore[arg-type]
            yield chunk

    def _listen(self, player: Device, *, lent: bool = False) -> None:
        self._player, self._lent = player, lent
        self._before = player.written() if isinstance(player, Player) else 0

    def _speak(self, text: Iterable[Item]) -> Iterator[AudioChunk]:
        for item in text:
            if self._session.finished:
                return
            self._take(item)
            self._tell()
            yield from self._chunks()
        self._session.finish()
        self._tell()
        yield from self._chunks()
        yield from self._rest()

    def _pushed(self) -> Iterator[AudioChunk]:
        """Chunks of a text that is pushed by other threads, or was before."""
        idle_s = math.inf if self._idle_s is None else self._idle_s
        due, characters = math.inf, 0
        while True:
            self._came.clear()
            self._tell()
            yield from self._chunks()
            if self._session.finished:
                yield from self._rest()
                return
            if len(self.text) != characters:
                characters, due = len(self.text), time.monotonic() + idle_s
            timeout = min(due - time.monotonic(), self.pause_s())
            if not self._came.wait(min(max(0.0, timeout), 3600.0)) and time.monotonic() >= due:
                self._take(Flush.BREATH)
                due = math.inf

    def _chunks(self) -> Iterator[AudioChunk]:
        while (chunk := self._pull()) is not None:
            yield chunk

    def _rest(self) -> Iterator[AudioChunk]:
        """What the change of sample rate holds back."""
        if not self._session.cancelled and (chunk := self._resampled.finish()) is not None:
            yield chunk

    def _pull(self) -> AudioChunk | None:
        """The next chunk at its sample rate, noted; None if more text is needed, or awaited."""
        with self._steps:
            chunk = self._due.pull(self._left_s)
        if chunk is None:
            return None
        chunk = self._resampled.push(chunk)
        self.words += chunk.words
        self._playback.give(chunk.duration_s, time.monotonic())
        return chunk

    async def __aiter__(self) -> AsyncIterator[AudioChunk]:
        """Synthesis runs in a worker thread."""
        import asyncio

        if self._begun or self._spoken is not None:
            self._check_fresh()
        self._begun = True
        session: Any = self._session
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        source = None if self._text is None else aiter(asynchronous(self._text))
        waiting: asyncio.Future[Item] | None = None
        # When a breath is due; how much text there was when that was last set.
        due, characters = math.inf, 0
        waking = asyncio.ensure_future(woken.wait())
        self._wake = functools.partial(woken_by, loop, woken)
        if source is None:
            woken.set()
        try:
            while not session.finished:
                both: set[asyncio.Future[Any]] = {waking}
                if source is not None:
                    waiting = waiting or asyncio.ensure_future(anext(source))
                    both.add(waiting)
                timeout = min(due - time.monotonic(), self.pause_s())
                timeout_s = None if math.isinf(timeout) else max(0.0, timeout)
                await asyncio.wait(both, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
                if session.finished:
                    break
                self._tell()
                if waking.done():
                    woken.clear()
                    waking = asyncio.ensure_future(woken.wait())
                came = waiting is not None and waiting.done()
                if waiting is not None and came:
                    try:
                        self._take(waiting.result())
                    except StopAsyncIteration:
                        session.finish()
                    waiting = None
                elif time.monotonic() >= due:
                    self._take(Flush.BREATH)
                    due = math.inf
                while (chunk := await asyncio.to_thread(self._pull)) is not None:
                    yield chunk
                if source is None and len(self.text) != characters:
                    came, characters = True, len(self.text)
                if came and self._idle_s is not None:
                    due = time.monotonic() + self._idle_s
            for chunk in self._rest():
                yield chunk
        finally:
            self._wake = self._came.set
            waking.cancel()
            if waiting is not None:
                waiting.cancel()

    def play(self, player: Player | None = None) -> Heard:
        """Play to the end or to ``cancel``, and return what was heard. Needs the ``play`` extra.

        ``player``: an open one of the same sample rate, which stays open, and may be paused or made louder meanwhile;
        None: the system's default device. ConfigError if the text is an async iterator: use ``await aplay()``.
        """
        lent = player is not None
        player = player or Player(self.sample_rate)
        self._listen(player, lent=lent)
        try:
            for chunk in self:
                player.write(chunk)
            player.drain()
            return self.heard()
        finally:
            if not lent:
                player.close()

    async def aplay(self, player: Player | None = None) -> Heard:
        """The same as ``play``, for asyncio."""
        import asyncio

        lent = player is not None
        player = player or Player(self.sample_rate)
        self._listen(player, lent=lent)
        try:
            async for chunk in self:
                await asyncio.to_thread(player.write, chunk)
            await asyncio.to_thread(player.drain)
            return self.heard()
        finally:
            if not lent:
                player.close()

    def encoded(self, format: str, *, sample_rate: int | None = None, bit_rate: int | None = None) -> Encoded:
        """Its chunks as bytes, by ``for`` or ``async for``, once: those of ``Voice.stream`` with a format.

        ``sample_rate`` and ``bit_rate``: None is a good one. ConfigError for a format that is unknown, has no such
        rate, or needs an extra that is not installed.
        """
        return Encoded(self, AudioFormat(format, sample_rate, bit_rate), self.sample_rate)

    def save(self, path: str | Path, *, timings: str | Path | None = None, each_word: bool = False) -> None:
        """Speak into a file: ``.wav``, ``.flac``, ``.mp3``, ``.opus``, ``.ogg`` or ``.aac``.

        ``timings``: a file for the words' times, ``.srt``, ``.vtt`` or ``.json``; ``each_word``: a subtitle for each
        word. ConfigError for other endings, or if the text comes by ``async for``.
        """
        if timings is not None:
            form_of(Path(timings))
        # A file has no listener who could be late.
        save(path, self._iterated(live=False), self.sample_rate)
        if timings is not None:
            write_timings(Path(timings), self.words, sample_rate=self.sample_rate, each_word=each_word)


def woken_by(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Set an event of a loop, from any thread; without effect once the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)
