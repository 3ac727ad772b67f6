"""Replaces the splines of VITS's stochastic durations by shorter ones.

As exported, each inverse spline (Durkan et al., NeurIPS 2019: monotonic, rational quadratic) is
some four hundred nodes that gather and scatter by masks; starting them takes a third of the text
encoder's time on a sentence. Here it is fifty nodes: knots by a product with a triangular matrix,
the bin by a comparison, and the bin's parameters by a product with a one-hot row."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import FLOAT, Array, Graph, Nodes, attributes, copied

MIN_SIZE = 1e-3
"""Smallest width, height and slope of a bin."""
BOUND = 5.0
"""The spline is defined from -BOUND to BOUND; values beyond stay as they are."""
EDGE = 1e-4
"""Extends the last bin, so that BOUND itself belongs to it."""


def with_short_splines(graph: Graph) -> Graph:
    """Return the graph with each inverse spline replaced. The caller compares the results: what
    looks like a spline here may be something else."""
    new = Nodes("spline_")
    changes = dict[int, list[Any]]()
    for number, node in enumerate(graph.nodes):
        match = spline_to(graph, node)
        if match is not None:
            copy = copied(node, {})
            parameters, values, bins, scale = match
            copy.input[1] = Spline(new, bins, scale).write(parameters, values)
            changes[number] = [*new.take(), copy]
    return graph.rewritten(changes, new.weights)


def spline_to(graph: Graph, node: Any) -> tuple[str, str, int, float] | None:
    """Match a node that concatenates one half of the channels with a spline of the other half.

    Return the tensor of the spline's parameters, its input, the number of bins and the scale that
    divides the parameters; None for another node."""
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
    """Return the number of bins n of a spline whose 3 n - 1 parameters a convolution may compute
    (widths, heights, and slopes between bins); 0 if it does not."""
    weight = graph.value(conv.input[1])
    if weight is None or weight.shape[0] <= 3 or weight.shape[0] % 3 != 2:
        return 0
    return int(weight.shape[0] + 1) // 3


def scale_after(graph: Graph, conv: Any, before: Set[str]) -> float:
    """Return the constant that divides the output of a convolution on the way to the tensors
    ``before``; 1 if there is none."""
    after = graph.downstream(conv.output[0])
    for node in graph.of_type("Div"):
        if node.input[0] in after and node.output[0] in before:
            value = graph.value(node.input[1])
            return float(value) if value is not None and value.size == 1 else 1.0
    return 1.0


class Spline:
    """Writes the nodes of inverse splines. Inside, tensors are (1, P, ...) for P phonemes."""

    def __init__(self, new: Nodes, bins: int, scale: float) -> None:
        """``new``: creates the nodes; ``bins`` and ``scale``: of ``spline_to``."""
        self._new = new
        self._bins = bins
        self._scale = scale

    def _affine(self, rows: str, matrix: Array, offset: Array) -> str:
        """Rows times a matrix, plus an offset."""
        constant = self._new.constant
        return str(
            self._new.op("Add", self._new.op("MatMul", rows, constant(matrix)), constant(offset))
        )

    def write(self, parameters: str, values: str) -> str:
        """Write one spline of ``values`` (1, 1, P) with ``parameters`` (1, 3 n - 1, P); return the
        name of the result (1, 1, P)."""
        n = self._bins
        op = self._new.op
        constant = self._new.constant
        y = op("Transpose", values, perm=[0, 2, 1])
        sizes = constant(np.array([n, n, n - 1], np.int64))
        widths, heights, slopes = op(
            "Split", op("Transpose", parameters, perm=[0, 2, 1]), sizes, outputs=3, axis=2
        )
        widths, heights = (self._shares(part) for part in (widths, heights))
        slopes = op("Add", op("Softplus", slopes), constant([MIN_SIZE]))
        # From shares of the whole, the begin and the size of each bin, for widths and heights.
        begins = np.triu(np.ones((n, n)), 1)
        begin_and_size = np.concatenate([begins, np.eye(n)], axis=1) * 2 * BOUND
        offset = np.concatenate([np.full(n, -BOUND), np.zeros(n)])
        # The slopes at the left and right end of each bin; at the ends of the spline they are 1.
        left_and_right = np.concatenate([np.eye(n - 1, n, 1), np.eye(n - 1, n)], axis=1)
        outer_slopes = np.zeros(2 * n)
        outer_slopes[0] = 1
        outer_slopes[-1] = 1
        tables = [
            self._affine(widths, begin_and_size, offset),
            self._affine(heights, begin_and_size, offset),
            self._affine(slopes, left_and_right, outer_slopes),
        ]
        table = op(
            "Reshape", op("Concat", *tables, axis=2), constant(np.array([1, -1, 6, n], np.int64))
        )
        clipped = op("Clip", y, constant(-BOUND), constant(BOUND))
        one_hot = op("Unsqueeze", self._bin(heights, clipped), constant(np.array([2], np.int64)))
        axis = constant(np.array([3], np.int64))
        own_bin = op("ReduceSum", op("Mul", table, one_hot), axis, keepdims=0)
        parts = op("Split", own_bin, constant(np.ones(6, np.int64)), outputs=6, axis=2)
        is_inside = op("LessOrEqual", op("Abs", y), constant([BOUND]))
        inverse = op("Where", is_inside, self._root(clipped, *parts), y)
        return str(op("Transpose", inverse, perm=[0, 2, 1]))

    def _shares(self, raw: str) -> str:
        """Widths or heights (1, P, n) of bins as shares of 1, each at least ``MIN_SIZE``."""
        op = self._new.op
        constant = self._new.constant
        soft = op("Softmax", op("Div", raw, constant([self._scale])), axis=2)
        return str(
            op("Add", op("Mul", soft, constant([1 - MIN_SIZE * self._bins])), constant([MIN_SIZE]))
        )

    def _bin(self, heights: str, y: str) -> str:
        """One-hot rows (1, P, n): 1 at the bin in which y lies."""
        n = self._bins
        op = self._new.op
        offset = np.full(n + 1, -BOUND)
        offset[-1] += EDGE
        knots = self._affine(heights, np.triu(np.ones((n, n + 1)), 1) * 2 * BOUND, offset)
        reached = op("Cast", op("GreaterOrEqual", y, knots), to=FLOAT)
        # y has reached the begin of its bin, but not the end: the difference is 1 there alone.
        differences = np.eye(n + 1, n) - np.eye(n + 1, n, -1)
        return str(op("MatMul", reached, self._new.constant(differences)))

    def _root(self, y: str, x0: str, width: str, y0: str, height: str, d0: str, d1: str) -> str:
        """The position x at which a bin from (``x0``, ``y0``) has the value y; ``d0`` and ``d1``
        are the slopes at its ends.

        It is the root of a x^2 + b x - c = 0 (Durkan et al., equations 6 to 8), in the form that
        does not divide by a small a."""
        node = self._new.op
        steepness = node("Div", height, width)
        rise = node("Sub", y, y0)
        bend = node("Sub", node("Add", d0, d1), node("Add", steepness, steepness))
        bent_rise = node("Mul", rise, bend)
        a = node("Add", node("Mul", height, node("Sub", steepness, d0)), bent_rise)
        b = node("Sub", node("Mul", height, d0), bent_rise)
        c = node("Mul", steepness, rise)
        square = node(
            "Add", node("Mul", b, b), node("Mul", node("Mul", a, c), self._new.constant([4.0]))
        )
        root = node("Div", node("Add", c, c), node("Add", b, node("Sqrt", square)))
        return str(node("Add", node("Mul", root, width), x0))
