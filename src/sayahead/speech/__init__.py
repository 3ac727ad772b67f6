"""A text being spoken: what an application holds while a voice speaks."""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import time
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sayahead.config import check_number, shown
from sayahead.engine.heard import Heard
from sayahead.engine.session import Flush, Item, Revision, Session
from sayahead.errors import ConfigError, SessionError, TextError
from sayahead.sound.chunks import Encoded, Resampled
from sayahead.sound.device import Player
from sayahead.sound.files import Sink
from sayahead.sound.formats import AudioFormat
from sayahead.sound.out import save
from sayahead.sound.subtitles import form_of, write_timings
from sayahead.speech.fragments import asynchronous as asynchronous
from sayahead.speech.fragments import fragments_of as fragments_of
from sayahead.speech.reader import READ_AHEAD, NoReader, Reader, TaskReader, ThreadReader
from sayahead.speech.steps import IDLE_S as IDLE_S
from sayahead.speech.steps import StepScheduler as StepScheduler
from sayahead.speech.steps import early_s as early_s
from sayahead.speech.turn import Device as Device
from sayahead.speech.turn import Turn, aplay, play
from sayahead.types import AudioChunk, WordTiming

if TYPE_CHECKING:
    import asyncio


class Speech:
    """Text being spoken: iterate over its chunks of sound, by ``for`` or ``async for``, once.

    ``Voice.speak`` makes one from text, ``Voice.open_speech`` one whose text you push. If you leave
    a ``for`` early, the next one continues there. Iterating again after the end is a SessionError,
    as is a second ``async for``. Any thread may call the methods.

    Text is read as fast as it comes, up to 20,000 characters ahead of the voice; an error in it is
    raised as soon as it happens. A Flush or a Revision may stand between its pieces."""

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

        ``wakes``: whether its iterator gives an empty piece after ``pause_s()`` without text; it is
        then read where the chunks are.
        """
        if idle_s is not None:
            idle_s = check_number("idle_s", idle_s, 0.0, 3600.0)
        self.words: list[WordTiming] = []
        """The timings of all words that were handed out so far."""
        self._session = session
        self._idle_s = math.inf if idle_s is None else idle_s
        self._resampled = Resampled(session.sample_rate, sample_rate)
        self._turn = Turn(
            session.transcript, self.sample_rate, lambda: session.complete, session.sample_rate
        )
        self._text = None if text is None else fragments_of(text)
        self._in_memory = isinstance(self._text, list | tuple)
        self._wakes = wakes
        # The text's iterator if it is read in the thread that takes the chunks; None if a reader or
        # ``push`` provides it.
        self._pieces: Iterator[Item] | None = None
        self._reader: Reader = NoReader()
        self._failure: BaseException | None = None
        # Whether iteration has begun, and whether by `async for`.
        self._has_begun = False
        self._is_async = False
        # Whether somebody listens in real time; and the scheduler of steps.
        self._live = True
        whole = self._in_memory and len(self._text) == 1  # type: ignore[arg-type]
        self._scheduler = StepScheduler(session, awaited=wakes or not self._in_memory, whole=whole)
        # Time of the last text, if it has not been flushed since.
        self._last_text_at = math.inf
        # Locks: one step or revision at a time; one writer at a time; one reader of a text in
        # memory.
        self._step_lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._take_lock = threading.Lock()
        # Wakes whoever waits for text; callable from any thread.
        self._text_event = threading.Event()
        self._wake: Callable[[], object] = self._text_event.set

    def __repr__(self) -> str:
        heard = self._turn.heard()
        state = "over" if self._turn.over else "cancelled" if self._session.cancelled else "open"
        return f"<Speech {state}: {heard.word_count} words heard of {shown(self.text)}>"

    @property
    def sample_rate(self) -> int:
        """Samples per second of its chunks."""
        return self._resampled.rate

    @property
    def text(self) -> str:
        """All text so far, with its revisions: what was read may be far ahead of what was
        spoken."""
        return self._session.text

    @property
    def unsaid(self) -> str:
        """The text so far that was not heard: see ``heard``."""
        return self.heard().unsaid

    def push(self, text: str) -> None:
        """Add text of any size, to speech that was made by ``Voice.open_speech``.

        TextError if it is not text, SessionError after the end.
        """
        self._check_pushed("push")
        self._write(text)
        self._wake()

    def _write(self, item: Item) -> None:
        """Give the session an item of the text."""
        if item is None:
            raise TextError(
                "A piece of the text is None, as the first and last of a model's stream often are: "
                "leave such pieces out (`if piece:`)."
            )
        steps = self._step_lock if isinstance(item, Revision) else contextlib.nullcontext()
        with self._write_lock, steps:
            self._session.take(item)
            self._scheduler.on_item(item)
            if isinstance(item, Flush):
                self._last_text_at = math.inf
            elif item:
                self._last_text_at = time.monotonic()

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
        """Raise SessionError if the text is not pushed."""
        if self._text is not None:
            raise SessionError(
                f"{call}(): this text comes by itself; voice.open_speech() has one that is pushed."
            )

    def take(self, item: Item) -> bool:
        """Called by a reader of the text: take an item; return whether more are wanted."""
        if self._session.finished:
            return False
        try:
            self._write(item)
        except SessionError:
            if self._session.cancelled:
                return False
            raise
        self._wake()
        return True

    def has_room(self) -> bool:
        """Called by a reader of the text: return whether the next item may come now."""
        return self._session.unspoken < READ_AHEAD

    def end_text(self, error: BaseException | None) -> None:
        """Called by a reader of the text at its end."""
        if error is None:
            self._session.finish()
        else:
            self._failure = error
            if self._turn.is_played:
                # A thread that plays may be waiting for room: stop it now.
                self.cancel()
        self._wake()

    def revise(self, at: int, text: str) -> int:
        """Replace the text from character ``at`` on: what was not spoken yet is taken back.

        Returns the character from which the change could be made. ConfigError if ``at`` lies
        outside the text, SessionError after the end; neither changes anything."""
        with self._write_lock, self._step_lock:
            place = self._session.revise(at, text)
            self._last_text_at = time.monotonic()
        self._wake()
        return place

    def flush(self, *, end: bool = False) -> None:
        """Speak all text so far now, for example before a tool call. ``end`` also ends its
        sentence."""
        self._write(Flush.END if end else Flush.BREATH)
        self._wake()

    def played(self, played_s: float) -> None:
        """Report that ``played_s`` seconds have been played, for ``heard``, ``cancel`` and
        ``keep_up``. Not needed with ``play``.

        ConfigError for less than before, and for more than there is."""
        if self._turn.over:
            return
        self._turn.tell(played_s, time.monotonic())
        self._follow()

    def _follow(self) -> None:
        """Tell the session how far the player is."""
        if self._live:
            self._session.follow(self._turn.playback, time.monotonic())

    def _left_s(self) -> float:
        """Return the seconds of sound that the player has still to play."""
        return self._turn.playback.left_s(time.monotonic())

    def pause_s(self) -> float:
        """Return how long to wait for more text before asking for chunks again; infinite if nothing
        is due."""
        return min(early_s(self._session), self._scheduler.spare_s(self._left_s) or math.inf)

    def heard(self, played_s: float | None = None) -> Heard:
        """What the listener has heard after ``played_s`` seconds of sound.

        None: as far as ``play`` or ``played`` know; otherwise all that was handed out. Once the
        turn is over, by ``play`` or ``cancel``, it is what had been heard then."""
        return self._turn.heard(played_s)

    def cancel(self, played_s: float | None = None) -> Heard:
        """Stop speaking at once, close the text, and return what was heard, as ``heard`` does.

        A player of yours drops the rest, and stays open. A turn that is over stays as it is.
        ConfigError for more seconds than were handed out; it is silent even then."""
        return self._turn.end(played_s, self._stop)

    def _stop(self) -> None:
        """Stop making sound and reading text."""
        if not self._session.finished:
            self._session.cancel()
            self._complete_text()
        self._reader.stop()
        self._wake()

    def _complete_text(self) -> None:
        """Append the rest of a text in memory to the transcript: it is known although it will not
        be spoken."""
        if not self._in_memory:
            return
        transcript = self._session.transcript
        with self._take_lock:
            for item in self._pieces or iter(self._text):  # type: ignore[arg-type]
                if isinstance(item, Revision):
                    transcript.rewrite(transcript.text[: item.at] + item.text)
                elif isinstance(item, str):
                    transcript.write(item)
            transcript.ended = True

    def __iter__(self) -> Iterator[AudioChunk]:
        return self._iterated()

    def _iterated(self, *, live: bool = True) -> Iterator[AudioChunk]:
        """Return an iterator over the chunks; ``live``: whether somebody listens in real time
        (counts for the first one)."""
        if isinstance(self._text, AsyncIterable):
            raise ConfigError(
                "The text is an async iterator: use `async for`, or `await speech.aplay()`."
            )
        if self._is_async or (self._has_begun and self._session.finished):
            self._check_fresh()
        if not self._has_begun:
            self._begin(live)
        return Chunks(self._following, self._stop)

    def _begin(self, live: bool) -> None:
        """Begin to read the text."""
        self._has_begun = True
        self._live = live
        self._scheduler.live = live
        if self._text is None or self._session.cancelled:
            return
        # Text that cannot block, or may, is read in the thread that takes the chunks.
        if isinstance(self._text, AsyncIterable):
            self._reader = TaskReader(self._text, self)
        elif self._in_memory or self._wakes or not live:
            self._pieces = iter(self._text)
            return
        else:
            self._reader = ThreadReader(self._text, self)
        # When this object is garbage collected, reading stops.
        weakref.finalize(self, self._reader.stop).atexit = False
        self._reader.start()

    def _check_fresh(self) -> None:
        """Raise SessionError for sound that was handed out already: it is not kept. A cancelled
        text is silent instead."""
        if not self._session.cancelled:
            raise SessionError(
                "This text has been spoken, and its sound is not kept: call speak() again."
            )

    def into(self, sink: Sink, *, live: bool = True) -> Iterator[AudioChunk]:
        """Write to a sink, and yield each chunk once it is written.

        ``live``: whether somebody listens in real time. If the sink reports how many samples it has
        ``played``, these count as heard.
        """
        track = self._turn.track_on(sink, self.cancel) if isinstance(sink, Player) else None
        if track is None and live and isinstance(sink, Device):
            self._turn.play_on(sink)
        for chunk in self._iterated(live=live):
            if track is None:
                sink.write(chunk.samples)
            else:
                track.write(chunk)
            yield chunk

    def _following(self) -> AudioChunk | None:
        """Wait for the next chunk; None at the end."""
        while True:
            self._text_event.clear()
            step = self._advance()
            if not isinstance(step, float):
                return self._hand(step)
            self._text_event.wait(min(step, 3600.0))

    def _advance(self) -> AudioChunk | float | None:
        """Return the next chunk; or how many seconds to wait for text, if none is due; None at the
        end."""
        while True:
            self._check_failure()
            self._follow()
            if (chunk := self._pull()) is not None:
                return chunk
            if self._session.finished:
                return None if self._session.cancelled else self._resampled.finish()
            if self._pieces is not None:
                self._take_next(self._pieces)
                continue
            quiet_s = time.monotonic() - self._last_text_at
            if quiet_s < self._idle_s:
                return max(0.0, min(self._idle_s - quiet_s, self.pause_s()))
            self._write(Flush.BREATH)

    def _check_failure(self) -> None:
        """Raise the error of the text, once."""
        if self._failure is not None:
            failure = self._failure
            self._failure = None
            self._stop()
            raise failure

    def _take_next(self, pieces: Iterator[Item]) -> None:
        """Take the next item of a text that is read here, or its end."""
        # An item that takes long must not block `cancel`.
        with self._take_lock if self._in_memory else contextlib.nullcontext():
            if self._session.cancelled:
                return
            try:
                item = next(pieces)
            except StopIteration:
                self._session.finish()
                return
            # `take` checks again whether it was cancelled meanwhile.
            self.take(item)

    def _pull(self) -> AudioChunk | None:
        """Return the next chunk, resampled; None if more text is needed or awaited."""
        with self._step_lock:
            chunk = self._scheduler.pull(self._left_s)
        self._reader.moved()
        return None if chunk is None else self._resampled.push(chunk)

    def _hand(self, chunk: AudioChunk | None) -> AudioChunk | None:
        """Record a chunk that is handed out, and return it; None if it was cancelled meanwhile."""
        if chunk is None or self._session.cancelled:
            # The text may have failed meanwhile.
            self._check_failure()
            return None
        self.words += chunk.words
        self._turn.hand(chunk, time.monotonic())
        return chunk

    async def __aiter__(self) -> AsyncIterator[AudioChunk]:
        """Synthesis runs in a worker thread. Leaving early closes the text."""
        self._begin_async()
        try:
            while (chunk := await self._afollowing()) is not None:
                yield chunk
        finally:
            await self._reader.closed()

    def _begin_async(self) -> None:
        """Begin to iterate by ``async for``."""
        if self._has_begun:
            self._check_fresh()
        self._is_async = True
        if not self._has_begun:
            self._begin(live=True)

    async def _afollowing(self) -> AudioChunk | None:
        """Wait for the next chunk without blocking the event loop; None at the end."""
        import asyncio

        woken = asyncio.Event()
        self._wake = functools.partial(set_from_thread, asyncio.get_running_loop(), woken)
        while True:
            woken.clear()
            step = await asyncio.to_thread(self._advance)
            if not isinstance(step, float):
                return self._hand(step)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if math.isinf(step) else step):
                    await woken.wait()

    def play(self, player: Player | None = None) -> Heard:
        """Play to the end or to ``cancel``, and return what was heard. Needs the ``play`` extra.

        ``player``: an open one of the same sample rate, which stays open; None: the system's
        default device. However it ends, by an error or Ctrl-C too, it is silent then, and what was
        heard is decided. ConfigError if the text is an async iterator: use ``await aplay()``."""
        if self._session.cancelled:
            return self.cancel()
        chunks = self._iterated()
        if player is not None:
            return play(self._turn, chunks, player, self.cancel)
        with Player(self.sample_rate) as own:
            return play(self._turn, chunks, own, self.cancel)

    async def aplay(self, player: Player | None = None) -> Heard:
        """The same as ``play``, for asyncio. A task that is cancelled meanwhile falls silent, and
        closes the text."""
        if self._session.cancelled:
            return self.cancel()
        self._begin_async()
        closed = self._reader.closed
        if player is not None:
            return await aplay(self._turn, self._afollowing, player, self.cancel, closed)
        with Player(self.sample_rate) as own:
            return await aplay(self._turn, self._afollowing, own, self.cancel, closed)

    def encoded(
        self, format: str, *, sample_rate: int | None = None, bit_rate: int | None = None
    ) -> Encoded:
        """Its chunks as bytes, by ``for`` or ``async for``, once: those of ``Voice.stream`` with a
        format.

        ``sample_rate`` and ``bit_rate``: None is a good one. ConfigError for a format that is
        unknown, has no such rate, or needs an extra that is not installed.
        """
        return Encoded(self, AudioFormat(format, sample_rate, bit_rate), self.sample_rate)

    def save(
        self,
        path: str | Path,
        *,
        timings: str | Path | None = None,
        each_word: bool = False,
        spoken: bool = False,
        on_chunk: Callable[[AudioChunk], object] | None = None,
    ) -> None:
        """Speak into a file: ``.wav``, ``.flac``, ``.mp3``, ``.opus``, ``.ogg`` or ``.aac``.

        ``timings``: a file for the words' times, ``.srt``, ``.vtt`` or ``.json``. Subtitles have
        the words as they are written ("9:30"), with ``spoken`` as they are spoken ("nine thirty"),
        .json has both; ``each_word``: a subtitle for each word. ``on_chunk`` is called with each
        chunk, to show how far it is. ConfigError for other endings, or if the text comes by ``async
        for``.
        """
        if timings is not None:
            form_of(Path(timings))
        # A file has no listener, so nothing is late.
        save(path, observed(self._iterated(live=False), on_chunk), self.sample_rate)
        if timings is not None:
            write_timings(
                Path(timings),
                self.words,
                sample_rate=self.sample_rate,
                each_word=each_word,
                spoken=spoken,
            )


def observed(
    chunks: Iterator[AudioChunk], on_chunk: Callable[[AudioChunk], object] | None
) -> Iterator[AudioChunk]:
    """Yield the chunks, after calling ``on_chunk`` with each."""
    for chunk in chunks:
        if on_chunk is not None:
            on_chunk(chunk)
        yield chunk


class Chunks(Iterator[AudioChunk]):
    """An iterator over the chunks of a speech."""

    def __init__(
        self, following: Callable[[], AudioChunk | None], stop: Callable[[], object]
    ) -> None:
        self._following = following
        self._stop = stop

    def close(self) -> None:
        """Make no more chunks, and close the text."""
        self._stop()

    def __next__(self) -> AudioChunk:
        chunk = self._following()
        if chunk is None:
            raise StopIteration
        return chunk


def set_from_thread(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Set an event of a loop from any thread; does nothing once the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)
