"""Thread ownership of state, and worker threads."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Owner:
    """Asserts that one thread alone touches some state: that of the event loop, once it runs."""

    def __init__(self) -> None:
        self._thread: int | None = None

    def take(self) -> None:
        """Make this thread the owner."""
        self._thread = threading.get_ident()

    def check(self) -> None:
        """AssertionError on any thread but the owner; the first thread to call it becomes the
        owner."""
        if self._thread is None:
            self.take()
        assert self._thread == threading.get_ident(), (
            f"{threading.current_thread().name} touched state that another thread owns"
        )


class BusyError(Exception):
    """A worker has too much to do, or took too long."""


class Worker:
    """One thread for one kind of job, so that it never waits behind another kind; the process does
    not wait for it to end.

    asyncio's default executor is shared by all callers of ``to_thread``, so that one job that hangs
    can block all.
    """

    MAX_JOBS = 16
    """Most jobs that may wait."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs = queue.Queue[tuple[Future[Any], Callable[[], Any]] | None](self.MAX_JOBS)
        self._thread: threading.Thread | None = None

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Queue a job and return its future. BusyError if too many wait."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        future = Future[T]()
        try:
            self._jobs.put_nowait((future, job))
        except queue.Full:
            raise BusyError(
                f"{self.MAX_JOBS} jobs are waiting for the thread {self._name!r}."
            ) from None
        return future

    async def run(self, job: Callable[[], T], *, most_s: float | None = None) -> T:
        """Run a job and return its result.

        BusyError if too many wait, or after ``most_s`` seconds; the job is then skipped unless it
        has started.
        """
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
        """Let the thread end after the waiting jobs; returns at once."""
        if self._thread is not None:
            try:
                self._jobs.put_nowait(None)
            except queue.Full:
                return

    def _work(self) -> None:
        """Run the jobs until ``close``: the thread."""
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
