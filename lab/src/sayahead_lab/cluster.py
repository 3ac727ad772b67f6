"""Work shared over a Ray cluster: evaluations and corpora, with the results that one machine makes."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sayahead import __version__
from sayahead.errors import ConfigError

from sayahead_lab.workers import Begin, Failure, Local, Name, Spread, TaskWorker, WorkerError, Workers

RETRIES = 2
"""How often a task is begun again whose worker, or its machine, was lost."""
LOST = (
    "{0}: its worker was lost {1} times ({2}), perhaps for want of memory: use fewer --jobs. The same command resumes "
    "with what is missing."
)


def workers(on: str | None, jobs: int | None) -> Workers:
    """Who works for a command's ``--on`` and ``--jobs``: this machine, one process unless there are more jobs; or a
    cluster, all of its processor cores unless there are fewer jobs. ConfigError for a cluster without Ray."""
    return Local(jobs or 1) if on is None else Cluster(jobs)


class Cluster:
    """The processor cores of a Ray cluster: that of ``RAY_ADDRESS``, else the one that runs on this machine, else one
    that is started here."""

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
        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._jobs = min(jobs or cores, cores)

    @property
    def count(self) -> int:
        return self._jobs

    @property
    def place(self) -> str:
        return "ray"

    @contextlib.contextmanager
    def open(self, begin: Begin) -> Iterator[Spread]:
        hire = self._ray.remote(num_cpus=1, max_restarts=RETRIES, max_task_retries=RETRIES)(Member)
        crew: list[Any] = []

        def spread(tasks: Sequence[Any], name: Name) -> Iterator[tuple[Any, Any]]:
            missing = min(self._jobs, len(tasks)) - len(crew)
            crew.extend(hire.remote(begin, __version__, str(Path.cwd())) for _ in range(missing))
            return self._spread(crew, tasks, name)

        try:
            yield spread
        finally:
            for member in crew:
                self._ray.kill(member)

    def _spread(self, crew: Sequence[Any], tasks: Sequence[Any], name: Name) -> Iterator[tuple[Any, Any]]:
        waiting, free, busy = deque(tasks), deque(crew), dict[Any, tuple[Any, Any]]()
        while waiting or busy:
            while waiting and free:
                member, task = free.popleft(), waiting.popleft()
                busy[member.carry_out.remote(task)] = member, task
            (done, *_), _ = self._ray.wait(list(busy), num_returns=1)
            member, task = busy.pop(done)
            try:
                result = self._ray.get(done)
            except self._ray.exceptions.RayError as error:
                reason = type(error).__name__
                raise WorkerError(LOST.format(name(task), RETRIES + 1, reason)) from error
            if isinstance(result, Failure):
                raise result.error_of(name(task))
            free.append(member)
            yield task, result


class Member(TaskWorker):
    """A worker on one of the cluster's machines."""

    def __init__(self, begin: Begin, version: str, folder: str) -> None:
        super().__init__(lambda: begun(begin, version, folder))


def begun(begin: Begin, version: str, folder: str) -> Any:
    """Begin on a machine of a cluster, in the folder that the command was given in, so that paths mean the same.
    ConfigError where another version is installed."""
    if __version__ != version:
        raise ConfigError(
            f"The cluster's machine has sayahead {__version__}, and the command is of {version}: install one "
            "version on all."
        )
    with contextlib.suppress(OSError):
        os.chdir(folder)
    return begin()
