"""Sessions of a load test in processes of their own, so that they measure the server and not each
other."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from sayahead_lab.eval.speed.load import BREATH_S, Tally, TurnScript, load

SESSIONS = 40
"""Sessions of one process."""
WARM_S = 6.0
"""Sessions start spread over this time, and nothing in it counts."""
MIN_TURNS = 2.0
"""A round lasts for so many turns of each session: in fewer the load is not steady."""


def processes_for(sessions: int, cores: int) -> int:
    """How many processes so many sessions are spread over."""
    return max(1, min(cores, -(-sessions // SESSIONS)))


def seconds_for(turns: int, sessions: int, scripts: Sequence[TurnScript], rate: int) -> float:
    """The length of a round with at least ``turns`` turns, and ``MIN_TURNS`` of each session."""
    heard_s = sum(script.released[-1][0] / rate for script in scripts) / len(scripts)
    settled_s = sum(script.settled_s for script in scripts) / len(scripts)
    return max(turns / sessions, MIN_TURNS) * (heard_s + settled_s + BREATH_S)


def spread(
    url: str, scripts: Sequence[TurnScript], *, sessions: int, processes: int, **chosen: Any
) -> tuple[Tally, float]:
    """What ``load`` measures, by so many processes; and how many processor cores these used."""
    if processes == 1:
        begun, own_s = time.monotonic(), time.process_time()
        tally = asyncio.run(load(url, scripts, sessions=sessions, **chosen))
        return tally, (time.process_time() - own_s) / (time.monotonic() - begun)
    bounds = [sessions * number // processes for number in range(processes + 1)]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        # All are there before the first session begins.
        list(pool.map(ready, range(processes)))
        parts = [
            pool.submit(loaded, url, scripts, first, end - first, chosen)
            for first, end in itertools.pairwise(bounds)
        ]
        rows = [part.result() for part in parts]
    return merged([tally for tally, _ in rows]), sum(cores for _, cores in rows)


def ready(number: int) -> int:
    """A process is there, with what it needs."""
    time.sleep(0.2)
    return number


def loaded(
    url: str, scripts: Sequence[TurnScript], first: int, sessions: int, chosen: dict[str, Any]
) -> tuple[Tally, float]:
    """A part of the sessions, in this process."""
    begun, own_s = time.monotonic(), time.process_time()
    tally = asyncio.run(load(url, scripts, sessions=sessions, first=first, **chosen))
    return tally, (time.process_time() - own_s) / (time.monotonic() - begun)


def merged(tallies: Sequence[Tally]) -> Tally:
    """What all measured."""
    whole = Tally()
    for field in dataclasses.fields(Tally):
        parts = [getattr(tally, field.name) for tally in tallies]
        start: Any = [] if isinstance(parts[0], list) else 0
        setattr(whole, field.name, sum(parts, start))
    return whole
