"""Hold a release and this version side by side, in turns on one machine.

    python lab/benchmarks/side_by_side.py MEASURE RELEASE/src [options] [--results FILE.md] \
        [--json FILE.json]

RELEASE is a checkout, or a commit instead of RELEASE/src. Each version runs in processes of its
own; which comes first changes, so that what else the machine does falls on both. ``side_by_side.py
--help`` lists the measures, and ``MEASURE --help`` a measure's options.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from graph_calls import graph_calls
from output import keep, tell
from sayahead.sound.pcm import audible, from_pcm16
from served import SOURCE
from two_qualities import quality, same, texts_of
from two_servers import server_cost, server_load
from two_versions import Speaker, Table, environment, in_turns, ratios, source_of, speakers

from sayahead_lab.eval.experiment.clock import Tokens
from sayahead_lab.eval.speed.bench import sentences

Sources = Mapping[str, Path]
SAY = [sys.executable, "-m", "sayahead", "say", "--raw", "-q", "Hello there, how are you?"]
CONDITIONS = ("whole", "k = 1", "k = 0")


def first_output(source: Path) -> tuple[float, float, float]:
    """Seconds to the first audible sample, processor seconds and peak megabytes of a new
    process."""
    start_s = time.perf_counter()
    first_s = 0.0
    with subprocess.Popen(SAY, stdout=subprocess.PIPE, env=environment(source)) as process:
        assert process.stdout is not None
        while data := os.read(process.stdout.fileno(), 1 << 16):
            if not first_s and len(audible(from_pcm16(data[: len(data) // 2 * 2]))):
                first_s = time.perf_counter() - start_s
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not first_s:
        raise SystemExit(f"{' '.join(SAY)} said nothing with {source}.")
    return first_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def start(sources: Sources, given: argparse.Namespace) -> Table:
    """From process start to first sound: ``sayahead say`` into a pipe."""
    # The first turn reads the files from disk.
    turns = in_turns(sources, given.rounds + 1, lambda source, _: first_output(source))
    columns = [list(zip(*turns[name][1:], strict=True)) for name in ("release", "now")]
    names = ("first sound, s", "processor time, s", "memory, MB")
    lines, data = ratios({name: pair for name, *pair in zip(names, *columns, strict=True)})
    return [
        "A new process says a sentence into a pipe; medians, and the median ratio of a turn.",
        "",
        *lines,
    ], data


def cost(sources: Sources, given: argparse.Namespace) -> Table:
    """The default voice's cost beside hibari-tts's: processor time for as much sound.

    Sentences of 10, 20 or 40 words with one word of lookahead, whole, and with hibari-tts. A first
    round does not count; medians over the others.
    """
    texts = [text for words in (10, 20, 40) for text in sentences(words, 4)]
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in sources}
    with speakers(sources) as voices:
        for lap in range(given.rounds + 1):
            costs = in_turns(
                voices, len(texts), lambda speaker, number: speaker.ask("cost", texts[number])
            )
            for name, rows in costs.items() if lap else ():
                sums = {way: np.sum([row[way] for row in rows], axis=0) for way in rows[0]}
                runs[name].append(
                    {way: float(spent_s / audio_s) for way, (spent_s, audio_s) in sums.items()}
                )
    lines = [
        (
            "Processor time over hibari-tts's, for as much sound in the same processes; medians of"
            " the rounds."
        ),
        "",
    ]
    lines += ["| | word by word, k = 1 | whole sentences |", "|---|---:|---:|"]
    for name, run in runs.items():
        medians = [
            statistics.median(one[way] / one["hibari"] for one in run)
            for way in ("streamed", "whole")
        ]
        lines.append(f"| {name} | {medians[0]:.2f} | {medians[1]:.2f} |")
    return lines, dict(runs)


def first_sound(sources: Sources, given: argparse.Namespace) -> Table:
    """From a reply's first character to its first audible sample, at 50 tokens a second, in real
    time.

    Waiting is the same on both, computing is what differs: the processor's time from the token that
    allowed the sound is given beside the whole, since others take none of it."""
    rows = list[dict[str, Any]]()
    arrivals = [Tokens(50.0).arrivals(text) for text in texts_of(given)]
    replies = [[(one.text, one.at_s) for one in reply] for reply in arrivals]
    with speakers(sources) as voices:
        for policy in ("k = 1", "k = 0"):

            def ask(speaker: Speaker, number: int, policy: str = policy) -> list[float]:
                answer: list[float] = speaker.ask("first_sound", policy, replies[number])
                return answer

            for name, answers in in_turns(voices, len(replies), ask).items():
                both = np.array([answer for answer in answers if answer]) * 1000
                figures = {
                    f"{what}_p{q}_ms": round(float(np.percentile(both[:, column], q)), 1)
                    for column, what in enumerate(("first", "computing"))
                    for q in (50, 95)
                }
                rows.append({"policy": policy, "version": name, "sentences": len(both), **figures})
    busy = round(os.getloadavg()[0], 1)
    lines = [f"Milliseconds; the machine's load was {busy} on {os.cpu_count()} cores.", ""]
    lines += [
        "| policy | version | sentences | first sound p50 | p95 | the processor's p50 | p95 |"
    ]
    lines += ["|---|---|--:|--:|--:|--:|--:|"]
    lines += ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]
    return lines, {"load": busy, "cores": os.cpu_count(), "tokens_per_s": 50, "rows": rows}


@dataclass(frozen=True)
class Measure:
    """What can be measured, and its options with their defaults."""

    run: Callable[[Sources, argparse.Namespace], Table]
    options: dict[str, Any] = field(default_factory=dict)


LOADS = [8, 16, 32, 48, 64, 80, 100]
MEASURES = {
    "start": Measure(start, {"rounds": 20}),
    "cost": Measure(cost, {"rounds": 3}),
    "graph_calls": Measure(graph_calls),
    "first_sound": Measure(first_sound, {"texts": None, "count": 100}),
    "server_cost": Measure(server_cost, {"sessions": [20], "seconds": 15.0, "rounds": 3}),
    "server_load": Measure(server_load, {"sessions": LOADS, "seconds": 25.0, "overload": 200}),
    "quality": Measure(
        quality,
        {
            "texts": None,
            "count": 40,
            "voice": "heart",
            "whisper": None,
            "conditions": CONDITIONS,
            "keep": None,
        },
    ),
    "same": Measure(same, {"texts": None, "count": 8, "voice": "heart", "before": None}),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "rounds": {"type": int, "help": "rounds that count"},
    "texts": {"type": Path, "required": True, "metavar": "test.csv", "help": "lines of name|text"},
    "count": {"type": int, "help": "sentences"},
    "sessions": {"type": int, "nargs": "+", "help": "sessions of each round, on each server"},
    "seconds": {"type": float, "help": "length of a round"},
    "overload": {"type": int, "help": "sessions of the last round; 0: none"},
    "voice": {"help": "the voice, by name or folder"},
    "before": {"metavar": "OLD", "help": "folder of the same voice, added by the release"},
    "whisper": {"metavar": "DIR", "help": "a faster-whisper model's folder"},
    "conditions": {"nargs": "+", "choices": CONDITIONS, "help": "what is compared"},
    "keep": {"type": Path, "help": "folder for sound and scores"},
}


def command(given: argparse.Namespace) -> str:
    """The command that repeats a measurement, without the paths of this machine."""
    words = [f"python lab/benchmarks/side_by_side.py {given.measure} RELEASE/src"]
    for name, default in MEASURES[given.measure].options.items():
        value = vars(given)[name]
        kind = OPTIONS[name]
        if (
            name == "keep"
            or value is None
            or (value == default and name not in ("rounds", "count"))
        ):
            continue
        values = (
            [kind["metavar"]]
            if "metavar" in kind
            else (
                value
                if isinstance(value, list | tuple)
                else [f"{value:g}" if isinstance(value, float) else value]
            )
        )
        words += [f"--{name}", *(f'"{one}"' if " " in str(one) else str(one) for one in values)]
    return " ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    measures = parser.add_subparsers(dest="measure", required=True, metavar="MEASURE")
    for name, measure in MEASURES.items():
        about = measure.run.__doc__ or ""
        add = measures.add_parser(name, description=about, help=about.split("\n")[0]).add_argument
        add("release", metavar="RELEASE/src", help="src of a checkout, or a commit")
        for option, default in measure.options.items():
            shown = (
                {}
                if default is None
                else {"default": default, "help": f"{OPTIONS[option]['help']} ({default})"}
            )
            add(f"--{option}", **OPTIONS[option] | shown)
        add("--results", type=Path, help="write the table here (Markdown)")
        add("--json", type=Path, help="write the figures here (JSON)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = {"release": source_of(given.release, Path(folder)), "now": SOURCE}
        lines, data = MEASURES[given.measure].run(sources, given)
    tell([f"`{command(given)}`", "", *lines], given.results)
    figures = {"command": command(given), **data}
    keep([json.dumps(figures, indent=1)], given.json)


if __name__ == "__main__":
    main()
