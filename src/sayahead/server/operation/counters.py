"""Counters that all processes of a server share: what each client uses, the state of each process,
and which tokens were used.

They lie in a file that every process maps into memory. Each process writes only its own numbers and
reads all, so that none waits for another. Decisions that must not be taken twice, such as who gets
the last place, are taken inside ``exclusive``.
"""

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

ROWS = 8192
"""Rows of the hash table of clients."""
PROBES = 16
"""Rows in which a client may be."""
CLAIMS = 4096
"""Used tokens that each process remembers."""
SECONDS = 64
"""Length of the history of events, in seconds."""
PATIENCE_S = 0.005
"""Longest wait for the lock: a process that is stopped while it holds it must not stop all."""
LOOK_S = 0.0001
"""Interval of trying to get the lock."""


class PerClient(IntEnum):
    """What is counted for each client."""

    PLACES = 0
    """Places taken."""
    BYTES = 1
    MESSAGES = 2
    TEXTS = 3
    REQUESTS = 4
    CHARACTERS = 5
    """Characters spoken."""
    WAITING = 6
    """Characters not spoken yet."""
    WRITTEN = 7
    """Those of the characters spoken whose bill is written."""


class Process(IntEnum):
    """The state that each process publishes."""

    BEAT = 0
    """Time of its event loop's last heartbeat by ``time.monotonic``; 0 if it is not running."""
    TAKEN = 1
    """Places taken."""
    CONNECTIONS = 2
    """Open connections."""
    CLOSED = 3
    """Closed ones of the connections that were handed to it."""
    LATE = 4
    """1 if its sound is late."""
    PART = 5
    """Fraction of a core that its threads get."""
    IDLE_SINCE = 6
    """Start of the idle time of its longest idle connection; 0 if there is none."""


TRANSIENT = (PerClient.PLACES, PerClient.WAITING)
"""Counts that end with their process; the others only grow."""


class SharedCounters:
    """The counters as one process sees them. Its event loop's thread writes; any thread may
    read."""

    def __init__(self, processes: int = 1, *, index: int = 0, path: Path | None = None) -> None:
        """``path``: the file from ``make``, mapped by all processes; without it, memory of this
        process only."""
        self.processes, self.index = processes, index
        self._file: Any = None if path is None else path.open("r+b")
        # Lock between this process's threads, and the depth of nested ``exclusive`` blocks.
        self._lock = threading.RLock()
        self._depth = 0
        # Cache: row and both halves of the key of each client.
        self._rows = dict[str, tuple[int, int, int]]()
        self._claim_count = 0
        shapes = layout(processes)
        if path is None:
            arrays = {name: np.zeros(shape, kind) for name, (shape, kind) in shapes.items()}
        else:
            arrays = mapped(path, shapes)
        self._keys, self._counts = arrays["keys"], arrays["counts"]
        self._events = arrays["events"]
        self._processes = arrays["processes"]
        self._claims = arrays["claims"]
        # The arrays that every message reads, as memory views: their items are ten times faster to
        # read.
        self._key_numbers = memoryview(self._keys.data).cast("B").cast("Q")
        self._numbers = memoryview(self._counts.data).cast("B").cast("d")
        self._used = memoryview(arrays["used"].data).cast("B").cast("d")

    @staticmethod
    def make(path: Path, processes: int) -> None:
        """Create the file for ``processes`` processes; unused parts of it take no disk space."""
        size = sum(bytes_of(shape, kind) for shape, kind in layout(processes).values())
        with path.open("wb") as file:
            file.truncate(size)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock that all processes share; if another process holds it for too long, go on
        without it."""
        if self._file is None:
            yield
            return
        with self._lock:
            has_lock = not self._depth and self._lock_file()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if has_lock:
                    fcntl.flock(self._file, fcntl.LOCK_UN)

    def _lock_file(self) -> bool:
        """Wait for the file's lock; return whether this process got it in time."""
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
        """Add to a client's count in this process."""
        self._numbers[(what * self.processes + self.index) * ROWS + self._row(client)] += amount

    def sum(self, what: PerClient, client: str) -> float:
        """Return a client's count in all processes."""
        first = what * self.processes * ROWS + self._row(client)
        numbers = self._numbers
        return sum(numbers[first + index * ROWS] for index in range(self.processes))

    def elsewhere(self, what: PerClient, client: str) -> float:
        """Return a client's count in the other processes."""
        if self.processes == 1:
            return 0.0
        first = what * self.processes * ROWS + self._row(client)
        numbers = self._numbers
        others = (index for index in range(self.processes) if index != self.index)
        return sum(numbers[first + index * ROWS] for index in others)

    def places(self) -> NDArray[np.float64]:
        """Return the places of each client that has any, all processes together."""
        counts = self._counts[PerClient.PLACES]
        sums = counts[0] if self.processes == 1 else counts.sum(axis=0)
        nonzero: NDArray[np.float64] = sums[sums > 0]
        return nonzero

    def note(self, client: str) -> None:
        """Record an event of a client now, for ``recent``."""
        second = int(time.monotonic()) + 1
        slot = self._events[self.index, self._row(client), second % SECONDS]
        if slot[0] != second:
            slot[0] = second
            slot[1] = 0
        slot[1] += 1

    def recent(self, client: str, seconds: int) -> int:
        """Return how many events a client had in the last ``seconds``, in all processes."""
        slots = self._events[:, self._row(client)]
        is_recent = slots[..., 0] > int(time.monotonic()) + 1 - seconds
        return int(slots[..., 1][is_recent].sum())

    def _row(self, client: str) -> int:
        """Return a client's row in the shared arrays, and mark it as used now.

        Its key there is a digest of the client's name, as two 64-bit numbers.
        """
        cached = self._rows.get(client)
        keys = self._key_numbers
        # Since it was cached, the row may have been given to another client.
        if (
            cached is None
            or keys[2 * cached[0]] != cached[1]
            or keys[2 * cached[0] + 1] != cached[2]
        ):
            digest = hashlib.blake2b(client.encode(errors="replace"), digest_size=16).digest()
            first = int.from_bytes(digest[:8], "little") | 1
            second = int.from_bytes(digest[8:], "little")
            if len(self._rows) > ROWS:
                self._rows.clear()
            with self.exclusive():
                cached = self._assign_row(first, second), first, second
            self._rows[client] = cached
        row = cached[0]
        self._used[row] = time.monotonic()
        return row

    def _assign_row(self, first: int, second: int) -> int:
        """Return the row of a key: its own, a free one, or the least recently used one without
        places."""
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
        """Publish a value of this process."""
        self._processes[what, self.index] = value

    def of(self, what: Process, index: int) -> float:
        """Return a published value of one process."""
        return float(self._processes[what, index])

    def all(self, what: Process) -> NDArray[np.float64]:
        """Return a published value of each process."""
        row: NDArray[np.float64] = self._processes[what]
        return row

    def alive(self, within_s: float) -> list[int]:
        """Return the processes whose last heartbeat is at most ``within_s`` old."""
        oldest = time.monotonic() - within_s
        return [int(index) for index in np.flatnonzero(self._processes[Process.BEAT] > oldest)]

    def clear(self, index: int) -> None:
        """Delete the state of a process that has ended."""
        self._processes[:, index] = 0
        for what in TRANSIENT:
            self._counts[what, index] = 0
        # What it has not written is lost.
        self._counts[PerClient.WRITTEN, index] = self._counts[PerClient.CHARACTERS, index]

    # Tokens.

    def claim(self, token: bytes, end: float) -> bool:
        """Use up a token that is valid until ``end``, seconds since 1970; return whether it was
        unused."""
        digest = hashlib.blake2b(token, digest_size=8).digest()
        with self.exclusive():
            is_unused = not self._has(digest)
            claims = self._claims[self.index]
            claims[self._claim_count % CLAIMS] = int.from_bytes(digest, "little"), end
            self._claim_count += 1
        return is_unused

    def give_back(self, token: bytes) -> None:
        """Make a used token usable again."""
        digest = int.from_bytes(hashlib.blake2b(token, digest_size=8).digest(), "little")
        with self.exclusive():
            self._claims["end"][self._claims["digest"] == digest] = 0.0

    def claimed(self, token: bytes) -> bool:
        """Return whether a token was used."""
        return self._has(hashlib.blake2b(token, digest_size=8).digest())

    def _has(self, digest: bytes) -> bool:
        """Return whether a digest is among the used tokens that have not expired."""
        is_match = self._claims["digest"] == int.from_bytes(digest, "little")
        return bool((is_match & (self._claims["end"] > time.time())).any())


CLAIM = np.dtype([("digest", np.uint64), ("end", np.float64)])


def layout(processes: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Return shape and type of each array in the shared file, in the order of the file."""
    return {
        "keys": ((ROWS, 2), np.uint64),
        "used": ((ROWS,), np.float64),
        "counts": ((len(PerClient), processes, ROWS), np.float64),
        "processes": ((len(Process), processes), np.float64),
        "claims": ((processes, CLAIMS), CLAIM),
        "events": ((processes, ROWS, SECONDS, 2), np.uint32),
    }


def bytes_of(shape: tuple[int, ...], kind: Any) -> int:
    """Return the size of an array in bytes."""
    return int(np.prod(shape)) * int(np.dtype(kind).itemsize)


def mapped(path: Path, shapes: dict[str, tuple[tuple[int, ...], Any]]) -> dict[str, Any]:
    """Map the arrays of a file that other processes map, too."""
    arrays = dict[str, Any]()
    offset = 0
    for name, (shape, kind) in shapes.items():
        arrays[name] = np.memmap(path, kind, "r+", offset, shape)
        offset += bytes_of(shape, kind)
    # A plain view, because reading an item of a memmap is slower.
    return {name: array.view(np.ndarray) for name, array in arrays.items()}
