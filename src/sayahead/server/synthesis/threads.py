"""Where speech is made: texts being spoken, on threads that serve the most urgent first.

Threads suffice: ONNX Runtime releases the interpreter lock while it computes.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.formats import encoder
from sayahead.sound.pcm import audible
from sayahead.types import WordTiming
from sayahead.voice import Voice

T = TypeVar("T")
MOMENT_S = 0.1
"""Silence in a file of a text without words."""


@dataclass(frozen=True, slots=True)
class EncodedChunk:
    """A chunk of audio as it is sent, and what its making took."""

    data: bytes
    """Encoded audio; may be empty while an encoder holds it."""
    samples: int
    """How many samples, at the voice's rate; 0 for an encoder's last bytes."""
    words: tuple[WordTiming, ...]
    """Words that begin in them, at the voice's rate."""
    audible: bool
    """Whether any of it is above -50 dBFS."""
    waited_s: float
    """Wait for a thread."""
    took_s: float
    """Time of the step itself."""
    computed_s: float = 0.0
    """Processor time of all steps since the chunk before."""


class Speaking:
    """One text being spoken: a session, its encoder, and the threads it runs on."""

    def __init__(self, voice: Voice, options: m.Options, pool: Pool) -> None:
        """ConfigError for options that the voice cannot take."""
        self.sample_rate = voice.sample_rate
        """Samples per second of the words' times."""
        self.session = voice.session(options.session)
        """Takes the text, while no ``pull`` is under way."""
        self._encoder = encoder(options.format, source_rate=voice.sample_rate)
        self._pool, self._over = pool, False
        # Whether a file still lacks its sound.
        self._mute = options.file
        # Processor time of steps that gave nothing yet.
        self._computed_s = 0.0

    async def pull(self, *, deadline: float) -> EncodedChunk | None:
        """The next chunk; None if that takes more text. ``deadline`` (time of the event loop) is when the peer runs
        out of audio: the earliest is served first."""
        request = time.perf_counter()
        return await self._pool.run(lambda: self._step(request), deadline=deadline)

    async def revise(self, at: int, text: str) -> int:
        """``Session.revise``, on a thread: it reads the open sentence again."""
        return await self._pool.run(lambda: self.session.revise(at, text), deadline=time.monotonic())

    def _step(self, request: float) -> EncodedChunk | None:
        start, computing = time.perf_counter(), time.thread_time()
        chunk = self.session.pull()
        samples, words, data, loud = 0, tuple[WordTiming, ...](), b"", False
        if chunk is not None:
            samples, words = len(chunk.samples), chunk.words
            data, loud = self._encoder.push(chunk.samples), len(audible(chunk.samples)) > 0
            self._mute = False
        elif self.session.finished and not self._over:
            if self._mute:
                data = self._encoder.push(np.zeros(round(MOMENT_S * self.sample_rate), np.float32))
            self._over, data = True, data + self._encoder.finish()
        computed_s = self._computed_s + time.thread_time() - computing
        if chunk is None and not data:
            self._computed_s = computed_s
            return None
        self._computed_s = 0.0
        took_s = time.perf_counter() - start
        return EncodedChunk(data, samples, words, loud, start - request, took_s, computed_s)


class Pool:
    """Threads that run short jobs, earliest deadline first; one of them is kept for what is needed soon.

    What is needed much later is made in the gaps: only when nothing has been needed soon for a moment.
    """

    # What is needed later than this may wait: it would be played from a buffer.
    SOON_S = 1.0
    # What is needed later than this waits for a gap of so long: enough is in the buffer.
    LATER_S, GAP_S = 5.0, 0.5

    def __init__(self, threads: int) -> None:
        self.steps = 0
        """Jobs that have run."""
        # When something was needed soon last.
        self._pressed = -math.inf
        # Jobs that run and whose result was not needed soon, and how many of them may.
        self._early, self._most_early = 0, max(1, threads - 1)
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
            # The loop is closed if the server went down without waiting.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, future, result, error)

        with self._ready:
            if deadline <= time.monotonic() + self.SOON_S:
                self._pressed = time.monotonic()
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
                while not (self._jobs and self._may_run()):
                    if self._closed:
                        return
                    self._ready.wait(self.GAP_S / 2 if self._jobs else None)
                early = self._left_s() > self.SOON_S
                work = heapq.heappop(self._jobs)[2]
                self._early += early
            work()
            # It holds its text, with all that the voice remembers of it: a thread that waits must not.
            del work
            with self._ready:
                self.steps += 1
                self._early -= early
                if not early:
                    self._pressed = time.monotonic()
                self._ready.notify()

    def _left_s(self) -> float:
        """Seconds until the most urgent job is needed."""
        return self._jobs[0][0] - time.monotonic()

    def _may_run(self) -> bool:
        """Whether the most urgent job may take a thread now."""
        if (left_s := self._left_s()) <= self.SOON_S:
            return True
        quiet = time.monotonic() >= self._pressed + self.GAP_S
        return self._early < self._most_early and (left_s <= self.LATER_S or quiet)


def settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    """Give a future its result, if anybody still waits for it."""
    if not future.done():
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
