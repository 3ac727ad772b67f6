"""ONNX graphs as functions of named arrays."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from sayahead.errors import VoiceError

Array = NDArray[Any]


def cores() -> int:
    """Return how many CPU cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def beside(*tasks: Callable[[], Any]) -> list[Any]:
    """Run tasks in parallel, the last one in this thread; return their results in order."""
    if len(tasks) < 2 or cores() == 1:
        return [task() for task in tasks]
    *others, last = tasks
    with ThreadPoolExecutor(cores()) as pool:
        futures = [pool.submit(task) for task in others]
        result = last()
        return [*(future.result() for future in futures), result]


class OnnxGraph:
    """A loaded graph; stateless, so that any number of threads may call it at once."""

    inputs: frozenset[str]
    """Names of its inputs."""
    name: str
    """Name of its file without the suffix; ``graph`` if it was given as bytes."""

    def __init__(self, source: Path | bytes, *, threads: int = 1, optimized: bool = True) -> None:
        """``source``: a file or its content; ``optimized``: whether ONNX Runtime may fuse nodes.

        VoiceError if it is not an ONNX graph.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Shapes change with every word: keeping a memory plan for each would grow without bound.
        options.enable_mem_pattern = False
        # An arena never gives memory back, for each graph its peak, and is slower than the
        # allocator.
        options.enable_cpu_mem_arena = False
        if not optimized:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        # Spinning threads would burn a core between two words.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = session_of(source, options)
        self.name = source.stem if isinstance(source, Path) else "graph"
        self.inputs = frozenset(given.name for given in self._session.get_inputs())
        self._outputs = [output.name for output in self._session.get_outputs()]
        self.shapes: dict[str, tuple[int | str, ...]] = {
            given.name: tuple(given.shape) for given in self._session.get_inputs()
        }
        """Shape of each input: sizes, or the names of those that vary."""

    def zeros(self, prefix: str) -> dict[str, Array]:
        """Return zeros for all inputs of fixed shape whose names begin with ``prefix``."""
        shapes = {name: shape for name, shape in self.shapes.items() if name.startswith(prefix)}
        return {
            name: np.zeros([int(size) for size in shape], np.float32)
            for name, shape in shapes.items()
        }

    def __call__(self, **inputs: Array) -> dict[str, Array]:
        """Run the graph: inputs by name to outputs by name."""
        return dict(zip(self._outputs, self._session.run(self._outputs, inputs), strict=True))


def graphs_of(folder: Path, names: Iterable[str], threads: int) -> list[Callable[[], OnnxGraph]]:
    """Return one loading function for each graph of a folder, to be run with ``beside``."""
    return [
        functools.partial(OnnxGraph, folder / f"{name}.onnx", threads=threads) for name in names
    ]


def shared_graphs_of(
    folder: Path, names: Iterable[str], threads: int
) -> list[Callable[[], OnnxGraph]]:
    """Return loading functions like ``graphs_of``, which reuse a graph that is loaded already.

    Voices that borrow a graph then need no memory of their own. A file that has changed is loaded
    again.
    """

    def load(path: Path) -> OnnxGraph:
        try:
            state = path.stat()
        except OSError as error:
            raise VoiceError(f"{path} cannot be read: {error}") from error
        key = path.resolve(), threads, state.st_mtime_ns, state.st_size
        graph = in_use.get(key)
        if graph is None:
            graph = OnnxGraph(path, threads=threads)
            in_use[key] = graph
        return graph

    return [functools.partial(load, folder / f"{name}.onnx") for name in names]


in_use: WeakValueDictionary[tuple[Path, int, int, int], OnnxGraph] = WeakValueDictionary()
"""Loaded graphs by file, thread count, and modification time and size of the file."""


def simplify(source: bytes, target: Path) -> None:
    """Write a graph with its constants folded, in standard operators: ONNX Runtime loads it
    faster."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    options.optimized_model_filepath = str(target)
    session_of(source, options)


def session_of(source: Path | bytes, options: Any) -> Any:
    """Return an ONNX Runtime session for a file or its content. VoiceError if it is not an ONNX
    graph."""
    model, name = (source, "The graph") if isinstance(source, bytes) else (str(source), source)
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise VoiceError(
            f"{name} cannot be loaded by ONNX Runtime {onnxruntime.__version__}: {error}"
        ) from error


def count(value: int) -> NDArray[np.int64]:
    """Return a row count as graphs take it: (1,) int64."""
    return np.array([value], np.int64)
