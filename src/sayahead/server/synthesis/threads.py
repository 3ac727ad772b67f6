"""Where speech is made: texts being spoken, on threads that serve the most urgent first.

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
from sayahead.server.operation.budgets import Account
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.capacity import ProcessorShare
from sayahead.sound.formats import encoder
from sayahead.sound.pcm import audible
from sayahead.types import WordTiming
from sayahead.voice import Voice

T = TypeVar("T")
SOON_S = 0.4
"""What is needed later than this may wait: it would be played from a buffer."""
MOMENT_S = 0.1
"""Silence in a file of a text without words."""
READ_AT_ONCE = 240
"""Characters of a text that a job reads, if they have no word: then others have a turn."""
MAX_SHORT = 100
"""Phonemes, spoken and seen, of a step that is not long: some fifteen words. Steps of prose have 10
to 30."""


class Size(Enum):
    """How long a job takes."""

    SHORT = "short"
    LONG = "long"


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


Member = Callable[[], tuple[Voice, str | None]]
"""Gives a voice, which may have to be loaded, and one of its speakers."""


def session_of(
    voice: Voice, options: SessionOptions, others: Callable[[str], Member | None] | None = None
) -> Session:
    """A stream of speech in which others may speak, too."""
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
    """One text being spoken: a session, its encoder, and the threads it runs on."""

    def __init__(
        self,
        voice: Voice,
        options: m.Options,
        pool: Pool,
        account: Account | None = None,
        others: Callable[[str], Member | None] | None = None,
    ) -> None:
        """``account`` pays for the processor time; ``others``: who else may speak in the text, by
        name. ConfigError for options that the voice cannot take."""
        self._voice = voice.config.name
        self._account = account
        # Who asks another process may wait for it.
        self._waits = class_flag(type(voice.loaded.phonemizer), "waits", default=False)
        self.sample_rate = voice.sample_rate
        """Samples per second of the words' times."""
        self.session = session_of(voice, options.session, others)
        self.session.deliver(options.delivery)
        """Takes the text, while no ``pull`` is under way."""
        self._encoder = encoder(options.format, source_rate=voice.sample_rate)
        self._pool = pool
        self._over = False
        # Whether a file still lacks its sound.
        self._mute = options.file
        wanted = options.session.step_words
        self.batch_size = BatchSize(
            pool.step_words if wanted is None else min(wanted, pool.step_words)
        )
        """How many words its steps may say."""
        # Processor time of steps that gave nothing yet.
        self._computed_s = 0.0

    async def pull(self, *, deadline: float, patient: bool = False) -> EncodedChunk | None:
        """The next chunk; None if that takes more text. ``deadline`` (time of the event loop) is
        when the peer runs out of audio: the earliest is served first. ``patient``: more text is
        awaited where it adds to what the step can say (``Session.hungry``)."""
        request = time.perf_counter()
        size = Size.SHORT
        while True:
            job = functools.partial(self._step, request, size, patient)
            result = await self._run(job, deadline=deadline, size=size)
            if not isinstance(result, Size):
                return result
            size = result

    async def revise(self, at: int, text: str) -> int:
        """``Session.revise``, on a thread: it reads the open sentence again."""
        return await self._run(lambda: self.session.revise(at, text), deadline=time.monotonic())

    async def _run(self, job: Callable[[], T], *, deadline: float, size: Size = Size.SHORT) -> T:
        return await self._pool.run(
            job,
            deadline=deadline,
            size=size,
            voice=self._voice,
            waits=self._waits,
            account=self._account,
        )

    def _step(self, request: float, size: Size, patient: bool) -> EncodedChunk | Size | None:
        """The next chunk; or what the step is, if that is another than it was taken for."""
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
        samples = 0
        words = tuple[WordTiming, ...]()
        data = b""
        loud = False
        if chunk is not None:
            samples = len(chunk.samples)
            words = chunk.words
            if size is Size.SHORT:
                self._pool.learn(self._voice, time.thread_time() - computing)
            data = self._encoder.push(chunk.samples)
            loud = len(audible(chunk.samples)) > 0
            self._mute = False
            self.batch_size.made()
        elif self.session.finished and not self._over:
            if self._mute:
                data = self._encoder.push(np.zeros(round(MOMENT_S * self.sample_rate), np.float32))
            self._over = True
            data = data + self._encoder.finish()
        computed_s = self._computed_s + time.thread_time() - computing
        if chunk is None and not data:
            self._computed_s = computed_s
            return None
        self._computed_s = 0.0
        took_s = time.perf_counter() - start
        return EncodedChunk(data, samples, words, loud, start - request, took_s, computed_s)


@dataclass(order=True, slots=True)
class Job:
    """What a thread is to do."""

    order: float
    """Earlier ones go first: its deadline, later for a client who takes much."""
    number: int
    deadline: float = field(compare=False)
    """When its result is needed."""
    work: Callable[[], None] = field(compare=False)
    account: Account | None = field(compare=False)
    """Who pays for it."""
    waits: bool = field(compare=False)
    """Whether it may have to wait for another process."""
    beside: bool = field(compare=False)
    """Whether another voice, or a client who takes little, is to have a thread."""


class Pool:
    """Threads that run short jobs, earliest deadline first; one of them is kept for what is needed
    soon.

    What is needed much later is made in the gaps: only when nothing has been needed soon for a
    moment. Long jobs have a thread of their own, so that nobody waits for their end; and those of a
    voice that costs much more than another that is in use leave one thread to that one, as do those
    of a client who takes much to one who takes little."""

    # What is needed later than this waits for a gap of so long: enough is in the buffer.
    LATER_S = 5.0
    GAP_S = 0.5
    # A voice is expensive whose jobs take so many times as long as another's that was in use within
    # so long.
    EXPENSIVE = 3.0
    IN_USE_S = 60.0
    # How much the thread of long jobs gives way to the others. Not more: where another program has
    # the processor, it would keep the interpreter's lock from them.
    NICE = 3

    def __init__(self, threads: int, *, step_words: int = 1) -> None:
        """``step_words``: how many words one step may say where its sound is not needed soon."""
        self.step_words = step_words
        self.steps = 0
        """Jobs that have run."""
        self.threads = threads
        self.share = ProcessorShare()
        # When something was needed soon last.
        self._pressed = -math.inf
        # Jobs that run and whose result was not needed soon, and those of expensive voices; how
        # many may. And those that may have to wait for another process.
        self._early = 0
        self._expensive = 0
        self._outside = 0
        self._most = threads
        self._most_but_one = max(1, threads - 1)
        # Cheap, expensive and long ones.
        self._jobs: tuple[list[Job], list[Job], list[Job]] = ([], [], [])
        self._costs = dict[str, tuple[float, float]]()
        # The two clients who asked last of those that take little, and when.
        self._modest: list[tuple[Account, float]] = []
        self._count = itertools.count()
        # One lock, on which the thread of long jobs waits apart from the others.
        lock = threading.Lock()
        self._ready = threading.Condition(lock)
        self._ready_long = threading.Condition(lock)
        self._closed = False
        # With one thread, expensive voices share that of long jobs.
        makers: list[Callable[[], None]] = [
            *(functools.partial(self._work, self._next, self._ready) for _ in range(threads)),
            self._work_long,
        ]
        self._threads = [
            threading.Thread(target=work, name=f"speech-{n}", daemon=True)
            for n, work in enumerate(makers)
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
        """The job's result; a job whose caller was cancelled before its turn never runs. ``waits``:
        it may have to wait for another process."""
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
                self._pressed = time.monotonic()
            others = self._others(voice)
            crowds = self._crowds(account)
            kind = (
                2
                if size is Size.LONG
                else int(waits or crowds or self._is_expensive(voice, others))
            )
            entry = Job(
                order,
                next(self._count),
                deadline,
                work,
                account,
                waits,
                beside=bool(others) or crowds,
            )
            heapq.heappush(self._jobs[kind], entry)
            if kind or self._outside:
                self._wake_all()
            else:
                # Any of these threads can take it, and the one that is woken is enough.
                self._ready.notify()
        return await future

    def close(self) -> None:
        """Let the jobs that run end, and drop the others."""
        with self._ready:
            self._closed = True
            for jobs in self._jobs:
                jobs.clear()
            self._wake_all()
        for thread in self._threads:
            thread.join()

    def _wake_all(self) -> None:
        """Let all threads look for what they may take now."""
        self._ready.notify_all()
        self._ready_long.notify_all()

    def _others(self, voice: str) -> list[float]:
        """What a job of each other voice takes that is in use."""
        since = time.monotonic() - self.IN_USE_S
        return [cost for name, (cost, at) in self._costs.items() if name != voice and at > since]

    def _is_expensive(self, voice: str, others: list[float]) -> bool:
        """Whether a voice's jobs take much longer than another's; of one that nothing is known of,
        yes, unless another may be waiting now."""
        own = self._costs.get(voice, (0.0 if self._outside else math.inf, 0.0))[0]
        return bool(voice) and bool(others) and own > self.EXPENSIVE * min(others)

    def _crowds(self, account: Account | None) -> bool:
        """Whether a client takes much while another one is there who takes little, and would wait
        for its steps."""
        now = time.monotonic()
        if account is None:
            return False
        others = [
            (other, at)
            for other, at in self._modest
            if other is not account and at > now - self.IN_USE_S
        ]
        if account.debt_s:
            return bool(others)
        self._modest = [(account, now), *others[:1]]
        return False

    def _work_long(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            # A thread of Linux is a process of its own here, which elsewhere it is not.
            if sys.platform == "linux":
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), self.NICE)
        self._work(self._next_long, self._ready_long)

    def _work(self, following: Callable[[], list[Job] | None], ready: threading.Condition) -> None:
        """Run one job after another; ``following`` gives the heap of the next, and ``ready`` tells
        that one came."""
        while True:
            with ready:
                while (jobs := following()) is None:
                    if self._closed:
                        return
                    ready.wait(self.GAP_S / 2 if any(self._jobs) else None)
                job = heapq.heappop(jobs)
                early = job.deadline - time.monotonic() > SOON_S
                expensive = jobs is self._jobs[1]
                general = jobs is not self._jobs[2]
                self._early += early and general
                self._expensive += expensive
                self._outside += (outside := job.waits)
                if outside:
                    self._ready_long.notify()
            begun = time.thread_time()
            at = time.monotonic()
            job.work()
            spent_s = time.thread_time() - begun
            if job.account is not None:
                job.account.charge(spent_s)
            if general:
                self.share.add(spent_s, time.monotonic() - at)
            # It holds its text, with all that the voice remembers of it: a thread that waits must
            # not.
            del job
            with ready:
                self.steps += 1
                self._early -= early and general
                self._expensive -= expensive
                self._outside -= outside
                if not early:
                    self._pressed = time.monotonic()
                # What else may run now that did not before, this thread finds next.
                if expensive or outside or not general:
                    self._wake_all()

    def learn(self, voice: str, took_s: float) -> None:
        """What a step of a voice costs, on average of those that were not long."""
        before = self._costs.get(voice, (took_s, 0.0))[0]
        self._costs[voice] = before + (took_s - before) / 16, time.monotonic()

    def cost(self, voice: str) -> float:
        """The same, in seconds."""
        return self._costs.get(voice, (UNKNOWN_S, 0.0))[0]

    def _next(self) -> list[Job] | None:
        """Where the most urgent job is that a thread may take now."""
        kinds = self._jobs[:2] if self._expensive < self._most - self._beside() else self._jobs[:1]
        return self._first(kinds, room=self._early < self._most_but_one)

    def _next_long(self) -> list[Job] | None:
        """The same for the thread of long jobs, which has those of expensive voices, too, where
        there is one other, and cheap ones while all others may be waiting for another process."""
        kinds = self._jobs[1:] if self._most == 1 and self._beside() else self._jobs[2:]
        return self._first(
            (self._jobs[0], *kinds) if self._outside >= self._most else kinds, room=True
        )

    def _beside(self) -> bool:
        """Whether the next job of an expensive voice is to leave a thread to another voice."""
        return any(job.beside for job in self._jobs[1][:1])

    def _first(self, kinds: Iterable[list[Job]], *, room: bool) -> list[Job] | None:
        waiting = sorted((jobs for jobs in kinds if jobs), key=lambda jobs: jobs[0])
        return next((jobs for jobs in waiting if self._may_run(jobs[0], room)), None)

    def _may_run(self, job: Job, room: bool) -> bool:
        """Whether a job may take a thread now; one that is not needed soon needs ``room``."""
        if (left_s := job.deadline - time.monotonic()) <= SOON_S:
            return True
        quiet = time.monotonic() >= self._pressed + self.GAP_S
        return room and (left_s <= self.LATER_S or quiet)


def settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    """Give a future its result, if anybody still waits for it."""
    if not future.done():
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
