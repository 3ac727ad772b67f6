"""From process start to first sound, beside a release, in turns: ``sayahead say`` into a pipe.

    python lab/benchmarks/start.py RELEASE/src [--rounds 20] [--results FILE]

RELEASE is a checkout. Wall time to the first audible sample, processor time and largest memory of the whole process:
medians, and the median of the ratios of each turn.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from output import tell
from release import beside_release
from sayahead.sound.pcm import audible, from_pcm16
from served import SOURCE

SAY = [sys.executable, "-m", "sayahead", "say", "--raw", "-q", "Hello there, how are you?"]
FIGURES = ("first sound, s", "processor time, s", "memory, MB")


def started(source: Path) -> tuple[float, float, float]:
    """Seconds to the first audible sample, processor seconds and peak megabytes of a new process."""
    begun, first_s = time.perf_counter(), 0.0
    environment = {**os.environ, "PYTHONPATH": str(source)}
    with subprocess.Popen(SAY, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        while data := os.read(process.stdout.fileno(), 1 << 16):
            if not first_s and len(audible(from_pcm16(data[: len(data) // 2 * 2]))):
                first_s = time.perf_counter() - begun
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not first_s:
        raise SystemExit(f"{' '.join(SAY)} said nothing with {source}.")
    return first_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f}" if max(values) < 20 else f"{statistics.median(values):.0f}"


def main() -> None:
    arguments = beside_release(__doc__, rounds=20).parse_args()
    sources = (arguments.release, SOURCE)
    # The first turn reads the files from disk.
    turns = [[started(source) for source in sources] for _ in range(arguments.rounds + 1)][1:]
    lines = [
        f"`python lab/benchmarks/start.py RELEASE/src --rounds {arguments.rounds}`: a new process says a sentence into "
        "a pipe; medians, and the median ratio of a turn.",
        "",
        "| | release | now | ratio |",
        "|---|---:|---:|---:|",
    ]
    for number, name in enumerate(FIGURES):
        before, now = ([turn[i][number] for turn in turns] for i in (0, 1))
        ratio = statistics.median(after / first for first, after in zip(before, now, strict=True))
        lines.append(f"| {name} | {median(before)} | {median(now)} | {ratio:.2f} |")
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
