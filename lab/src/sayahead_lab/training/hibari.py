"""The weights of hibari-tts, the teacher and the default voice's origin."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor

from sayahead_lab.training.graph.builder import Weights

Array = NDArray[Any]


class HibariWeights:
    """The weights of hibari's graph by their PyTorch names; linear layers as (int8 weights, column
    scales)."""

    def __init__(self, path: Path) -> None:
        graph = onnx.load(str(path)).graph
        self.tensors = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant":
                self.tensors[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        # A linear layer's weights have lost their names; the bias that its product is added to has
        # not.
        made_by = {output: node for node in graph.node for output in node.output}
        self.linears: dict[str, tuple[Array, Array]] = {}
        for node in graph.node:
            if node.op_type != "Add":
                continue
            for bias, product in (node.input, reversed(node.input)):
                weight = self._weight(made_by, product)
                if bias in self.tensors and weight is not None:
                    self.linears[bias.removesuffix(".bias").removesuffix("_bias")] = weight

    def _weight(
        self, made_by: dict[str, onnx.NodeProto], product: str
    ) -> tuple[Array, Array] | None:
        scaled = made_by.get(product)
        cast = (
            made_by.get(scaled.input[0]) if scaled is not None and scaled.op_type == "Mul" else None
        )
        integer = (
            made_by.get(cast.input[0]) if cast is not None and cast.op_type == "Cast" else None
        )
        if integer is None or integer.op_type != "MatMulInteger":
            return None
        name = integer.input[1]
        scale = np.atleast_1d(self.tensors[name.replace("_quantized", "_scale")])
        zero = np.atleast_1d(self.tensors[integer.input[3]])
        if np.any(zero != 0):
            raise SystemExit(f"{name}: expected symmetric weights, found zero point {zero}")
        weight = self.tensors[name]
        return weight, np.broadcast_to(scale, weight.shape[1]).astype(np.float32)

    def __getitem__(self, name: str) -> Array:
        return self.tensors[name]


def assets() -> Path:
    """hibari's folder of graph and phoneme table."""
    import hibari

    return Path(hibari.__file__).parent / "assets"


@functools.cache
def heart_weights() -> HibariWeights:
    """The weights of the graph in hibari-tts, by their names; read once, so nobody may change
    them."""
    return HibariWeights(assets() / "hibari.onnx")


def heart_head() -> tuple[Array, Array]:
    """The default voice's last layer in float32: weights (256, 5 x 601) and biases (5 x 601,)."""
    teacher = heart_weights()
    weight, scale = teacher.linears["m.head"]
    return weight.astype(np.float32) * scale, teacher["m.head.bias"]


def dense(teacher: Weights, name: str) -> Tensor:
    """A linear layer's weights (out, in) in float."""
    weight, scale = teacher.linears[name]
    return torch.from_numpy((weight.astype(np.float32) * scale).T.copy())
