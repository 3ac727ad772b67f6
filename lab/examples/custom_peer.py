"""Evaluate your own engine: this one plays a tone per letter, in a separate process that loads this
same file.

    python lab/examples/custom_peer.py "One sentence. And another."

To use it in an experiment, name this file and the function that describes the engine:

    sayahead eval run lab/benchmarks/latency.toml --texts texts.csv -o out \
        --peers hibari,lab/examples/custom_peer.py:peer
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from sayahead_lab.eval.experiment.trace import Trace
from sayahead_lab.eval.peers.peer import Engine, WorkerPeer
from sayahead_lab.eval.peers.timing import measured


def load(pitch_hz: float) -> Any:
    """Runs in the worker process: loads the engine. An adapter in a file of its own needs nothing
    of sayahead."""

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[np.ndarray]:
        for piece in text:
            yield np.sin(2 * np.pi * pitch_hz * np.arange(800 * len(piece)) / 16000)

    return {"rate": 16000, "version": "1", "licence": "public domain"}, speak


def peer() -> Engine:
    """Runs in the evaluation: what to start, how its text is cut (here by sentence), and its
    options."""
    return Engine("tone", f"{__file__}:load", "sentence", {"pitch_hz": 440})


def main(text: str) -> Trace:
    """The trace of one text, from which every metric is computed."""
    tone = WorkerPeer(peer())
    tone.start()
    made, _ = measured(tone, text)
    tone.close()
    for chunk in made.chunks:
        print(f"{chunk.samples / made.sample_rate:.2f} s, known after {chunk.read} characters")
    return made


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "One sentence. And another.")
