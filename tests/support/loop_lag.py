"""What holds an event loop: the processor time of each of its steps, which a busy machine does not
change."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable

MAX_S = 0.05
"""Processor time that one step may take: everybody waits for it."""
_run = asyncio.Handle._run
_watching: dict[int, LoopLag] = {}


class LoopLag:
    """Finds the steps of an event loop that take too long, but for the search for garbage of all
    tests."""

    def __init__(self, tell: Callable[[str], None] = lambda step: None) -> None:
        """``tell`` is called with each, for who may not live to the end."""
        self.collecting_s = 0.0
        """Processor time of such searches in its thread."""
        self.slow: list[tuple[float, str]] = []
        """Seconds, and what ran."""
        self.tell = tell

    def watched(self, run: Callable[[], None]) -> None:
        """Run something that runs an event loop in this thread."""
        _watching[threading.get_ident()] = self
        try:
            run()
        finally:
            del _watching[threading.get_ident()]


def _measured(handle: asyncio.Handle) -> None:
    lag = _watching.get(threading.get_ident())
    if lag is None:
        _run(handle)
        return
    begin = time.thread_time() - lag.collecting_s
    _run(handle)
    took_s = time.thread_time() - lag.collecting_s - begin
    if took_s > MAX_S:
        lag.slow.append((round(took_s, 3), repr(handle)))
        lag.tell(f"{took_s:.3f} s: {handle!r}")


def _collecting(phase: str, _: dict[str, int]) -> None:
    lag = _watching.get(threading.get_ident())
    if lag is not None:
        lag.collecting_s += time.thread_time() if phase == "stop" else -time.thread_time()


asyncio.Handle._run = _measured  # type: ignore[method-assign,assignment]
gc.callbacks.append(_collecting)
