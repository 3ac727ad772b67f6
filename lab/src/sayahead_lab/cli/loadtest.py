"""``sayahead loadtest``: how many concurrent sessions this machine can carry."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.cli import number, one_of
from sayahead.errors import ConfigError, SayaheadError

if TYPE_CHECKING:
    from sayahead.voice import Voice

    from sayahead_lab.eval.speed.load import TurnScript

HELP = "measure how many concurrent sessions a server can carry"
EPILOG = """\
The sessions run in processes of their own, the server in others on the same machine. Each session
is an agent that talks continuously: a text arrives on its clock and is played without a buffer;
half a second after its end the next one begins. Sessions start spread over six seconds that do not
count. A round has at least 120 turns (--turns), and two of each session. It passes if no player
stalled waiting for audio whose text had been there for 100 ms (in more than one of 200 turns), and
the time to first audio was at most 130 ms (--p95) in 95 of 100 turns. Near the edge a number has up
to three rounds, and most of them decide. Clocks: llm is 50 tokens a second, with the first audible
sample timed from the turn's first character; reader is 180 words a minute, timed from the text that
the sample needs.
"""
TURNS = 120
GUESS = 2.0
"""The first number that is tried, in places that a server of this machine would measure."""
SESSIONS_HELP = (
    "sessions of each round, up to the first that fails (default: the most that pass are looked"
    " for)"
)
P95_HELP = "the longest time to first audio that passes, in 95 of 100 turns (default: 130)"
OVERLOAD_HELP = (
    "finally run three times the sessions that passed for so long, on a server with its own limit"
)
CLOCKS = ("llm", "reader")
BOUND_MS = 130.0
AGAIN_S = 2.0
"""In an overload, who was refused asks again after so long."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--url",
        metavar="URL",
        help="a running server, such as ws://127.0.0.1:8000 (default: start one)",
    )
    add("--key", metavar="KEY", help="its key")
    add(
        "--voice",
        metavar="NAME",
        help="voice that speaks, by name (default: heart, or a running server's first)",
    )
    add(
        "--clock",
        type=one_of(*CLOCKS),
        default="llm",
        metavar="NAME",
        help="llm (default) or reader",
    )
    add("--sessions", type=number(int, 1), nargs="+", metavar="N", help=SESSIONS_HELP)
    add("--p95", type=number(float, 1.0), default=BOUND_MS, metavar="MS", help=P95_HELP)
    add("--turns", type=number(int, 1), default=TURNS, metavar="N", help="turns of a round")
    add(
        "--seconds",
        type=number(float, 1.0),
        metavar="S",
        help="length of each round (default: as long as its turns take)",
    )
    add(
        "--clients",
        type=number(int, 1, 256),
        metavar="N",
        help="processes of the sessions (default: one for each 40)",
    )
    add("--overload", type=number(float, 1.0), metavar="S", help=OVERLOAD_HELP)
    add("--processes", type=number(int, 1, 256), metavar="N", help="passed to sayahead serve")
    add("--workers", type=number(int, 1, 1024), metavar="N", help="passed to sayahead serve")
    add("--json", type=Path, metavar="FILE", help="write the figures to FILE")


def run(arguments: argparse.Namespace) -> int:
    """Measure; the exit code is 1 if no round passed."""
    if arguments.url and arguments.overload:
        raise ConfigError("--overload starts its own server: leave out --url.")
    try:
        from sayahead_lab.eval.speed import search
        from sayahead_lab.eval.speed.callers import seconds_for
    except ImportError as error:
        raise ConfigError(
            f"sayahead loadtest needs {error.name}: pip install 'sayahead[server]'."
        ) from error
    from sayahead.engine.onnx import cores
    from sayahead.server.synthesis.capacity import cost_of, places_for
    from sayahead.voice import load_voice

    from sayahead_lab.eval.experiment.machine import LoadWatch, processor

    voice = load_voice(arguments.voice or "heart")
    cost = cost_of(voice, 2.0)
    scripts = turn_scripts(voice, arguments.clock)
    watch = LoadWatch(2)
    rounds = list[dict[str, Any]]()
    guess = search.FIRST if arguments.url else round(GUESS * places_for(cost, cores()))
    while sessions := search.following(arguments.sessions, rounds, guess=guess):
        rate = voice.sample_rate
        seconds = arguments.seconds or seconds_for(arguments.turns, sessions, scripts, rate)
        row = measured(arguments, scripts, sessions, sessions, seconds)
        rounds.append(search.judged(row, arguments.clock, arguments.p95))
        if row["cause"]:
            print(f"     {row['cause']}", flush=True)
    found = search.limit(rounds)
    best = found["largest"] or 0
    machine = {"cpu": processor(), "cores": cores(), "python": platform.python_version()}
    conditions = {
        "voice": voice.config.name,
        "clock": arguments.clock,
        "seconds": arguments.seconds,
        "turns": arguments.turns,
        "processes": arguments.processes,
        "workers": arguments.workers,
        "ms_per_s": round(1000 * cost, 2),
    }
    bounds = {"bound_ms": arguments.p95, **found}
    result: dict[str, Any] = {"machine": machine, **conditions, **bounds, "rounds": rounds}
    if arguments.overload and best:
        result["overload"] = measured(
            arguments, scripts, 3 * best, None, arguments.overload, again_s=AGAIN_S
        )
    result["other_cores"] = watch.load().other_cores
    print(told(found))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0 if best else 1


def turn_scripts(voice: Voice, clock_name: str) -> list[TurnScript]:
    """Eight turns of two sentences, as a language model or a reader sends them."""
    from sayahead_lab.eval.experiment.clock import ReadingClock, Tokens
    from sayahead_lab.eval.speed import load
    from sayahead_lab.eval.speed.bench import sentences

    clock = Tokens(50.0) if clock_name == "llm" else ReadingClock(180.0)
    texts = [" ".join(pair) for pair in zip(sentences(11, 8), sentences(7, 8), strict=True)]
    return [load.script(voice, text, clock) for text in texts]


def told(found: Mapping[str, int | None]) -> str:
    """The result for a person."""
    never = "none" if found["never"] is None else f"{found['never']} or more"
    return (
        f"The largest number that passed: {found['largest']} sessions. Every round passed up to"
        f" {found['sure']}; {never} never did."
    )


def measured(
    arguments: argparse.Namespace,
    scripts: Sequence[Any],
    sessions: int,
    places: int | None,
    seconds: float,
    *,
    again_s: float | None = None,
) -> dict[str, Any]:
    """A round's figures, shown to a person. ``places``: the server's limit; None: its own."""
    from sayahead.engine.onnx import cores

    from sayahead_lab.eval.speed import load
    from sayahead_lab.eval.speed.callers import WARM_S, processes_for, spread

    chosen: dict[str, Any] = {
        "key": arguments.key,
        "voice": arguments.voice,
        "breath": arguments.clock == "llm",
    }
    chosen |= {"seconds": seconds, "warm_s": min(WARM_S, seconds), "again_s": again_s}
    clients = arguments.clients or processes_for(sessions, cores())
    with server(arguments, places) as (url, process, own):
        begun = time.monotonic()
        before = busy_s(process)
        tally, used = spread(url, scripts, sessions=sessions, processes=clients, **chosen)
        row = load.row(tally, sessions)
        lasted_s = time.monotonic() - begun
        row |= {"sessions_cores": round(used, 3), "cores": cores()}
        if before:
            after = busy_s(process)
            each = [(spent - before.get(pid, 0.0)) / lasted_s for pid, spent in after.items()]
            row |= {"server_cores": round(sum(each), 3), "busiest_cores": round(max(each), 3)}
    print(line(row), flush=True)
    return row | {"places": places or own}


def line(row: dict[str, Any]) -> str:
    """A round for a person."""
    first = row["first_ms"]
    after = row["after_its_text_ms"]
    return (
        f"{row['sessions']:4} sessions: first audible sample p50 {first['p50']} p95 {first['p95']}"
        f" ms after the first character, p50 {after['p50']} p95 {after['p95']} ms after its text;"
        f" {row['stalls']} stalls (longest {row['longest_stall_ms']} ms) in {row['turns']} turns,"
        f" {row['refused']} refused"
        + (
            f" (95 of 100 within {row['refused_ms']['p95']} ms), {row['let_go']} let go"
            if row["refused"]
            else ""
        )
        + f", {len(row['broken'])} broken"
        + (f" (the first: {row['broken'][0]})" if row["broken"] else "")
        + (f"; the server took {row['server_cores']} cores" if "server_cores" in row else "")
        + f"; the sessions themselves {row['sessions_cores']}, up to"
        f" {row['sessions_late_ms']['most']} ms late"
    )


@contextlib.contextmanager
def server(
    arguments: argparse.Namespace, places: int | None
) -> Iterator[tuple[str, int | None, int | None]]:
    """The socket's address, and, if we started it, the server's process and the limit that it
    measured at its start."""
    if arguments.url:
        from sayahead.client.wire import address

        yield address(arguments.url), None, None
        return
    options = [
        "serve",
        "--port",
        "0",
        "--log",
        "json",
        "--drain",
        "0",
        "--voice",
        arguments.voice or "heart",
    ]
    if places is not None:
        options += ["--set", f"limits.sessions={places}"]
    for name in ("processes", "workers"):
        if getattr(arguments, name) is not None:
            options += [f"--{name}", str(getattr(arguments, name))]
    command = [sys.executable, "-m", "sayahead", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            measured = None
            for line in filter(lambda line: line.startswith("{"), process.stderr):
                entry = json.loads(line)
                measured = entry["at_most"] if entry["event"] == "measured" else measured
                if entry["event"] == "listening":
                    # Its log has more lines than a pipe holds.
                    threading.Thread(target=process.stderr.read, daemon=True).start()
                    yield (
                        entry["url"].replace("http", "ws", 1) + "/v1/stream",
                        process.pid,
                        measured,
                    )
                    return
            raise SayaheadError("The server did not start: run sayahead serve to see why.")
        finally:
            process.terminate()


def busy_s(process: int | None) -> dict[int, float]:
    """Computing time of a process and of each of its children; empty for none, and on systems
    without /proc."""
    from sayahead_lab.eval.experiment.machine import PROC

    times = dict[int, float]()
    if process is None or not PROC.is_dir():
        return times
    for folder in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            fields = text.rpartition(")")[2].split()
            own = int(folder.name) == process
            if own or int(fields[1]) == process:
                spent = sum(map(int, fields[11:15] if own else fields[11:13]))
                times[int(folder.name)] = spent / os.sysconf("SC_CLK_TCK")
    return times
