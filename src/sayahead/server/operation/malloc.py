"""What the C library keeps of the server's memory: less of it, and not for long.

The GNU C library gives each thread its own heap. What a step needs for a moment and what a text
keeps lie there side by side, so that each heap would stay as large as it has ever been. Threads
that share one heap wait for each other at every block. So those that make speech have their own,
and what is larger than a usual word needs lies outside of it: such a block comes from the system
and goes back to it at once. Elsewhere these functions do nothing."""

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
# What a text remembers of its sentence, and a word's spectra, are below this.
LARGE_BYTES = 1 << 20
# Free memory at the end of a heap that is kept for the next step.
SPARE_BYTES = 4 << 20
EVERY_S = 5.0


def library() -> Any:
    """The C library, or None where it is not GNU's."""
    try:
        found = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return found if hasattr(found, "mallopt") and hasattr(found, "malloc_trim") else None


def bound_heaps(threads: int) -> bool:
    """A heap for each of so many threads, and one for all others; none for large blocks. False
    where that cannot be.

    To be called before the threads begin.
    """
    found = library()
    if found is None:
        return False
    chosen = (
        (M_ARENA_MAX, threads + 1),
        (M_MMAP_THRESHOLD, LARGE_BYTES),
        (M_TRIM_THRESHOLD, SPARE_BYTES),
    )
    return all(found.mallopt(option, value) for option, value in chosen)


def give_back() -> None:
    """Return free memory to the system."""
    if (found := library()) is not None:
        found.malloc_trim(0)


def keep() -> None:
    """Take all that is there for what stays: collecting garbage looks at what came later, in no
    time."""
    gc.collect()
    gc.freeze()


async def keep_giving_back(work: Callable[[], object], *, every_s: float = EVERY_S) -> None:
    """Give memory back now and then, where ``work``, what tells that something was done, has
    changed."""
    seen = work()
    while True:
        await asyncio.sleep(every_s)
        if (now := work()) != seen:
            seen = now
            await asyncio.to_thread(give_back)
