"""Memory that the server gives back."""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sayahead.server.operation import malloc

glibc = pytest.mark.skipif(malloc.library() is None, reason="not the GNU C library")


def rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@glibc
def test_free_memory_between_what_is_kept_is_given_back() -> None:
    library = malloc.library()
    library.malloc.restype = ctypes.c_void_p
    library.free.argtypes = [ctypes.c_void_p]
    blocks = [library.malloc(60_000) for _ in range(1000)]
    for block in blocks:
        ctypes.memset(block, 1, 60_000)
    for n, block in enumerate(blocks):
        if n % 100:
            library.free(block)
    full_mb = rss_mb()
    malloc.give_back()
    assert rss_mb() < full_mb - 40
    for block in blocks[::100]:
        library.free(block)


HEAPS = """
import ctypes, sys, threading
from sayahead.server.operation import malloc

assert not int(sys.argv[1]) or malloc.bound_heaps(2)
library, places, all_there = malloc.library(), [], threading.Barrier(6)
library.malloc.restype = ctypes.c_void_p

def allocate():
    places.append(library.malloc(20_000) >> 26)
    all_there.wait()

threads = [threading.Thread(target=allocate) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
main = library.malloc(20_000) >> 26
print(len({place for place in places if abs(place - main) > 4}))
"""


@glibc
@pytest.mark.parametrize(("bounded", "heaps"), [(False, 6), (True, 2)])
def test_so_many_threads_have_heaps_of_their_own(bounded: bool, heaps: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HEAPS, str(int(bounded))], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == heaps


LARGE = """
import ctypes, os, sys
from sayahead.server.operation import malloc

def rss_mb():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

assert not int(sys.argv[1]) or malloc.bound_heaps(2)
library = malloc.library()
library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
begin_mb = rss_mb()
for _ in range(2):
    blocks = []
    for _ in range(20):
        blocks.append(library.malloc(2_000_000))
        ctypes.memset(blocks[-1], 1, 2_000_000)
        # What a text keeps lies behind it.
        library.malloc(2_000)
    for block in blocks:
        library.free(block)
print(rss_mb() - begin_mb)
"""


@glibc
@pytest.mark.parametrize("bounded", [False, True])
def test_large_blocks_go_back_at_once(bounded: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LARGE, str(int(bounded))], capture_output=True, text=True, check=True
    )
    assert (float(done.stdout) < 5) is bounded


def test_memory_is_given_back_only_after_work(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0
    seen = list[int]()
    monkeypatch.setattr(malloc, "give_back", lambda: seen.append(steps))

    async def run() -> None:
        nonlocal steps
        giving = asyncio.create_task(malloc.keep_giving_back(lambda: steps, every_s=0.01))
        await asyncio.sleep(0.1)
        assert not seen
        for _ in range(2):
            steps += 1
            await asyncio.sleep(0.1)
        giving.cancel()

    asyncio.run(run())
    assert seen == [1, 2]
