"""Who does work that can be shared: this process, several on this machine, or those of a
cluster."""

from __future__ import annotations

import contextlib
import pickle
import platform
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Protocol, TypeAlias

from sayahead.errors import SayaheadError

Work: TypeAlias = Callable[[Any], Any]
"""Makes a result of a task; tasks, results and what begins the work travel between processes by
pickle."""
Begin: TypeAlias = Callable[[], Work]
"""Called once in each process, before its first task: loads what all tasks need."""
Name: TypeAlias = Callable[[Any], str]
"""What a task is called in errors."""
Spread: TypeAlias = Callable[[Sequence[Any], Name], Iterator[tuple[Any, Any]]]
"""Each task with its result, as they are done. What is not asked for any more is not begun."""
LOST = (
    "{0}: the process that worked on it was ended from outside, perhaps for want of memory: use"
    " fewer --jobs. The same command resumes with what is missing."
)


class WorkerError(SayaheadError):
    """A worker that broke, or was ended; the message names its task."""


class Workers(Protocol):
    """Those who do the work."""

    @property
    def count(self) -> int:
        """How many work at a time."""
        ...

    @property
    def place(self) -> str:
        """Where they are: "here" or "ray"."""
        ...

    def open(self, begin: Begin) -> AbstractContextManager[Spread]:
        """What carries out tasks, any number of times; when it is left, what was begun is finished
        or given up.

        An error of sayahead's in another process comes with the name of its task before its
        message; any other becomes a WorkerError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in another process."""

    error: Exception
    """What was raised, such that it can be pickled."""
    where: str
    """The machine, and the line of code."""

    def error_of(self, name: str) -> SayaheadError:
        """The error that the command ends with."""
        if isinstance(self.error, SayaheadError):
            self.error.args = (f"{name}: {self.error}",)
            return self.error
        return WorkerError(
            f"{name} failed on {self.where}: {type(self.error).__name__}: {self.error}."
        )


def attempted(work: Work | Begin, *task: Any) -> Any:
    """A result, or the Failure to make it."""
    try:
        return work(*task)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return Failure(error, f"{platform.node()} ({last.filename}, line {last.lineno})")


class TaskWorker:
    """What carries out tasks in a process of its own."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._work: Work | None = None

    def carry_out(self, task: Any) -> Any:
        """A task's result, or the Failure to make it."""
        work: Any = self._work or attempted(self._begin)
        if isinstance(work, Failure):
            return work
        self._work = work
        return attempted(work, task)


class Local:
    """This process, or with more than one of ``jobs`` that many others on this machine."""

    def __init__(self, jobs: int = 1) -> None:
        self._jobs = jobs

    @property
    def count(self) -> int:
        return self._jobs

    @property
    def place(self) -> str:
        return "here"

    @contextlib.contextmanager
    def open(self, begin: Begin) -> Iterator[Spread]:
        if self._jobs == 1:
            yield in_turn(begin)
            return
        # Not by fork: ONNX Runtime's threads would not come along.
        pool = ProcessPoolExecutor(
            self._jobs, get_context("spawn"), initializer=join, initargs=(begin,)
        )
        try:
            yield lambda tasks, name: by_processes(pool, tasks, name)
        finally:
            # What is at work is finished, nothing else begun.
            pool.shutdown(cancel_futures=True)


def in_turn(begin: Begin) -> Spread:
    """One task after the other, in this process; an error is raised as it is."""
    work: Work | None = None

    def spread(tasks: Sequence[Any], name: Name) -> Iterator[tuple[Any, Any]]:
        nonlocal work
        for task in tasks:
            work = work or begin()
            yield task, work(task)

    return spread


def by_processes(
    pool: ProcessPoolExecutor, tasks: Sequence[Any], name: Name
) -> Iterator[tuple[Any, Any]]:
    """Tasks with their results as a pool's processes have them."""
    futures: dict[Future[Any], Any] = {pool.submit(carry_out, task): task for task in tasks}
    for future in as_completed(futures):
        # Not kept: results may be large.
        task = futures.pop(future)
        try:
            result = future.result()
        except BrokenProcessPool as error:
            raise WorkerError(LOST.format(name(task))) from error
        if isinstance(result, Failure):
            raise result.error_of(name(task))
        yield task, result


_WORKER: list[TaskWorker] = []
"""A worker process's own."""


def join(begin: Begin) -> None:
    """Begin to work in a process of a pool; Ctrl-C is for the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _WORKER[:] = [TaskWorker(begin)]


def carry_out(task: Any) -> Any:
    """Work on a task in a process of a pool."""
    return _WORKER[0].carry_out(task)
