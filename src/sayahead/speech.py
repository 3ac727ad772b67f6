"""A text being spoken: what an application holds while a voice speaks."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from sayahead.config import check_number, check_text, check_whole, describe
from sayahead.engine.heard import Heard
from sayahead.engine.session import Item, Session
from sayahead.errors import ConfigError, SessionError, TextError
from sayahead.sound.device import Player
from sayahead.sound.files import FORMATS, Sink
from sayahead.types import AudioChunk, Floats, WordTiming

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
IDLE_S = 0.6
"""Seconds without text after which everything so far is spoken, with a breath."""
RATES = (1000, 192_000)
"""Fewest and most samples per second of what is played or saved."""


@runtime_checkable
class Device(Sink, Protocol):
    """A sink that plays, as ``sound.device.Player``."""

    def played(self) -> int:
        """Samples that were heard."""
        ...


class Playback:
    """What a player has heard that begins with the first sound and plays in real time: assumed of one that is silent.

    Times are those of one clock, in seconds.
    """

    def __init__(self) -> None:
        self._given_s, self._dry = 0.0, math.inf

    def give(self, seconds: float, now: float) -> None:
        """It is given more sound."""
        self._given_s += seconds
        self._dry = now + seconds if math.isinf(self._dry) else max(self._dry, now) + seconds

    def played_s(self, now: float) -> float:
        """Seconds of sound that it has played."""
        return 0.0 if math.isinf(self._dry) else max(0.0, self._given_s - max(0.0, self._dry - now))


EARLY_S = 0.05
"""So long before a player runs dry a session that keeps up is pulled, to finish a word in time."""


def early_s(session: Session) -> float:
    """Seconds until then; infinite where the player has run dry, or the session does not go by it."""
    left_s = session.unplayed_s - EARLY_S
    # Not at once: a player that stands still must not keep a processor busy.
    return max(0.02, left_s) if session.keeps_up and left_s > 0 else math.inf


class Speech:
    """Chunks of sound, each as soon as the text so far allows it: ``for`` or ``async for``, once.

    Made by ``Voice.speak``. ``words`` has the timings of all words handed out so far. A ``for`` that was left goes on
    where it was in the next one; once all was spoken, another is a SessionError, as is a second ``async for``.
    """

    def __init__(
        self, session: Session, text: str | Iterable[Item] | AsyncIterable[Item], *, idle_s: float | None = IDLE_S
    ) -> None:
        """A ``text`` that comes in pieces may have a Flush or a Revision between them.

        ``idle_s``: with ``async for``, seconds without text after which the voice takes a breath; None: never.
        TextError if ``text`` is neither text nor an iterable.
        """
        if idle_s is not None:
            idle_s = check_number("idle_s", idle_s, 0.0, 3600.0)
        self.words: list[WordTiming] = []
        self._session, self._idle_s = session, idle_s
        self._text = fragments_of(text)
        # What `for` goes through, once there is one; whether `async for` has begun.
        self._spoken: Iterator[AudioChunk] | None = None
        self._begun = False
        self._player: Device | None = None
        self._playback, self._told = Playback(), False
        # Has `async for` look again, which may be waiting for text; from any thread.
        self._wake: Callable[[], object] = lambda: None

    @property
    def sample_rate(self) -> int:
        """Samples per second of its chunks."""
        return self._session.sample_rate

    @property
    def text(self) -> str:
        """All text that has come, as it was revised."""
        return self._session.text

    def flush(self, *, end: bool = False) -> None:
        """Speak all text so far now, for example before a tool call. ``end`` ends its sentence, too."""
        self._session.flush(end=end)
        self._wake()

    def played(self, played_s: float) -> None:
        """The listener has heard ``played_s`` seconds: what ``keep_up`` goes by.

        Until this is called, playback is assumed to begin with the first chunk and to run in real time; ``play`` tells
        what the sound device has taken.
        """
        self._told = True
        self._session.played(played_s)

    def _tell(self) -> None:
        """Tell the session how far the player is, if nobody else does."""
        if not self._session.keeps_up or self._told:
            return
        if self._player is not None:
            self._session.played(self._player.played() / self.sample_rate)
        else:
            self._session.played(self._playback.played_s(time.monotonic()))

    def heard(self, played_s: float | None = None) -> Heard:
        """What the listener has heard after ``played_s`` seconds of sound; by default, of what ``play`` has played."""
        return self._session.heard(self._played_s(played_s))

    def cancel(self, played_s: float | None = None) -> Heard:
        """Stop speaking at once; returns what was heard, as ``heard`` does."""
        try:
            return self._session.cancel(self._played_s(played_s))
        finally:
            self._wake()
            if self._player is not None:
                self._player.close()

    def _played_s(self, played_s: float | None) -> float | None:
        if played_s is None and self._player is not None:
            return self._player.played() / self.sample_rate
        return played_s

    def __iter__(self) -> Iterator[AudioChunk]:
        return self._iterated(self._tell)

    def _iterated(self, tell: Callable[[], None]) -> Iterator[AudioChunk]:
        """The one iterator over the chunks; ``tell`` is called before each piece of text where it is new."""
        if isinstance(self._text, AsyncIterable):
            raise ConfigError("The text is an async iterator: use `async for`.")
        if self._begun or (self._spoken is not None and self._session.finished):
            self._check_fresh()
        if self._spoken is None:
            self._spoken = self._speak(self._text, tell)
        return self._spoken

    def _check_fresh(self) -> None:
        """SessionError for sound that was handed out: it is not kept. What was cancelled is silent."""
        if not self._session.cancelled:
            raise SessionError("This text has been spoken, and its sound is not kept: call speak() again.")

    def into(self, sink: Sink, *, live: bool = True) -> Iterator[AudioChunk]:
        """The chunks, each once it is written to a sink; ``live``: whether somebody listens while it speaks.

        Of a sink that can tell how many samples it has ``played``, these are what was heard.
        """
        if live and isinstance(sink, Device):
            self._player = sink
        for chunk in self._iterated(self._tell if live else lambda: None):
            sink.write(chunk.samples)
            yield chunk

    def _speak(self, text: Iterable[Item], tell: Callable[[], None]) -> Iterator[AudioChunk]:
        for item in text:
            if self._session.finished:
                return
            self._session.take(item)
            tell()
            yield from self._chunks()
        self._session.finish()
        tell()
        yield from self._chunks()

    def _chunks(self) -> Iterator[AudioChunk]:
        for chunk in self._session.chunks():
            self._take(chunk)
            yield chunk

    def _take(self, chunk: AudioChunk) -> None:
        self.words += chunk.words
        self._playback.give(chunk.duration_s, time.monotonic())

    async def __aiter__(self) -> AsyncIterator[AudioChunk]:
        """Synthesis runs in a worker thread."""
        import asyncio

        if self._begun or self._spoken is not None:
            self._check_fresh()
        self._begun = True
        session: Any = self._session
        loop, woken, source = asyncio.get_running_loop(), asyncio.Event(), aiter(asynchronous(self._text))
        waiting: asyncio.Future[Item] | None = None
        # When a breath is due.
        due = math.inf
        waking = asyncio.ensure_future(woken.wait())

        def wake() -> None:
            # The loop may have ended with nobody left to tell it.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(woken.set)

        self._wake = wake
        try:
            while not session.finished:
                waiting = waiting or asyncio.ensure_future(anext(source))
                timeout = min(due - time.monotonic(), early_s(session))
                both: set[asyncio.Future[Any]] = {waiting, waking}
                timeout_s = None if math.isinf(timeout) else max(0.0, timeout)
                await asyncio.wait(both, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
                if session.finished:
                    return
                self._tell()
                if waking.done():
                    woken.clear()
                    waking = asyncio.ensure_future(woken.wait())
                if came := waiting.done():
                    try:
                        session.take(waiting.result())
                    except StopAsyncIteration:
                        session.finish()
                    waiting = None
                elif time.monotonic() >= due:
                    session.flush(end=False)
                    due = math.inf
                while (chunk := await asyncio.to_thread(session.pull)) is not None:
                    self._take(chunk)
                    yield chunk
                if came and self._idle_s is not None:
                    due = time.monotonic() + self._idle_s
        finally:
            self._wake = lambda: None
            waking.cancel()
            if waiting is not None:
                waiting.cancel()

    async def play(self) -> Heard:
        """Play on the sound device until the end or ``cancel``; returns what was heard. Needs the ``play`` extra."""
        import asyncio

        self._player = player = Player(self.sample_rate)
        try:
            async for chunk in self:
                await asyncio.to_thread(player.write, chunk.samples)
            await asyncio.to_thread(player.drain)
            return self.heard()
        finally:
            player.close()

    def save(self, path: str | Path) -> None:
        """Speak into a ``.wav`` or ``.flac`` file. ConfigError for other extensions, or if the text is asynchronous."""
        # A file has no listener who could be late.
        save(path, self._iterated(lambda: None), self.sample_rate)


def fragments_of(text: object) -> Iterable[Any] | AsyncIterable[Any]:
    """A text, or what gives pieces of one, as an iterable of them; TextError for anything else."""
    if isinstance(text, str):
        return [text]
    if isinstance(text, bytes | bytearray | memoryview):
        check_text("speak", text)
    if not isinstance(text, Iterable | AsyncIterable):
        raise TextError(f"speak() takes text, or an iterable of pieces of text, not {type(text).__name__}.")
    return text


async def asynchronous(text: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    """A text's fragments, from an iterable of either kind."""
    if isinstance(text, AsyncIterable):
        async for fragment in text:
            yield fragment
    else:
        for fragment in text:
            yield fragment


def end_of_failed(chunks: asyncio.Queue[Any], writing: asyncio.Task[None]) -> None:
    """Where the writing of a text has failed, its sound ends with what has come: nobody shall wait for more."""
    if not writing.cancelled() and writing.exception() is not None:
        chunks.put_nowait(None)


def pieces(sound: Floats | Iterable[AudioChunk]) -> Iterable[Floats]:
    """Samples (S,), whole or chunk by chunk. ConfigError for what is neither."""
    if isinstance(sound, np.ndarray | AudioChunk):
        return [samples_of(sound)]
    if not isinstance(sound, Iterable):
        raise ConfigError(f"The sound is {describe(sound)}, but must be samples, or chunks of them.")
    return (samples_of(chunk) for chunk in sound)


def samples_of(sound: object) -> Floats:
    """The samples (S,) of a chunk, or those given. ConfigError unless they are floats in one dimension."""
    samples = sound.samples if isinstance(sound, AudioChunk) else sound
    if not isinstance(samples, np.ndarray):
        raise ConfigError(f"The sound has {describe(sound)}, but must be samples in a NumPy array, or chunks.")
    if samples.ndim != 1 or not np.issubdtype(samples.dtype, np.floating):
        what = f"an array of {samples.dtype}, {samples.ndim}-dimensional"
        raise ConfigError(f"The sound is {what}, but must be floats from -1 to 1 in one dimension.")
    return samples


def play(sound: Floats | Iterable[AudioChunk], sample_rate: int) -> None:
    """Play samples (S,), or chunks as they come, and wait until the end. Needs the ``play`` extra.

    ConfigError for samples that are not floats in one dimension.
    """
    given = pieces(sound)
    player = Player(check_whole("sample_rate", sample_rate, *RATES))
    try:
        for samples in given:
            player.write(samples)
        player.drain()
    finally:
        player.close()


def save(path: str | Path, sound: Floats | Iterable[AudioChunk], sample_rate: int) -> None:
    """Write samples (S,), or chunks as they come, to a ``.wav`` or ``.flac`` file.

    ConfigError for another ending, and for samples that are not floats in one dimension.
    """
    path, given = Path(path), pieces(sound)
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"{path}: unsupported extension {path.suffix!r}; use {', '.join(FORMATS)}.")
    sink = FORMATS[path.suffix.lower()](path, sample_rate=check_whole("sample_rate", sample_rate, *RATES))
    try:
        for samples in given:
            sink.write(samples)
    finally:
        sink.close()
