"""Memory of processes that share a voice, which was loaded before they were forked; on Linux.

    python lab/benchmarks/forked.py --json lab/benchmarks/results/forked.json

Each process speaks a few sentences. What it has changed or made is its own; the rest is shared.
"""

from __future__ import annotations

import gc
import os
from multiprocessing import get_context
from pathlib import Path

from sayahead.server.synthesis.capacity import speak_once
from sayahead.voice import Voice, load_voice

from sayahead_lab.results import options, tell_figures

PROCESSES, TEXTS = 3, 4
KINDS = {"Rss:": "all", "Pss:": "fair share", "Private_Dirty:": "own"}


def memory() -> dict[str, float]:
    """This process's memory in MB."""
    lines = Path(f"/proc/{os.getpid()}/smaps_rollup").read_text(encoding="ascii").splitlines()
    sizes = {line.split()[0]: int(line.split()[1]) / 1000 for line in lines if "kB" in line}
    return {told: round(sizes[kind], 1) for kind, told in KINDS.items()}


def main() -> None:
    """Fork, speak and look."""
    arguments = options(__doc__, "json").parse_args()
    voice = load_voice("heart")
    speak_once(voice)
    gc.collect()
    gc.freeze()
    context = get_context("fork")
    queue = context.SimpleQueue()
    gate = context.Barrier(PROCESSES)

    def speak(voice: Voice) -> None:
        for _ in range(TEXTS):
            speak_once(voice)
        gate.wait()
        queue.put(memory())
        gate.wait()

    processes = [context.Process(target=speak, args=(voice,)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    rows = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    tell_figures({"loaded_mb": memory(), "processes_mb": rows}, arguments.json)


if __name__ == "__main__":
    main()
