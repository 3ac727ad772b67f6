"""The same load on a release and on this version, in alternation: sessions without a stall, first sounds, overload.

    python lab/benchmarks/versions.py --json lab/benchmarks/results/server/versions.json

The release is unpacked from git (``--release``, a commit). Each round has a server of its own, and then one of the
other version; which comes first changes from round to round. The sessions are those of ``sayahead loadtest``, on the
same cores: agents that talk without end, each with a player without a buffer. What a player may expect when is what
the version itself makes of the texts. Last comes overload: more sessions than a server has places by default. A round
takes some 45 s for each version.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from sayahead.engine.onnx import cores
from served import SOURCE, started

from sayahead_lab.eval.experiment.clock import Tokens
from sayahead_lab.eval.experiment.machine import Watch, processor
from sayahead_lab.eval.speed import load
from sayahead_lab.eval.speed.bench import sentences

RELEASE = "514cc9a"
PLACES_PER_CORE = 16
BOUND_MS = 150.0
WARM_S = 6.0
HEADER = (
    "| sessions | version | turns | refused | let go | broken | stalls | longest, ms | first sample p50, ms | p95 | "
    "after its text p95 | server, cores | sessions', cores |\n|--:|---|" + "--:|" * 11
)
ROW = (
    "| {sessions} | {version} | {turns} | {refused} | {let_go} | {broken} | {stalls} | {longest_stall_ms} | "
    "{first_p50_ms} | {first_p95_ms} | {after_its_text_p95_ms} | {server_cores} | {client_cores} |"
)
SPEAK = """
import json
import sys

import numpy as np
from sayahead import load_voice

voice, scripts = load_voice(), []
for arrivals in json.load(sys.stdin):
    session, released, settled_s, samples = voice.session(), [], None, 0
    for number, (text, at_s) in enumerate(arrivals):
        session.push(text)
        if number == len(arrivals) - 1:
            session.finish()
        for chunk in session.chunks():
            samples += len(chunk.samples)
            released.append((samples, at_s))
            if settled_s is None and np.abs(chunk.samples).max() > 10 ** (-50 / 20):
                settled_s = at_s
    scripts.append({"released": released, "settled_s": settled_s})
json.dump(scripts, sys.stdout)
"""


def unpacked(commit: str, folder: Path) -> Path:
    """The source folder of a commit of this repository."""
    command = ["git", "-C", str(SOURCE.parent), "archive", commit, "src"]
    archive = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder / "src"


def scripts_of(source: Path) -> list[load.TurnScript]:
    """What sessions say, and when a version's own voice can have made each part of its sound."""
    texts = [" ".join(pair) for pair in zip(sentences(11, 8), sentences(7, 8), strict=True)]
    arrivals = [tuple((each.text, each.at_s) for each in Tokens(50.0).arrivals(text)) for text in texts]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", SPEAK]
    done = subprocess.run(
        command, input=json.dumps(arrivals), capture_output=True, text=True, check=True, env=environment
    )
    return [
        load.TurnScript(fragments, tuple((end, at_s) for end, at_s in made["released"]), made["settled_s"])
        for fragments, made in zip(arrivals, json.loads(done.stdout), strict=True)
    ]


def measure(
    name: str, source: Path, scripts: list[load.TurnScript], *, sessions: int, places: int, seconds: float
) -> dict[str, Any]:
    """A round on a server of a version."""
    version = started(name, source, "--set", f"limits.sessions={places}")
    try:
        url, began = f"ws://127.0.0.1:{version.port}/v1/stream", time.monotonic()
        spent_s, client_s = version.processor_s, time.process_time()
        tally = asyncio.run(load.load(url, scripts, sessions=sessions, seconds=seconds, warm_s=WARM_S))
        lasted_s = time.monotonic() - began
        used = {
            "server_cores": round((version.processor_s - spent_s) / lasted_s, 2),
            "client_cores": round((time.process_time() - client_s) / lasted_s, 2),
        }
    finally:
        version.stop()
    return {"version": name, "places": places, **load.row(tally, sessions), **used}


def shown(row: dict[str, Any]) -> str:
    """A row of the table."""
    first, after = row["first_ms"], row["after_its_text_ms"]
    times = {"first_p50_ms": first["p50"], "first_p95_ms": first["p95"], "after_its_text_p95_ms": after["p95"]}
    # Who paused gave its place to who spoke.
    let_go = sum('"overloaded"' in reason for reason in row["broken"])
    return ROW.format(**row | times | {"let_go": let_go, "broken": len(row["broken"]) - let_go})


def passed(row: dict[str, Any]) -> bool:
    """Whether nobody was kept waiting or refused, by the bounds of ``sayahead loadtest``."""
    first = row["first_ms"]["p95"]
    return not (row["stalls"] or row["broken"] or row["refused"]) and first is not None and first <= BOUND_MS


def main() -> None:
    """Measure, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--release", default=RELEASE, help=f"the commit to compare with (default: {RELEASE})")
    add("--sessions", type=int, nargs="+", default=[8, 16, 32, 48, 64, 80, 100], help="sessions of each round")
    add("--seconds", type=float, default=25.0, help="length of a round (default: 25)")
    add("--overload", type=int, default=200, help="sessions of the last round; 0: none (default: 200)")
    add("--json", type=Path, help="where to write the figures, and beside it the table")
    arguments = parser.parse_args()
    default = PLACES_PER_CORE * cores()
    rounds = [(sessions, sessions) for sessions in arguments.sessions]
    rounds += [(arguments.overload, default)] if arguments.overload else []
    rows, best, watch = list[dict[str, Any]](), {"release": 0, "now": 0}, Watch(2)
    with tempfile.TemporaryDirectory() as folder:
        sources = {"release": unpacked(arguments.release, Path(folder)), "now": SOURCE}
        scripts = {name: scripts_of(source) for name, source in sources.items()}
        print(HEADER)
        for number, (sessions, places) in enumerate(rounds):
            for name in list(sources)[:: -1 if number % 2 else 1]:
                sizes = {"sessions": sessions, "places": places, "seconds": arguments.seconds}
                rows.append(measure(name, sources[name], scripts[name], **sizes))
                print(shown(rows[-1]), flush=True)
                if passed(rows[-1]):
                    best[name] = max(best[name], sessions)
    told = f"Most sessions that passed: {best['release']} on the release, {best['now']} now."
    print(told)
    if arguments.json:
        machine = {"cpu": processor(), "cores": cores(), "other_cores": watch.load().other_cores}
        data = {"machine": machine, "release": arguments.release, "seconds": arguments.seconds, "largest": best}
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(data | {"rows": rows}, indent=1) + "\n", encoding="utf-8")
        table = "\n".join([HEADER, *map(shown, rows), "", told]) + "\n"
        arguments.json.with_suffix(".md").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
