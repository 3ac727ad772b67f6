"""Evaluate your own engine: this one plays a tone per letter, in a separate process that runs this same file.

    python lab/examples/custom_peer.py "One sentence. And another."

To use it in an experiment, name this file and the function that creates the peer:

    sayahead eval run lab/benchmarks/latency.toml --texts texts.csv -o out \
        --peers hibari,lab/examples/custom_peer.py:peer
"""

import sys

import numpy as np

from sayahead_lab.eval.experiment.peer_worker import Speak, serve
from sayahead_lab.eval.experiment.peers import Peer, WorkerPeer, measure_peer
from sayahead_lab.eval.experiment.trace import Trace


def load() -> Speak:
    """Runs in the worker process: loads the engine and returns its synthesis function."""
    return lambda text: (np.sin(np.arange(800 * len(text)) / 5).astype(np.float32), 16000)


def peer() -> Peer:
    """Runs in the evaluation: the command that starts the worker."""
    return WorkerPeer("tone", [sys.executable, __file__, "--worker"])


def main(text: str) -> Trace:
    """The trace of one text, from which every metric is computed."""
    tone = peer()
    tone.start()
    made, _ = measure_peer(tone, text)
    tone.close()
    for chunk in made.chunks:
        print(f"{chunk.samples / made.sample_rate:.2f} s, known after {chunk.read} characters")
    return made


if __name__ == "__main__":
    serve(load) if "--worker" in sys.argv else main(" ".join(sys.argv[1:]) or "One sentence. And another.")
