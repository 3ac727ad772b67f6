"""Layers of networks that run some rows at a time: products of integers with fixed ranges, each
with a past.

Rows are time first, (T, C). A layer that sees to its left is given the last rows of the step
before, as integers, and hands out those before *commit*, the row from which the next step goes on;
to its right it sees what it is given, and zeros after it. So, where what is given to the right of
the commit is what then comes, steps are the whole.

What depends on the style, scales and offsets of normalizations whose statistics are fixed, is
computed once for each style by a graph that is built beside (``Style``), and joins the products'
own scales and biases where it can."""

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
"""Of the instance norms."""


class Kokoro:
    """Kokoro's graph as published, its tensors by the names of the modules that make them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._made = {name: name for node in graph.nodes for name in node.output}
        self._floats: Graph | None = None
        self.tensor = functools.cache(self._tensor)

    @property
    def floats(self) -> Graph:
        """The same graph without integers."""
        if self._floats is None:
            self._floats = dequantized(self.graph)
        return self._floats

    def _tensor(self, path: str) -> str:
        """The tensor whose name ends so; VoiceError for a graph of another export."""
        for suffix in (f"/{path}_output_0", f".{path}", f"/{path}"):
            for names in (self._made, self.graph.weights):
                matches = [name for name in names if name.endswith(suffix)]
                if len(matches) == 1:
                    return matches[0]
        raise VoiceError(
            f"{self.graph.where} is no Kokoro that this version knows: it has no {path}."
        )

    def has(self, path: str) -> bool:
        """Whether there is such a tensor."""
        return any(name.endswith(f"/{path}_output_0") for name in self._made)

    def value(self, name: str) -> Array:
        """A weight of a name's tensor."""
        value = self.graph.value(name)
        if value is None:
            raise VoiceError(
                f"{self.graph.where} is no Kokoro that this version knows: {name} varies."
            )
        return value

    def product(self, path: str) -> Product:
        """The product whose result a name ends so."""
        match = product_of(self.graph, self.tensor(path))
        if match is None:
            raise VoiceError(
                f"{self.graph.where} is no Kokoro that this version knows: {path} is no product."
            )
        return match

    def norm(self, path: str) -> tuple[str, str]:
        """The tensors of an instance norm's mean and variance."""

        def divided(node: Any) -> bool:
            return node.op_type == "Mul" and any(self._is(name, "Div") for name in node.input)

        product = self.graph.nearest(self.tensor(f"{path}/fc/Gemm"), divided, down=True)
        if product is None:
            raise VoiceError(
                f"{self.graph.where} is no Kokoro that this version knows: {path} is no instance"
                " norm."
            )
        quotient = next(self.graph.maker(name) for name in product.input if self._is(name, "Div"))
        less = self._through(quotient.input[0], "Sub")
        added = self._through(self._through(quotient.input[1], "Sqrt").input[0], "Add")
        return less.input[1], next(name for name in added.input if self.graph.value(name) is None)

    def _is(self, tensor: str, kind: str) -> bool:
        node = self.graph.made_by(tensor)
        return node is not None and node.op_type == kind

    def _through(self, tensor: str, kind: str) -> Any:
        """The node of a type that makes a tensor, but for transposing it."""
        node = self.graph.made_by(tensor)
        while node is not None and node.op_type == "Transpose":
            node = self.graph.made_by(node.input[0])
        if node is None or node.op_type != kind:
            raise VoiceError(
                f"{self.graph.where} is no Kokoro that this version knows: {tensor} is no {kind}."
            )
        return node


@dataclass(frozen=True, slots=True)
class Rows:
    """A tensor (T, C)."""

    name: str
    """Its name."""
    width: int
    """C."""
    rate: int
    """Rows to a unit of 25 ms."""
    count: str
    """Name of T, (1,)."""


@dataclass(slots=True)
class Style:
    """What the style decides: pieces of a vector that a network takes, each as wide as it says, in
    their order."""

    new: Nodes = field(default_factory=lambda: Nodes("style_"))
    norms: list[str] = field(default_factory=list)
    """Names of the instance norms, in the order of their statistics."""
    widths: list[int] = field(default_factory=list)
    """Their channels."""
    affine: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Of each norm, names of its scale and its offset."""

    def norm(self, path: str, kokoro: Kokoro) -> tuple[str, str]:
        """Names of a norm's scale and offset, (C,): of x, not of what is normalized."""
        if path in self.affine:
            return self.affine[path]
        weight = kokoro.tensor(f"{path}/fc/Gemm")
        new = self.new
        channels = kokoro.value(fc_bias(kokoro, path)).size // 2
        at = sum(self.widths)
        self.norms.append(path)
        self.widths.append(channels)
        flat = new.op("Reshape", weight, new.constant(np.array([-1])))
        gain, offset = (slice_of(new, flat, n * channels, (n + 1) * channels) for n in (0, 1))
        mean, variance = (slice_of(new, name, at, at + channels) for name in ("mean", "variance"))
        deviation = new.op("Sqrt", new.op("Add", variance, new.constant(np.float32(EPSILON))))
        scale = new.op("Div", new.op("Add", gain, new.constant(np.float32(1))), deviation)
        self.affine[path] = scale, new.op("Sub", offset, new.op("Mul", mean, scale))
        return self.affine[path]


def fc_bias(kokoro: Kokoro, path: str) -> str:
    """The bias of a norm's own layer, twice as wide as the norm."""
    node = kokoro.graph.maker(kokoro.tensor(f"{path}/fc/Gemm"))
    return str(next(name for name in node.input if kokoro.graph.value(name) is not None))


def slice_of(new: Nodes, name: str, begin: int, end: int) -> str:
    return str(
        new.op("Slice", name, new.constant(np.array([begin])), new.constant(np.array([end])))
    )


class Layers:
    """A network under construction."""

    def __init__(
        self, kokoro: Kokoro, style: Style, *, integers: bool = True, tail: str = ""
    ) -> None:
        """``integers``: whether products are of integers. ``tail``: what ends the names of its
        inputs of a style."""
        self.kokoro = kokoro
        self.style = style
        self.integers = integers
        self.new = Nodes("k_")
        self.ranges = list[str]()
        """Names of the tensors whose ranges are fixed, in the graph as published, in order."""
        self.caches = list[tuple[int, int, int]]()
        """Rows, columns and range of each cache."""
        self.pieces = list[tuple[str, int]]()
        """Pieces of the style's vector: names in the style's graph, and sizes."""
        self.outputs = list[tuple[str, int]]()
        self._commits: dict[int, str] = {1: "commit"}
        self._ends = dict[tuple[str, int], str]()
        self._known = dict[str, tuple[str, str, str]]()

    def whole(self, *numbers: int) -> str:
        """The name of constant counts."""
        return self.new.constant(np.array(numbers, np.int64))

    def commit(self, rate: int) -> str:
        """The name of the count of rows, of so many a unit, that are final."""
        if rate not in self._commits:
            self._commits[rate] = self.new.op("Mul", "commit", self.whole(rate))
        return self._commits[rate]

    def later(self, count: str, by: int) -> str:
        """The name of a count that is larger by a constant."""
        if by == 0:
            return count
        if (count, by) not in self._ends:
            self._ends[count, by] = self.new.op("Add", count, self.whole(by))
        return self._ends[count, by]

    def cut(self, name: str, begin: str, end: str, axis: int = 0) -> str:
        """Rows of a tensor."""
        return str(self.new.op("Slice", name, begin, end, self.whole(axis)))

    def trimmed(self, x: Rows, after: int) -> Rows:
        """Of the rows after the commit, only so many."""
        name = self.cut(x.name, self.whole(0), self.later(self.commit(x.rate), after))
        count = self.new.op("Min", x.count, self.later(self.commit(x.rate), after))
        return Rows(name, x.width, x.rate, count)

    def given(self, name: str, width: int, rate: int = 1) -> Rows:
        """An input of rows."""
        count = self.cut(self.new.op("Shape", name), self.whole(0), self.whole(1))
        return Rows(name, width, rate, count)

    def piece(self, name: str, size: int) -> str:
        """The name, in this network, of a piece of the style's vector."""
        self.pieces.append((name, size))
        return f"piece{len(self.pieces) - 1}"

    def plain(self, kind: str, x: Rows, *others: str, **about: Any) -> Rows:
        """Something for each element of rows."""
        return Rows(self.new.op(kind, x.name, *others, **about), x.width, x.rate, x.count)

    def norm(self, x: Rows, path: str, factor: Array | None = None) -> Rows:
        """An instance norm whose statistics are fixed; ``factor`` (C,) multiplies what comes
        out."""
        scale, offset = self._affine(path, factor)
        scaled = self.plain("Mul", x, self.piece(scale, x.width))
        return self.plain("Add", scaled, self.piece(offset, x.width))

    def _affine(self, path: str, factor: Array | None) -> tuple[str, str]:
        names = self.style.norm(path, self.kokoro)
        if factor is None:
            return names
        by = self.style.new.constant(factor.astype(np.float32))
        return self.style.new.op("Mul", names[0], by), self.style.new.op("Mul", names[1], by)

    def leaky(self, x: Rows, alpha: float) -> Rows:
        return self.plain("LeakyRelu", x, alpha=alpha)

    def joined(self, *parts: Rows) -> Rows:
        """Rows side by side."""
        name = self.new.op("Concat", *(part.name for part in parts), axis=1)
        return Rows(name, sum(part.width for part in parts), parts[0].rate, parts[0].count)

    def product(
        self, x: Rows, path: str, *, norm: str = "", after: Array | None = None, factor: float = 1.0
    ) -> Rows:
        """A convolution or a product of rows, and what follows it: a norm times ``after`` (C,), or
        a ``factor``."""
        found = self.kokoro.product(path)
        width = found.weight.shape[0]
        taps = found.weight.shape[2]
        step = found.about.get("dilations", [1])[0]
        matrix = found.weight.transpose(2, 1, 0).reshape(-1, width)
        matrix, zero, scale = self.quantized(matrix, found.zero, found.scale)
        bias = (
            np.zeros(width, np.float32)
            if not found.bias
            else self.kokoro.value(found.bias).reshape(-1)
        )
        return self.times(
            x,
            matrix,
            zero,
            scale * factor,
            bias * factor,
            ranged=found.rows,
            taps=taps,
            step=step,
            norm=norm,
            after=after,
        )

    def quantized(self, matrix: Array, zero: Array, scale: Array) -> tuple[Array, Array, Array]:
        """Weights (K, N) with what is zero in each column, and its scale; integers where the
        network is of these."""
        width = matrix.shape[1]
        if matrix.dtype == np.float32 and self.integers:
            scale = np.maximum(np.abs(matrix).max(axis=0), 1e-9) / 127
            matrix = np.rint(matrix / scale).astype(np.int8)
            zero = np.zeros(1, np.int8)
        zero, scale = (np.broadcast_to(values.reshape(-1), (width,)) for values in (zero, scale))
        return matrix, zero, scale

    def times(
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
            rows = self._spread(x, rows, place, reach, [n * step for n in range(taps)])
        gain = new.constant(scale.astype(np.float32))
        offset = new.constant(bias.astype(np.float32))
        if norm:
            by, to = self._affine(norm, after)
            style = self.style.new
            own = style.constant(scale.astype(np.float32))
            moved = style.op(
                "Add", style.op("Mul", style.constant(bias.astype(np.float32)), by), to
            )
            gain = self.piece(style.op("Mul", own, by), width)
            offset = self.piece(moved, width)
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
        """The number of a tensor's range."""
        if tensor not in self.ranges:
            self.ranges.append(tensor)
        return self.ranges.index(tensor)

    def _integers(self, x: Rows, ranged: str, place: int) -> str:
        """The rows as integers of a range."""
        if not self.integers:
            return x.name
        if self._known.get(ranged, ("", "", ""))[0] != x.name:
            quantized = self.new.op("QuantizeLinear", x.name, f"scale{place}", f"zero{place}")
            self._known[ranged] = x.name, quantized, ""
        return self._known[ranged][1]

    def _spread(self, x: Rows, rows: str, place: int, reach: int, taps: Sequence[int]) -> str:
        """Each row with those around it side by side; the past comes from a cache."""
        new = self.new
        number = len(self.caches)
        self.caches.append((reach, x.width, place))
        nothing = new.op("Expand", self.blank(place), self.whole(reach, x.width))
        seen = new.op("Concat", f"cache{number}", rows, nothing, axis=0)
        begin = self.commit(x.rate)
        new.op(
            "Slice",
            seen,
            begin,
            self.later(begin, reach),
            self.whole(0),
            name=f"next_cache{number}",
        )
        parts = [self.cut(seen, self.whole(tap), self.later(x.count, tap)) for tap in taps]
        return str(new.op("Concat", *parts, axis=1))

    def blank(self, place: int) -> str:
        """The name of what stands for zero in a range."""
        return f"zero{place}" if self.integers else self.new.constant(np.float32(0))

    def model(
        self, inputs: Sequence[tuple[str, int, Sequence[Any]]], outputs: Sequence[tuple[str, int]]
    ) -> Any:
        """The network; ``inputs`` and ``outputs`` are those besides commit, caches and style."""
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
