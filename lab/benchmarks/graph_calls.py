"""The default voice's graphs on two versions, in turns: nodes, processor time to load one, and of a
word's call."""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
from sayahead.engine.onnx import Array, OnnxGraph, count
from two_versions import Table, in_turns

DRAW = np.random.default_rng(0)


def drawn(**shapes: tuple[int, ...]) -> dict[str, Array]:
    """Numbers of the size that the networks have, by name."""
    return {
        name: DRAW.normal(scale=0.3, size=shape).astype(np.float32)
        for name, shape in shapes.items()
    }


MEMORY = {"sound_memory": (4, 2, 1, 2, 80, 64), "memory": (6, 2, 1, 2, 80, 96)}
PAST = {**MEMORY, "recent": (2, 832), "context": (64,)}
WORD: dict[str, dict[str, Array]] = {
    "text": {"ids": np.r_[20:31, 178:182], "speed": np.ones(1, np.float32), **drawn(**PAST)},
    "prosody": {
        **drawn(prosody_encoding=(31, 192), cache=(54, 192)),
        "rows": count(18),
        "commit": count(11),
    },
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


def spent_ms(tasks: Mapping[str, Callable[[], object]], times: int) -> list[float]:
    """Processor milliseconds of each task, in turns: the tenth part of so many tries takes less."""
    other = np.zeros(3_000_000, np.float32)

    def spent(task: Callable[[], object], _: int) -> float:
        np.add(other, 1, out=other)
        start_s = time.process_time()
        task()
        return time.process_time() - start_s

    return [
        1000 * float(np.quantile(tries, 0.1)) for tries in in_turns(tasks, times, spent).values()
    ]


def graph_calls(sources: Mapping[str, Path], _: argparse.Namespace) -> Table:
    """The default voice's graphs: nodes, processor time to load one, and of a word's call.

    A word is 15 phonemes after 80 that are remembered, 31 units and 33 frames: the means of
    sentences of 20 and 40 words with one word of lookahead. Before each try 12 MB of other memory
    are written, as other work does between two calls; the tenth of a hundred tries from below. And
    the largest difference of what the two graphs return."""
    lines = ["Processor time in ms, release and now, in turns.", ""]
    lines += [
        "| graph | nodes in the file | loading | a word's call | largest difference |",
        "|---|---:|---:|---:|---:|",
    ]
    data = {}
    for name, given in WORD.items():
        paths = {
            side: source / "sayahead" / "voices" / "heart" / f"{name}.onnx"
            for side, source in sources.items()
        }
        nodes = [len(onnx.load(str(path)).graph.node) for path in paths.values()]
        loads = spent_ms(
            {side: functools.partial(OnnxGraph, path) for side, path in paths.items()}, 10
        )
        graphs = {side: OnnxGraph(path) for side, path in paths.items()}
        tasks = {
            side: functools.partial(graph, **for_graph(graph, given))
            for side, graph in graphs.items()
        }
        calls = spent_ms(tasks, 100)
        was, now = (task() for task in tasks.values())
        apart = max(float(np.abs(was[key] - now[key]).max()) for key in was.keys() & now.keys())
        spent = [f"{a:.{places}f}, {b:.{places}f}" for (a, b), places in ((loads, 0), (calls, 2))]
        lines.append(f"| {name} | {nodes[0]}, {nodes[1]} | {spent[0]} | {spent[1]} | {apart:g} |")
        data[name] = {
            "nodes": nodes,
            "loading_ms": loads,
            "call_ms": calls,
            "largest_difference": apart,
        }
    return lines, data
