"""What several conversations in one call of the default voice's graphs would cost, beside one call for each.

    python lab/benchmarks/batching.py [--results FILE]

Rows of one call are one sentence's here: what padding and masks of real batches would add is not in the figures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from graph_calls import MEMORY
from output import tell
from sayahead.engine.onnx import Array, OnnxGraph, count
from sayahead.voices import installed_voices

SESSIONS = 4


def cost_ms(call: Callable[[], object]) -> float:
    """Processor milliseconds of a call: the least of eight times sixty."""
    for _ in range(10):
        call()
    least = float("inf")
    for _ in range(8):
        start_s = time.process_time()
        for _ in range(60):
            call()
        least = min(least, (time.process_time() - start_s) / 60)
    return 1000 * least


def zeros(**shapes: tuple[int, ...]) -> dict[str, Array]:
    """Arrays of zeros by name."""
    return {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    folder = installed_voices()["heart"]
    text, decoder = OnnxGraph(folder / "text.onnx"), OnnxGraph(folder / "decoder.onnx")
    past = zeros(**MEMORY, recent=(2, 832), context=(64,))
    caches = zeros(input_cache=(3, 130), cache=(24, 256))

    def encode(rows: int) -> Callable[[], object]:
        ids = np.arange(rows) % 100 + 20
        return lambda: text(ids=ids, speed=np.ones(1, np.float32), **past)

    def decode(rows: int) -> Callable[[], object]:
        given = {"sound_encoding": np.ones((rows, 128), np.float32), "energy": np.ones(rows, np.float32)}
        given["f0"] = np.full(rows, 200, np.float32)
        return lambda: decoder(**given, rows=count(rows - 10), commit=count(rows - 12), **caches)

    lines = [
        "`python lab/benchmarks/batching.py`: processor time of a call, ms.",
        "",
        f"| graph | one conversation | {SESSIONS} calls | {SESSIONS} in one call |",
        "|---|---:|---:|---:|",
    ]
    for name, make, rows in (("text, 15 phonemes", encode, 15), ("decoder, 34 frames", decode, 34)):
        one, all_of_them = cost_ms(make(rows)), cost_ms(make(SESSIONS * rows))
        lines.append(f"| {name} | {one:.2f} | {SESSIONS * one:.2f} | {all_of_them:.2f} |")
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
