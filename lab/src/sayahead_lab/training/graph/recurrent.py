"""Recurrent layers and folded convolutions as nodes of a graph: for exporting networks that have
them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from sayahead.voices.install.onnx.graph import Array
from torch import Tensor, nn

from sayahead_lab.training.graph.builder import GraphBuilder, quantized
from sayahead_lab.training.layers import TokenAttention

FLOAT = 1
"""ONNX's number of float32."""


LSTM_ORDER = (0, 3, 1, 2)
GRU_ORDER = (1, 0, 2)
"""Which of torch's gates (input, forget, cell, output; reset, update, new) come where in ONNX."""


def array(x: Any) -> Array:
    """A tensor's values."""
    out: Array = x.detach().cpu().numpy()
    return out


def rounded(g: GraphBuilder, weight: Array) -> str:
    """Weights (..., N, K) kept as int8 with a scale for each row; ONNX Runtime makes them float
    when it loads them."""
    scale = np.maximum(np.abs(weight).max(axis=-1, keepdims=True), 1e-12).astype(np.float32) / 127
    integers = g.op("Cast", g.constant(np.rint(weight / scale).astype(np.int8)), to=FLOAT)
    return str(g.op("Mul", integers, g.constant(scale)))


def halved(g: GraphBuilder, weight: Array) -> str:
    """Weights kept in float16."""
    return str(g.op("Cast", g.constant(weight.astype(np.float16)), to=FLOAT))


def gates(layers: list[nn.RNNBase], order: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """W (L, G H, D), R (L, G H, H) and B (L, 2 G H) of layers of one size, each a direction, gates
    as ONNX has them."""
    parts = []
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        split_gates = [np.split(array(getattr(layer, name)), len(order)) for layer in layers]
        parts.append(
            np.stack([np.concatenate([split[at] for at in order]) for split in split_gates])
        )
    return parts[0], parts[1], np.concatenate(parts[2:], axis=1)


def lstm(g: GraphBuilder, x: str, layers: list[nn.RNNBase]) -> tuple[str, str]:
    """Outputs (T, L H) and last states (1, L H) of rows (T, D): one layer, or one ahead and one on
    the way back."""
    w, r, b = gates(layers, LSTM_ORDER)
    hidden = r.shape[2]
    inputs = (
        g.op("Unsqueeze", x, g.constant(np.array([1]))),
        rounded(g, w),
        rounded(g, r),
        g.constant(b),
    )
    direction = "bidirectional" if len(layers) == 2 else "forward"
    rows, last, _ = g.op("LSTM", *inputs, outputs=3, hidden_size=hidden, direction=direction)
    shape = g.constant(np.array([-1, len(layers) * hidden]))
    return str(g.op("Reshape", rows, shape)), str(g.op("Reshape", last, shape))


class Gru:
    """A GRU layer whose weights stand in the graph once, however often it is used."""

    def __init__(self, g: GraphBuilder, layer: nn.GRU) -> None:
        w, r, b = gates([layer], GRU_ORDER)
        self.hidden = r.shape[2]
        self._weights = (rounded(g, w), rounded(g, r), g.constant(b))

    def last(self, g: GraphBuilder, x: str) -> str:
        """The last state (1, H) of rows (T, 1, D)."""
        _, last = g.op(
            "GRU", x, *self._weights, outputs=2, hidden_size=self.hidden, linear_before_reset=1
        )
        return str(g.op("Reshape", last, g.constant(np.array([1, self.hidden]))))


def lstm_step(g: GraphBuilder, x: str, state: str, layer: nn.LSTM | nn.LSTMCell) -> tuple[str, str]:
    """The next output (1, H) and the next state (2, H), output and cell, of one row (1, D)."""
    was, cell = g.op("Split", state, outputs=2, axis=0)
    inner, outer, *biases = (weight.detach() for weight in layer.parameters())
    sums = dense(
        g, g.op("Concat", x, was, axis=1), torch.cat([inner, outer], 1), biases[0] + biases[1]
    )
    inward, forget, new, outward = g.op("Split", sums, outputs=4, axis=1)
    memory = g.op("Mul", g.op("Sigmoid", forget), cell)
    cell = g.op("Add", memory, g.op("Mul", g.op("Sigmoid", inward), g.op("Tanh", new)))
    out = g.op("Mul", g.op("Sigmoid", outward), g.op("Tanh", cell))
    return str(out), str(g.op("Concat", out, cell, axis=0))


def dense(g: GraphBuilder, x: str, weight: Tensor, bias: Tensor | None = None) -> str:
    """x W + b of weights (N, K) and biases (N,), if there are any."""
    return g.linear(x, *quantized(array(weight).T), None if bias is None else array(bias))


def normed(weight: Tensor, bias: Tensor, norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    """A convolution's weights (N, ...) and biases (N,) with the normalization after it folded
    in."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return weight * factor.view(-1, *[1] * (weight.dim() - 1)), (
        bias - norm.running_mean
    ) * factor + norm.bias


def convolved(g: GraphBuilder, x: str, layer: nn.Module, norm: nn.BatchNorm1d) -> str:
    """Rows (T, N) of a convolution over rows (T, D) with zeros outside, normalized: a product over
    windows."""
    assert isinstance(layer, nn.Conv1d)
    assert layer.bias is not None
    weight, bias = normed(layer.weight, layer.bias, norm)
    width, kernel = weight.shape[1:]
    side = g.constant(np.zeros((kernel // 2, width), np.float32))
    padded = g.op("Concat", side, x, side, axis=0)
    parts = []
    for at in range(kernel):
        end = at - kernel + 1 or np.iinfo(np.int64).max
        parts.append(g.cut(padded, g.constant(np.array([at])), g.constant(np.array([end]))))
    return dense(g, g.op("Concat", *parts, axis=1), weight.permute(0, 2, 1).flatten(1), bias)


def tokens(g: GraphBuilder, query: str, attention: TokenAttention) -> str:
    """TokenAttention of a query (1, D): (E,)."""
    heads = attention.heads
    each = attention.embedding // attention.heads
    learned = attention.tokens.tanh()
    shape = (-1, heads, each)
    keys, values = (
        layer(learned).view(shape).transpose(0, 1) for layer in (attention.key, attention.value)
    )
    queries = g.op(
        "Reshape", dense(g, query, attention.query.weight), g.constant(np.array([heads, 1, each]))
    )
    scores = g.op("MatMul", queries, g.constant(array(keys.transpose(1, 2) / math.sqrt(each))))
    mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), g.constant(array(values)))
    return str(g.op("Reshape", mixed, g.constant(np.array([-1]))))
