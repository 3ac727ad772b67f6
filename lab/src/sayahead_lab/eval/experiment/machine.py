"""The machine of a measurement: the cores it may use, and what else kept them busy meanwhile."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sayahead.errors import ConfigError

PROC = Path("/proc")
BUSY_CORES = 0.5
"""Other processes that keep more cores busy than this disturb a measurement's times."""


@dataclass(frozen=True, slots=True)
class Load:
    """The machine's load during a measurement."""

    begin: float | None
    """The system's load average over a minute at the beginning; none where the system has none."""
    end: float | None
    """The same at the end."""
    own_processes: int
    """Processes of the measurement that ran in parallel."""
    other_cores: float | None
    """Processor cores that all other processes kept busy, on average; none where that is
    unknown."""
    seconds: float
    """Duration of the measurement."""


class LoadWatch:
    """Watches the machine from its creation on."""

    def __init__(self, own_processes: int) -> None:
        self._own_processes = own_processes
        self._average = load_average()
        self._busy_s = other_busy_s()
        self._begun = time.monotonic()

    def load(self) -> Load:
        """The load since then: other processes' computing time, or an estimate where the system
        does not report it.

        The estimate is the mean load average less one for each of our own processes; it lags by a
        minute."""
        seconds = time.monotonic() - self._begun
        average = load_average()
        busy_s = other_busy_s()
        others = None
        if busy_s is not None and self._busy_s is not None:
            others = (busy_s - self._busy_s) / max(seconds, 1e-3)
        elif average is not None and self._average is not None:
            others = (average + self._average) / 2 - self._own_processes
        others = None if others is None else round(max(0.0, others), 3)
        return Load(self._average, average, self._own_processes, others, round(seconds, 1))


def load_average() -> float | None:
    """The system's load average over the last minute."""
    try:
        return round(os.getloadavg()[0], 2)
    except (OSError, AttributeError):
        return None


def other_busy_s() -> float | None:
    """Computing time since boot of all processes but this one and its children; None except on
    Linux."""
    try:
        jiffies = [
            int(part)
            for part in (PROC / "stat").read_text(encoding="ascii").split("\n")[0].split()[1:]
        ]
        user, nice, system, _, _, irq, softirq = jiffies[:7]
        ours = own_jiffies()
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq - ours) / os.sysconf("SC_CLK_TCK")


def idle_s() -> float | None:
    """Seconds that all processor cores together were idle since boot; None except on Linux."""
    try:
        fields = (PROC / "stat").read_text(encoding="ascii").split("\n")[0].split()
        return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def own_jiffies() -> int:
    """Computing time of this process and its descendants, ended ones included, in clock ticks."""
    parents = dict[int, int]()
    spent = dict[int, int]()
    for folder in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name, in brackets, may hold anything; what follows is: state, parent, ..., four
            # times from place 11.
            fields = (
                (folder / "stat")
                .read_text(encoding="utf-8", errors="replace")
                .rpartition(")")[2]
                .split()
            )
            parents[int(folder.name)] = int(fields[1])
            spent[int(folder.name)] = sum(map(int, fields[11:15]))
    family = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(spent.get(process, 0) for process in family)


def allowed_cores() -> set[int] | None:
    """The processor cores that this process may use; None where the system cannot bind a process to
    cores."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None


def pin(core: int | None) -> int | None:
    """Keep this process, and those it starts, on one core: the last one allowed, unless one is
    named.

    Returns the core, or None where the system cannot bind a process. ConfigError for a core it may
    not use."""
    if not hasattr(os, "sched_setaffinity"):
        if core is not None:
            raise ConfigError(
                "This system cannot keep a process on a core of its own: leave --core out."
            )
        return None
    allowed = sorted(os.sched_getaffinity(0))
    if core is not None and core not in allowed:
        others = ", ".join(map(str, allowed))
        raise ConfigError(
            f"There is no processor core {core} for this process: choose one of {others}."
        )
    core = allowed[-1] if core is None else core
    os.sched_setaffinity(0, {core})
    return core


def check_cores(who: str, cores: int | None) -> None:
    """ConfigError unless ``cores`` are available; ``who`` starts the sentence."""
    if cores is None:
        return
    if cores < 1:
        raise ConfigError(f"{who} has {cores} cores, but must have at least 1.")
    # Imports numpy, whose threads would not be kept on one core by pin().
    from sayahead.engine.onnx import cores as usable

    if cores > usable():
        where = "leave it out, or run it where there are more"
        raise ConfigError(
            f"{who} wants {cores} processor cores, but this process may use {usable()}: {where}."
        )


@contextlib.contextmanager
def bound(cores: int | None) -> Iterator[None]:
    """Run this thread, and those started inside, on the first ``cores`` allowed cores; None changes
    nothing.

    torch, where it is loaded, gets as many threads.
    """
    if cores is None:
        yield
        return
    allowed = allowed_cores()
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch is not None else 0
    try:
        if allowed is not None:
            os.sched_setaffinity(0, sorted(allowed)[:cores])
        if torch is not None:
            torch.set_num_threads(cores)
        yield
    finally:
        if allowed is not None:
            os.sched_setaffinity(0, allowed)
        if torch is not None:
            torch.set_num_threads(threads)


def processor() -> str:
    """The processor's name as the system reports it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            return next(
                line.split(":", 1)[1].strip() for line in info if line.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Versions of the software that the figures depend on."""
    from sayahead import __version__

    return {
        "sayahead": __version__,
        **{name: version(name) for name in ("numpy", "onnxruntime", "hibari-tts")},
    }
