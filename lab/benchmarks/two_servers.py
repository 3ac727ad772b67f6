"""Two versions' servers under the same load: at once, for what they spend, and in turns, for how
many they serve."""

from __future__ import annotations

import argparse
import asyncio
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sayahead.engine.onnx import cores
from served import Version, started
from two_versions import Speaker, Table, in_turns, ratios, speakers

from sayahead_lab.cli import loadtest
from sayahead_lab.eval.experiment.clock import Tokens
from sayahead_lab.eval.experiment.machine import LoadWatch, processor
from sayahead_lab.eval.speed import load
from sayahead_lab.eval.speed.bench import sentences

Sources = Mapping[str, Path]
Scripts = list[load.TurnScript]
PLACES_PER_CORE = 16
WARM_S = 6.0
HEADER = (
    "| sessions | version | turns | refused | let go | broken | stalls | longest, ms | first sample"
    " p50, ms | p95 | after its text p95 | server, cores | sessions', cores |\n|--:|---|"
    + "--:|"
    * 11
)
ROW = (
    "| {sessions} | {version} | {turns} | {refused} | {let_go} | {broken} | {stalls} |"
    " {longest_stall_ms} | {first_p50_ms} | {first_p95_ms} | {after_its_text_p95_ms} |"
    " {server_cores} | {client_cores} |"
)


def scripts_of(sources: Sources) -> dict[str, Scripts]:
    """What sessions say, and when each version's own voice can have made each part of its sound."""
    texts = [" ".join(pair) for pair in zip(sentences(11, 8), sentences(7, 8), strict=True)]
    arrivals = [
        tuple((each.text, each.at_s) for each in Tokens(50.0).arrivals(text)) for text in texts
    ]

    def script(speaker: Speaker, number: int) -> load.TurnScript:
        ends, settled_s = speaker.ask("script", arrivals[number])
        return load.TurnScript(
            arrivals[number], tuple((end, at_s) for end, at_s in ends), settled_s
        )

    with speakers(sources) as voices:
        return in_turns(voices, len(texts), script)


async def loaded(version: Version, scripts: Scripts, sessions: int, seconds: float) -> load.Tally:
    """What the sessions of ``sayahead loadtest`` find at a server."""
    url = f"ws://127.0.0.1:{version.port}/v1/stream"
    return await load.load(url, scripts, sessions=sessions, seconds=seconds, warm_s=WARM_S)


def sent_s(version: Version) -> float:
    """Seconds of sound that a server has sent."""
    with urllib.request.urlopen(f"http://127.0.0.1:{version.port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(
        float(line.rpartition(" ")[2])
        for line in lines
        if line.startswith("tts_audio_seconds_total")
    )


def spent_ms(
    sources: Sources, scripts: dict[str, Scripts], sessions: int, seconds: float
) -> list[float]:
    """Processor milliseconds of each server for a second of its sound, both under load at once."""
    places = f"limits.sessions={2 * sessions}"
    versions = [started(name, source, "--set", places) for name, source in sources.items()]

    async def both() -> list[load.Tally]:
        return await asyncio.gather(
            *(loaded(one, scripts[one.name], sessions, seconds) for one in versions)
        )

    try:
        before = [version.processor_s for version in versions]
        tallies = asyncio.run(both())
        after = [version.processor_s for version in versions]
        sent = [sent_s(version) for version in versions]
    finally:
        for version in versions:
            version.stop()
    if any(tally.broken or tally.refused for tally in tallies):
        raise SystemExit(
            "Sessions were refused or broken: what the servers spent is not comparable."
        )
    return [1000 * (b - a) / audio_s for a, b, audio_s in zip(before, after, sent, strict=True)]


def server_cost(sources: Sources, given: argparse.Namespace) -> Table:
    """What a server spends, both under the same load at once: processor time over sound.

    Both run on the cores that they share with the sessions, so what else the machine does slows
    both alike."""
    scripts = scripts_of(sources)
    (sessions,) = given.sessions
    rounds = [spent_ms(sources, scripts, sessions, given.seconds) for _ in range(given.rounds)]
    release, now = zip(*rounds, strict=True)
    lines, data = ratios(
        {"processor time of the server, ms for a second of sound": (release, now)}, 1
    )
    return [
        f"Two servers at once, {sessions} sessions each; medians of the rounds.",
        "",
        *lines,
    ], data


def served(
    name: str, source: Path, scripts: Scripts, *, sessions: int, places: int, seconds: float
) -> dict[str, Any]:
    """A round on a server of a version."""
    version = started(name, source, "--set", f"limits.sessions={places}")
    try:
        start_s = time.monotonic()
        spent_s = version.processor_s
        client_s = time.process_time()
        tally = asyncio.run(loaded(version, scripts, sessions, seconds))
        lasted_s = time.monotonic() - start_s
        used = {
            "server_cores": round((version.processor_s - spent_s) / lasted_s, 2),
            "client_cores": round((time.process_time() - client_s) / lasted_s, 2),
        }
    finally:
        version.stop()
    return {"version": name, "places": places, **load.row(tally, sessions), **used}


def cells(row: dict[str, Any]) -> str:
    """A row of the table."""
    first = row["first_ms"]
    after = row["after_its_text_ms"]
    times = {
        "first_p50_ms": first["p50"],
        "first_p95_ms": first["p95"],
        "after_its_text_p95_ms": after["p95"],
    }
    # Who paused gave its place to who spoke.
    let_go = sum('"overloaded"' in reason for reason in row["broken"])
    return ROW.format(**row | times | {"let_go": let_go, "broken": len(row["broken"]) - let_go})


def passes(row: dict[str, Any]) -> bool:
    """Whether nobody was kept waiting or refused, by the bounds of ``sayahead loadtest``."""
    first = row["first_ms"]["p95"]
    return (
        not (row["stalls"] or row["broken"] or row["refused"])
        and first is not None
        and first <= loadtest.BOUND_MS
    )


def server_load(sources: Sources, given: argparse.Namespace) -> Table:
    """The same load in turns: sessions without a stall, first sounds, overload; 45 s a round and
    version.

    Each round has a server of its own. The sessions are agents that talk without end, each with a
    player without a buffer; last comes overload, more sessions than a server has places by default
    (``--overload 0``: none)."""
    rounds = [(sessions, sessions) for sessions in given.sessions]
    rounds += [(given.overload, PLACES_PER_CORE * cores())] if given.overload else []
    rows = list[dict[str, Any]]()
    scripts = scripts_of(sources)
    watch = LoadWatch(2)

    def one(name: str, number: int) -> None:
        sessions, places = rounds[number]
        sizes = {"sessions": sessions, "places": places, "seconds": given.seconds}
        rows.append(served(name, sources[name], scripts[name], **sizes))
        print(cells(rows[-1]), flush=True)

    in_turns({name: name for name in sources}, len(rounds), one)
    best = {
        name: max(
            (row["sessions"] for row in rows if row["version"] == name and passes(row)), default=0
        )
        for name in sources
    }
    summary = f"Most sessions that passed: {best['release']} on the release, {best['now']} now."
    machine = {"cpu": processor(), "cores": cores(), "other_cores": watch.load().other_cores}
    data = {"machine": machine, "seconds": given.seconds, "largest": best, "rows": rows}
    return [HEADER, *map(cells, rows), "", summary], data
