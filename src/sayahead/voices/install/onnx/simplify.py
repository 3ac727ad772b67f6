"""A text encoder without what its exporter left in it.

As exported, half of the nodes of a VITS's text encoder compute shapes from the number of tokens,
for each layer again, and each normalization is nine nodes; a word's few tokens take as long as it
takes to start them all. Here a shape is what it is, a polynomial of the number of tokens, and a
normalization is one node (Ba et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from sayahead.engine.onnx import OnnxGraph
from sayahead.voices.install.onnx.graph import Array, Graph, Nodes, attributes, copied

NORMS_SINCE = 17
SAME_SINCE = 13
"""ONNX's version with LayerNormalization, and the first of which it changed nothing else that a
text encoder has."""
TRIED = (5, 6, 7, 10, 23, 48, 49, 120, 301)
"""Counts of tokens at which a polynomial must be right. A sentence has five at least."""
MOST = 16
"""Numbers in a shape."""


def with_norms(graph: Graph) -> Graph:
    """The same graph with each normalization over its last axis as one node."""
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
    """If a node ends (x - mean) / sqrt(variance + epsilon) * scale + offset: x, scale and offset;
    epsilon."""
    offset, scaled = parts(graph, node, "Add")
    scale, divided = parts(graph, scaled, "Mul")
    if offset is None or scale is None or not is_a(divided, "Div"):
        return None
    if not (is_row(graph, offset) and is_row(graph, scale)):
        return None
    x, less = centred(graph, graph.made_by(divided.input[0]))
    root = graph.made_by(divided.input[1])
    if x is None or not is_a(root, "Sqrt"):
        return None
    added, variance = parts(graph, graph.made_by(root.input[0]), "Add")
    epsilon = None if added is None else graph.value(added)
    if epsilon is None or epsilon.size != 1 or not is_mean(graph, variance):
        return None
    square = graph.made_by(variance.input[0])
    if not is_square(graph, square, less.output[0]):
        return None
    return [x, scale, offset], float(epsilon.reshape(-1)[0])


def centred(graph: Graph, node: Any) -> tuple[str | None, Any]:
    """If a node takes its mean from a tensor: the tensor, and the node."""
    if not is_a(node, "Sub"):
        return None, None
    mean = graph.made_by(node.input[1])
    if mean is None or not is_mean(graph, mean) or mean.input[0] != node.input[0]:
        return None, None
    return node.input[0], node


def is_a(node: Any, op_type: str) -> TypeGuard[Any]:
    """Whether there is a node, and it is of a type."""
    return node is not None and node.op_type == op_type


def is_row(graph: Graph, tensor: str) -> bool:
    """Whether a tensor is a constant with one axis."""
    value = graph.value(tensor)
    return value is not None and value.ndim == 1


def is_square(graph: Graph, node: Any, tensor: str) -> bool:
    """Whether a node makes the square of a tensor."""
    if node is None or node.op_type not in ("Mul", "Pow") or node.input[0] != tensor:
        return False
    other = graph.value(node.input[1])
    return bool(
        node.input[1] == tensor
        if node.op_type == "Mul"
        else other is not None and np.all(other == 2)
    )


def parts(graph: Graph, node: Any, op_type: str) -> tuple[str | None, Any]:
    """The constant of a node of this type, and the node that makes its other input."""
    if node is None or node.op_type != op_type:
        return None, None
    constants = [name for name in node.input if graph.value(name) is not None]
    others = [name for name in node.input if name not in constants]
    return (
        (constants[0], graph.made_by(others[0]))
        if len(constants) == len(others) == 1
        else (None, None)
    )


def is_mean(graph: Graph, node: Any) -> bool:
    """Whether a node takes means over the last axis and keeps it."""
    if node is None or node.op_type != "ReduceMean" or attributes(node).get("keepdims", 1) != 1:
        return False
    axes = attributes(node).get("axes")
    if axes is None and len(node.input) > 1:
        axes = graph.value(node.input[1])
    return axes is not None and list(axes) == [-1]


def with_plain_shapes(graph: Graph, ids: str, inputs: Any) -> Graph:
    """The same graph with what depends on the number of tokens alone written as a polynomial of it.

    ``ids`` is the input (1, P) of tokens; ``inputs`` makes all of them for a number of tokens. What
    is not a polynomial of the second degree stays.
    """
    shapes = of_shapes(graph)
    new = Nodes("shape_")
    values = tried(graph, shapes, inputs)
    tokens = new.op("Gather", new.op("Shape", ids), new.constant(np.array(1, np.int64)))
    powers = [tokens, new.op("Mul", tokens, tokens)]
    totals = dict[tuple[Any, ...], str]()
    names = dict[str, str]()
    for tensor in shapes:
        coefficients = polynomial(values[tensor])
        if coefficients is None:
            continue
        key = tuple((part.shape, *part.reshape(-1).tolist()) for part in coefficients)
        if key not in totals:
            total = new.constant(coefficients[0])
            for power, part in zip(powers, coefficients[1:], strict=True):
                if part.any():
                    total = new.op("Add", total, new.op("Mul", power, new.constant(part)))
            totals[key] = total
        names[tensor] = totals[key]
    changes = {
        number: [*new.take(), copied(node, names)] for number, node in enumerate(graph.nodes)
    }
    return graph.rewritten(changes, new.weights)


def of_shapes(graph: Graph) -> list[str]:
    """Tensors that depend on shapes alone."""
    tensors = dict[str, None]()
    for node in graph.nodes:
        of = [name for name in node.input if name and graph.value(name) is None]
        if node.op_type == "Shape" or (of and all(name in tensors for name in of)):
            tensors |= dict.fromkeys(node.output)
    return list(tensors)


def tried(graph: Graph, tensors: Sequence[str], inputs: Any) -> dict[str, list[Array]]:
    """What these tensors are at each count of tokens."""
    helper = graph.onnx.helper
    model = type(graph.model)()
    model.CopyFrom(graph.model)
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in tensors)
    session = OnnxGraph(model.SerializeToString())
    runs = [session(**inputs(session, tokens)) for tokens in TRIED]
    return {name: [np.asarray(run[name]) for run in runs] for name in tensors}


def polynomial(values: list[Array]) -> tuple[Array, ...] | None:
    """Coefficients of 1, P and P squared in what was tried; None unless a polynomial with whole
    ones fits."""
    first = values[0]
    if (
        first.dtype != np.int64
        or first.size > MOST
        or any(value.shape != first.shape for value in values)
    ):
        return None
    powers = np.vander(np.array(TRIED, np.int64), 3, increasing=True)
    shapes = np.stack([value.reshape(-1) for value in values])
    # An end that stands for all there is, is too large for a fit.
    slopes = np.linalg.lstsq(powers[1:, 1:] - powers[0, 1:], shapes[1:] - shapes[0], rcond=None)[0]
    slopes = np.rint(slopes).astype(np.int64)
    fit = np.concatenate([(shapes[0] - powers[0, 1:] @ slopes)[None], slopes])
    return (
        tuple(part.reshape(first.shape) for part in fit)
        if np.array_equal(powers @ fit, shapes)
        else None
    )
