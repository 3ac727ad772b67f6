"""The splines of stochastic durations, written shortly.

As exported, each inverse spline (Durkan et al., NeurIPS 2019: monotonic, rational quadratic) is
some four hundred nodes that gather and scatter by masks; a third of the text encoder's time on a
sentence goes into starting them. Here it is fifty: knots by a product with a triangle, the bin by a
comparison, its numbers by a product with one-hot rows."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import FLOAT, Array, Graph, Nodes, attributes, copied

LEAST = 1e-3
"""Least width, height and slope of a bin."""
BOUND = 5.0
"""The spline reaches from minus this to this."""
EDGE = 1e-4
"""By how much the last bin reaches further, so that its end belongs to it."""


def with_short_splines(graph: Graph) -> Graph:
    """The same graph with each spline replaced; the caller checks that it says the same."""
    new = Nodes("spline_")
    changes = dict[int, list[Any]]()
    for number, node in enumerate(graph.nodes):
        match = spline_to(graph, node)
        if match is not None:
            copy = copied(node, {})
            copy.input[1] = Spline(new, *match[2:]).write(*match[:2])
            changes[number] = [*new.take(), copy]
    return graph.rewritten(changes, new.weights)


def spline_to(graph: Graph, node: Any) -> tuple[str, str, int, float] | None:
    """If a node joins half of the channels with a spline of the other half: parameters, input,
    bins, their scale."""
    if node.op_type != "Concat" or len(node.input) != 2 or attributes(node)["axis"] != 1:
        return None
    split = graph.made_by(node.input[0])
    if (
        split is None
        or split.op_type != "Split"
        or node.input[0] != split.output[0]
        or len(split.output) != 2
    ):
        return None
    before = graph.upstream(node.input[1], stop=split.output)
    for conv in reversed(graph.of_type("Conv")):
        bins = bins_of(graph, conv)
        if bins and conv.output[0] in before:
            scale = scale_after(graph, conv, before)
            return conv.output[0], split.output[1], bins, scale
    return None


def bins_of(graph: Graph, conv: Any) -> int:
    """Bins of a spline whose parameters a convolution makes: a width and a height for each, a slope
    between each two; 0 if it makes none."""
    weight = graph.value(conv.input[1])
    if weight is None or weight.shape[0] <= 3 or weight.shape[0] % 3 != 2:
        return 0
    return int(weight.shape[0] + 1) // 3


def scale_after(graph: Graph, conv: Any, before: Set[str]) -> float:
    """What the parameters of a spline are divided by, on their way to the tensors ``before`` its
    end."""
    after = graph.downstream(conv.output[0])
    for node in graph.of_type("Div"):
        if node.input[0] in after and node.output[0] in before:
            value = graph.value(node.input[1])
            return float(value) if value is not None and value.size == 1 else 1.0
    return 1.0


class Spline:
    """Writes the nodes of inverse splines; arrays are (1, P, ...) inside."""

    def __init__(self, new: Nodes, bins: int, scale: float) -> None:
        self._new = new
        self._bins = bins
        self._scale = scale

    def _affine(self, rows: str, matrix: Array, offset: Array) -> str:
        constant = self._new.constant
        return str(
            self._new.op("Add", self._new.op("MatMul", rows, constant(matrix)), constant(offset))
        )

    def write(self, parameters: str, values: str) -> str:
        """The nodes of one spline; the name of their output (1, 1, P)."""
        n = self._bins
        op = self._new.op
        constant = self._new.constant
        y = op("Transpose", values, perm=[0, 2, 1])
        sizes = constant(np.array([n, n, n - 1], np.int64))
        widths, heights, slopes = op(
            "Split", op("Transpose", parameters, perm=[0, 2, 1]), sizes, outputs=3, axis=2
        )
        widths, heights = (self._shares(part) for part in (widths, heights))
        slopes = op("Add", op("Softplus", slopes), constant([LEAST]))
        # Before each bin, and its size; slopes at the two ends are 1.
        before = np.triu(np.ones((n, n)), 1)
        size = np.eye(n)
        knots = np.concatenate([before, size], axis=1) * 2 * BOUND
        at = np.concatenate([np.full(n, -BOUND), np.zeros(n)])
        ends = np.concatenate([np.eye(n - 1, n, 1), np.eye(n - 1, n)], axis=1)
        ones = np.zeros(2 * n)
        ones[0] = 1
        ones[-1] = 1
        tables = [
            self._affine(widths, knots, at),
            self._affine(heights, knots, at),
            self._affine(slopes, ends, ones),
        ]
        table = op(
            "Reshape", op("Concat", *tables, axis=2), constant(np.array([1, -1, 6, n], np.int64))
        )
        held = op("Clip", y, constant(-BOUND), constant(BOUND))
        chosen = op(
            "Mul",
            table,
            op("Unsqueeze", self._bin(heights, held), constant(np.array([2], np.int64))),
        )
        summed = op("ReduceSum", chosen, constant(np.array([3], np.int64)), keepdims=0)
        six = op("Split", summed, constant(np.ones(6, np.int64)), outputs=6, axis=2)
        inside = op("LessOrEqual", op("Abs", y), constant([BOUND]))
        return str(op("Transpose", op("Where", inside, self._root(held, *six), y), perm=[0, 2, 1]))

    def _shares(self, raw: str) -> str:
        """(1, P, n) parts of 1, none too small."""
        op = self._new.op
        constant = self._new.constant
        soft = op("Softmax", op("Div", raw, constant([self._scale])), axis=2)
        return str(
            op("Add", op("Mul", soft, constant([1 - LEAST * self._bins])), constant([LEAST]))
        )

    def _bin(self, heights: str, y: str) -> str:
        """(1, P, n) 1 at the bin that y lies in, 0 elsewhere."""
        n = self._bins
        op = self._new.op
        offset = np.full(n + 1, -BOUND)
        offset[-1] += EDGE
        knots = self._affine(heights, np.triu(np.ones((n, n + 1)), 1) * 2 * BOUND, offset)
        reached = op("Cast", op("GreaterOrEqual", y, knots), to=FLOAT)
        return str(
            op("MatMul", reached, self._new.constant(np.eye(n + 1, n) - np.eye(n + 1, n, -1)))
        )

    def _root(self, y: str, x0: str, width: str, y0: str, height: str, d0: str, d1: str) -> str:
        """Where in its bin the spline has the value y."""
        node = self._new.op
        steep = node("Div", height, width)
        off = node("Sub", y, y0)
        bent = node("Sub", node("Add", d0, d1), node("Add", steep, steep))
        share = node("Mul", off, bent)
        a = node("Add", node("Mul", height, node("Sub", steep, d0)), share)
        b = node("Sub", node("Mul", height, d0), share)
        c = node("Mul", steep, off)
        square = node(
            "Add", node("Mul", b, b), node("Mul", node("Mul", a, c), self._new.constant([4.0]))
        )
        root = node("Div", node("Add", c, c), node("Add", b, node("Sqrt", square)))
        return str(node("Add", node("Mul", root, width), x0))
