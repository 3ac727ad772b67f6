"""Streams in processes of their own: no interpreter lock is shared, at the price of a copy of each voice.

Requests go down a pipe and answers come back on it; in each process the request with the earliest deadline is served
first. A process that dies takes its streams with it, and another takes its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import logging
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from sayahead.errors import SayaheadError, VoiceError
from sayahead.server.messages import ContextOptions
from sayahead.server.synthesis.threads import Item, Piece, Work, settle
from sayahead.voice import Voice

log = logging.getLogger("sayahead.server")
Loader: TypeAlias = Callable[[str], Voice]
"""A voice by its name; must be picklable, and keep what it has loaded."""
READY = -1


class ProcessEngine:
    """Streams in worker processes; each stream stays where it was opened."""

    def __init__(self, loader: Loader, *, processes: int, first: Sequence[str]) -> None:
        """``first``: the voices that every process loads at its start."""
        self._closed = False
        self._workers = [Worker(loader, first, self) for _ in range(processes)]

    def start(self) -> None:
        for worker in self._workers:
            worker.wait()

    async def open(self, voice: str, options: ContextOptions) -> ProcessStream:
        worker = min(self._workers, key=lambda worker: worker.streams)
        name = worker.take()
        try:
            return ProcessStream(worker, name, await worker.ask("open", name, (voice, options), 0.0))
        except BaseException:
            worker.leave(name)
            raise

    @property
    def closed(self) -> bool:
        """Whether the engine ends, so that a process may, too."""
        return self._closed

    def close(self) -> None:
        self._closed = True
        for worker in self._workers:
            worker.close()


class ProcessStream:
    """A stream of a ProcessEngine."""

    def __init__(self, worker: Worker, name: int, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._worker, self._name, self._closed = worker, name, False

    async def pull(self, items: Sequence[Item], *, deadline: float) -> Piece | None:
        piece: Piece | None = await self._worker.ask("pull", self._name, (tuple(items), time.monotonic()), deadline)
        return piece

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._worker.leave(self._name)


class Worker:
    """One process, as seen from the server."""

    def __init__(self, loader: Loader, first: Sequence[str], engine: ProcessEngine) -> None:
        self.streams = 0
        """How many streams it has."""
        self._loader, self._first, self._engine = loader, first, engine
        self._names, self._numbers = itertools.count(), itertools.count()
        self._waiting: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]] = {}
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._failure: Exception | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, self._loader, self._first), daemon=True)
        self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, args=(self._pipe,), daemon=True).start()

    def wait(self) -> None:
        """Until it can speak. VoiceError where it never will."""
        self._ready.wait()
        if self._failure is not None:
            raise VoiceError(f"A synthesis process does not start: {self._failure}") from self._failure

    def take(self) -> int:
        """A name for a new stream."""
        self.streams += 1
        return next(self._names)

    def leave(self, name: int) -> None:
        """A stream is over."""
        self.streams -= 1
        with contextlib.suppress(OSError):
            self._pipe.send(("close", name, None, None, 0.0))

    async def ask(self, what: str, name: int, body: Any, deadline: float) -> Any:
        """The process's answer. RuntimeError where it died."""
        loop, number = asyncio.get_running_loop(), next(self._numbers)
        future: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            self._waiting[number] = (loop, future)
        try:
            self._pipe.send((what, name, number, body, deadline))
        except OSError as error:
            raise RuntimeError("A synthesis process died.") from error
        try:
            return await future
        finally:
            with self._lock:
                self._waiting.pop(number, None)

    def _listen(self, pipe: Connection[Any, Any]) -> None:
        """Hand out the answers, until the process ends; then begin another."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                number, result, error = pipe.recv()
                if number == READY:
                    self._failure = error
                    self._ready.set()
                else:
                    self._answer(number, result, error)
        pipe.close()
        with self._lock:
            left = list(self._waiting)
        for number in left:
            self._answer(number, None, RuntimeError("A synthesis process died."))
        if not self._ready.is_set():
            self._failure = self._failure or RuntimeError("it died while it loaded its voices.")
            self._ready.set()
        elif not self._engine.closed and self._failure is None:
            log.error("A synthesis process died; another takes its place.")
            self._start()

    def _answer(self, number: int, result: Any, error: Exception | None) -> None:
        with self._lock:
            waiting = self._waiting.get(number)
        if waiting is not None:
            with contextlib.suppress(RuntimeError):
                waiting[0].call_soon_threadsafe(settle, waiting[1], result, error)

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            self._pipe.send(("end", 0, None, None, 0.0))
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(5)


def work(pipe: Connection[Any, Any], loader: Loader, first: Sequence[str]) -> None:
    """The life of a worker process."""
    # The server decides when it ends, also after a Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Nobody set up this process's log, which would go to standard error, with clients' texts in its warnings.
    logging.getLogger("sayahead").addHandler(logging.NullHandler())
    try:
        for name in first:
            loader(name)
    except Exception as error:
        pipe.send((READY, None, error if isinstance(error, SayaheadError) else RuntimeError(str(error))))
        return
    pipe.send((READY, None, None))
    Desk(pipe, loader).serve()


class Desk:
    """The requests of a worker process, in the order of their deadlines."""

    def __init__(self, pipe: Connection[Any, Any], loader: Loader) -> None:
        self._pipe, self._loader = pipe, loader
        self._streams: dict[int, Work] = {}
        self._requests: list[tuple[float, int, tuple[Any, ...]]] = []
        self._count = itertools.count()

    def serve(self) -> None:
        """Answer until the server says end, or is gone."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                # All that waits is looked at before the next is chosen; without anything to do, wait.
                while not self._requests or self._pipe.poll():
                    what, name, number, body, deadline = self._pipe.recv()
                    if what == "end":
                        return
                    if what == "close":
                        self._streams.pop(name, None)
                    else:
                        heapq.heappush(self._requests, (deadline, next(self._count), (what, name, number, body)))
                self._answer(*heapq.heappop(self._requests)[2])

    def _answer(self, what: str, name: int, number: int, body: Any) -> None:
        try:
            if what == "open":
                self._streams[name] = Work(self._loader(body[0]), body[1])
                result: Any = self._streams[name].sample_rate
            elif name in self._streams:
                items, asked = body
                result = self._streams[name].step(items, time.monotonic() - asked)
            else:
                result = None
        except SayaheadError as error:
            self._pipe.send((number, None, error))
        except Exception as error:
            # Its traceback would not travel; its kind and text do.
            self._pipe.send((number, None, RuntimeError(f"{type(error).__name__}: {error}")))
        else:
            self._pipe.send((number, result, None))
