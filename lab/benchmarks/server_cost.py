"""What a server spends beside a release's, both under the same load at once: processor time over sound.

    python lab/benchmarks/server_cost.py RELEASE/src [--sessions 20] [--seconds 15] [--rounds 3] [--results FILE]

RELEASE is a checkout. Both servers run on the cores that they share with the sessions, which are those of ``sayahead
loadtest``, so many on each server; so what else the machine does slows both down alike, and the ratio stands on a busy
one, too. Medians over the rounds.
"""

from __future__ import annotations

import asyncio
import statistics
import urllib.request
from pathlib import Path

from output import tell
from release import beside_release
from served import SOURCE, started
from versions import WARM_S, scripts_of

from sayahead_lab.eval.speed import load


def spent(
    sources: dict[str, Path], scripts: dict[str, list[load.TurnScript]], sessions: int, seconds: float
) -> list[float]:
    """Processor milliseconds of each server for a second of its sound."""
    places = f"limits.sessions={2 * sessions}"
    versions = [started(name, source, "--set", places) for name, source in sources.items()]

    async def both() -> list[load.Tally]:
        rounds = (
            load.load(
                f"ws://127.0.0.1:{version.port}/v1/stream",
                scripts[version.name],
                sessions=sessions,
                seconds=seconds,
                warm_s=WARM_S,
            )
            for version in versions
        )
        return await asyncio.gather(*rounds)

    try:
        before = [version.processor_s for version in versions]
        tallies = asyncio.run(both())
        after, sent = [version.processor_s for version in versions], [sent_s(version.port) for version in versions]
    finally:
        for version in versions:
            version.stop()
    if any(tally.broken or tally.refused for tally in tallies):
        raise SystemExit("Sessions were refused or broken: what the servers spent is not comparable.")
    return [1000 * (b - a) / audio_s for a, b, audio_s in zip(before, after, sent, strict=True)]


def sent_s(port: int) -> float:
    """Seconds of sound that a server has sent."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("tts_audio_seconds_total"))


def main() -> None:
    """Measure, and write a table."""
    parser = beside_release(__doc__, rounds=3)
    parser.add_argument("--sessions", type=int, default=20, help="on each server (default: 20)")
    parser.add_argument("--seconds", type=float, default=15.0, help="length of a round (default: 15)")
    arguments = parser.parse_args()
    sources = {"release": arguments.release.resolve(), "now": SOURCE}
    scripts = {name: scripts_of(source) for name, source in sources.items()}
    rounds = [spent(sources, scripts, arguments.sessions, arguments.seconds) for _ in range(arguments.rounds)]
    release, now, ratio = (statistics.median(found) for found in zip(*((a, b, b / a) for a, b in rounds), strict=True))
    lines = [
        f"`python lab/benchmarks/server_cost.py RELEASE/src --sessions {arguments.sessions} "
        f"--seconds {arguments.seconds:g} "
        f"--rounds {arguments.rounds}`: two servers at once, {arguments.sessions} sessions each; medians of the "
        "rounds.",
        "",
        "| | release | now | ratio |",
        "|---|---:|---:|---:|",
        f"| processor time of the server, ms for a second of sound | {release:.1f} | {now:.1f} | {ratio:.2f} |",
    ]
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
