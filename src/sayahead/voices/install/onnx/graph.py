"""ONNX graphs: queries about which tensor depends on which, and new graphs by cutting or rewriting.
Names of nodes are never used, as exporters choose them freely."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.errors import ConfigError, VoiceError

Array = NDArray[Any]
GRAPH_TYPES = (5, 10)
"""Codes in ONNX of attributes that are a graph or several."""
FLOAT = 1
INT64 = 7
"""Codes of element types in ONNX."""


def needs_onnx() -> Any:
    """Import and return the package onnx. ConfigError, with the command that installs it, if it is
    missing."""
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError as error:
        raise ConfigError(
            "Adding a voice needs the package onnx: pip install 'sayahead[piper]'."
        ) from error
    return onnx


class Graph:
    """A graph, indexed by the tensors that its nodes make and take. It is never changed: methods
    that cut or rewrite it return new ones."""

    def __init__(self, model: Any, *, where: str) -> None:
        """``model`` is an onnx.ModelProto; ``where`` names it in errors. VoiceError if a node
        contains a graph, such as a loop."""
        self.onnx = needs_onnx()
        self.model = model
        self.where = where
        self.nodes: list[Any] = list(model.graph.node)
        self.inputs: dict[str, Any] = {value.name: value for value in model.graph.input}
        self.outputs: list[str] = [value.name for value in model.graph.output]
        self.weights: dict[str, Any] = {weight.name: weight for weight in model.graph.initializer}
        self.producer: dict[str, int] = {}
        self.consumers: dict[str, list[int]] = defaultdict(list)
        for number, node in enumerate(self.nodes):
            if any(attribute.type in GRAPH_TYPES for attribute in node.attribute):
                raise self.strange("has graphs within nodes")
            self.producer |= dict.fromkeys(node.output, number)
            for tensor in node.input:
                self.consumers[tensor].append(number)

    def strange(self, what: str) -> VoiceError:
        """Return the error for a graph that is not built as a VITS; ``what`` is a predicate such as
        ``has no flow``."""
        return VoiceError(f"{self.where} is not a VITS that this version knows: it {what}.")

    def of_type(self, *types: str) -> list[Any]:
        """Return all nodes of these operators, in the graph's order."""
        return [node for node in self.nodes if node.op_type in types]

    def made_by(self, tensor: str) -> Any | None:
        """Return the node that makes a tensor; None for weights and inputs."""
        number = self.producer.get(tensor)
        return None if number is None else self.nodes[number]

    def maker(self, tensor: str) -> Any:
        """Return the node that makes a tensor. VoiceError for weights and inputs."""
        node = self.made_by(tensor)
        if node is None:
            raise self.strange(f"lacks what makes {tensor}")
        return node

    def upstream(self, *tensors: str, stop: Iterable[str] = ()) -> set[str]:
        """Return all tensors that these depend on, including themselves; the search does not go
        beyond those of ``stop``."""
        visited = set[str]()
        ends = set(stop)
        todo = list(tensors)
        while todo:
            tensor = todo.pop()
            if not tensor or tensor in visited:
                continue
            visited.add(tensor)
            node = None if tensor in ends else self.made_by(tensor)
            if node is not None:
                todo += node.input
        return visited

    def downstream(self, tensor: str) -> set[str]:
        """Return all tensors that depend on this one, including itself."""
        visited = set[str]()
        todo = [tensor]
        while todo:
            tensor = todo.pop()
            if tensor not in visited:
                visited.add(tensor)
                todo += [
                    name for number in self.consumers[tensor] for name in self.nodes[number].output
                ]
        return visited

    def nearest(
        self, tensor: str, wanted: Callable[[Any], bool], *, down: bool = False
    ) -> Any | None:
        """Return the nearest node for which ``wanted`` is true, breadth first: upstream of a
        tensor, or downstream if ``down``. None if there is none."""
        visited = {tensor}
        frontier = [tensor]
        while frontier:
            if down:
                numbers = dict.fromkeys(
                    number for name in frontier for number in self.consumers[name]
                )
            else:
                numbers = dict.fromkeys(
                    self.producer[name] for name in frontier if name in self.producer
                )
            nodes = [self.nodes[number] for number in numbers]
            for node in nodes:
                if wanted(node):
                    return node
            names = (name for node in nodes for name in (node.output if down else node.input))
            frontier = [name for name in dict.fromkeys(names) if name not in visited]
            visited |= set(frontier)
        return None

    def value(self, tensor: str) -> Array | None:
        """Return the value of a constant (a weight, or a node Constant); None for a tensor that is
        computed, and for inputs."""
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
    ) -> Graph:
        """Return the part of the graph that computes some tensors from others.

        ``inputs``: tensors that become inputs, with their new name, element type and shape.
        ``outputs``: tensors that become outputs, with their new name. ``constants``: tensors whose
        value is fixed. Inputs of the whole that are still needed stay inputs."""
        helper = self.onnx.helper
        fixed = dict(constants or {})
        stops = {*inputs, *fixed}
        needed = self.upstream(*outputs, stop=stops)
        new_names = {tensor: name for tensor, (name, _, _) in inputs.items()}
        nodes = [
            copied(node, new_names)
            for node in self.nodes
            if any(tensor in needed - stops for tensor in node.output)
        ]
        nodes += [
            helper.make_node("Identity", [new_names.get(tensor, tensor)], [name])
            for tensor, name in outputs.items()
        ]
        weights = [
            self.weights[name] for name in sorted(needed & self.weights.keys() - fixed.keys())
        ]
        weights += [
            self.onnx.numpy_helper.from_array(value, tensor) for tensor, value in fixed.items()
        ]
        sources = [helper.make_tensor_value_info(*shape) for shape in inputs.values()]
        sources += [
            self.inputs[name]
            for name in self.inputs
            if name in needed - stops and name not in self.weights
        ]
        results = [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs.values()]
        return self.assemble(nodes, sources, results, weights)

    def rewritten(
        self,
        changes: Mapping[int, list[Any]],
        weights: Sequence[Any] = (),
        *,
        inputs: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        version: int | None = None,
    ) -> Graph:
        """Return the graph with some nodes replaced, without nodes and weights that no output
        needs.

        ``changes``: the replacements of a node by its index. ``weights``, ``inputs`` and
        ``outputs`` are added. ``version``: another version of ONNX's operators.
        """
        old = self.model.graph
        nodes = [
            node
            for number, old_node in enumerate(self.nodes)
            for node in changes.get(number, [old_node])
        ]
        weights = [*old.initializer, *weights]
        results = [*old.output, *outputs]
        whole = self.assemble(nodes, [*old.input, *inputs], results, weights)
        needed = whole.upstream(*whole.outputs)
        nodes = [node for node in nodes if any(tensor in needed for tensor in node.output)]
        weights = [weight for weight in weights if weight.name in needed]
        return self.assemble(nodes, [*old.input, *inputs], results, weights, version)

    def assemble(
        self,
        nodes: list[Any],
        inputs: list[Any],
        outputs: list[Any],
        weights: list[Any],
        version: int | None = None,
    ) -> Graph:
        """A graph of these nodes, inputs, outputs and weights, with this one's format and operator
        versions (``version``: another one of ONNX's own operators)."""
        helper = self.onnx.helper
        model = self.model
        opsets = [
            helper.make_opsetid(o.domain, (not o.domain and version) or o.version)
            for o in model.opset_import
        ]
        graph = helper.make_graph(nodes, "part", inputs, outputs, weights)
        return Graph(
            helper.make_model(graph, opset_imports=opsets, ir_version=model.ir_version),
            where=self.where,
        )


class Nodes:
    """Creates nodes and constants, with unique names."""

    def __init__(self, prefix: str = "") -> None:
        """``prefix``: begins all names, and must be new to the graph that they are added to."""
        self.onnx = needs_onnx()
        self._prefix = prefix
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._count = 0

    def constant(self, value: Any) -> str:
        """Return the name of a constant, which is created once for each value; float64 becomes
        float32."""
        array = np.asarray(value)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._count += 1
            self._constants[key] = f"{self._prefix}c{self._count}"
            copy = np.ascontiguousarray(array).reshape(array.shape)
            self.weights.append(self.onnx.numpy_helper.from_array(copy, self._constants[key]))
        return self._constants[key]

    def op(
        self,
        kind: str,
        *inputs: str,
        outputs: int = 1,
        name: str = "",
        domain: str = "",
        **attributes: Any,
    ) -> Any:
        """Create a node of the operator ``kind``; return the name of its output, or a list of names
        if ``outputs`` is not 1.

        ``name``: that of a single output, by default a new one; ``attributes``: the node's."""
        self._count += 1
        new_name = f"{self._prefix}v{self._count}"
        names = [name or new_name] if outputs == 1 else [f"{new_name}_{i}" for i in range(outputs)]
        self.nodes.append(
            self.onnx.helper.make_node(kind, list(inputs), names, domain=domain, **attributes)
        )
        return names[0] if outputs == 1 else names

    def take(self) -> list[Any]:
        """Remove and return the nodes that were created since the last call."""
        nodes = self.nodes
        self.nodes = []
        return nodes


def copied(node: Any, names: Mapping[str, str]) -> Any:
    """Return a copy of a node with inputs renamed from old names to new ones."""
    copy = type(node)()
    copy.CopyFrom(node)
    copy.input[:] = [names.get(tensor, tensor) for tensor in node.input]
    return copy


def attributes(node: Any) -> dict[str, Any]:
    """Return the values of a node's attributes by name."""
    value = needs_onnx().helper.get_attribute_value
    return {attribute.name: value(attribute) for attribute in node.attribute}


def read_graph(path: Path) -> Graph:
    """Read a graph from a file. VoiceError if the file is no ONNX graph, or an empty one."""
    onnx = needs_onnx()
    try:
        model = onnx.load(str(path))
    except Exception as error:
        raise VoiceError(
            f"{path} is not an ONNX graph: {error or type(error).__name__}."
        ) from error
    if not model.graph.node:
        raise VoiceError(f"{path} is not an ONNX graph: it has no nodes.")
    return Graph(model, where=str(path))
