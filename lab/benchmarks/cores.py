"""Conversations without a stall by one process and by several, in turns on one machine; needs it
quiet, for 6 minutes.

python lab/benchmarks/cores.py --json lab/benchmarks/results/server/cores.json

All servers run all the time, all but one of them idle; rounds alternate between them, and each
number of sessions comes again in the next pass: ``--one`` names those for one process,
``--several`` those for one process a core. ``--before FOLDER``: an older version's server, too,
from the folder ``src`` of its checkout. Beside each round: how long ``/health`` takes (the longest
of those asked five times a second), the memory of the server's processes (what they share is
counted once), and the processor cores that server and clients use."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sayahead.engine.onnx import cores
from sayahead.voice import load_voice
from served import SOURCE, Health, Version, started

from sayahead_lab.eval.experiment.clock import Tokens
from sayahead_lab.eval.experiment.machine import LoadWatch, processor
from sayahead_lab.eval.measures.statistics import quantile
from sayahead_lab.eval.speed import load, search
from sayahead_lab.eval.speed.bench import sentences
from sayahead_lab.eval.speed.callers import processes_for, spread
from sayahead_lab.results import keep_figures, options

WARM_S = 5.0
"""Of each round, before anything is counted."""
BOUND_MS = 130.0
"""First sound, in 95 % of turns."""
LEVELS = {1: (100, 120), 0: (150, 180)}
"""Sessions by processes; 0: one a core."""
SHOWN = (
    "server sessions turns stalled_turns first_ms server_cores sessions_cores idle_cores health_ms"
    " passed cause"
).split()
"""What is printed of a round."""


@contextlib.contextmanager
def server(name: str, source: Path, arguments: list[str]) -> Iterator[Version]:
    """A server of the version in a source folder."""
    settings = ["--set", "limits.sessions=4000", "--set", "measure_s=0", "--no-page"]
    version = started(name, source, *settings, *arguments)
    try:
        yield version
    finally:
        version.stop()


def measured(
    version: Version, scripts: list[load.TurnScript], sessions: int, seconds: float
) -> dict[str, Any]:
    """One round."""
    url = f"ws://127.0.0.1:{version.port}/v1/stream"
    begun = time.monotonic()
    before = version.times_s
    with Health(version.port) as health:
        tally, clients = spread(
            url,
            scripts,
            sessions=sessions,
            processes=processes_for(sessions, cores()),
            seconds=seconds,
            warm_s=WARM_S,
        )
    lasted_s = time.monotonic() - begun
    spent = [
        round((after_s - before.get(folder, 0.0)) / lasted_s, 3)
        for folder, after_s in version.times_s.items()
    ]
    took = [1000 * took_s for took_s in health.took_s]
    row = {
        "server": version.name,
        **load.row(tally, sessions),
        "server_cores": round(sum(spent), 3),
        "busiest_cores": max(spent),
        "sessions_cores": round(clients, 3),
        "cores": cores(),
        "memory_mb": [round(size, 1) for size in version.memories_mb],
        "health_ms": {"p95": round(quantile(took, 0.95), 1), "most": round(max(took), 1)},
    }
    row["passed"] = search.passed(row, "llm", BOUND_MS)
    row["cause"] = "" if row["passed"] else search.cause(row)
    return row


def main() -> None:
    """Measure in turns."""
    parser = options(
        __doc__, "json", passes=2, seconds=18.0, before=Path, one=LEVELS[1], several=LEVELS[0]
    )
    arguments, others = parser.parse_known_args()
    voice = load_voice("heart")
    clock = Tokens(50.0)
    texts = [" ".join(pair) for pair in zip(sentences(11, 8), sentences(7, 8), strict=True)]
    scripts = [load.script(voice, text, clock) for text in texts]
    del voice
    watch = LoadWatch(2)
    rows = list[dict[str, Any]]()
    planned = [
        ("one process", SOURCE, ["--processes", "1", *others], arguments.one),
        ("one a core", SOURCE, others, arguments.several),
    ]
    if arguments.before is not None:
        planned.append(("before", arguments.before, others, arguments.one))
    with contextlib.ExitStack() as stack:
        running = [
            (stack.enter_context(server(name, source, settings)), levels)
            for name, source, settings, levels in planned
        ]
        for number in range(arguments.passes):
            tries = [(version, level) for version, levels in running for level in levels]
            # Alternating, and the other way round in the next pass.
            tries.sort(key=lambda each: each[1], reverse=bool(number % 2))
            for version, level in tries:
                row = measured(version, scripts, level, arguments.seconds)
                rows.append({"pass": number, **row})
                print(json.dumps({name: row.get(name) for name in SHOWN}), flush=True)
    machine = {"cpu": processor(), "cores": cores(), "other_cores": watch.load().other_cores}
    keep_figures({"machine": machine, "rounds": rows}, arguments.json)


if __name__ == "__main__":
    main()
