"""Removes from a VITS's text encoder the nodes that its exporter left in it.

As exported, half of the nodes compute shapes from the number of tokens, again for each layer, and
each layer normalization (Ba et al. 2016) is nine nodes. For the few tokens of a word, starting the
nodes is most of the time. Here a shape is computed as a polynomial of the number of tokens, and a
normalization is one node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from sayahead.engine.onnx import OnnxGraph
from sayahead.voices.install.onnx.graph import Array, Graph, Nodes, attributes, copied

NORMS_SINCE = 17
SAME_SINCE = 13
"""The version of ONNX's operators that introduced LayerNormalization; a graph of at least the
second version may be declared to be of that one, as no other operator of a text encoder changed."""
TRIED = (5, 6, 7, 10, 23, 48, 49, 120, 301)
"""Numbers of tokens at which a polynomial must be right. A sentence has at least five."""
MAX_SIZE = 16
"""Largest number of elements in a tensor that is replaced."""


def with_norms(graph: Graph) -> Graph:
    """Return the graph with each layer normalization over the last axis as one node."""
    version = next((opset.version for opset in graph.model.opset_import if not opset.domain), 0)
    if version < SAME_SINCE:
        return graph
    changes = dict[int, list[Any]]()
    for number, node in enumerate(graph.nodes):
        norm = norm_at(graph, node)
        if norm is not None:
            inputs, epsilon = norm
            one = graph.onnx.helper.make_node(
                "LayerNormalization", inputs, list(node.output), axis=-1, epsilon=epsilon
            )
            changes[number] = [one]
    return graph.rewritten(changes, version=max(version, NORMS_SINCE))


def norm_at(graph: Graph, node: Any) -> tuple[list[str], float] | None:
    """Match a node that ends (x - mean) / sqrt(variance + epsilon) * scale + offset.

    Return the names of x, scale and offset, and epsilon; None for another node."""
    offset, scaled = parts(graph, node, "Add")
    scale, divided = parts(graph, scaled, "Mul")
    if offset is None or scale is None or not is_a(divided, "Div"):
        return None
    if not (is_row(graph, offset) and is_row(graph, scale)):
        return None
    x, centring = centred(graph, graph.made_by(divided.input[0]))
    root = graph.made_by(divided.input[1])
    if x is None or not is_a(root, "Sqrt"):
        return None
    added, variance = parts(graph, graph.made_by(root.input[0]), "Add")
    epsilon = None if added is None else graph.value(added)
    if epsilon is None or epsilon.size != 1 or not is_mean(graph, variance):
        return None
    square = graph.made_by(variance.input[0])
    if not is_square(graph, square, centring.output[0]):
        return None
    return [x, scale, offset], float(epsilon.reshape(-1)[0])


def centred(graph: Graph, node: Any) -> tuple[str | None, Any]:
    """Match a node that subtracts from a tensor its mean; return the tensor and the node, or None
    twice."""
    if not is_a(node, "Sub"):
        return None, None
    mean = graph.made_by(node.input[1])
    if mean is None or not is_mean(graph, mean) or mean.input[0] != node.input[0]:
        return None, None
    return node.input[0], node


def is_a(node: Any, op_type: str) -> TypeGuard[Any]:
    """Return whether there is a node, and it is of this operator."""
    return node is not None and node.op_type == op_type


def is_row(graph: Graph, tensor: str) -> bool:
    """Return whether a tensor is a constant with one axis."""
    value = graph.value(tensor)
    return value is not None and value.ndim == 1


def is_square(graph: Graph, node: Any, tensor: str) -> bool:
    """Return whether a node computes the square of a tensor, as x * x or as a power of 2."""
    if node is None or node.op_type not in ("Mul", "Pow") or node.input[0] != tensor:
        return False
    if node.op_type == "Mul":
        return bool(node.input[1] == tensor)
    exponent = graph.value(node.input[1])
    return exponent is not None and bool(np.all(exponent == 2))


def parts(graph: Graph, node: Any, op_type: str) -> tuple[str | None, Any]:
    """Return, for a node of this operator with one constant input, the name of the constant and
    the node that makes the other input; otherwise None twice."""
    if node is None or node.op_type != op_type:
        return None, None
    constants = [name for name in node.input if graph.value(name) is not None]
    others = [name for name in node.input if name not in constants]
    if not len(constants) == len(others) == 1:
        return None, None
    return constants[0], graph.made_by(others[0])


def is_mean(graph: Graph, node: Any) -> bool:
    """Return whether a node takes means over the last axis, which it keeps at size one."""
    if node is None or node.op_type != "ReduceMean" or attributes(node).get("keepdims", 1) != 1:
        return False
    axes = attributes(node).get("axes")
    if axes is None and len(node.input) > 1:
        axes = graph.value(node.input[1])
    return axes is not None and list(axes) == [-1]


def with_plain_shapes(graph: Graph, ids: str, inputs: Any) -> Graph:
    """Return the graph with each tensor that depends on the number of tokens alone computed as a
    polynomial of it, of degree two at most. Other tensors stay as they are.

    ``ids``: name of the input (1, P) of tokens. ``inputs``: a function of a loaded graph and a
    number of tokens that returns the graph's inputs, to try it.
    """
    shapes = of_shapes(graph)
    new = Nodes("shape_")
    values = tried(graph, shapes, inputs)
    tokens = new.op("Gather", new.op("Shape", ids), new.constant(np.array(1, np.int64)))
    powers = [tokens, new.op("Mul", tokens, tokens)]
    # Equal polynomials, as of all layers, are computed once.
    computed = dict[tuple[Any, ...], str]()
    new_names = dict[str, str]()
    for tensor in shapes:
        coefficients = polynomial(values[tensor])
        if coefficients is None:
            continue
        key = tuple((part.shape, *part.reshape(-1).tolist()) for part in coefficients)
        if key not in computed:
            total = new.constant(coefficients[0])
            for power, part in zip(powers, coefficients[1:], strict=True):
                if part.any():
                    total = new.op("Add", total, new.op("Mul", power, new.constant(part)))
            computed[key] = total
        new_names[tensor] = computed[key]
    changes = {
        number: [*new.take(), copied(node, new_names)] for number, node in enumerate(graph.nodes)
    }
    return graph.rewritten(changes, new.weights)


def of_shapes(graph: Graph) -> list[str]:
    """Return the tensors that depend on shapes of other tensors, but not on their values."""
    tensors = dict[str, None]()
    for node in graph.nodes:
        computed = [name for name in node.input if name and graph.value(name) is None]
        if node.op_type == "Shape" or (computed and all(name in tensors for name in computed)):
            tensors |= dict.fromkeys(node.output)
    return list(tensors)


def tried(graph: Graph, tensors: Sequence[str], inputs: Any) -> dict[str, list[Array]]:
    """Run the graph at each number of tokens of TRIED; return the values of these tensors."""
    helper = graph.onnx.helper
    model = type(graph.model)()
    model.CopyFrom(graph.model)
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in tensors)
    session = OnnxGraph(model.SerializeToString())
    runs = [session(**inputs(session, tokens)) for tokens in TRIED]
    return {name: [np.asarray(run[name]) for run in runs] for name in tensors}


def polynomial(values: list[Array]) -> tuple[Array, ...] | None:
    """Fit integer coefficients of 1, P and P squared to a tensor's values at the numbers P of
    TRIED. None if it is no small tensor of integers, or no such polynomial fits exactly."""
    first = values[0]
    if (
        first.dtype != np.int64
        or first.size > MAX_SIZE
        or any(value.shape != first.shape for value in values)
    ):
        return None
    powers = np.vander(np.array(TRIED, np.int64), 3, increasing=True)
    shapes = np.stack([value.reshape(-1) for value in values])
    # Slopes are fitted to differences: the largest int64, which stands for the end of a slice,
    # would be too large for a fit in floats.
    slopes = np.linalg.lstsq(powers[1:, 1:] - powers[0, 1:], shapes[1:] - shapes[0], rcond=None)[0]
    slopes = np.rint(slopes).astype(np.int64)
    fit = np.concatenate([(shapes[0] - powers[0, 1:] @ slopes)[None], slopes])
    if not np.array_equal(powers @ fit, shapes):
        return None
    return tuple(part.reshape(first.shape) for part in fit)
