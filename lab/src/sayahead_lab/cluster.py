"""Work shared over a Ray cluster: evaluations and corpora, with the results that one machine
makes."""

from __future__ import annotations

import contextlib
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sayahead import __version__
from sayahead.errors import ConfigError

from sayahead_lab.workers import (
    Begin,
    Failure,
    Local,
    Name,
    Spread,
    TaskWorker,
    WorkerError,
    Workers,
)

log = logging.getLogger("sayahead_lab")
RETRIES = 2
"""How often a task is begun again whose worker, or its machine, was lost."""
TELL_S = 10.0
"""How long nobody may have a core before it is told."""
WAITING = "Waiting for a core of the cluster, of whose %d cores %d are free."
LOST = (
    "{0}: its worker was lost {1} times ({2}), perhaps for want of memory: use fewer --jobs. The"
    " same command resumes with what is missing."
)


def workers(on: str | None, jobs: int | None) -> Workers:
    """Who works for a command's ``--on`` and ``--jobs``: this machine, one process unless there are
    more jobs; or a cluster, as many of its processor cores as are free unless ``jobs`` says how
    many. ConfigError for a cluster without Ray."""
    return Local(jobs or 1) if on is None else Cluster(jobs)


class Cluster:
    """The processor cores of a Ray cluster: that of ``RAY_ADDRESS``, else the one that runs on this
    machine, else one that is started here."""

    def __init__(self, jobs: int | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise ConfigError("--on ray needs Ray: pip install 'sayahead[ray]'.") from error
        self._ray: Any = ray
        if not ray.is_initialized():
            try:
                ray.init(log_to_driver=False, logging_level="error")
            except (ConnectionError, RuntimeError, ValueError) as error:
                address = os.environ.get("RAY_ADDRESS", "this machine")
                raise ConfigError(f"There is no Ray cluster at {address}: {error}.") from error
        # What others of the cluster use is not waited for, unless nothing is left.
        free = cores(ray.available_resources())
        every = cores(ray.cluster_resources())
        self._jobs = max(1, min(jobs, every) if jobs else free)

    @property
    def count(self) -> int:
        return self._jobs

    @property
    def place(self) -> str:
        return "ray"

    @contextlib.contextmanager
    def open(self, begin: Begin) -> Iterator[Spread]:
        hire = self._ray.remote(num_cpus=1, max_restarts=RETRIES, max_task_retries=RETRIES)(Member)
        crew = Crew(self._ray, lambda: hire.remote(begin, __version__, str(Path.cwd())))

        def spread(tasks: Sequence[Any], name: Name) -> Iterator[tuple[Any, Any]]:
            crew.grow(min(self._jobs, len(tasks)))
            return crew.spread(tasks, name)

        try:
            yield spread
        finally:
            crew.dismiss()


def cores(resources: Mapping[str, float]) -> int:
    """Whole processor cores among resources, as Ray names them."""
    return int(resources.get("CPU", 0))


class Crew:
    """Workers of a cluster. Only who has answered gets a task: whoever still waits for a core would
    keep it."""

    def __init__(self, ray: Any, hire: Callable[[], Any]) -> None:
        self._ray = ray
        self._hire = hire
        self._members: list[Any] = []
        self._free = deque[Any]()
        # Those that have not answered yet, by the answer that is awaited.
        self._coming: dict[Any, Any] = {}

    def grow(self, size: int) -> None:
        """Hire until there are so many."""
        for _ in range(size - len(self._members)):
            member = self._hire()
            self._members.append(member)
            self._coming[member.ready.remote()] = member

    def dismiss(self) -> None:
        """Let all go."""
        for member in self._members:
            self._ray.kill(member)

    def spread(self, tasks: Sequence[Any], name: Name) -> Iterator[tuple[Any, Any]]:
        """Each task with its result, as they are done. WorkerError for one whose worker is lost too
        often."""
        waiting = deque(tasks)
        busy = dict[Any, tuple[Any, Any]]()
        try:
            while waiting or busy:
                while waiting and self._free:
                    member = self._free.popleft()
                    task = waiting.popleft()
                    busy[member.carry_out.remote(task)] = member, task
                coming = self._coming if waiting else {}
                found, _ = self._ray.wait(
                    [*busy, *coming], num_returns=1, timeout=None if busy else TELL_S
                )
                if not found:
                    log.warning(
                        WAITING,
                        cores(self._ray.cluster_resources()),
                        cores(self._ray.available_resources()),
                    )
                elif (done := found[0]) in self._coming:
                    self._answered(done)
                else:
                    member, task = busy.pop(done)
                    yield task, self._result(done, member, name(task))
        finally:
            # Whoever stopped asking lets them finish what they do.
            self._free.extend(member for member, _ in busy.values())

    def _answered(self, answer: Any) -> None:
        member = self._coming.pop(answer)
        try:
            self._ray.get(answer)
        except self._ray.exceptions.RayError as error:
            self._members.remove(member)
            reason = str(error).strip().rpartition("\n")[2]
            raise WorkerError(f"A worker could not be started on the cluster: {reason}.") from error
        self._free.append(member)

    def _result(self, done: Any, member: Any, task: str) -> Any:
        try:
            result = self._ray.get(done)
        except self._ray.exceptions.RayError as error:
            self._members.remove(member)
            raise WorkerError(LOST.format(task, RETRIES + 1, type(error).__name__)) from error
        self._free.append(member)
        if isinstance(result, Failure):
            raise result.error_of(task)
        return result


class Member(TaskWorker):
    """A worker on one of the cluster's machines."""

    def __init__(self, begin: Begin, version: str, folder: str) -> None:
        super().__init__(lambda: begun(begin, version, folder))

    def ready(self) -> bool:
        """Answers as soon as it has a core."""
        return True


def begun(begin: Begin, version: str, folder: str) -> Any:
    """Begin on a machine of a cluster, in the folder that the command was given in, so that paths
    mean the same. ConfigError where another version is installed."""
    if __version__ != version:
        raise ConfigError(
            f"The cluster's machine has sayahead {__version__}, and the command is of {version}:"
            " install one version on all."
        )
    with contextlib.suppress(OSError):
        os.chdir(folder)
    return begin()
