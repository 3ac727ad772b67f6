"""A small builder of ONNX graphs: rows are time, columns are channels, convolutions keep their past
as a cache.

A streaming convolution of kernel K and dilation d that is not causal sees ``m = d (K - 1) / 2``
rows to each side. Its past ``m`` rows come in as a cache, what lies right of the rows given is zero
(as at the end of a whole utterance), and the new cache is cut at a *commit* row: rows right of it
are provisional and will be given again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import onnx
from onnx import helper
from sayahead.voices.install.onnx.graph import Array, Nodes


class Weights(Protocol):
    """A network's weights by name."""

    @property
    def linears(self) -> Mapping[str, tuple[Array, Array]]:
        """Linear layers: int8 weights (K, N) and one scale per column (N,)."""
        ...

    def __getitem__(self, name: str) -> Array:
        """Any other tensor."""
        ...


def quantized(weight: Array) -> tuple[Array, Array]:
    """A linear layer's weights (K, N) as int8 and one scale per column (N,)."""
    scale = np.maximum(np.abs(weight).max(axis=0), 1e-12) / 127
    return np.rint(weight / scale).astype(np.int8), scale.astype(np.float32)


def fields(config: object, names: str) -> dict[str, Any]:
    """The fields of a configuration that are named, apart by spaces."""
    return {name: getattr(config, name) for name in names.split()}


class Range(NamedTuple):
    """The observed range of a linear layer's inputs, which are quantized to 7 bits in it."""

    low: float
    high: float

    @property
    def step(self) -> np.float32:
        """The width of one of the 127 steps."""
        return np.float32(max(self.high - self.low, 1e-6) / LEVELS)

    @property
    def zero(self) -> np.uint8:
        """Which of the levels stands for 0."""
        return np.uint8(np.clip(np.rint(-self.low / self.step), 0, LEVELS))


Turn = Callable[[str, Sequence[str]], Sequence[str]]
"""What makes the next x of x and what a turn is given, and then what else the turn makes."""
LINE = 2
"""The axis of the rows in an image of one line."""
LEVELS = 127
"""Of inputs to integer products. With all 255, processors without VNNI overflow where two products
are added; what lies above the range still has its level."""


def value_info(
    name: str, kind: Any, shape: Sequence[int | str] | None = None
) -> onnx.ValueInfoProto:
    """A value's name and type, and perhaps its shape."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape
    )


class GraphBuilder(Nodes):
    """Writes a checked model of the nodes and weights that it collects; linear layers keep int8
    weights.

    A linear layer that is named and has a range here is computed in integers; with ``observed``,
    the inputs of those that are named become outputs (``in:NAME``, ``columns:NAME``), for finding
    the ranges."""

    def __init__(
        self, ranges: Mapping[str, Range] | None = None, *, observed: bool = False
    ) -> None:
        super().__init__()
        self.ranges = ranges or {}
        self.observed = observed
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self._steps: dict[str, tuple[str, str]] = {}
        self._turn = ""

    def constant(self, value: Array | np.generic | str) -> str:
        """A constant's name; a string is the name of a value that stands in its place."""
        return value if isinstance(value, str) else str(super().constant(value))

    def input(self, name: str, kind: type, shape: list[int | str]) -> str:
        self.inputs.append(value_info(name, kind, shape))
        return name

    def output(self, value: str, name: str, kind: type, shape: list[int | str]) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(value_info(name, kind, shape))

    def cut(self, x: str, first: str, end: str, axis: int = 0) -> str:
        """Rows (or columns) ``[first, end)``; both are names of (1,) int64 values."""
        return str(self.op("Slice", x, first, end, self.constant(np.array([axis]))))

    def head(self, x: str, rows: str, more: int, axis: int = 0) -> str:
        """The first ``rows + more`` rows of x, or all where there are fewer; ``rows`` names a (1,)
        int64 value."""
        end = self.op("Add", rows, self.constant(np.array([more])))
        return self.cut(x, self.constant(np.array([0])), str(end), axis)

    def image(self, x: str) -> str:
        """Rows (T, D) as an image of one line (1, 1, T, D), whose rows are on the axis ``LINE``."""
        return str(self.op("Unsqueeze", x, self.constant(np.array([0, 1]))))

    def flat(self, x: str) -> str:
        """The rows (T, D) of an image of one line."""
        return str(self.op("Squeeze", x, self.constant(np.array([0, 1]))))

    def linear(
        self, x: str, quantized: Array, scale: Array, bias: Array | None, name: str = ""
    ) -> str:
        """x W + b for int8 weights (K, N) with one scale per column (N,): rows are independent.

        Computed in float32, or, where the layer's ``name`` has a range, in integers.
        """
        pair = self._levels(self.observe(x, name, quantized.shape[0]))
        if pair is None:
            product = self.op("MatMul", x, self._dense(quantized, scale))
            return str(product if bias is None else self.op("Add", product, self.constant(bias)))
        step, zero = pair
        return self._product(
            str(self.op("QuantizeLinear", x, step, zero)), step, zero, quantized, scale, bias
        )

    def _product(
        self, levels: str, step: str, zero: str, quantized: Array, scale: Array, bias: Array | None
    ) -> str:
        """``linear`` in integers; its one float32 operation a number, at the end, is the same for
        any count of rows."""
        columns = self.constant(np.zeros(len(scale), np.int8))
        inputs = [levels, self.constant(quantized), step, self.constant(scale), zero, columns]
        if bias is not None:
            inputs.append(self.constant(bias))
        return str(self.op("MatMulIntegerToFloat", *inputs, domain="com.microsoft"))

    def window(self, x: str, weight: Array, bias: Array, name: str) -> str:
        """A convolution of rows x (T, D) with weights (N, D, K) in integers: (T - K + 1, N).

        It is one product of all that a window of K rows shows; its ``name`` has a range.
        """
        columns, _, size = weight.shape
        step = self.constant(self.ranges[name].step)
        zero = self.constant(self.ranges[name].zero)
        levels = self.op("QuantizeLinear", x, step, zero)
        ends = [
            self.constant(np.array([end])) for end in (*range(1 - size, 0), np.iinfo(np.int64).max)
        ]
        rows = [self.cut(levels, self.constant(np.array([at])), end) for at, end in enumerate(ends)]
        layer = quantized(weight.transpose(2, 1, 0).reshape(-1, columns))
        return self._product(self.op("Concat", *rows, axis=1), step, zero, *layer, bias)

    def attention(
        self,
        x: str,
        quantized: Array,
        scale: Array,
        bias: Array,
        past: str,
        *,
        heads: int,
        name: str,
    ) -> tuple[str, str]:
        """(1, N, D) what rows x (1, N, D) see of themselves and of the past (2, 1, H, M, D / H),
        keys and values.

        And keys and values of both (2, 1, H, M + N, D / H). Weights (D, 3 D) project to queries,
        keys and values, in integers as in ``linear``.
        """
        pair = self._levels(self.observe(x, name, quantized.shape[0]))
        if pair is None:
            kind = "Attention"
            inputs = [x, self._dense(quantized, scale), self.constant(bias), "", past]
        else:
            step, zero = pair
            weight = self.constant(quantized)
            scales = self.constant(scale)
            shift = self.constant(bias)
            levels = self.op("QuantizeLinear", x, step, zero)
            kind = "QAttention"
            inputs = [
                levels,
                weight,
                shift,
                step,
                scales,
                "",
                zero,
                self.constant(np.int8(0)),
                past,
            ]
        mixed, both = self.op(
            kind, *inputs, outputs=2, domain="com.microsoft", num_heads=heads, unidirectional=0
        )
        return mixed, both

    def observe(self, x: str, name: str, width: int, *, columns: bool = False) -> str:
        """A layer's name in this turn; what it is given becomes an output where layers are
        observed.

        ``columns``: those that are far larger than the others are told apart.
        """
        name = name and name + self._turn
        if self.observed and name:
            self.output(x, f"{'columns' if columns else 'in'}:{name}", np.float32, ["I", width])
        return name

    def _levels(self, name: str) -> tuple[str, str] | None:
        """The step and the zero of a layer's inputs, as names of constants; None: it is computed in
        float32."""
        if name in self._steps:
            return self._steps[name]
        if name not in self.ranges:
            return None
        return self.constant(self.ranges[name].step), self.constant(self.ranges[name].zero)

    def _dense(self, quantized: Array, scale: Array) -> str:
        """Weights in float32."""
        # Not DequantizeLinear: ONNX Runtime would fuse it with the product into one that quantizes
        # activations.
        weight = self.op("Cast", self.constant(quantized), to=onnx.TensorProto.FLOAT)
        return str(self.op("Mul", weight, self.constant(scale)))

    def turns(
        self,
        x: str,
        count: int,
        per_turn: Sequence[str],
        layers: Sequence[str],
        body: Turn,
        shapes: Sequence[Sequence[int | str]],
    ) -> list[str]:
        """x (N, D) after ``count`` times ``body`` with the same weights, and what else each turn
        made, stacked.

        ``per_turn`` (count, ...) are cut by turns. ``layers`` are names of the linear layers in
        ``body``; each turn has ranges of its own for them, under ``NAME@TURN``. ``shapes``: of x,
        and of what else a turn makes."""
        if self.observed:
            return self._unrolled(x, count, per_turn, body)
        layers = [name for name in layers if f"{name}@0" in self.ranges]
        ranges = [[self.ranges[f"{name}@{turn}"] for turn in range(count)] for name in layers]
        scales = [
            np.array(values)
            for ones in ranges
            for values in ([o.step for o in ones], [o.zero for o in ones])
        ]
        inputs = [*per_turn, *map(self.constant, scales)]
        x_now, *own = self._names(1 + len(inputs))
        steps = own[len(per_turn) :]
        self._steps = dict(zip(layers, zip(steps[::2], steps[1::2], strict=True), strict=True))
        outer = self.nodes
        self.nodes = []
        results = body(x_now, own[: len(per_turn)])
        inner = self.nodes
        self.nodes = outer
        self._steps = {}
        kinds = [*(np.float32 for _ in (x, *per_turn)), *(values.dtype for values in scales)]
        graph = helper.make_graph(
            inner,
            "turn",
            [value_info(name, kind) for name, kind in zip((x_now, *own), kinds, strict=True)],
            [
                value_info(name, np.float32, shape)
                for name, shape in zip(results, shapes, strict=True)
            ],
        )
        return list(
            self.op(
                "Scan", x, *inputs, outputs=len(results), body=graph, num_scan_inputs=len(inputs)
            )
        )

    def _unrolled(self, x: str, count: int, per_turn: Sequence[str], body: Turn) -> list[str]:
        """``turns`` as that many copies of its body, each of whose layers can be observed."""
        columns = list[list[str]]()
        for turn in range(count):
            self._turn = f"@{turn}"
            x, *results = body(
                x, [self.op("Gather", value, self.constant(np.array(turn))) for value in per_turn]
            )
            columns.append(
                [self.op("Unsqueeze", value, self.constant(np.array([0]))) for value in results]
            )
        self._turn = ""
        return [x, *(self.op("Concat", *parts, axis=0) for parts in zip(*columns, strict=True))]

    def _names(self, count: int) -> list[str]:
        """So many new names of values."""
        self._count += 1
        return [f"v{self._count}_{i}" for i in range(count)]

    def norm(self, x: str, weight: Array, bias: Array) -> str:
        scale = self.constant(weight)
        shift = self.constant(bias)
        return str(self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5))

    def gelu(self, x: str) -> str:
        return str(self.op("Gelu", x, domain="com.microsoft"))

    def conv(
        self,
        x: str,
        weight: Array,
        bias: Array,
        *,
        group: int = 1,
        dilation: int = 1,
        after: int | None = None,
        axis: int = 0,
    ) -> str:
        """Convolution over the rows of x (T, D), or of an image with them on ``LINE``; there are as
        many after it.

        With ``after``, that many rows of zeros follow and none go before: T shrinks by the rest of
        the receptive field."""
        margin = dilation * (weight.shape[2] - 1) // 2
        before, after = (margin, margin) if after is None else (0, after)
        # As an image of one line: ONNX Runtime has a layout for images in which depthwise
        # convolutions are fast.
        turned = self.op("Transpose", x if axis == LINE else self.image(x), perm=[0, 3, 1, 2])
        inputs = (turned, self.constant(weight[:, :, None]), self.constant(bias))
        pads = [0, before, 0, after]
        shape = [1, weight.shape[2]]
        done = self.op(
            "Conv", *inputs, group=group, kernel_shape=shape, dilations=[1, dilation], pads=pads
        )
        turned = str(self.op("Transpose", done, perm=[0, 2, 3, 1]))
        return turned if axis == LINE else self.flat(turned)

    def streaming_conv(
        self,
        x: str,
        weight: Array,
        bias: Array,
        cache: str,
        commit: str,
        *,
        group: int = 1,
        dilation: int = 1,
        right: int | None = None,
        axis: int = 0,
    ) -> tuple[str, str]:
        """Convolution with its past in ``cache`` (m, D) and zeros on the right; also the cache at
        row ``commit``.

        It sees ``right`` rows on the right, as many as on the left where that is absent.
        """
        reach = dilation * (weight.shape[2] - 1)
        right = reach // 2 if right is None else right
        rows = self.op("Concat", cache, x, axis=axis)
        end = self.op("Add", commit, self.constant(np.array([reach - right])))
        done = self.conv(rows, weight, bias, group=group, dilation=dilation, after=right, axis=axis)
        return done, self.cut(rows, commit, end, axis)

    def pointwise(self, weights: Weights, x: str, name: str) -> str:
        """norm, linear, GELU, linear, scale: the half of a block that acts on each row by
        itself."""
        t = weights
        first = f"{name}.pw1"
        second = f"{name}.pw2"
        x = self.norm(x, t[f"{name}.norm.weight"], t[f"{name}.norm.bias"])
        x = self.gelu(self.linear(x, *t.linears[first], t[f"{first}.bias"], first))
        (weight, scale) = t.linears[second]
        gamma = t[f"{name}.gamma"]
        if second in self.ranges:
            return self.linear(x, weight, scale * gamma, t[f"{second}.bias"] * gamma, second)
        return str(
            self.op(
                "Mul",
                self.linear(x, weight, scale, t[f"{second}.bias"], second),
                self.constant(gamma),
            )
        )

    def save(self, path: str) -> None:
        graph = helper.make_graph(self.nodes, "sayahead", self.inputs, self.outputs, self.weights)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="sayahead")
        model.ir_version = 9
        onnx.checker.check_model(model)
        onnx.save(model, path)
