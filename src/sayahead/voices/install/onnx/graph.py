"""An ONNX graph as tensors that depend on tensors: what a cut by structure needs. Node names are never looked at."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.errors import ConfigError, VoiceError

Array = NDArray[Any]
FLOAT, INT64 = 1, 7
"""ONNX's numbers of element types."""


def needs_onnx() -> Any:
    """The package onnx; ConfigError where it is not installed."""
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError as error:
        raise ConfigError("Adding a voice needs the package onnx: pip install 'sayahead[piper]'.") from error
    return onnx


class Graph:
    """A graph read once; cuts of it are new models."""

    def __init__(self, model: Any, *, where: str) -> None:
        """``model`` is an onnx.ModelProto; ``where`` names it in errors. VoiceError for graphs within nodes."""
        self.onnx, self.model, self.where = needs_onnx(), model, where
        self.nodes: list[Any] = list(model.graph.node)
        self.inputs: dict[str, Any] = {given.name: given for given in model.graph.input}
        self.outputs: list[str] = [made.name for made in model.graph.output]
        self.weights: dict[str, Any] = {weight.name: weight for weight in model.graph.initializer}
        self.producer: dict[str, int] = {}
        self.consumers: dict[str, list[int]] = defaultdict(list)
        for number, node in enumerate(self.nodes):
            if any(attribute.type in (5, 10) for attribute in node.attribute):
                raise VoiceError(f"{where} is no VITS that this version knows: it has graphs within nodes.")
            self.producer |= dict.fromkeys(node.output, number)
            for tensor in node.input:
                self.consumers[tensor].append(number)

    def of_type(self, *types: str) -> list[Any]:
        """All nodes of these types, in the graph's order."""
        return [node for node in self.nodes if node.op_type in types]

    def made_by(self, tensor: str) -> Any | None:
        """The node that makes a tensor; None for weights and inputs."""
        number = self.producer.get(tensor)
        return None if number is None else self.nodes[number]

    def behind(self, *tensors: str, stop: Iterable[str] = ()) -> set[str]:
        """All tensors that these depend on, themselves included, up to and with those of ``stop``."""
        seen, ends, todo = set[str](), set(stop), list(tensors)
        while todo:
            tensor = todo.pop()
            if not tensor or tensor in seen:
                continue
            seen.add(tensor)
            node = None if tensor in ends else self.made_by(tensor)
            if node is not None:
                todo += node.input
        return seen

    def after(self, tensor: str) -> set[str]:
        """All tensors that depend on this one, itself included."""
        seen, todo = set[str](), [tensor]
        while todo:
            tensor = todo.pop()
            if tensor not in seen:
                seen.add(tensor)
                todo += [made for number in self.consumers[tensor] for made in self.nodes[number].output]
        return seen

    def nearest(self, tensor: str, wanted: Callable[[Any], bool]) -> Any | None:
        """The nearest node upstream, breadth first, that is wanted."""
        seen, ring = {tensor}, [tensor]
        while ring:
            nodes = [node for node in map(self.made_by, ring) if node is not None]
            for node in nodes:
                if wanted(node):
                    return node
            ring = [name for name in dict.fromkeys(t for node in nodes for t in node.input) if name not in seen]
            seen |= set(ring)
        return None

    def next(self, tensor: str, op_type: str) -> Any | None:
        """The first node downstream of this type, breadth first."""
        seen, ring = {tensor}, [tensor]
        while ring:
            numbers = dict.fromkeys(number for name in ring for number in self.consumers[name])
            for number in numbers:
                if self.nodes[number].op_type == op_type:
                    return self.nodes[number]
            ring = [name for number in numbers for name in self.nodes[number].output if name not in seen]
            seen |= set(ring)
        return None

    def value(self, tensor: str) -> Array | None:
        """A constant's value; None for what is computed."""
        if tensor in self.weights:
            return np.asarray(self.onnx.numpy_helper.to_array(self.weights[tensor]))
        node = self.made_by(tensor)
        if node is not None and node.op_type == "Identity":
            return self.value(node.input[0])
        if node is not None and node.op_type == "Constant" and node.attribute[0].name == "value":
            return np.asarray(self.onnx.numpy_helper.to_array(node.attribute[0].t))
        return None

    def cut(
        self,
        inputs: Mapping[str, tuple[str, int, Sequence[int | str]]],
        outputs: Mapping[str, str],
        *,
        constants: Mapping[str, Array] | None = None,
    ) -> Any:
        """A model from some tensors to others.

        ``inputs``: tensor to the name, element type and shape of the input that it becomes; ``outputs``: tensor to the
        name of the output; ``constants``: tensors that become fixed. Inputs of the whole that are needed stay inputs.
        """
        helper, fixed = self.onnx.helper, dict(constants or {})
        stops = {*inputs, *fixed}
        needed = self.behind(*outputs, stop=stops)
        kept = [node for node in self.nodes if any(made in needed - stops for made in node.output)]
        names = {tensor: name for tensor, (name, _, _) in inputs.items()}
        nodes = []
        for node in kept:
            copy = type(node)()
            copy.CopyFrom(node)
            copy.input[:] = [names.get(tensor, tensor) for tensor in node.input]
            nodes.append(copy)
        nodes += [helper.make_node("Identity", [names.get(t, t)], [name]) for t, name in outputs.items()]
        weights = [self.weights[name] for name in sorted(needed & self.weights.keys() - fixed.keys())]
        weights += [self.onnx.numpy_helper.from_array(value, tensor) for tensor, value in fixed.items()]
        given = [helper.make_tensor_value_info(*described) for described in inputs.values()]
        given += [self.inputs[name] for name in self.inputs if name in needed - stops and name not in self.weights]
        made = [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs.values()]
        graph = helper.make_graph(nodes, "part", given, made, weights)
        return helper.make_model(graph, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)


def attributes(graph: Graph, node: Any) -> dict[str, Any]:
    """A node's attributes by name."""
    return {attribute.name: graph.onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}


def read_graph(path: Path) -> Graph:
    """The graph in a file; VoiceError if it is none."""
    onnx = needs_onnx()
    try:
        model = onnx.load(str(path))
    except Exception as error:
        raise VoiceError(f"{path} is no ONNX graph: {error or type(error).__name__}.") from error
    if not model.graph.node:
        raise VoiceError(f"{path} is no ONNX graph: it has no nodes.")
    return Graph(model, where=str(path))


def strides(graph: Graph) -> int:
    """Samples of a frame: the product of what the transposed convolutions stretch by."""
    return math.prod(attributes(graph, node)["strides"][0] for node in graph.of_type("ConvTranspose"))
