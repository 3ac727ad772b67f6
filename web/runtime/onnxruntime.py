"""What sayahead and hibari-tts want of ``onnxruntime``, by the page's ``graphs.js``: only in Pyodide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from graphs import make
from numpy.typing import NDArray
from pyodide.ffi import to_js

__version__ = "web"


class GraphOptimizationLevel(Enum):
    """Levels that are asked for by name; graphs are always optimised in full."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_ALL = 99


class SessionOptions:
    """Options, none of which changes anything: there is one thread, and no memory is planned."""

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Ignored."""


class NodeArg:
    """An input or output of a graph."""

    def __init__(self, described: Any) -> None:
        self.name = str(described.name)
        self.shape = list(described.shape.to_py())


class InferenceSession:
    """A loaded graph."""

    def __init__(
        self, path: str | Path, sess_options: SessionOptions | None = None, providers: Sequence[str] = ()
    ) -> None:
        self._graph = make(to_js(Path(path).read_bytes()))
        self._inputs = [NodeArg(described) for described in self._graph.inputs]
        self._outputs = [NodeArg(described) for described in self._graph.outputs]
        self._places = {given.name: index for index, given in enumerate(self._inputs)}
        self._numbers = {given.name: index for index, given in enumerate(self._outputs)}

    def get_inputs(self) -> list[NodeArg]:
        """What it takes."""
        return self._inputs

    def get_outputs(self) -> list[NodeArg]:
        """What it gives."""
        return self._outputs

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """The outputs of these names, or all of them, in their order."""
        if unknown := input_feed.keys() - self._places.keys():
            raise ValueError(f"The graph has no input {sorted(unknown)[0]!r}.")
        for name, array in input_feed.items():
            whole = np.ascontiguousarray(array)
            memory = self._graph.put(self._places[name], whole.dtype.name, to_js(list(array.shape)), whole.nbytes)
            if whole.nbytes:
                memory.assign(whole.reshape(-1).view(np.uint8))
        numbers = list(self._numbers.values()) if output_names is None else [self._numbers[n] for n in output_names]
        self._graph.run(to_js(numbers))
        made = [self._taken(place) for place in range(len(numbers))]
        self._graph.release()
        return made

    def _taken(self, place: int) -> NDArray[Any]:
        """An output, copied from the runtime's memory."""
        kind, shape, memory = self._graph.result(place)
        array = np.empty(tuple(shape), np.dtype(kind))
        if array.nbytes:
            memory.assign_to(array.reshape(-1).view(np.uint8))
        return array
