"""State that one thread owns, and work that another does for it."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Owner:
    """The thread that owns some state, which no other may touch: the event loop's, once it runs."""

    def __init__(self) -> None:
        self._thread: int | None = None

    def take(self) -> None:
        """From now on, this thread owns it."""
        self._thread = threading.get_ident()

    def check(self) -> None:
        """AssertionError on another thread; the first one to touch the state owns it."""
        if self._thread is None:
            self.take()
        assert self._thread == threading.get_ident(), (
            f"{threading.current_thread().name} touched state that another thread owns"
        )


class BusyError(Exception):
    """A worker has too much to do, or took too long."""


class Worker:
    """One thread for one kind of work: it waits behind no other kind, and the process does not wait
    for its end.

    asyncio's own executor is shared by everything that calls ``to_thread``, so whatever hangs there
    holds up all."""

    MOST = 16
    """Jobs that may wait."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs = queue.Queue[tuple[Future[Any], Callable[[], Any]] | None](self.MOST)
        self._thread: threading.Thread | None = None

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """The job's result, once it is there. BusyError where too many wait."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        future = Future[T]()
        try:
            self._jobs.put_nowait((future, job))
        except queue.Full:
            raise BusyError(
                f"{self.MOST} jobs are waiting for the thread {self._name!r}."
            ) from None
        return future

    async def run(self, job: Callable[[], T], *, most_s: float | None = None) -> T:
        """The job's result. BusyError where too many wait, or after ``most_s``; the job then runs
        only if it has begun."""
        future = asyncio.wrap_future(self.submit(job))
        try:
            async with asyncio.timeout(most_s):
                return await future
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise
            raise BusyError(
                f"The thread {self._name!r} did not answer within {most_s:g} seconds."
            ) from None

    def close(self) -> None:
        """End the thread once it has done what waits; nobody waits for that."""
        if self._thread is not None:
            try:
                self._jobs.put_nowait(None)
            except queue.Full:
                return

    def _work(self) -> None:
        while (entry := self._jobs.get()) is not None:
            future, job = entry
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = job()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
            # A result may be large, and the thread may wait long for its next job.
            del future, job, entry
