"""What several conversations in one call of the default voice's graphs would cost, beside one call
for each.

    python lab/benchmarks/batching.py [--cold] [--results FILE]

Rows of one call are one sentence's here: what padding and masks of real batches would add is not in
the figures. With ``--cold``, 12 MB of other memory are written before each call, as other work does
between two of a busy server's."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from graph_calls import MEMORY, WORD
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


def given(name: str, conversations: int) -> dict[str, Array]:
    """What a graph is given for a word of so many conversations."""
    inputs = dict(WORD[name])
    for rows in {"text": ["ids"], "prosody": ["prosody_encoding"]}.get(
        name, ["sound_encoding", "f0", "energy"]
    ):
        inputs[rows] = np.concatenate([inputs[rows]] * conversations)
    total = len(inputs.get("prosody_encoding", inputs.get("f0", ())))
    if total:
        # As many provisional rows as a word has.
        after = {
            part: len(WORD[name][rows]) - int(WORD[name][part][0]) for part in ("rows", "commit")
        }
        inputs |= {part: count(total - rest) for part, rest in after.items()}
    return inputs


def cold(folder: Path) -> list[str]:
    """A table of what a word of one conversation costs, of so many in one call."""
    numbers = (1, 2, 4, 8)
    other = np.zeros(3_000_000, np.float32)
    lines = [
        (
            "`python lab/benchmarks/batching.py --cold`: processor time for each conversation's"
            " word, ms."
        ),
        "",
        "| graph | "
        + " | ".join(f"{number} in a call" for number in numbers)
        + " | 8, without other work between |",
        "|---|" + "---:|" * (len(numbers) + 1),
    ]
    for name in WORD:
        graph = OnnxGraph(folder / f"{name}.onnx")
        calls = {number: given(name, number) for number in numbers}
        spent: dict[int, list[float]] = {number: [] for number in (*numbers, 0)}

        def timed(
            number: int, graph: OnnxGraph = graph, inputs: dict[int, dict[str, Array]] = calls
        ) -> float:
            start_s = time.process_time()
            graph(**inputs[number])
            return 1000 * (time.process_time() - start_s) / number

        for _ in range(100):
            for number in numbers:
                np.add(other, 1, out=other)
                spent[number].append(timed(number))
            # Right after the same call.
            spent[0].append(timed(numbers[-1]))
        # The fifth from below: the others were interrupted.
        lines.append(
            f"| {name} | "
            + " | ".join(f"{np.quantile(tries, 0.2):.2f}" for tries in spent.values())
            + " |"
        )
    return lines


def zeros(**shapes: tuple[int, ...]) -> dict[str, Array]:
    """Arrays of zeros by name."""
    return {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cold", action="store_true", help="with other work between the calls")
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    folder = installed_voices()["heart"]
    if arguments.cold:
        tell(cold(folder), arguments.results)
        return
    text = OnnxGraph(folder / "text.onnx")
    decoder = OnnxGraph(folder / "decoder.onnx")
    past = zeros(**MEMORY, recent=(2, 832), context=(64,))
    caches = zeros(input_cache=(3, 130), cache=(24, 256))

    def encode(rows: int) -> Callable[[], object]:
        ids = np.arange(rows) % 100 + 20
        return lambda: text(ids=ids, speed=np.ones(1, np.float32), **past)

    def decode(rows: int) -> Callable[[], object]:
        given = {
            "sound_encoding": np.ones((rows, 128), np.float32),
            "energy": np.ones(rows, np.float32),
        }
        given["f0"] = np.full(rows, 200, np.float32)
        return lambda: decoder(**given, rows=count(rows - 10), commit=count(rows - 12), **caches)

    lines = [
        "`python lab/benchmarks/batching.py`: processor time of a call, ms.",
        "",
        f"| graph | one conversation | {SESSIONS} calls | {SESSIONS} in one call |",
        "|---|---:|---:|---:|",
    ]
    for name, make, rows in (("text, 15 phonemes", encode, 15), ("decoder, 34 frames", decode, 34)):
        one = cost_ms(make(rows))
        all_of_them = cost_ms(make(SESSIONS * rows))
        lines.append(f"| {name} | {one:.2f} | {SESSIONS * one:.2f} | {all_of_them:.2f} |")
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
