"""What the C library keeps of the server's memory: less of it, and not for long.

The GNU C library gives each thread a heap of its own. What a step needs for a moment and what a text keeps lie there
side by side, so that each heap stays as large as it has ever been. Elsewhere these functions do nothing.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
from collections.abc import Callable
from typing import Any

# mallopt(3).
M_ARENA_MAX = -8
THREADS_PER_HEAP = 2
EVERY_S = 5.0


def library() -> Any:
    """The C library, or None where it is not GNU's."""
    try:
        found = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return found if hasattr(found, "mallopt") and hasattr(found, "malloc_trim") else None


def share_heaps(threads: int) -> bool:
    """Let threads share heaps, two to one; False where they cannot. To be called before they begin."""
    found = library()
    return found is not None and bool(found.mallopt(M_ARENA_MAX, max(1, threads // THREADS_PER_HEAP)))


def give_back() -> None:
    """Return free memory to the system."""
    if (found := library()) is not None:
        found.malloc_trim(0)


def keep() -> None:
    """Take all that is there for what stays: collecting garbage looks at what came later, in no time."""
    gc.collect()
    gc.freeze()


async def keep_giving_back(work: Callable[[], object], *, every_s: float = EVERY_S) -> None:
    """Give memory back now and then, where ``work``, what tells that something was done, has changed."""
    seen = work()
    while True:
        await asyncio.sleep(every_s)
        if (now := work()) != seen:
            seen = now
            await asyncio.to_thread(give_back)
