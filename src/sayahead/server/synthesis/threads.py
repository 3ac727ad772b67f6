"""Synthesis threads, which run the steps of all texts by earliest deadline first.

Threads suffice: ONNX Runtime releases the interpreter lock while it computes.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import heapq
import itertools
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from sayahead.config import class_flag
from sayahead.engine.batch_size import UNKNOWN_S, BatchSize
from sayahead.engine.cast import Cast, Tags
from sayahead.engine.options import SessionOptions
from sayahead.engine.session import Session
from sayahead.server.operation.rate_limits import Account
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.capacity import ProcessorShare
from sayahead.sound.formats import encoder
from sayahead.sound.pcm import audible
from sayahead.types import AudioChunk, WordTiming
from sayahead.voice import Voice

T = TypeVar("T")
SOON_S = 0.4
"""A job whose deadline is later than this may wait: its sound would only be buffered."""
MOMENT_S = 0.1
"""Length of the silence in an audio file of a text without words."""
READ_AT_ONCE = 240
"""Characters that one job reads in search of a word; then other jobs have their turn."""
MAX_SHORT = 100
"""Most phonemes, spoken and visible, of a short step: some fifteen words. Steps of prose have 10 to
30."""


class Size(Enum):
    """How long a job takes."""

    SHORT = "short"
    LONG = "long"


@dataclass(frozen=True, slots=True)
class EncodedChunk:
    """An encoded chunk of audio, and the time that it took."""

    data: bytes
    """Encoded audio; may be empty while an encoder holds it."""
    samples: int
    """Number of samples at the voice's rate; 0 for an encoder's last bytes."""
    words: tuple[WordTiming, ...]
    """Words that begin in it, with times at the voice's rate."""
    audible: bool
    """Whether a part of it is above -50 dBFS."""
    waited_s: float
    """Time for which it waited for a thread."""
    took_s: float
    """Time of its step."""
    computed_s: float = 0.0
    """Processor time of all steps since the previous chunk."""


Member = Callable[[], tuple[Voice, str | None]]
"""Returns a voice, which it may have to load, and a speaker of it."""


def session_of(
    voice: Voice, options: SessionOptions, others: Callable[[str], Member | None] | None = None
) -> Session:
    """Open a session: with ``others``, which returns a member by name, a text in which several
    voices speak; its default voice is ``voice``."""
    if others is None:
        return voice.session(options)

    def opened(name: str) -> Session:
        member = others(name) if name else None
        if member is None:
            return voice.session(options)
        other, speaker = member()
        least, most = other.config.speed
        speed = min(max(options.speed, least), most)
        return other.session(replace(options, speaker=speaker, speed=speed))

    def knows(name: str) -> bool:
        return not name or others(name) is not None

    tags = Tags(elements=options.markup == "ssml")
    cast = Cast(
        opened, knows, sample_rate=voice.sample_rate, tags=tags, step_words=options.step_words
    )
    cast.open()
    return cast


class Speaking:
    """One text being spoken: runs a session and its encoder on the pool's threads."""

    def __init__(
        self,
        voice: Voice,
        options: m.Options,
        pool: Pool,
        account: Account | None = None,
        others: Callable[[str], Member | None] | None = None,
    ) -> None:
        """``account``: charged with the processor time; ``others``: returns other voices for the
        text by name. ConfigError for options that the voice cannot take."""
        self._voice = voice.config.name
        self._account = account
        # Whether its phonemizer asks another process, for which a thread may wait.
        self._waits = class_flag(type(voice.loaded.phonemizer), "waits", default=False)
        self.sample_rate = voice.sample_rate
        """Samples per second of the words' times."""
        self.session = session_of(voice, options.session, others)
        self.session.deliver(options.delivery)
        """Takes the text, while no ``pull`` is under way."""
        self._encoder = encoder(options.format, source_rate=voice.sample_rate)
        self._pool = pool
        self._over = False
        # Whether this is for a file that has no sound yet.
        self._mute = options.file
        wanted = options.session.step_words
        self.batch_size = BatchSize(
            pool.step_words if wanted is None else min(wanted, pool.step_words)
        )
        """How many words a step may speak."""
        # Processor time of steps since the last chunk.
        self._computed_s = 0.0

    async def pull(self, *, deadline: float, patient: bool = False) -> EncodedChunk | None:
        """Return the next chunk; None if more text is needed for it.

        ``deadline``: when the client's player runs dry, in the event loop's time. ``patient``:
        return None also if more text would add words to the step (``Session.hungry``)."""
        request = time.perf_counter()
        size = Size.SHORT
        while True:
            job = functools.partial(self._step, request, size, patient)
            result = await self._run(job, deadline=deadline, size=size)
            if not isinstance(result, Size):
                return result
            size = result

    async def revise(self, at: int, text: str) -> int:
        """Run ``Session.revise`` on a thread, since it normalizes the open sentence again."""
        return await self._run(lambda: self.session.revise(at, text), deadline=time.monotonic())

    async def _run(self, job: Callable[[], T], *, deadline: float, size: Size = Size.SHORT) -> T:
        """Run a job of this text in the pool."""
        return await self._pool.run(
            job,
            deadline=deadline,
            size=size,
            voice=self._voice,
            waits=self._waits,
            account=self._account,
        )

    def _step(self, request: float, size: Size, patient: bool) -> EncodedChunk | Size | None:
        """Run a step and return its chunk; None if more text is needed.

        ``request``: when the chunk was asked for; ``size``: of the job in which this runs;
        ``patient``: as for ``pull``. Returns a Size instead if the step must be queued again: as a
        long job, which is not known before its text is read, or as another short one if it has read
        enough for a turn.
        """
        start = time.perf_counter()
        computing = time.thread_time()
        max_words = self.batch_size.words(self._pool.cost(self._voice), ended=self.session.ended)
        phonemes = self.session.prepare(READ_AT_ONCE, together=max_words, patient=patient)
        if self.session.hungry:
            return None
        if phonemes is None or (phonemes > MAX_SHORT and size is Size.SHORT):
            self._computed_s += time.thread_time() - computing
            return Size.SHORT if phonemes is None else Size.LONG
        chunk = self.session.pull()
        if chunk is not None:
            self.batch_size.made()
            if size is Size.SHORT:
                self._pool.learn(self._voice, time.thread_time() - computing)
        data = self._encoded(chunk)
        computed_s = self._computed_s + time.thread_time() - computing
        if chunk is None and not data:
            self._computed_s = computed_s
            return None
        self._computed_s = 0.0
        took_s = time.perf_counter() - start
        samples = np.zeros(0, np.float32) if chunk is None else chunk.samples
        return EncodedChunk(
            data,
            len(samples),
            () if chunk is None else chunk.words,
            len(audible(samples)) > 0,
            start - request,
            took_s,
            computed_s,
        )

    def _encoded(self, chunk: AudioChunk | None) -> bytes:
        """Return what the encoder makes of a chunk or, without one, of the end of the text."""
        if chunk is not None:
            self._mute = False
            return self._encoder.push(chunk.samples)
        if self._over or not self.session.finished:
            return b""
        self._over = True
        silence = b""
        if self._mute:
            silence = self._encoder.push(np.zeros(round(MOMENT_S * self.sample_rate), np.float32))
        return silence + self._encoder.finish()


@dataclass(order=True, slots=True)
class Job:
    """A queued job."""

    order: float
    """Priority, the smallest first: its deadline plus the debt of its client."""
    number: int
    """Serial number, which orders jobs of the same priority."""
    deadline: float = field(compare=False)
    """When its result is needed."""
    work: Callable[[], None] = field(compare=False)
    account: Account | None = field(compare=False)
    """Charged with its processor time."""
    waits: bool = field(compare=False)
    """Whether it may wait for another process."""
    beside: bool = field(compare=False)
    """Whether it must leave a thread to another voice, or to a client within its budget."""


class Pool:
    """A pool of threads that runs jobs by earliest deadline first.

    There are three queues. Cheap jobs run on all threads, except that one thread is kept for urgent
    ones (due within ``SOON_S``). Expensive jobs leave a thread to the others: those of a voice that
    costs much more than another one in use, those of a client over its budget while another one is
    within its own, and those that may wait for another process. Long jobs have a thread of their
    own, so that no other job waits for their end. Jobs that are due much later run only while
    nothing is urgent."""

    # A job due later than ``LATER_S`` waits until nothing was urgent for ``GAP_S``.
    LATER_S = 5.0
    GAP_S = 0.5
    # A voice is expensive if its jobs take so many times as long as those of another voice that was
    # in use within ``IN_USE_S``.
    EXPENSIVE = 3.0
    IN_USE_S = 60.0
    # Niceness of the thread of long jobs. A nicer one would hold the interpreter lock for long when
    # another program has the processor.
    NICE = 3

    def __init__(self, threads: int, *, step_words: int = 1) -> None:
        """``threads``: how many run short jobs; ``step_words``: most words of a step whose sound is
        not urgent."""
        self.step_words = step_words
        self.steps = 0
        """Number of jobs that have run."""
        self.threads = threads
        self.share = ProcessorShare()
        # When a job was urgent last.
        self._last_urgent = -math.inf
        # Running jobs that are not urgent, that are expensive, and that may wait for another
        # process.
        self._early_count = 0
        self._expensive_count = 0
        self._waiting_count = 0
        self._max_early = max(1, threads - 1)
        self._cheap = list[Job]()
        self._expensive = list[Job]()
        self._long = list[Job]()
        self._queues = self._cheap, self._expensive, self._long
        # Mean processor time of a voice's short jobs, and when it was updated.
        self._costs = dict[str, tuple[float, float]]()
        # The last two clients within their budget, and when they queued a job.
        self._modest_clients: list[tuple[Account, float]] = []
        self._count = itertools.count()
        # One lock, on which the thread of long jobs waits apart from the others.
        lock = threading.Lock()
        self._ready = threading.Condition(lock)
        self._ready_long = threading.Condition(lock)
        self._closed = False
        # With one thread, expensive jobs share that of long jobs.
        targets: list[Callable[[], None]] = [
            *(functools.partial(self._work, self._next, self._ready) for _ in range(threads)),
            self._work_long,
        ]
        self._threads = [
            threading.Thread(target=target, name=f"speech-{n}", daemon=True)
            for n, target in enumerate(targets)
        ]
        for thread in self._threads:
            thread.start()

    async def run(
        self,
        job: Callable[[], T],
        *,
        deadline: float,
        size: Size = Size.SHORT,
        voice: str = "",
        waits: bool = False,
        account: Account | None = None,
    ) -> T:
        """Queue a job, and return its result. A job whose caller is cancelled before its turn does
        not run.

        ``deadline``: when the result is needed; ``voice``: the name of the voice that it runs;
        ``waits``: whether it may wait for another process; ``account``: the client's."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            if future.cancelled():
                return
            try:
                result = job()
                error = None
            except Exception as caught:
                result = None
                error = caught
            # The loop is closed if the server went down without waiting.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, future, result, error)

        order = deadline + (account.debt_s if account else 0.0)
        with self._ready:
            if deadline <= time.monotonic() + SOON_S:
                self._last_urgent = time.monotonic()
            others = self._others(voice)
            crowds = self._crowds(account)
            is_expensive = waits or crowds or self._is_expensive(voice, others)
            short = self._expensive if is_expensive else self._cheap
            queue = self._long if size is Size.LONG else short
            entry = Job(
                order,
                next(self._count),
                deadline,
                work,
                account,
                waits,
                beside=bool(others) or crowds,
            )
            heapq.heappush(queue, entry)
            if queue is self._cheap and not self._waiting_count:
                # Any thread for short jobs can take it, and the one that is woken is enough.
                self._ready.notify()
            else:
                self._wake_all()
        return await future

    def close(self) -> None:
        """Drop the queued jobs, and wait for the running ones."""
        with self._ready:
            self._closed = True
            for queue in self._queues:
                queue.clear()
            self._wake_all()
        for thread in self._threads:
            thread.join()

    def _wake_all(self) -> None:
        """Let all threads look for a job."""
        self._ready.notify_all()
        self._ready_long.notify_all()

    def _others(self, voice: str) -> list[float]:
        """Return the costs of the other voices in use."""
        since = time.monotonic() - self.IN_USE_S
        return [cost for name, (cost, at) in self._costs.items() if name != voice and at > since]

    def _is_expensive(self, voice: str, others: list[float]) -> bool:
        """Return whether a voice costs much more than the cheapest of ``others``. A voice whose
        cost is unknown counts as expensive, unless a thread may be waiting for another process."""
        own = self._costs.get(voice, (0.0 if self._waiting_count else math.inf, 0.0))[0]
        return bool(voice) and bool(others) and own > self.EXPENSIVE * min(others)

    def _crowds(self, account: Account | None) -> bool:
        """Return whether a client is over its budget while another one in use is within its own,
        and so would wait for its jobs. Notes the clients within their budget."""
        now = time.monotonic()
        if account is None:
            return False
        others = [
            (other, at)
            for other, at in self._modest_clients
            if other is not account and at > now - self.IN_USE_S
        ]
        if account.debt_s:
            return bool(others)
        self._modest_clients = [(account, now), *others[:1]]
        return False

    def _work_long(self) -> None:
        """Run the thread of long jobs, which is nicer than the others."""
        with contextlib.suppress(OSError, AttributeError):
            # Only on Linux does a thread have a priority of its own.
            if sys.platform == "linux":
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), self.NICE)
        self._work(self._next_long, self._ready_long)

    def _work(self, following: Callable[[], list[Job] | None], ready: threading.Condition) -> None:
        """Run one job after another until the pool is closed. ``following``: returns the queue of
        the next job, or None; ``ready``: notified when a job was queued."""
        while True:
            with ready:
                while (queue := following()) is None:
                    if self._closed:
                        return
                    ready.wait(self.GAP_S / 2 if any(self._queues) else None)
                job = heapq.heappop(queue)
                is_early = job.deadline - time.monotonic() > SOON_S
                is_expensive = queue is self._expensive
                is_short = queue is not self._long
                self._early_count += is_early and is_short
                self._expensive_count += is_expensive
                self._waiting_count += (waits := job.waits)
                if waits:
                    self._ready_long.notify()
            processor_start = time.thread_time()
            start = time.monotonic()
            job.work()
            processor_s = time.thread_time() - processor_start
            if job.account is not None:
                job.account.charge(processor_s)
            if is_short:
                self.share.add(processor_s, time.monotonic() - start)
            # A job refers to its text and the state of its session, which an idle thread must not
            # keep alive.
            del job
            with ready:
                self.steps += 1
                self._early_count -= is_early and is_short
                self._expensive_count -= is_expensive
                self._waiting_count -= waits
                if not is_early:
                    self._last_urgent = time.monotonic()
                # Jobs that this one kept from running on other threads may run now.
                if is_expensive or waits or not is_short:
                    self._wake_all()

    def learn(self, voice: str, took_s: float) -> None:
        """Update the mean cost of a voice's short steps."""
        before = self._costs.get(voice, (took_s, 0.0))[0]
        self._costs[voice] = before + (took_s - before) / 16, time.monotonic()

    def cost(self, voice: str) -> float:
        """Return the mean processor time of a voice's short steps, in seconds."""
        return self._costs.get(voice, (UNKNOWN_S, 0.0))[0]

    def _next(self) -> list[Job] | None:
        """Return the queue of the job that a thread for short jobs takes next; None if none may run
        now."""
        queues = [self._cheap]
        if self._expensive_count < self.threads - self._beside():
            queues.append(self._expensive)
        return self._first(queues, room=self._early_count < self._max_early)

    def _next_long(self) -> list[Job] | None:
        """Return the queue of the job that the thread for long jobs takes next; None if none may
        run now.

        It also takes expensive jobs if there is but one other thread, and cheap ones while all
        others may be waiting for another process.
        """
        queues = [self._long]
        if self.threads == 1 and self._beside():
            queues.append(self._expensive)
        if self._waiting_count >= self.threads:
            queues.append(self._cheap)
        return self._first(queues, room=True)

    def _beside(self) -> bool:
        """Return whether the next expensive job must leave a thread to others."""
        return bool(self._expensive) and self._expensive[0].beside

    def _first(self, queues: Iterable[list[Job]], *, room: bool) -> list[Job] | None:
        """Return the queue with the first job by priority that may run now."""
        waiting = sorted(filter(None, queues), key=lambda queue: queue[0])
        return next((queue for queue in waiting if self._may_run(queue[0], room)), None)

    def _may_run(self, job: Job, room: bool) -> bool:
        """Return whether a job may run now. ``room``: whether there is a thread for one that is not
        urgent."""
        if (left_s := job.deadline - time.monotonic()) <= SOON_S:
            return True
        is_quiet = time.monotonic() >= self._last_urgent + self.GAP_S
        return room and (left_s <= self.LATER_S or is_quiet)


def settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    """Set a future's result or exception, unless it is done already."""
    if not future.done():
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
