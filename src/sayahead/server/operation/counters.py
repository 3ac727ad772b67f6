"""Counts that all processes of a server share: what each client takes, what each process does,
which tokens were used.

They lie in a file that every process maps. Each process writes numbers of its own and reads those
of all, so that none of them waits for another; what must be decided at once, such as the last
place, is decided under ``exclusive``."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import fcntl
except ImportError:
    # Windows has one process, which asks nobody.
    fcntl = None  # type: ignore[assignment]

ROWS, PROBES = 8192, 16
"""Clients that are counted at once, and rows in which one may be."""
CLAIMS = 4096
"""Tokens of each process that are remembered as used."""
SECONDS = 64
"""Seconds of which events are counted one by one."""
PATIENCE_S, LOOK_S = 0.005, 0.0001
"""How long a process waits for another's decision: one that stands still must not hold up all."""


class PerClient(IntEnum):
    """What is counted of each client."""

    PLACES = 0
    """Places that it takes."""
    BYTES = 1
    MESSAGES = 2
    TEXTS = 3
    REQUESTS = 4
    CHARACTERS = 5
    """Characters that it has had spoken."""
    WAITING = 6
    """Characters that wait to be spoken."""
    WRITTEN = 7
    """Of the characters that it has had spoken, those whose bill is written."""


class Process(IntEnum):
    """What is known of each process."""

    BEAT = 0
    """When its event loop last told that it is alive, by ``time.monotonic``; 0: it is not."""
    TAKEN = 1
    """Places taken."""
    CONNECTIONS = 2
    """Connections that were admitted."""
    CLOSED = 3
    """Connections handed to it that are closed."""
    LATE = 4
    """1 where its sound is late."""
    PART = 5
    """Which part of its processor time it gets."""
    IDLE_SINCE = 6
    """Since when the longest idle connection is idle; 0: none."""


LIVING = (PerClient.PLACES, PerClient.WAITING)
"""Counts that end with their process; the others only grow."""


class SharedCounters:
    """The counts as one process sees them. Its own thread of the event loop writes; any may
    read."""

    def __init__(self, processes: int = 1, *, index: int = 0, path: Path | None = None) -> None:
        """``path``: the file that all processes map, from ``make``; None: memory of this process
        alone."""
        self.processes, self.index = processes, index
        self._file: Any = None if path is None else path.open("r+b")
        # Of this process's threads; and how often the one that has it has asked for it.
        self._lock = threading.RLock()
        self._depth = 0
        # Row and key of each client that was asked for.
        self._rows = dict[str, tuple[int, int, int]]()
        self._claimed = 0
        shapes = layout(processes)
        if path is None:
            arrays = {name: np.zeros(shape, kind) for name, (shape, kind) in shapes.items()}
        else:
            arrays = mapped(path, shapes)
        self._keys, self._counts = arrays["keys"], arrays["counts"]
        self._events = arrays["events"]
        self._processes = arrays["processes"]
        self._claims = arrays["claims"]
        # What is read at every message, as plain numbers: one of an array takes ten times as long.
        self._key_numbers = memoryview(self._keys.data).cast("B").cast("Q")
        self._numbers = memoryview(self._counts.data).cast("B").cast("d")
        self._used = memoryview(arrays["used"].data).cast("B").cast("d")

    @staticmethod
    def make(path: Path, processes: int) -> None:
        """Make the file for so many processes; what nobody writes takes no memory."""
        size = sum(bytes_of(shape, kind) for shape, kind in layout(processes).values())
        with path.open("wb") as file:
            file.truncate(size)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Inside, no other process decides anything; but none waits long for one that stands
        still."""
        if self._file is None:
            yield
            return
        with self._lock:
            held = not self._depth and self._hold()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if held:
                    fcntl.flock(self._file, fcntl.LOCK_UN)

    def _hold(self) -> bool:
        """Wait for the others' decisions; False where one takes too long."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() > end:
                    return False
                time.sleep(LOOK_S)
            else:
                return True

    # Of each client.

    def add(self, what: PerClient, client: str, amount: float) -> None:
        """A client takes so much more in this process."""
        self._numbers[(what * self.processes + self.index) * ROWS + self._row(client)] += amount

    def sum(self, what: PerClient, client: str) -> float:
        """What a client takes in all processes."""
        first = what * self.processes * ROWS + self._row(client)
        numbers = self._numbers
        return sum(numbers[first + index * ROWS] for index in range(self.processes))

    def elsewhere(self, what: PerClient, client: str) -> float:
        """What a client takes in the other processes."""
        if self.processes == 1:
            return 0.0
        first = what * self.processes * ROWS + self._row(client)
        numbers = self._numbers
        others = (index for index in range(self.processes) if index != self.index)
        return sum(numbers[first + index * ROWS] for index in others)

    def places(self) -> NDArray[np.float64]:
        """How many places each client that has some takes in all."""
        own = self._counts[PerClient.PLACES]
        sums = own[0] if self.processes == 1 else own.sum(axis=0)
        taken: NDArray[np.float64] = sums[sums > 0]
        return taken

    def note(self, client: str) -> None:
        """Something happened, of which ``recent`` counts the times."""
        second = int(time.monotonic()) + 1
        slot = self._events[self.index, self._row(client), second % SECONDS]
        if slot[0] != second:
            slot[0] = second
            slot[1] = 0
        slot[1] += 1

    def recent(self, client: str, seconds: int) -> int:
        """How often that happened in the last seconds, in all processes."""
        slots = self._events[:, self._row(client)]
        fresh = slots[..., 0] > int(time.monotonic()) + 1 - seconds
        return int(slots[..., 1][fresh].sum())

    def _row(self, client: str) -> int:
        """Where a client is counted."""
        known = self._rows.get(client)
        keys = self._key_numbers
        if known is None or keys[2 * known[0]] != known[1] or keys[2 * known[0] + 1] != known[2]:
            digest = hashlib.blake2b(client.encode(errors="replace"), digest_size=16).digest()
            first = int.from_bytes(digest[:8], "little") | 1
            second = int.from_bytes(digest[8:], "little")
            if len(self._rows) > ROWS:
                self._rows.clear()
            with self.exclusive():
                known = self._rows[client] = self._placed(first, second), first, second
        row = known[0]
        self._used[row] = time.monotonic()
        return row

    def _placed(self, first: int, second: int) -> int:
        """The row of a key: its own, a free one, or the one that was not used for longest and has
        no places."""
        rows = [(first + probe) % ROWS for probe in range(PROBES)]
        for row in rows:
            if self._keys[row, 0] == first and self._keys[row, 1] == second:
                return row
        free = [row for row in rows if not self._keys[row, 0]]
        idle = [row for row in rows if not self._counts[PerClient.PLACES, :, row].any()]
        row = free[0] if free else min(idle or rows, key=lambda each: self._used[each])
        self._counts[:, :, row] = 0
        self._events[:, row] = 0
        self._keys[row] = first, second
        return row

    # Of each process.

    def tell(self, what: Process, value: float) -> None:
        """Say something of this process."""
        self._processes[what, self.index] = value

    def of(self, what: Process, index: int) -> float:
        """What a process says of itself."""
        return float(self._processes[what, index])

    def all(self, what: Process) -> NDArray[np.float64]:
        """What each process says of itself."""
        row: NDArray[np.float64] = self._processes[what]
        return row

    def alive(self, within_s: float) -> list[int]:
        """Processes that have told that they are alive so lately."""
        late = time.monotonic() - within_s
        return [int(index) for index in np.flatnonzero(self._processes[Process.BEAT] > late)]

    def clear(self, index: int) -> None:
        """A process has ended."""
        self._processes[:, index] = 0
        for what in LIVING:
            self._counts[what, index] = 0
        # What it has not written is lost.
        self._counts[PerClient.WRITTEN, index] = self._counts[PerClient.CHARACTERS, index]

    # Tokens.

    def claim(self, token: bytes, end: float) -> bool:
        """Use what may be used once until ``end``, seconds since 1970; whether it could be."""
        digest = hashlib.blake2b(token, digest_size=8).digest()
        with self.exclusive():
            fresh = not self._has(digest)
            claims = self._claims[self.index]
            claims[self._claimed % CLAIMS] = int.from_bytes(digest, "little"), end
            self._claimed += 1
        return fresh

    def give_back(self, token: bytes) -> None:
        """Have what was used be good again."""
        digest = int.from_bytes(hashlib.blake2b(token, digest_size=8).digest(), "little")
        with self.exclusive():
            self._claims["end"][self._claims["digest"] == digest] = 0.0

    def claimed(self, token: bytes) -> bool:
        """Whether that was used."""
        return self._has(hashlib.blake2b(token, digest_size=8).digest())

    def _has(self, digest: bytes) -> bool:
        named = self._claims["digest"] == int.from_bytes(digest, "little")
        return bool((named & (self._claims["end"] > time.time())).any())


CLAIM = np.dtype([("digest", np.uint64), ("end", np.float64)])


def layout(processes: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shapes and types of the arrays in the shared file, in the order of the file."""
    return {
        "keys": ((ROWS, 2), np.uint64),
        "used": ((ROWS,), np.float64),
        "counts": ((len(PerClient), processes, ROWS), np.float64),
        "processes": ((len(Process), processes), np.float64),
        "claims": ((processes, CLAIMS), CLAIM),
        "events": ((processes, ROWS, SECONDS, 2), np.uint32),
    }


def bytes_of(shape: tuple[int, ...], kind: Any) -> int:
    """How much an array takes."""
    return int(np.prod(shape)) * int(np.dtype(kind).itemsize)


def mapped(path: Path, shapes: dict[str, tuple[tuple[int, ...], Any]]) -> dict[str, Any]:
    """Arrays in a file that other processes map, too."""
    arrays = dict[str, Any]()
    offset = 0
    for name, (shape, kind) in shapes.items():
        arrays[name] = np.memmap(path, kind, "r+", offset, shape)
        offset += bytes_of(shape, kind)
    # A plain view: an array that is a memory map is slower to read a number of.
    return {name: array.view(np.ndarray) for name, array in arrays.items()}
