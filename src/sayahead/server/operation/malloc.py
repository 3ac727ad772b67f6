"""Settings of the GNU C library's allocator, so that the server returns memory to the system.

glibc gives each thread a heap. Short-lived data of a step and long-lived data of a text lie side by
side in it, so a heap would stay at its peak size; threads that share a heap would wait for each
other. So each synthesis thread has its own, and blocks larger than a usual word needs are mapped
separately and returned at once. With other C libraries these functions do nothing.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
from collections.abc import Callable
from typing import Any

# mallopt(3).
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8
# The state of a sentence and the spectra of a word are smaller than this.
LARGE_BYTES = 1 << 20
# Free memory at the end of a heap that is kept for the next step.
SPARE_BYTES = 4 << 20
EVERY_S = 5.0


def library() -> Any:
    """Return the C library, or None if it is not glibc."""
    try:
        libc = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None


def bound_heaps(threads: int) -> bool:
    """Allow a heap for each of ``threads`` threads and one for all others, without large blocks.

    Returns whether that worked. To be called before the threads start.
    """
    libc = library()
    if libc is None:
        return False
    settings = (
        (M_ARENA_MAX, threads + 1),
        (M_MMAP_THRESHOLD, LARGE_BYTES),
        (M_TRIM_THRESHOLD, SPARE_BYTES),
    )
    return all(libc.mallopt(option, value) for option, value in settings)


def give_back() -> None:
    """Return free memory to the system."""
    if (libc := library()) is not None:
        libc.malloc_trim(0)


def keep() -> None:
    """Exclude all current objects from garbage collection, which then only looks at newer ones."""
    gc.collect()
    gc.freeze()


async def keep_giving_back(work: Callable[[], object], *, every_s: float = EVERY_S) -> None:
    """Return free memory every ``every_s`` seconds if ``work()``, a measure of the work done, has
    changed."""
    seen = work()
    while True:
        await asyncio.sleep(every_s)
        if (now := work()) != seen:
            seen = now
            await asyncio.to_thread(give_back)
