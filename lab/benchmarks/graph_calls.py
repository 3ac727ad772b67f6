"""The default voice's graphs beside a release's, in turns: nodes, processor time to load one, and of a word's call.

    python lab/benchmarks/graph_calls.py RELEASE/src [--results FILE]

A word is 15 phonemes behind 80 that are remembered, 31 units and 33 frames: the means of sentences of 20 and 40 words
with one word of lookahead. Before each try 12 MB of other memory are written, as other work does between two calls; the
tenth of a hundred tries from below. And the largest difference of what the two graphs return.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence

import numpy as np
import onnx
from output import tell
from release import beside_release
from sayahead.engine.onnx import Array, OnnxGraph, count
from sayahead.voices import FOLDER

DRAW = np.random.default_rng(0)


def drawn(**shapes: tuple[int, ...]) -> dict[str, Array]:
    """Numbers of the size that the networks have, by name."""
    return {name: DRAW.normal(scale=0.3, size=shape).astype(np.float32) for name, shape in shapes.items()}


MEMORY = {"sound_memory": (4, 2, 1, 2, 80, 64), "memory": (6, 2, 1, 2, 80, 96)}
PAST = {**MEMORY, "recent": (2, 832), "context": (64,)}
WORD: dict[str, dict[str, Array]] = {
    "text": {"ids": np.r_[20:31, 178:182], "speed": np.ones(1, np.float32), **drawn(**PAST)},
    "prosody": {**drawn(prosody_encoding=(31, 192), cache=(54, 192)), "rows": count(18), "commit": count(11)},
    "decoder": {
        **drawn(sound_encoding=(33, 128), input_cache=(3, 130), cache=(24, 256)),
        "f0": np.full(33, 200, np.float32),
        "energy": np.ones(33, np.float32),
        "rows": count(25),
        "commit": count(23),
    },
}


def for_graph(graph: OnnxGraph, given: dict[str, Array]) -> dict[str, Array]:
    """What a graph is given, as it was when keys and values were two arrays."""
    if graph.inputs >= given.keys():
        return given
    parts = dict[str, Array]()
    for name in MEMORY:
        for at, kind in enumerate(("keys", "values")):
            parts[name.replace("memory", kind)] = np.ascontiguousarray(given[name][:, at])
    return {name: value for name, value in given.items() if name not in MEMORY} | parts


def spent_ms(tasks: Sequence[Callable[[], object]], times: int) -> list[float]:
    """Processor milliseconds of each task, in turns: the tenth part of so many tries takes less."""
    spent, other = [list[float]() for _ in tasks], np.zeros(3_000_000, np.float32)
    for _ in range(times):
        for tries, task in zip(spent, tasks, strict=True):
            other += 1
            begun = time.process_time()
            task()
            tries.append(time.process_time() - begun)
    return [1000 * float(np.quantile(tries, 0.1)) for tries in spent]


def main() -> None:
    arguments = beside_release(__doc__).parse_args()
    folders = arguments.release / "sayahead" / "voices" / "heart", FOLDER / "heart"
    lines = [
        "`python lab/benchmarks/graph_calls.py RELEASE/src`: processor time in ms, before and now, in turns.",
        "",
        "| graph | nodes in the file | loading | a word's call | largest difference |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, given in WORD.items():
        paths = [folder / f"{name}.onnx" for folder in folders]
        nodes = [len(onnx.load(str(path)).graph.node) for path in paths]
        graphs = [OnnxGraph(path) for path in paths]
        loads = spent_ms([functools.partial(OnnxGraph, path) for path in paths], 10)
        tasks = [functools.partial(graph, **for_graph(graph, given)) for graph in graphs]
        calls = spent_ms(tasks, 100)
        was, now = (task() for task in tasks)
        apart = max(float(np.abs(was[key] - now[key]).max()) for key in was.keys() & now.keys())
        spent = [f"{a:.{places}f}, {b:.{places}f}" for (a, b), places in ((loads, 0), (calls, 2))]
        lines.append(f"| {name} | {nodes[0]}, {nodes[1]} | {spent[0]} | {spent[1]} | {apart:g} |")
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
