"""Weights read back from the graphs of a voice: the start of a training without a checkpoint.

They are the weights of inference: rounded to int8 or float16.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from sayahead.voices.install.onnx.graph import Array
from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized


class Constants:
    """The weights of a graph in the order in which its nodes use them, each as often as it is
    used."""

    def __init__(self, path: Path) -> None:
        graph = onnx.load(path).graph
        weights = {
            one.name: one for one in graph.initializer if one.data_type != onnx.TensorProto.INT64
        }
        used = [name for node in graph.node for name in node.input if name in weights]
        self._arrays = iter([numpy_helper.to_array(weights[name]) for name in used])

    def next(self) -> Array:
        """The next weights in float32; those in int8 times their scales."""
        values = next(self._arrays)
        if values.dtype == np.int8:
            values = values * next(self._arrays)
        return values.astype(np.float32)


def put(target: Tensor, values: Array) -> None:
    """Set a weight; ValueError where the shapes differ."""
    if tuple(target.shape) != values.shape:
        raise ValueError(f"shape {tuple(target.shape)} instead of {values.shape}")
    target.copy_(torch.from_numpy(np.ascontiguousarray(values)))


def put_dense(layer: nn.Module, constants: Constants) -> None:
    """Set a linear layer, normalized or not, that was written by its weights (inputs, outputs) and
    its biases."""
    weight = constants.next().T
    bias = constants.next()
    assert isinstance(layer, nn.Linear)
    if is_parametrized(layer):
        if layer.weight.shape != weight.shape:
            raise ValueError(f"shape {tuple(layer.weight.shape)} instead of {weight.shape}")
        layer.weight = torch.from_numpy(np.ascontiguousarray(weight))
    else:
        put(layer.weight, weight)
    put(layer.bias, bias)
