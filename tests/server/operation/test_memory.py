"""Memory that the server gives back."""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sayahead.server.operation import memory

glibc = pytest.mark.skipif(memory.library() is None, reason="not the GNU C library")


def rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@glibc
def test_free_memory_between_what_is_kept_is_given_back() -> None:
    library = memory.library()
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [library.malloc(60_000) for _ in range(1000)]
    for block in blocks:
        ctypes.memset(block, 1, 60_000)
    for n, block in enumerate(blocks):
        if n % 100:
            library.free(block)
    full_mb = rss_mb()
    memory.give_back()
    assert rss_mb() < full_mb - 40
    for block in blocks[::100]:
        library.free(block)


HEAPS = """
import ctypes, sys, threading
from sayahead.server.operation import memory

assert not int(sys.argv[1]) or memory.share_heaps(2)
library, places = memory.library(), []
library.malloc.restype = ctypes.c_void_p
threads = [threading.Thread(target=lambda: places.append(library.malloc(20_000) >> 26)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
main = library.malloc(20_000) >> 26
print(sum(abs(place - main) > 4 for place in places))
"""


@glibc
@pytest.mark.parametrize("shared", [False, True])
def test_threads_share_a_heap(shared: bool) -> None:
    done = subprocess.run([sys.executable, "-c", HEAPS, str(int(shared))], capture_output=True, text=True, check=True)
    assert (int(done.stdout) == 0) is shared


def test_memory_is_given_back_only_after_work(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, seen = 0, list[int]()
    monkeypatch.setattr(memory, "give_back", lambda: seen.append(steps))

    async def run() -> None:
        nonlocal steps
        giving = asyncio.create_task(memory.keep_giving_back(lambda: steps, every_s=0.01))
        await asyncio.sleep(0.1)
        assert not seen
        for _ in range(2):
            steps += 1
            await asyncio.sleep(0.1)
        giving.cancel()

    asyncio.run(run())
    assert seen == [1, 2]
