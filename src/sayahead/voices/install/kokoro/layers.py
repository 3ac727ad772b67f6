"""Writes Kokoro's networks again, layer by layer, so that they run a few rows at a time: matrix
products of integers with fixed ranges, with a cache for each layer that sees into the past.

Tensors are rows in time, (T, C). A layer that sees to its left reads the last rows of the previous
step from its cache, as integers, and returns the rows before *commit*, the row at which the next
step begins. To the right it sees the rows that it is given, then zeros. If the rows given to the
right of the commit are those that the next step begins with, steps give the same as the whole.

Scales and offsets of normalizations depend on the style. As their statistics are fixed, a second
graph (``Style``) computes them once for each style; where it can, it multiplies them into the
scales and biases of the products."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sayahead.errors import VoiceError
from sayahead.voices.install.onnx.dequantize import Product, dequantized, product_of
from sayahead.voices.install.onnx.graph import FLOAT, INT64, Array, Graph, Nodes

UINT8 = 2
MICROSOFT = "com.microsoft"
EPSILON = 1e-5
"""Added to the variance in instance norms."""


class Kokoro:
    """Kokoro's graph as published; finds its tensors by the names of the modules that make them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._made = {name: name for node in graph.nodes for name in node.output}
        self._floats: Graph | None = None
        self.tensor = functools.cache(self._tensor)

    @property
    def floats(self) -> Graph:
        """The same graph with all products in floats."""
        if self._floats is None:
            self._floats = dequantized(self.graph)
        return self._floats

    def _tensor(self, path: str) -> str:
        """Return the one tensor that a module ``path``, such as ``F0_proj/Conv``, makes or holds.
        VoiceError if there is none or several: the graph is of another export."""
        for suffix in (f"/{path}_output_0", f".{path}", f"/{path}"):
            for names in (self._made, self.graph.weights):
                matches = [name for name in names if name.endswith(suffix)]
                if len(matches) == 1:
                    return matches[0]
        raise self.strange(f"it has no {path}")

    def strange(self, problem: str) -> VoiceError:
        """Return the error for a graph that differs from the export this version knows."""
        return VoiceError(f"{self.graph.where} is no Kokoro that this version knows: {problem}.")

    def has(self, path: str) -> bool:
        """Whether a node makes a tensor of this path."""
        return any(name.endswith(f"/{path}_output_0") for name in self._made)

    def value(self, name: str) -> Array:
        """Return a constant by the full name of its tensor. VoiceError if it is computed."""
        value = self.graph.value(name)
        if value is None:
            raise self.strange(f"{name} varies")
        return value

    def product(self, path: str) -> Product:
        """Return the convolution or matrix product at a path. VoiceError if it is neither."""
        match = product_of(self.graph, self.tensor(path))
        if match is None:
            raise self.strange(f"{path} is no product")
        return match

    def norm(self, path: str) -> tuple[str, str]:
        """Return the tensors of the mean and the variance that an instance norm computes.

        An adaptive instance norm is exported as (1 + gain) * ((x - mean) / sqrt(variance +
        epsilon)) + offset, whose gain and offset come from the layer ``fc``. VoiceError if the path
        is none."""

        def is_scaling(node: Any) -> bool:
            return node.op_type == "Mul" and any(self._is(name, "Div") for name in node.input)

        scaling = self.graph.nearest(self.tensor(f"{path}/fc/Gemm"), is_scaling, down=True)
        if scaling is None:
            raise self.strange(f"{path} is no instance norm")
        division = next(self.graph.maker(name) for name in scaling.input if self._is(name, "Div"))
        centring = self._through(division.input[0], "Sub")
        addition = self._through(self._through(division.input[1], "Sqrt").input[0], "Add")
        variance = next(name for name in addition.input if self.graph.value(name) is None)
        return centring.input[1], variance

    def _is(self, tensor: str, kind: str) -> bool:
        """Whether a node of this type makes a tensor."""
        node = self.graph.made_by(tensor)
        return node is not None and node.op_type == kind

    def _through(self, tensor: str, kind: str) -> Any:
        """Return the node of this type that makes a tensor, looking through transpositions.
        VoiceError if another type does."""
        node = self.graph.made_by(tensor)
        while node is not None and node.op_type == "Transpose":
            node = self.graph.made_by(node.input[0])
        if node is None or node.op_type != kind:
            raise self.strange(f"{tensor} is no {kind}")
        return node


@dataclass(frozen=True, slots=True)
class Rows:
    """A tensor (T, C) of a network under construction."""

    name: str
    """Its name."""
    width: int
    """C, the number of channels."""
    rate: int
    """Rows per unit of 25 ms."""
    count: str
    """Name of the tensor (1,) that holds T."""


@dataclass(slots=True)
class Style:
    """The graph under construction that computes what depends on the style: the scale and offset of
    each instance norm, from the style and the norm's statistics."""

    new: Nodes = field(default_factory=lambda: Nodes("style_"))
    norms: list[str] = field(default_factory=list)
    """Paths of the instance norms, in the order of their statistics."""
    widths: list[int] = field(default_factory=list)
    """Number of channels of each norm."""
    affine: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Names of the scale and the offset of each norm, by path."""

    def norm(self, path: str, kokoro: Kokoro) -> tuple[str, str]:
        """Return the names of the tensors (C,) ``scale`` and ``offset`` with which a norm is
        ``x * scale + offset``.

        The norm's mean and variance become the next channels of the graph's inputs ``mean`` and
        ``variance``."""
        if path in self.affine:
            return self.affine[path]
        weight = kokoro.tensor(f"{path}/fc/Gemm")
        new = self.new
        channels = kokoro.value(fc_bias(kokoro, path)).size // 2
        begin = sum(self.widths)
        self.norms.append(path)
        self.widths.append(channels)
        flat = new.op("Reshape", weight, new.constant(np.array([-1])))
        gain, offset = (slice_of(new, flat, n * channels, (n + 1) * channels) for n in (0, 1))
        mean, variance = (
            slice_of(new, name, begin, begin + channels) for name in ("mean", "variance")
        )
        deviation = new.op("Sqrt", new.op("Add", variance, new.constant(np.float32(EPSILON))))
        scale = new.op("Div", new.op("Add", gain, new.constant(np.float32(1))), deviation)
        self.affine[path] = scale, new.op("Sub", offset, new.op("Mul", mean, scale))
        return self.affine[path]


def fc_bias(kokoro: Kokoro, path: str) -> str:
    """Return the bias of a norm's layer ``fc``, which makes gains and offsets: 2 C numbers."""
    node = kokoro.graph.maker(kokoro.tensor(f"{path}/fc/Gemm"))
    return str(next(name for name in node.input if kokoro.graph.value(name) is not None))


def slice_of(new: Nodes, name: str, begin: int, end: int) -> str:
    """Return the name of a vector's elements from ``begin`` to ``end``."""
    return str(
        new.op("Slice", name, new.constant(np.array([begin])), new.constant(np.array([end])))
    )


class Layers:
    """A network under construction.

    Methods add nodes and return the name of the result, or ``Rows``. The inputs of the network are
    its rows, ``commit``, ``style``, caches and, with integers, scales and zero points."""

    def __init__(self, kokoro: Kokoro, style: Style, *, integers: bool = True) -> None:
        """``integers``: whether products are computed in 8-bit integers, else in floats."""
        self.kokoro = kokoro
        self.style = style
        self.integers = integers
        self.new = Nodes("k_")
        self.ranges = list[str]()
        """Tensors of the published graph whose ranges are fixed; a range is known by its index
        here."""
        self.caches = list[tuple[int, int, int]]()
        """Rows, columns and range of each cache."""
        self.pieces = list[tuple[str, int]]()
        """Parts of the input ``style``, in order: names in the style's graph, and sizes."""
        self._commits: dict[int, str] = {1: "commit"}
        self._sums = dict[tuple[str, int], str]()
        self._quantized = dict[str, tuple[str, str]]()
        """By tensor of ``ranges``: the rows that were last quantized for it, and the result."""

    def ints(self, *numbers: int) -> str:
        """A constant vector of integers."""
        return self.new.constant(np.array(numbers, np.int64))

    def commit(self, rate: int) -> str:
        """The number of final rows (1,) at a rate of rows per unit."""
        if rate not in self._commits:
            self._commits[rate] = self.new.op("Mul", "commit", self.ints(rate))
        return self._commits[rate]

    def delay(self, x: Rows, first: str, count: str) -> Rows:
        """Put ``count`` (1,) rows ``first`` before others; at this rate, all later layers commit
        so many rows more."""
        self._commits[x.rate] = self.new.op("Add", self.commit(x.rate), count)
        name = self.new.op("Concat", first, x.name, axis=0)
        return Rows(name, x.width, x.rate, self.new.op("Add", x.count, count))

    def plus(self, count: str, by: int) -> str:
        """The sum of a count (1,) and a constant."""
        if by == 0:
            return count
        if (count, by) not in self._sums:
            self._sums[count, by] = self.new.op("Add", count, self.ints(by))
        return self._sums[count, by]

    def slice(self, name: str, begin: str, end: str, axis: int = 0) -> str:
        """A tensor from ``begin`` (1,) to ``end`` (1,) along an axis."""
        return str(self.new.op("Slice", name, begin, end, self.ints(axis)))

    def trimmed(self, x: Rows, after: int) -> Rows:
        """Drop all but ``after`` of the rows behind the commit."""
        name = self.slice(x.name, self.ints(0), self.plus(self.commit(x.rate), after))
        count = self.new.op("Min", x.count, self.plus(self.commit(x.rate), after))
        return Rows(name, x.width, x.rate, count)

    def input(self, name: str, width: int, rate: int = 1) -> Rows:
        """The input or tensor ``name`` (T, ``width``) as rows."""
        count = self.slice(self.new.op("Shape", name), self.ints(0), self.ints(1))
        return Rows(name, width, rate, count)

    def piece(self, name: str, size: int) -> str:
        """Extend the input ``style`` by a tensor of the style's graph; return its name here."""
        self.pieces.append((name, size))
        return f"piece{len(self.pieces) - 1}"

    def elementwise(self, kind: str, x: Rows, *others: str, **about: Any) -> Rows:
        """Apply an element-wise operator to rows."""
        return Rows(self.new.op(kind, x.name, *others, **about), x.width, x.rate, x.count)

    def norm(self, x: Rows, path: str, factor: Array | None = None) -> Rows:
        """An instance norm with fixed statistics, its output multiplied by ``factor`` (C,)."""
        scale, offset = self._affine(path, factor)
        scaled = self.elementwise("Mul", x, self.piece(scale, x.width))
        return self.elementwise("Add", scaled, self.piece(offset, x.width))

    def _affine(self, path: str, factor: Array | None) -> tuple[str, str]:
        """Names, in the style's graph, of a norm's scale and offset, both times ``factor``."""
        scale, offset = self.style.norm(path, self.kokoro)
        if factor is None:
            return scale, offset
        by = self.style.new.constant(factor.astype(np.float32))
        return self.style.new.op("Mul", scale, by), self.style.new.op("Mul", offset, by)

    def leaky(self, x: Rows, alpha: float) -> Rows:
        """A leaky rectifier."""
        return self.elementwise("LeakyRelu", x, alpha=alpha)

    def concat(self, *parts: Rows) -> Rows:
        """Concatenate the channels of rows of one rate."""
        name = self.new.op("Concat", *(part.name for part in parts), axis=1)
        return Rows(name, sum(part.width for part in parts), parts[0].rate, parts[0].count)

    def product(
        self, x: Rows, path: str, *, norm: str = "", after: Array | None = None, factor: float = 1.0
    ) -> Rows:
        """Apply the published convolution at ``path`` and what follows it: a ``norm`` (its path)
        times ``after`` (C,), or a ``factor``."""
        product = self.kokoro.product(path)
        width = product.weight.shape[0]
        taps = product.weight.shape[2]
        step = product.about.get("dilations", [1])[0]
        matrix = product.weight.transpose(2, 1, 0).reshape(-1, width)
        matrix, zero, scale = self.quantized(matrix, product.zero, product.scale)
        bias = (
            self.kokoro.value(product.bias).reshape(-1)
            if product.bias
            else np.zeros(width, np.float32)
        )
        return self.matmul(
            x,
            matrix,
            zero,
            scale * factor,
            bias * factor,
            ranged=product.rows,
            taps=taps,
            step=step,
            norm=norm,
            after=after,
        )

    def quantized(self, matrix: Array, zero: Array, scale: Array) -> tuple[Array, Array, Array]:
        """Return weights (K, N) with the zero point and the scale (N,) of each column; floats are
        quantized if the network is of integers."""
        width = matrix.shape[1]
        if matrix.dtype == np.float32 and self.integers:
            scale = np.maximum(np.abs(matrix).max(axis=0), 1e-9) / 127
            matrix = np.rint(matrix / scale).astype(np.int8)
            zero = np.zeros(1, np.int8)
        zero, scale = (np.broadcast_to(values.reshape(-1), (width,)) for values in (zero, scale))
        return matrix, zero, scale

    def matmul(
        self,
        x: Rows,
        weight: Array,
        zero: Array,
        scale: Array,
        bias: Array,
        *,
        ranged: str,
        taps: int = 1,
        step: int = 1,
        norm: str = "",
        after: Array | None = None,
    ) -> Rows:
        """Add a convolution, or a product if ``taps`` is 1, as one product of matrices; return its
        output rows.

        ``weight`` (taps C, N), ``zero`` and ``scale`` (N,): the quantized matrix, whose values are
        ``(weight - zero) * scale``; ``bias`` (N,). ``ranged``: name of the tensor by whose measured
        range ``x`` is made integers. ``taps`` and ``step``: size and dilation of the kernel.
        ``norm``: path of an instance norm that follows, if any, and ``after`` a factor (N,) behind
        it: both are linear and depend on the style alone, so they are folded into scale and bias,
        which then are pieces of the style's vector.
        """
        new = self.new
        width = weight.shape[1]
        place = self.range_of(ranged)
        rows = self._integers(x, ranged, place)
        reach = step * (taps - 1) // 2
        if reach:
            rows = self._neighbours(x, rows, place, reach, [n * step for n in range(taps)])
        gain = new.constant(scale.astype(np.float32))
        offset = new.constant(bias.astype(np.float32))
        if norm:
            norm_scale, norm_offset = self._affine(norm, after)
            style = self.style.new
            own_scale = style.constant(scale.astype(np.float32))
            scaled_bias = style.op("Mul", style.constant(bias.astype(np.float32)), norm_scale)
            whole_offset = style.op("Add", scaled_bias, norm_offset)
            gain = self.piece(style.op("Mul", own_scale, norm_scale), width)
            offset = self.piece(whole_offset, width)
        if self.integers:
            zeros = new.constant(zero[:1].reshape(()) if (zero == zero[0]).all() else zero)
            kernel = new.constant(weight)
            name = new.op(
                "MatMulIntegerToFloat",
                rows,
                kernel,
                f"scale{place}",
                gain,
                f"zero{place}",
                zeros,
                offset,
                domain=MICROSOFT,
            )
        else:
            kernel = new.constant(weight.astype(np.float32) - zero.astype(np.float32))
            name = new.op("Add", new.op("Mul", new.op("MatMul", rows, kernel), gain), offset)
        return Rows(name, width, x.rate, x.count)

    def range_of(self, tensor: str) -> int:
        """Return the index of a tensor's range, which is added if it is new."""
        if tensor not in self.ranges:
            self.ranges.append(tensor)
        return self.ranges.index(tensor)

    def _integers(self, x: Rows, ranged: str, place: int) -> str:
        """Quantize rows to the range ``place`` of the tensor ``ranged``, once for all products that
        share it."""
        if not self.integers:
            return x.name
        if self._quantized.get(ranged, ("", ""))[0] != x.name:
            quantized = self.new.op("QuantizeLinear", x.name, f"scale{place}", f"zero{place}")
            self._quantized[ranged] = x.name, quantized
        return self._quantized[ranged][1]

    def _neighbours(self, x: Rows, rows: str, place: int, reach: int, taps: Sequence[int]) -> str:
        """Concatenate the channels of each row's neighbours (T, taps C).

        ``rows`` are those of ``x``, quantized. ``reach`` rows before them come from a new cache,
        and as many zeros follow; ``taps`` counts from the first of these."""
        new = self.new
        number = len(self.caches)
        self.caches.append((reach, x.width, place))
        padding = new.op("Expand", self.zero_point(place), self.ints(reach, x.width))
        seen = new.op("Concat", f"cache{number}", rows, padding, axis=0)
        begin = self.commit(x.rate)
        new.op(
            "Slice", seen, begin, self.plus(begin, reach), self.ints(0), name=f"next_cache{number}"
        )
        parts = [self.slice(seen, self.ints(tap), self.plus(x.count, tap)) for tap in taps]
        return str(new.op("Concat", *parts, axis=1))

    def zero_point(self, place: int) -> str:
        """The value of zero in a range, as the network's products take it."""
        return f"zero{place}" if self.integers else self.new.constant(np.float32(0))

    def model(
        self, inputs: Sequence[tuple[str, int, Sequence[Any]]], outputs: Sequence[tuple[str, int]]
    ) -> Any:
        """Return the network as an onnx.ModelProto; ``inputs`` and ``outputs`` are those besides
        commit, style, scales, zero points and caches."""
        helper = self.new.onnx.helper
        kind = UINT8 if self.integers else FLOAT
        info = helper.make_tensor_value_info
        sizes = np.array([size for _, size in self.pieces], np.int64)
        head = [
            helper.make_node(
                "Split",
                ["style", self.new.constant(sizes)],
                [f"piece{n}" for n in range(len(sizes))],
            )
        ]
        infos = [info(*value) for value in inputs]
        infos += [info("commit", INT64, (1,)), info("style", FLOAT, (int(sizes.sum()),))]
        places = range(len(self.ranges))
        if self.integers:
            ones = self.new.constant(np.ones(len(self.ranges), np.int64))
            head += [
                helper.make_node("Split", [f"{k}s", ones], [f"{k}{n}" for n in places])
                for k in ("scale", "zero")
            ]
            infos += [
                info("scales", FLOAT, (len(self.ranges),)),
                info("zeros", UINT8, (len(self.ranges),)),
            ]
        infos += [
            info(f"cache{n}", kind, (rows, width)) for n, (rows, width, _) in enumerate(self.caches)
        ]
        results = [info(name, type_, None) for name, type_ in outputs]
        results += [info(f"next_cache{n}", kind, None) for n in range(len(self.caches))]
        nodes = [*head, *self.new.nodes]
        used = {name for node in nodes for name in node.input}
        weights = [weight for weight in self.new.weights if weight.name in used]
        graph = helper.make_graph(nodes, "kokoro", infos, results, weights)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)
