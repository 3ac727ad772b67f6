"""Where speech is made: streams of text to encoded sound, on threads that take the most urgent first.

The driver sees ``Engine`` and ``Stream`` alone, so that the making can also happen in other processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from sayahead.engine.session import Session
from sayahead.errors import ConfigError
from sayahead.policies.characters import WaitEnd
from sayahead.policies.rules import LookaheadK, WaitAll
from sayahead.server.messages import ContextOptions
from sayahead.server.synthesis.formats import encoder
from sayahead.sound.pcm import audible
from sayahead.types import WordTiming
from sayahead.voice import Voice

T = TypeVar("T")
MOST_LOOKAHEAD = 16


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the text: speak all before it."""

    ends: bool
    """Whether no text comes behind it."""


Item: TypeAlias = str | Mark
"""What a stream is fed with."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one step of a stream made."""

    data: bytes
    """Encoded sound; may be empty while an encoder holds it."""
    samples: int
    """Samples made, at the voice's rate; 0 for an encoder's last bytes."""
    words: tuple[WordTiming, ...]
    """Words that begin in them, at the voice's rate."""
    audible: bool
    """Whether any of it is above -50 dBFS."""
    waited_s: float
    """Wait for a thread."""
    took_s: float
    """Time of the step itself."""


class Stream(Protocol):
    """One text being spoken; used by one task at a time."""

    sample_rate: int
    """Samples per second of the words' times."""

    async def pull(self, items: Sequence[Item], *, deadline: float) -> Piece | None:
        """Take in the items, then make the next piece; None where that takes more items. ``deadline`` (time of the
        event loop) is when the peer runs out of sound: the earliest is served first."""
        ...

    def close(self) -> None:
        """Drop all; harmless when repeated."""
        ...


class Engine(Protocol):
    """Makes streams."""

    def start(self) -> None:
        """Be ready for the first word; takes its time. VoiceError where that cannot be."""
        ...

    async def open(self, voice: str, options: ContextOptions) -> Stream:
        """A new stream with a voice that is known. ConfigError or VoiceError for what cannot be."""
        ...

    def close(self) -> None:
        """End all threads or processes."""
        ...


class Work:
    """The synchronous half of a stream: a session and its encoder. Lives where the speech is made."""

    def __init__(self, voice: Voice, options: ContextOptions) -> None:
        self.sample_rate = voice.sample_rate
        self._session: Session = voice.session(**session_options(voice, options))
        self._encoder = encoder(options.format, source_rate=voice.sample_rate)
        self._over = False

    def step(self, items: Sequence[Item], waited_s: float = 0.0) -> Piece | None:
        """Take in the items and make the next piece."""
        begun = time.perf_counter()
        for item in items:
            if isinstance(item, str):
                self._session.push(item)
            elif item.ends:
                self._session.finish()
            else:
                self._session.flush()
        chunk = self._session.pull()
        if chunk is not None:
            data = self._encoder.push(chunk.samples)
            heard = len(audible(chunk.samples)) > 0
            return Piece(data, len(chunk.samples), chunk.words, heard, waited_s, time.perf_counter() - begun)
        if self._session.finished and not self._over:
            self._over = True
            data = self._encoder.finish()
            return Piece(data, 0, (), False, waited_s, time.perf_counter() - begun) if data else None
        return None


def session_options(voice: Voice, options: ContextOptions) -> dict[str, Any]:
    """``Voice.session``'s options for what a client chose."""
    chosen: dict[str, Any] = {"volume": options.volume, "seed": options.seed, "speed": options.speed}
    if options.any_voice:
        least, most = voice.config.speed
        chosen["speed"] = min(max(options.speed, least), most)
    if options.sentences:
        chosen["policy"] = WaitEnd() if voice.characters else WaitAll()
    elif options.lookahead is not None:
        if options.lookahead > MOST_LOOKAHEAD:
            raise ConfigError(f"lookahead is {options.lookahead}, but must be from 0 to {MOST_LOOKAHEAD}.")
        chosen["policy"] = LookaheadK(options.lookahead)
    return chosen


class Pool:
    """Threads that run short jobs, the one with the earliest deadline first."""

    def __init__(self, threads: int) -> None:
        self._jobs: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._ready = threading.Condition()
        self._closed = False
        self._threads = [threading.Thread(target=self._work, name=f"speech-{n}", daemon=True) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    async def run(self, job: Callable[[], T], *, deadline: float) -> T:
        """The job's result; a job whose caller was cancelled before its turn never runs."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            if future.cancelled():
                return
            try:
                result, error = job(), None
            except Exception as caught:
                result, error = None, caught
            # The loop is closed where a server went down without waiting.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, future, result, error)

        with self._ready:
            heapq.heappush(self._jobs, (deadline, next(self._count), work))
            self._ready.notify()
        return await future

    def close(self) -> None:
        """Let the jobs that run end, and drop the others."""
        with self._ready:
            self._closed = True
            self._jobs.clear()
            self._ready.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._ready:
                while not self._jobs:
                    if self._closed:
                        return
                    self._ready.wait()
                work = heapq.heappop(self._jobs)[2]
            work()


def settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    """Give a future its result, if anybody still waits for it."""
    if not future.done():
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


class ThreadEngine:
    """Streams on threads of this process: ONNX Runtime lets go of the interpreter while it computes."""

    def __init__(self, voice: Callable[[str], Voice], *, threads: int, first: Sequence[str] = ()) -> None:
        """``voice`` gives a voice by its name, and may take long: it is called on a thread. ``first``: those to load
        at the start."""
        self._voice, self._pool, self._first = voice, Pool(threads), first

    def start(self) -> None:
        for name in self._first:
            self._voice(name)

    async def open(self, voice: str, options: ContextOptions) -> ThreadStream:
        # A voice may have to be loaded first, which must not take the turn of those who speak.
        work = await asyncio.to_thread(lambda: Work(self._voice(voice), options))
        return ThreadStream(self._pool, work)

    def close(self) -> None:
        self._pool.close()


class ThreadStream:
    """A stream of a ThreadEngine."""

    def __init__(self, pool: Pool, work: Work) -> None:
        self.sample_rate = work.sample_rate
        self._pool, self._work = pool, work

    async def pull(self, items: Sequence[Item], *, deadline: float) -> Piece | None:
        asked = time.perf_counter()
        return await self._pool.run(lambda: self._work.step(items, time.perf_counter() - asked), deadline=deadline)

    def close(self) -> None:
        return
