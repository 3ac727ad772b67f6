"""The splines of stochastic durations, written shortly.

As exported, each inverse spline (Durkan et al., NeurIPS 2019: monotonic, rational quadratic) is some four hundred nodes
that gather and scatter by masks; a third of the text encoder's time on a sentence goes into starting them. Here it is
fifty: knots by a product with a triangle, the bin by a comparison, its numbers by a product with one-hot rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import Array, Graph, attributes

LEAST, BOUND = 1e-3, 5.0
"""Least width, height and slope of a bin; the spline reaches from -5 to 5."""
EDGE = 1e-4
"""By how much the last bin reaches further, so that its end belongs to it."""


def with_short_splines(model: Any, *, where: str) -> Any:
    """The same graph with each spline that is found replaced; the caller checks that it says the same."""
    graph = Graph(model, where=where)
    changes, weights = dict[int, tuple[Any, list[Any]]](), list(graph.weights.values())
    for number, node in enumerate(graph.nodes):
        found = spline_to(graph, node)
        if found is not None:
            writer = Writer(graph, f"spline{number}", *found)
            copy = type(node)()
            copy.CopyFrom(node)
            copy.input[1] = writer.write()
            changes[number] = copy, writer.nodes
            weights += writer.weights
    nodes = list[Any]()
    for number, node in enumerate(graph.nodes):
        copy, added = changes.get(number, (node, []))
        nodes += [*added, copy]
    return pruned(graph, nodes, weights)


def spline_to(graph: Graph, node: Any) -> tuple[str, str, int, float] | None:
    """If a node joins half of the channels with a spline of the other half: parameters, input, bins, their scale."""
    if node.op_type != "Concat" or len(node.input) != 2 or attributes(graph, node)["axis"] != 1:
        return None
    split = graph.made_by(node.input[0])
    if split is None or split.op_type != "Split" or node.input[0] != split.output[0] or len(split.output) != 2:
        return None
    behind = graph.behind(node.input[1], stop=split.output)
    for conv in reversed(graph.of_type("Conv")):
        weight = graph.value(conv.input[1])
        if conv.output[0] in behind and weight is not None and weight.shape[0] % 3 == 2 and weight.shape[0] > 3:
            after = graph.after(conv.output[0])
            divided = [d for d in graph.of_type("Div") if d.input[0] in after and d.output[0] in behind]
            scales = [value for d in divided[:1] if (value := graph.value(d.input[1])) is not None]
            scale = float(scales[0]) if scales and scales[0].size == 1 else 1.0
            return conv.output[0], split.output[1], (weight.shape[0] + 1) // 3, scale
    return None


def pruned(graph: Graph, nodes: list[Any], weights: list[Any]) -> Any:
    """A model of those nodes that its outputs need."""
    helper = graph.onnx.helper
    old = helper.make_graph(nodes, "text", list(graph.model.graph.input), list(graph.model.graph.output), weights)
    needed = Graph(helper.make_model(old), where=graph.where).behind(*graph.outputs)
    kept = [node for node in nodes if any(made in needed for made in node.output)]
    used = [weight for weight in weights if weight.name in needed]
    new = helper.make_graph(kept, "text", list(graph.model.graph.input), list(graph.model.graph.output), used)
    return helper.make_model(new, opset_imports=graph.model.opset_import, ir_version=graph.model.ir_version)


class Writer:
    """Writes the nodes of one inverse spline; arrays are (1, P, ...) inside."""

    def __init__(self, graph: Graph, name: str, parameters: str, given: str, bins: int, scale: float) -> None:
        self._onnx, self._name, self._parameters, self._given = graph.onnx, name, parameters, given
        self._bins, self._scale = bins, scale
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def _node(self, op_type: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        names = [f"{self._name}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(self._onnx.helper.make_node(op_type, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def _constant(self, value: Array) -> str:
        name = f"{self._name}_constant{len(self.weights)}"
        self.weights.append(self._onnx.numpy_helper.from_array(value, name))
        return name

    def _number(self, value: float) -> str:
        return self._constant(np.float32(value).reshape(1))

    def _affine(self, rows: str, matrix: Array, offset: Array) -> str:
        product = self._node("MatMul", rows, self._constant(matrix.astype(np.float32)))
        return str(self._node("Add", product, self._constant(offset.astype(np.float32))))

    def write(self) -> str:
        """The nodes; the name of what they make (1, 1, P)."""
        n = self._bins
        rows = self._node("Transpose", self._parameters, perm=[0, 2, 1])
        y = self._node("Transpose", self._given, perm=[0, 2, 1])
        sizes = self._constant(np.array([n, n, n - 1], np.int64))
        widths, heights, slopes = self._node("Split", rows, sizes, outputs=3, axis=2)
        widths, heights = (self._shares(part) for part in (widths, heights))
        slopes = self._node("Add", self._node("Softplus", slopes), self._number(LEAST))
        # Before each bin, and its size; slopes at the two ends are 1.
        before, size = np.triu(np.ones((n, n)), 1), np.eye(n)
        knots = np.concatenate([before, size], axis=1) * 2 * BOUND
        at = np.concatenate([np.full(n, -BOUND), np.zeros(n)])
        ends = np.concatenate([np.eye(n - 1, n, 1), np.eye(n - 1, n)], axis=1)
        ones = np.zeros(2 * n)
        ones[0] = ones[-1] = 1
        tables = [self._affine(widths, knots, at), self._affine(heights, knots, at), self._affine(slopes, ends, ones)]
        table = self._node("Concat", *tables, axis=2)
        table = self._node("Reshape", table, self._constant(np.array([1, -1, 6, n], np.int64)))
        held = self._node("Clip", y, self._scalar(-BOUND), self._scalar(BOUND))
        chosen = self._node("Mul", table, self._node("Unsqueeze", self._bin(heights, held), self._axes(2)))
        summed = self._node("ReduceSum", chosen, self._axes(3), keepdims=0)
        six = self._node("Split", summed, self._constant(np.ones(6, np.int64)), outputs=6, axis=2)
        inside = self._node("LessOrEqual", self._node("Abs", y), self._number(BOUND))
        made = self._node("Where", inside, self._root(held, *six), y)
        return str(self._node("Transpose", made, perm=[0, 2, 1]))

    def _scalar(self, value: float) -> str:
        return self._constant(np.array(value, np.float32))

    def _axes(self, axis: int) -> str:
        return self._constant(np.array([axis], np.int64))

    def _shares(self, raw: str) -> str:
        """(1, P, n) parts of 1, none too small."""
        soft = self._node("Softmax", self._node("Div", raw, self._number(self._scale)), axis=2)
        scaled = self._node("Mul", soft, self._number(1 - LEAST * self._bins))
        return str(self._node("Add", scaled, self._number(LEAST)))

    def _bin(self, heights: str, y: str) -> str:
        """(1, P, n) 1 at the bin that y lies in, 0 elsewhere."""
        n = self._bins
        offset = np.full(n + 1, -BOUND)
        offset[-1] += EDGE
        knots = self._affine(heights, np.triu(np.ones((n, n + 1)), 1) * 2 * BOUND, offset)
        reached = self._node("Cast", self._node("GreaterOrEqual", y, knots), to=1)
        return str(
            self._node("MatMul", reached, self._constant((np.eye(n + 1, n) - np.eye(n + 1, n, -1)).astype("f4")))
        )

    def _root(self, y: str, x0: str, width: str, y0: str, height: str, d0: str, d1: str) -> str:
        """Where in its bin the spline has the value y."""
        node = self._node
        steep, off = node("Div", height, width), node("Sub", y, y0)
        bent = node("Sub", node("Add", d0, d1), node("Add", steep, steep))
        share = node("Mul", off, bent)
        a = node("Add", node("Mul", height, node("Sub", steep, d0)), share)
        b = node("Sub", node("Mul", height, d0), share)
        c = node("Mul", steep, off)
        square = node("Add", node("Mul", b, b), node("Mul", node("Mul", a, c), self._number(4)))
        root = node("Div", node("Add", c, c), node("Add", b, node("Sqrt", square)))
        return str(node("Add", node("Mul", root, width), x0))
