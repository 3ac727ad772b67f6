"""From a reply's first character to its first audible sample, at 50 tokens a second, one session, on two versions.

    python lab/benchmarks/first_sound.py test.csv --before ../older/src --out lab/benchmarks/results/first_sound

In real time: a token is pushed when it is due, then the session is pulled. ``--before`` is the source folder of an
older version (a git worktree). Each has a process of its own, and says each sentence right before or after the other,
so that whatever else the machine does falls on both. Waiting is the same on both, computing is what differs: the
processor's time from the token that allowed the sound is given beside the whole, since others take none of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

POLICIES = ("lookahead:k=1", "lookahead:k=0")
AUDIBLE = 10 ** (-50 / 20)


def worker() -> None:
    """Say what comes on standard input; seconds to the first audible sample, all and computing, on standard output."""
    from sayahead import LookaheadK, load_voice

    voice = load_voice("heart")
    for line in sys.stdin:
        policy, arrivals = json.loads(line)
        # Older versions take a policy by name without options only.
        session = voice.session(policy=LookaheadK(int(policy[-1])))
        print(json.dumps(first_sound(session, arrivals)), flush=True)


def first_sound(session: Any, arrivals: list[tuple[str, float]]) -> tuple[float, float] | None:
    """Seconds from the first token to the first audible sample, and the processor's from the last one needed."""
    begun = time.perf_counter() - arrivals[0][1]
    for text, at_s in arrivals:
        time.sleep(max(0.0, begun + at_s - time.perf_counter()))
        pushed = time.thread_time()
        session.push(text)
        for chunk in session.chunks():
            if np.abs(chunk.samples).max() > AUDIBLE:
                now = time.perf_counter()
                return now - begun - arrivals[0][1], time.thread_time() - pushed
    return None


def started(source: Path) -> subprocess.Popen[str]:
    """A process of the version in a source folder."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, __file__, "--worker"], stdin=pipe, stdout=pipe, text=True, env=environment)


def asked(process: subprocess.Popen[str], policy: str, arrivals: list[tuple[str, float]]) -> list[float]:
    """What a process says; nothing where a sentence is too short to sound before its end."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps([policy, arrivals]) + "\n")
    process.stdin.flush()
    answer: list[float] | None = json.loads(process.stdout.readline())
    return answer or []


def measure(sources: dict[str, Path], texts: list[str]) -> list[dict[str, Any]]:
    """A row for each policy and version."""
    from sayahead_lab.eval.experiment.clock import Tokens

    processes = {name: started(source) for name, source in sources.items()}
    rows = list[dict[str, Any]]()
    try:
        for policy in POLICIES:
            times: dict[str, list[list[float]]] = {name: [] for name in sources}
            for number, text in enumerate(texts):
                arrivals = [(one.text, one.at_s) for one in Tokens(50.0).arrivals(text)]
                # In turn, so that neither is always first.
                for name in sorted(processes, reverse=number % 2 == 0):
                    times[name].append(asked(processes[name], policy, arrivals))
            for name, answers in times.items():
                both = np.array([answer for answer in answers if answer]) * 1000
                figures = {
                    f"{what}_p{q}_ms": round(float(np.percentile(both[:, column], q)), 1)
                    for column, what in enumerate(("first", "computing"))
                    for q in (50, 95)
                }
                rows.append({"policy": policy, "version": name, "sentences": len(both), **figures})
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    return rows


def table(rows: list[dict[str, Any]], load: float) -> str:
    """The rows in Markdown."""
    lines = [
        f"Milliseconds; the machine's load was {load:.1f} on {os.cpu_count()} cores.",
        "",
        "| policy | version | sentences | first sound p50 | p95 | the processor's p50 | p95 |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    lines += ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    if sys.argv[1:] == ["--worker"]:
        worker()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="lines of name|text")
    parser.add_argument("--before", type=Path, help="source folder of an older version")
    parser.add_argument("--count", type=int, default=100, help="sentences (default: 100)")
    parser.add_argument("--out", type=Path, help="FILE for FILE.json and FILE.md")
    arguments = parser.parse_args()
    from sayahead_lab.scripts import read_texts, strided

    texts = [text.text for text in strided(read_texts(arguments.texts), arguments.count)]
    sources = {"before": arguments.before} if arguments.before else {}
    sources["after"] = Path(__file__).parents[2] / "src"
    rows, load = measure(sources, texts), os.getloadavg()[0]
    print(table(rows, load))
    if arguments.out is not None:
        data = {"load": round(load, 1), "cores": os.cpu_count(), "tokens_per_s": 50, "rows": rows}
        arguments.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        arguments.out.with_suffix(".md").write_text(table(rows, load), encoding="utf-8")


if __name__ == "__main__":
    main()
